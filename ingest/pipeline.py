"""The write side's one statement of order: discover → parse → describe → chunk → embed → store → publish."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from ingest.captions import Captions
from ingest.discover import Discovery, Found, discover
from ingest.document_dates import file_date
from ingest.indexing import embed_chunks, store_chunks, with_own_chunks
from ingest.kinds import Kind
from ingest.limits import Limits
from kb_qa.elements import ParsedDocument
from kb_qa.errors import CrashedParserError, KbQaError, RejectedFileError
from kb_qa.guardrails.document_facts import document_locale_of, packed_facts, reading_of
from kb_qa.guardrails.labels import DEFAULT_ALIASES, Aliases
from kb_qa.ledger import Ledger, ParsedFacts
from kb_qa.protocols import Embedder
from kb_qa.scratch import Scratch
from kb_qa.version_table import VersionRecord

_log = logging.getLogger(__name__)

# The version of the code between a file's bytes and its elements. Another number means that documents are parsed again;
# `version_table.CHUNKING` is the version of what comes after them.
PIPELINE = "4"
STOP_SECONDS = 0.5  # how often a run that waits for its parsers looks whether it is to end
SUSPECT_ATTEMPTS = 2  # ends of this process after which a document is read alone
MOST_ATTEMPTS = 5  # and after which it is quarantined
_UNPARSED = frozenset({"received", "stored", "parsing"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file. `state` is ready, quarantined, skipped or deleted; `reason` says why, or "unchanged".

    `change` is what the file did since it was last looked at (`folder_scan`): new, changed, renamed, moved, deleted,
    unchanged, or as the state; `was` is what it was called before it was renamed or moved.
    """

    path: str
    document_id: str = ""
    state: str = "ready"
    pages: int = 0
    elements: int = 0
    chunks: int = 0
    reason: str = ""
    seconds: float = 0.0
    code: str = ""
    change: str = ""
    was: str = ""
    key: str = field(default="", repr=False)  # tells the files of one run apart, in this one and in any other

    @property
    def line(self) -> dict[str, Any]:
        """As `kb-qa ingest --json` prints it."""
        return {name: value for name, value in asdict(self).items() if name != "key"}


class Pool(Protocol):
    """`children.ParserPool`, or whatever else parses: `workers` documents at a time."""

    @property
    def workers(self) -> int: ...

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]: ...


@dataclass(frozen=True, slots=True)
class Ingest:
    """The pipeline over its parts. `publish` makes visible what the ledger holds; `report` hears of each file once."""

    ledger: Ledger
    embedder: Embedder
    pool: Pool
    limits: Limits
    publish: Callable[[], None]
    report: Callable[[Outcome], None]
    discovered: Callable[[Discovery], None] = field(default=lambda discovery: None)
    aliases: Aliases = DEFAULT_ALIASES
    captions: Captions | None = None  # pictures are not described without
    stop: Callable[[], None] = field(default=lambda: None)  # asked often; raises to end the run where it stands
    retry: bool = False  # also what was quarantined with these very limits
    original: Callable[[Found], str] | None = None  # keeps a file's bytes and says their id; else the ledger does

    def run(self, paths: Sequence[Path]) -> tuple[Outcome, ...]:
        """One outcome per file, in the order in which they were settled. Raises InputError where there is none."""
        return self.run_on(discover(paths, limits=self.limits))

    def run_on(self, discovery: Discovery) -> tuple[Outcome, ...]:
        """As `run`, with what was found already."""
        self.discovered(discovery)
        outcomes = []
        with closing(self._outcomes(discovery)) as settled:
            for outcome in settled:
                self.report(outcome)
                outcomes.append(outcome)
        self.publish()
        return tuple(outcomes)

    def _outcomes(self, discovery: Discovery) -> Generator[Outcome]:
        for skipped in discovery.skipped:
            yield Outcome(skipped.name, state="skipped", reason=skipped.reason, key=str(skipped.path))
        for each in discovery.rejected:
            error = each.error
            yield Outcome(each.name, state="quarantined", reason=str(error), code=error.code, key=str(each.path))
        with (
            Scratch() as folder,
            closing(self._parsed(discovery.found, folder)) as parsed,
        ):
            for settled in parsed:
                yield settled if isinstance(settled, Outcome) else self._finished(*settled)

    def _finished(self, work: _Work, parsed: ParsedDocument | RejectedFileError | None) -> Outcome:
        """parse → describe → chunk → embed → store, from wherever the version stands."""
        outcome = Outcome(work.found.name, work.document_id, key=str(work.found.path))
        if work.known is not None:
            return replace(outcome, state="quarantined", reason=work.known.reason, code=work.known.code)
        if work.unchanged:
            version = self._renewed(work.version)
            work = replace(work, version=version, unchanged=version == work.version)
        try:
            if isinstance(parsed, RejectedFileError):
                raise parsed
            if parsed is not None:
                self.ledger.store_parse(work.version, _dated(parsed, work.found), self._facts(parsed))
            if self.ledger.version(work.version).state == "parsed":
                if self.captions is not None:
                    self.captions.describe(work.version)
                store_chunks(self.ledger, work.version, work.found.file_name)
            if self.ledger.version(work.version).state == "embedding":
                embed_chunks(self.ledger, self.embedder, work.version, self.stop)
        except RejectedFileError as error:
            self.ledger.quarantine(work.version, error.code, str(error), self.limits.digest)
            outcome = replace(outcome, state="quarantined", reason=str(error), code=error.code)
        else:
            outcome = self._counted(outcome, work)
        return replace(outcome, seconds=round(time.monotonic() - work.started, 2))

    def _renewed(self, version: int) -> int:
        """The ready version, or one in its place: pictures were described meanwhile, or chunks are made otherwise."""
        renewed = version if self.captions is None else self.captions.renewed(version)
        return with_own_chunks(self.ledger, renewed) if renewed == version else renewed

    def _facts(self, parsed: ParsedDocument) -> ParsedFacts:
        """Read once, so that no question reads the texts a second time."""
        try:
            locale = document_locale_of(parsed.elements)
            packed = packed_facts(parsed.elements, locale=locale, aliases=self.aliases)
        except Exception:  # noqa: BLE001  the rim of one document: a question reads its facts anew
            _log.exception("the facts of a document could not be read")
            return ParsedFacts()
        return ParsedFacts(locale, reading_of(self.aliases), packed)

    def _counted(self, outcome: Outcome, work: _Work) -> Outcome:
        counts = self.ledger.counts(work.version)
        reason = "unchanged" if work.unchanged else ""
        return replace(outcome, pages=counts.pages, elements=counts.elements, chunks=counts.chunks, reason=reason)

    def _parsed(self, found: Sequence[Found], links: Path) -> Generator[_Settled | Outcome]:
        """Each file as soon as it is parsed; None where the ledger holds its parse already.

        What is parsed is the copy in the ledger, under a link that has the file's name: the file may change meanwhile.

        Children parse ahead of the caller, one file more than there are children, so that embedding never waits for a
        parser that could have run and no pile of parsed documents grows. A document with which this process died more
        than once goes alone, so that the others are not suspected with it.
        """
        running = _Running(self.ledger)
        with running:
            for file in found:
                self.stop()
                try:
                    document_id = self.original(file) if self.original else self.ledger.store_blob(file.path)
                except OSError as error:
                    reason = f"the file is gone or closed: {error.strerror}"
                    yield Outcome(file.name, state="skipped", reason=reason, key=str(file.path))
                    continue
                while running.holds(document_id):  # the same bytes, another name
                    yield from self._settled(running)
                work = self._received(file, document_id)
                while work.suspect and running.futures:
                    yield from self._settled(running)
                yield from self._started(work, running, links)
                while running.futures and (work.suspect or len(running.futures) > self.pool.workers):
                    yield from self._settled(running)
            while running.futures:
                yield from self._settled(running)

    def _started(self, work: _Work, running: _Running, links: Path) -> Iterator[_Settled]:
        """The work among those that run; or as it stands, where there is nothing to parse."""
        error = None
        if work.counts:
            running.taken.add(work.version)
            if self.ledger.count_attempt(work.version) > MOST_ATTEMPTS:
                name = work.found.file_name
                error = CrashedParserError(f"ingest ended {MOST_ATTEMPTS} times while it was at work on {name!r}")
        if work.parse and error is None:
            self.ledger.mark(work.version, "parsing")
            original = self._linked(work.document_id, work.found.file_name, links)
            running.futures[self.pool.submit(original, work.document_id, work.found.kind)] = work
        else:
            yield work, error
            running.taken.discard(work.version)

    def _linked(self, document_id: str, name: str, links: Path) -> Path:
        """The original under its own name, by which messages call it."""
        folder = links / document_id
        folder.mkdir(exist_ok=True)
        link = folder / Path(name[-60:]).name  # of at most 255 bytes, whatever its letters
        link.unlink(missing_ok=True)
        link.symlink_to(self.ledger.blob_path(document_id).absolute())
        return link

    def _settled(self, running: _Running) -> Iterator[_Settled]:
        done: set[Future[ParsedDocument]] = set()
        while not done:
            self.stop()
            done, _ = wait(running.futures, timeout=STOP_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            work = running.futures.pop(future)
            error = future.exception()
            if error is not None and not isinstance(error, RejectedFileError):
                raise error
            yield work, error or future.result()
            running.taken.discard(work.version)

    def _received(self, file: Found, document_id: str) -> _Work:
        """The file's name in the ledger, and the version that its bytes need."""
        started = time.monotonic()
        version = self.ledger.receive(
            document_id, file.file_name, file.folder, size=file.size, kind=file.kind, pipeline=PIPELINE
        )
        record = self.ledger.version(version)
        work = _Work(file, document_id, version, started, unchanged=record.state == "ready")
        if record.state == "quarantined":
            if record.limits == self.limits.digest and not self.retry:
                return replace(work, counts=False, known=record)
            self.ledger.release(version)
            return replace(work, parse=True)
        if record.state in {"received", "parsing"}:
            self.ledger.mark(version, "stored")
        counts = record.state not in {"ready", "indexing"}
        suspect = counts and record.attempts >= SUSPECT_ATTEMPTS
        return replace(work, parse=record.state in _UNPARSED, counts=counts, suspect=suspect)


@dataclass(slots=True)
class _Running:
    """What is parsed now, and the versions that were taken up and are not settled.

    Where the run ends before they are (by an error, or told to), parsing stops, and the attempt does not count: only
    what ends the whole process says something of a document.
    """

    ledger: Ledger
    futures: dict[Future[ParsedDocument], _Work] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)

    def holds(self, document_id: str) -> bool:
        return any(work.document_id == document_id for work in self.futures.values())

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for future in self.futures:
            future.cancel()
        for version in self.taken:
            with suppress(KbQaError):  # where the disk is full, it counts
                self.ledger.count_attempt(version, -1)


def _dated(parsed: ParsedDocument, found: Found) -> ParsedDocument:
    """The document with the day of its file, where it says none of itself."""
    if parsed.dated:
        return parsed
    dated, dated_by = file_date(found.modified)
    return replace(parsed, dated=dated, dated_by=dated_by)


@dataclass(frozen=True, slots=True)
class _Work:
    found: Found
    document_id: str
    version: int
    started: float
    parse: bool = False
    unchanged: bool = False
    counts: bool = True  # there is something to do that may end this process
    suspect: bool = False  # this process ended more than once while it was at work on it
    known: VersionRecord | None = None  # quarantined before, and nothing has changed that matters


_Settled = tuple[_Work, ParsedDocument | RejectedFileError | None]
