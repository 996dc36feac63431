"""What the one writer of a knowledge base works with, opened under the ingest lock, and what it does for each job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from ingest.captions import Captions
from ingest.children import ParserPool
from ingest.discover import Discovery, received, require_documents, scanned
from ingest.folder_scan import NOTHING_REMOVED, FolderScan
from ingest.limits import Limits
from ingest.pipeline import Ingest, Outcome
from ingest.reindexing import Reindexing, settings_for
from ingest.spread import SpreadingPool
from kb_qa.answer_models import open_describer
from kb_qa.blobs import upload_place
from kb_qa.counters import Counters
from kb_qa.embedding_cache import FILE_NAME, CachedEmbedder, forget_texts
from kb_qa.errors import InputError, NotFoundError
from kb_qa.file_names import display_name
from kb_qa.folder_table import FolderTable
from kb_qa.guardrails.labels import Aliases
from kb_qa.jobs import Job
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of, indexed_embedder, model_of
from kb_qa.protocols import Embedder
from kb_qa.removal import Removal
from kb_qa.settings import Settings
from kb_qa.spending import SpendTable
from kb_qa.terms import use_cache
from kb_qa.wiring import CACHE, PICTURES, WORDS, make_visible, open_caption_pictures, policy_of_settings


class Settled(Protocol):
    """What became of one file or document: the line that is told of it, and what tells it apart within its job."""

    @property
    def key(self) -> str: ...

    @property
    def line(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Task:
    """A job as those who do it see it. `ledger` writes only as long as the job is theirs; `stop` raises to end it."""

    job: Job
    ledger: Ledger
    expect: Callable[[int], None]  # so many files in all
    settle: Callable[[Settled], None]
    stop: Callable[[], None]
    say: Callable[[Mapping[str, Any]], None]  # more of the job's report


@dataclass(frozen=True, slots=True)
class Parts:
    """What reading files takes: a model, and children."""

    embedder: Embedder
    pool: ParserPool
    limits: Limits
    aliases: Aliases


@dataclass(slots=True)
class Writer:
    """Does jobs. Its parts open with the first one that needs them, and close when it does, or when it has `rested`."""

    settings: Settings
    parts: Parts | None = None
    open_model: Callable[[Settings], Embedder] = embedder_of
    _opened: ExitStack = field(default_factory=ExitStack)

    def do(self, task: Task) -> None:
        """Raises InputError for a kind of job that nobody knows, and what doing it raises."""
        if task.job.kind not in KINDS:
            raise InputError(f"there is no job of the kind {task.job.kind!r}")
        KINDS[task.job.kind](self, task)

    def ingest(self, task: Task) -> None:
        """Files and folders of this machine, and files that were handed in, which are gone afterwards."""
        given = task.job.arguments
        places = [
            (upload_place(self.settings.kb, each["file"]), str(each["name"])) for each in given.get("uploads", ())
        ]
        paths = [Path(path) for path in given.get("paths", ())]
        limits = Limits.from_settings(self.settings)
        found = scanned(paths, limits=limits, unsettled=given.get("unsettled", ()))
        scan = FolderScan.of(task.ledger, paths, found, allow_empty=bool(given.get("allow_empty", False)))
        if paths and not scan.knew_files:
            require_documents(found, paths)
        self._run(task, scan, received(places, limits=limits))
        for place, _ in places:
            place.unlink(missing_ok=True)

    def rescan(self, task: Task) -> None:
        """Folders and files once more, all remembered folders where none is given; one that is away changes nothing."""
        given = task.job.arguments
        paths = [Path(path) for path in given.get("paths", ()) or FolderTable(task.ledger.database).roots()]
        there = [path for path in paths if path.exists()]
        limits = Limits.from_settings(self.settings)
        found = scanned(there, limits=limits, unsettled=given.get("unsettled", ()))
        scan = FolderScan.of(task.ledger, there, found, allow_empty=bool(given.get("allow_empty", False)))
        self._run(task, scan, Discovery())
        for path in paths:
            if path not in there:
                reason = "nothing is removed: the folder cannot be opened: it is not there"
                shown = display_name(str(path))
                task.settle(
                    Outcome(shown, "", "skipped", reason=reason, code=NOTHING_REMOVED, change="skipped", key=shown)
                )

    def _run(self, task: Task, scan: FolderScan, uploads: Discovery) -> None:
        """The pipeline over what was found and handed in; then the names of files that are gone are forgotten."""
        parts = self._read_with(task.ledger)
        removal = self.removal(task.ledger)
        found = _both(uploads, scan.discovery)
        missed = sum(len(root.gone) for root in scan.roots)
        with _open_captions(self.settings, task.ledger) as captions:
            Ingest(
                ledger=task.ledger,
                embedder=parts.embedder,
                pool=SpreadingPool(parts.pool, parts.limits),
                limits=parts.limits,
                publish=partial(make_visible, self.settings, task.ledger),
                report=lambda outcome: task.settle(scan.told(outcome)),
                discovered=lambda discovery: task.expect(discovery.count + missed),
                aliases=parts.aliases,
                captions=captions,
                stop=task.stop,
                retry=bool(task.job.arguments.get("retry", False)),
                original=scan.original,
            ).run_on(found)
        settled = found.count
        for outcome in scan.removed(removal.withdraw):
            task.stop()
            task.settle(outcome)
            settled += 1
        if missed:
            task.expect(settled)
            make_visible(self.settings, task.ledger)
        removal.sweep()

    def delete(self, task: Task) -> None:
        """Documents by their ids."""
        ids = [str(each) for each in task.job.arguments.get("documents", ())]
        task.expect(len(ids))
        removal = self.removal(task.ledger)
        for document_id in ids:
            task.stop()
            record = task.ledger.document(document_id)
            outcome = Outcome(record.names[0] if record and record.names else "", document_id, key=document_id)
            try:
                removal.delete(document_id)
            except NotFoundError as error:
                task.settle(
                    Outcome(outcome.path, document_id, "skipped", reason=str(error), change="skipped", key=document_id)
                )
            else:
                task.settle(Outcome(outcome.path, document_id, "deleted", change="deleted", key=document_id))
        make_visible(self.settings, task.ledger)
        removal.sweep()

    def reindex(self, task: Task) -> None:
        """Raises InputError where a later one was asked for: this one, taken up again, would undo it."""
        if any(not later.arguments["index_only"] for later in task.ledger.jobs.later(task.job)):
            raise InputError("a later `kb-qa reindex` took the place of this one")
        self.rest()  # the model that is changed from
        use_cache(self.settings.models / WORDS)
        settings = settings_for(self.settings, task.job.arguments)
        Reindexing(settings, task.ledger, self.open_model, task.settle, task.say, task.stop).run(
            index_only=bool(task.job.arguments["index_only"]), before=str(task.job.report.get("before", ""))
        )

    def removal(self, ledger: Ledger) -> Removal:
        cache = self.settings.kb / CACHE / FILE_NAME
        return Removal(ledger, partial(forget_texts, cache), partial(_forget_pictures, self.settings.kb / PICTURES))

    def rest(self) -> None:
        """Gives the memory of its parts back."""
        self.parts = None
        self._opened.close()

    def _read_with(self, ledger: Ledger) -> Parts:
        """The parts, which outlive the job. Raises ReindexNeededError where another model made the index."""
        known = ledger.embedder()
        if self.parts is not None and known not in (None, model_of(self.parts.embedder)):
            self.rest()  # the index was changed to another one
        if self.parts is None:
            use_cache(self.settings.models / WORDS)
            aliases = policy_of_settings(self.settings).aliases
            model = indexed_embedder(self.settings, ledger, self.open_model)
            limits = Limits.from_settings(self.settings)
            with ExitStack() as opening:
                embedder = opening.enter_context(CachedEmbedder(model, self.settings.kb / CACHE / FILE_NAME))
                pool = opening.enter_context(ParserPool(limits=limits, workers=self.settings.parsers))
                self._opened = opening.pop_all()
            self.parts = Parts(embedder, pool, limits, aliases)
        ledger.set_embedder(*model_of(self.parts.embedder))
        return self.parts


# What each kind of job is done by (`protocols.JobQueue` says what it is given).
KINDS: Mapping[str, Callable[[Writer, Task], None]] = MappingProxyType(
    {"ingest": Writer.ingest, "rescan": Writer.rescan, "delete": Writer.delete, "reindex": Writer.reindex}
)


def _both(first: Discovery, second: Discovery) -> Discovery:
    return Discovery(first.found + second.found, first.rejected + second.rejected, first.skipped + second.skipped)


def _forget_pictures(cache: Path, document_id: str) -> None:
    from kb_qa.renderer import forget_pictures  # PyMuPDF loads only where it is needed

    if cache.is_dir():
        forget_pictures(cache, document_id)


@contextmanager
def _open_captions(settings: Settings, ledger: Ledger) -> Iterator[Captions | None]:
    """The stage that describes pictures; None where it is not wanted. The key stays in this process."""
    if not settings.captions:
        yield None
        return
    # Money that was spent is written down also by who has lost its job.
    spending = SpendTable(ledger.database.fenced(None))
    describer = open_describer(settings, spending=spending, meter=Counters())
    with open_caption_pictures(settings, ledger) as pictures:
        yield Captions(ledger, pictures, describer, settings.captions_per_document)
