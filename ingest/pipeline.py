"""The write side's one statement of order: discover → parse → describe → chunk → embed → store → publish."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from ingest.captions import Captions
from ingest.chunk import Origin, chunk
from ingest.discover import Discovery, Found, discover
from ingest.kinds import Kind
from ingest.limits import Limits
from kb_qa.elements import ParsedDocument
from kb_qa.errors import EmptyFileError, RejectedFileError
from kb_qa.guardrails.document_facts import document_locale_of, packed_facts, reading_of
from kb_qa.guardrails.labels import DEFAULT_ALIASES, Aliases
from kb_qa.ledger import Ledger, ParsedFacts
from kb_qa.protocols import Embedder
from kb_qa.sketch import sketch
from kb_qa.terms import terms

_log = logging.getLogger(__name__)

# The version of the code between a file's bytes and its chunks. Another number means that documents are parsed again.
PIPELINE = "3"
EMBED_BATCH = 32


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file. `state` is ready, quarantined or skipped; `reason` says why, or "unchanged"."""

    path: str
    document_id: str = ""
    state: str = "ready"
    pages: int = 0
    elements: int = 0
    chunks: int = 0
    reason: str = ""
    seconds: float = 0.0
    code: str = ""


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

    def run(self, paths: Sequence[Path]) -> tuple[Outcome, ...]:
        """One outcome per file, in the order in which they were settled. Raises InputError where there is none."""
        discovery = discover(paths, limits=self.limits)
        self.discovered(discovery)
        outcomes = []
        for outcome in self._outcomes(discovery):
            self.report(outcome)
            outcomes.append(outcome)
        self.publish()
        return tuple(outcomes)

    def _outcomes(self, discovery: Discovery) -> Iterator[Outcome]:
        for skipped in discovery.skipped:
            yield Outcome(skipped.name, state="skipped", reason=skipped.reason)
        for rejected in discovery.rejected:
            yield Outcome(rejected.name, state="quarantined", reason=str(rejected.error), code=rejected.error.code)
        with tempfile.TemporaryDirectory(prefix="kb-qa-originals-") as folder:
            for settled in self._parsed(discovery.found, Path(folder)):
                yield settled if isinstance(settled, Outcome) else self._finished(*settled)

    def _finished(self, work: _Work, parsed: ParsedDocument | RejectedFileError | None) -> Outcome:
        """parse → describe → chunk → embed → store, from wherever the version stands."""
        outcome = Outcome(work.found.name, work.document_id)
        if self.captions is not None and work.unchanged:
            version = self.captions.renewed(work.version)
            work = replace(work, version=version, unchanged=version == work.version)
        try:
            if isinstance(parsed, RejectedFileError):
                raise parsed
            if parsed is not None:
                self.ledger.store_parse(work.version, parsed, self._facts(parsed))
            if self.ledger.version(work.version).state == "parsed":
                if self.captions is not None:
                    self.captions.describe(work.version)
                self._chunk(work)
            if self.ledger.version(work.version).state == "embedding":
                self._embed(work)
        except RejectedFileError as error:
            self.ledger.quarantine(work.version, error.code, str(error))
            outcome = replace(outcome, state="quarantined", reason=str(error), code=error.code)
        else:
            outcome = self._counted(outcome, work)
        return replace(outcome, seconds=round(time.monotonic() - work.started, 2))

    def _facts(self, parsed: ParsedDocument) -> ParsedFacts:
        """Read once, so that no question reads the texts a second time."""
        try:
            locale = document_locale_of(parsed.elements)
            packed = packed_facts(parsed.elements, locale=locale, aliases=self.aliases)
        except Exception:  # noqa: BLE001  the rim of one document: a question reads its facts anew
            _log.exception("the facts of a document could not be read")
            return ParsedFacts()
        return ParsedFacts(locale, reading_of(self.aliases), packed)

    def _chunk(self, work: _Work) -> None:
        parsed = self.ledger.load_parse(work.version)
        pipeline = self.ledger.version(work.version).pipeline
        origin = Origin(work.document_id, work.version, work.found.file_name, pipeline)
        chunks = chunk(parsed.elements, origin)
        if not chunks:
            raise EmptyFileError(f"{work.found.file_name!r} holds no text that can be read")
        self.ledger.store_chunks(
            work.version, chunks, [terms(part.embedded_text) for part in chunks], [*map(sketch, chunks)]
        )

    def _embed(self, work: _Work) -> None:
        """By length, so that a batch pads little; each batch is stored, so that a cut embedding goes on from there."""
        waiting = iter(sorted(self.ledger.chunks_to_embed(work.version), key=lambda part: len(part.embedded_text)))
        while batch := list(islice(waiting, EMBED_BATCH)):
            matrix = self.embedder.embed_passages([part.embedded_text for part in batch])
            self.ledger.store_vectors(work.version, [part.id for part in batch], matrix)
        self.ledger.mark(work.version, "indexing")

    def _counted(self, outcome: Outcome, work: _Work) -> Outcome:
        counts = self.ledger.counts(work.version)
        reason = "unchanged" if work.unchanged else ""
        return replace(outcome, pages=counts.pages, elements=counts.elements, chunks=counts.chunks, reason=reason)

    def _parsed(self, found: Sequence[Found], links: Path) -> Iterator[_Settled | Outcome]:
        """Each file as soon as it is parsed; None where the ledger holds its parse already.

        What is parsed is the copy in the ledger, under a link that has the file's name: the file may change meanwhile.

        Children parse ahead of the caller, one file more than there are children, so that embedding never waits for a
        parser that could have run and no pile of parsed documents grows.
        """
        running: dict[Future[ParsedDocument], _Work] = {}
        for file in found:
            try:
                document_id = self.ledger.store_blob(file.path)
            except OSError as error:
                yield Outcome(file.name, state="skipped", reason=f"the file is gone or closed: {error.strerror}")
                continue
            while any(work.document_id == document_id for work in running.values()):  # the same bytes, another name
                yield from self._settled(running)
            work = self._received(file, document_id)
            if work.parse:
                original = self._linked(document_id, file.file_name, links)
                running[self.pool.submit(original, document_id, file.kind)] = work
            else:
                yield work, None
            if len(running) > self.pool.workers:
                yield from self._settled(running)
        while running:
            yield from self._settled(running)

    def _linked(self, document_id: str, name: str, links: Path) -> Path:
        """The original under its own name, by which messages call it."""
        folder = links / document_id
        folder.mkdir(exist_ok=True)
        link = folder / Path(name[-100:]).name
        link.unlink(missing_ok=True)
        link.symlink_to(self.ledger.blob_path(document_id).absolute())
        return link

    def _settled(self, running: dict[Future[ParsedDocument], _Work]) -> Iterator[_Settled]:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            work = running.pop(future)
            error = future.exception()
            if error is not None and not isinstance(error, RejectedFileError):
                raise error
            yield work, error or future.result()

    def _received(self, file: Found, document_id: str) -> _Work:
        """The file's name in the ledger, and the version that its bytes need."""
        started = time.monotonic()
        version = self.ledger.receive(
            document_id, file.file_name, file.folder, size=file.size, kind=file.kind, pipeline=PIPELINE
        )
        state = self.ledger.version(version).state
        if state in {"received", "parsing", "quarantined"}:
            self.ledger.mark(version, "stored")
        parse = state in {"received", "stored", "parsing", "quarantined"}
        if parse:
            self.ledger.mark(version, "parsing")
        return _Work(file, document_id, version, started, parse=parse, unchanged=state == "ready")


@dataclass(frozen=True, slots=True)
class _Work:
    found: Found
    document_id: str
    version: int
    started: float
    parse: bool
    unchanged: bool


_Settled = tuple[_Work, ParsedDocument | RejectedFileError | None]
