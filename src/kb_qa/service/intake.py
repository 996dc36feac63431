"""How an upload becomes a document: handed to the ingest worker as a job, once for the same bytes and name."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from kb_qa.blobs import UPLOADS, upload_place
from kb_qa.document_record import DocumentRecord
from kb_qa.errors import EmptyFileError, MisnamedFileError, NoRoomError, NotFoundError
from kb_qa.jobs import Job, JobQueue
from kb_qa.service.received import ReceivedFile, Room
from kb_qa.signatures import image_words, is_headless_pdf, is_html, is_pdf

RETRY_SECONDS: Final = 30
MOST_KEPT: Final = 10_000  # jobs remembered by their documents


class IntakeLibrary(Protocol):
    """What is asked of the ledger beside the jobs."""

    def document(self, document_id: str) -> DocumentRecord | None: ...

    def named(self, name: str) -> str | None:
        """The id of the document that this name of an upload means now."""
        ...


@dataclass(frozen=True, slots=True)
class Accepted:
    """`job` is None where there is nothing to do. `replaces` is the document that the name meant until now."""

    document_id: str
    name: str
    state: str
    job: int | None = None
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """A document on its way. `record` is None before the worker has taken it up; `job` after it forgot the job."""

    document_id: str
    record: DocumentRecord | None
    job: Job | None
    outcome: Mapping[str, Any]

    @property
    def is_known(self) -> bool:
        return self.record is not None or self.job is not None

    @property
    def state(self) -> str:
        """That of the version; received, deleted or failed where there is none."""
        if self.record is not None:
            return self.record.state
        if self.job is None:
            return "deleted"
        if not self.job.is_over:
            return "received"
        return str(self.outcome.get("state", "failed")) if self.job.state == "done" else "failed"

    @property
    def is_over(self) -> bool:
        if self.job is not None and not self.job.is_over:
            return False
        return self.state not in ON_THE_WAY or (self.job is not None and self.job.state == "failed")


ON_THE_WAY: Final = frozenset({"received", "stored", "parsing", "parsed", "embedding", "indexing"})


@dataclass(slots=True)
class Handed:
    """What was given to the worker of one document: its last job, and the names that it brings."""

    job: int
    names: frozenset[str]
    size: int = 0
    is_over: bool = False


@dataclass(slots=True)
class Intake:
    """`room` for uploads, `most_waiting` jobs, `most_open` uploads received at a time.

    After `withdraw` a document is not seen any more. Methods that are not asynchronous block.
    """

    jobs: JobQueue
    library: IntakeLibrary
    withdraw: Callable[[str], None]
    room: Room
    most_waiting: int
    most_open: int
    open: int = 0
    handed: dict[str, Handed] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def receiving(self, size: int) -> AsyncIterator[None]:
        """Around one upload of so many bytes, as far as that is known.

        Raises NoRoomError or LimitExceededError before anything is received.
        """
        if self.open >= self.most_open:
            raise NoRoomError(f"{self.open} uploads are being received; try again in a moment", retry_after=5)
        self.open += 1
        try:
            await asyncio.to_thread(self._require_room, size)
            yield
        finally:
            self.open -= 1

    def _require_room(self, size: int) -> None:
        waiting = self.jobs.waiting()
        if waiting >= self.most_waiting:
            raise NoRoomError(f"{waiting} jobs wait to be read; try again later", retry_after=RETRY_SECONDS)
        self.room.require(size)

    async def take(self, file: ReceivedFile, name: str, *, retry: bool = False) -> Accepted:
        """Raises RejectedFileError for what its first bytes show to be no document of its name."""
        head, tail = await file.finish()
        require_likely(name, head, tail)
        async with self._lock:  # the same bytes at the same time are one job
            return await asyncio.to_thread(self._take, file, name, retry)

    def _take(self, file: ReceivedFile, name: str, retry: bool) -> Accepted:
        document_id = file.document_id
        progress = self.progress(document_id)
        record = progress.record
        again = retry and record is not None and record.state == "quarantined"
        if record is not None and progress.is_over and name in record.names and not again:
            return Accepted(document_id, name, record.state)
        if progress.job is not None and not progress.job.is_over and name in self.handed[document_id].names:
            return Accepted(document_id, name, progress.state, progress.job.id)
        meant = self.library.named(name)
        token = secrets.token_hex(16)
        place = upload_place(self.room.kb, token)
        file.take(place)
        upload = {"file": token, "name": name, "document_id": document_id}
        try:
            job = self.jobs.add("ingest", {"uploads": [upload], **({"retry": True} if again else {})})
        except BaseException:
            place.unlink(missing_ok=True)
            raise
        self._remember(document_id, job, name, file.size)
        replaces = meant if meant != document_id else None
        return Accepted(document_id, name, self.progress(document_id).state, job, replaces)

    def delete(self, document_id: str) -> int:
        """It is not seen any more; the job that removes what is left. Raises NotFoundError."""
        progress = self.progress(document_id)
        if progress.record is None and (progress.job is None or progress.job.is_over):
            raise NotFoundError("there is no document with this id")
        if progress.record is not None:
            self.withdraw(document_id)
        self.handed.pop(document_id, None)
        return self.jobs.add("delete", {"documents": [document_id]})

    def progress(self, document_id: str) -> Progress:
        """Where the document stands, of which nothing may be known."""
        job, outcome = self._job(document_id), None
        if job is not None:
            outcome = next(iter(self.jobs.outcomes(job.id)), None)
        return Progress(document_id, self.library.document(document_id), job, outcome or {})

    def queued(self) -> list[DocumentRecord]:
        """Documents that the worker has not taken up yet."""
        found = []
        for document_id, handed in list(self.handed.items()):
            job = None if handed.is_over else self._job(document_id)
            if job is None or job.is_over:
                handed.is_over = True
            elif self.library.document(document_id) is None:
                names = tuple(sorted(handed.names))
                found.append(DocumentRecord(document_id, names, "received", 0, 0, "", (), "", size=handed.size))
        return found

    def resume(self, jobs: Iterable[Job]) -> None:
        """Remembers what an earlier process handed over, and removes uploads that belong to no job."""
        files = set()
        for job in jobs:
            for upload in job.arguments.get("uploads", ()):
                files.add(str(upload["file"]))
                if "document_id" in upload:
                    self._remember(str(upload["document_id"]), job.id, str(upload["name"]), 0)
        for left in (self.room.kb / UPLOADS).glob("*"):
            if left.name not in files:
                left.unlink(missing_ok=True)

    def _job(self, document_id: str) -> Job | None:
        if document_id not in self.handed:
            return None
        try:
            return self.jobs.get(self.handed[document_id].job)
        except NotFoundError:  # forgotten after a month
            self.handed.pop(document_id, None)
            return None

    def _remember(self, document_id: str, job: int, name: str, size: int) -> None:
        before = self.handed.pop(document_id, None)
        names = frozenset({name}) if before is None or before.is_over else before.names | {name}
        self.handed[document_id] = Handed(job, names, size)
        while len(self.handed) > MOST_KEPT:
            del self.handed[next(iter(self.handed))]


def require_likely(name: str, head: bytes, tail: bytes) -> None:
    """What the first bytes alone show to be wrong; all else is seen when the file is read."""
    if not head:
        raise EmptyFileError(f"{name!r} has no bytes; upload the file again")
    if not name.lower().endswith(".pdf") or is_pdf(head) or is_headless_pdf(head, tail):
        return
    words = "HTML" if is_html(head) else image_words(head) or _plain_words(head)
    raise MisnamedFileError(f"{name!r} is named .pdf but holds {words}")


def _plain_words(head: bytes) -> str:
    return "unknown binary data" if b"\x00" in head else "plain text"
