"""The job `reindex`: vectors of another model, and what older code cut, cut anew. Nothing is parsed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from typing import Any

from ingest.indexing import EMBED_BATCH, embed_chunks, store_chunks, with_own_chunks
from kb_qa.embedding_cache import FILE_NAME, CachedEmbedder
from kb_qa.ledger import Ledger
from kb_qa.protocols import Embedder
from kb_qa.settings import Settings
from kb_qa.wiring import CACHE, make_visible


@dataclass(frozen=True, slots=True)
class Embedded:
    """One document of the new index. `embedded` of its chunks had no vector of the model yet.

    `rechunked`: its chunks were cut anew, because older code had made them.
    """

    document_id: str
    names: tuple[str, ...]
    chunks: int
    embedded: int
    seconds: float
    rechunked: bool = False

    @property
    def key(self) -> str:
        """Tells the documents of one job apart, in this run and in any other."""
        return f"{self.document_id}{'/rechunked' if self.rechunked else ''}"

    @property
    def line(self) -> dict[str, Any]:
        """As `kb-qa reindex --json` prints it."""
        return asdict(self)

    @classmethod
    def of_line(cls, line: Mapping[str, Any]) -> Embedded:
        known = {each.name: line[each.name] for each in fields(cls) if each.name in line}
        return cls(**known | {"names": tuple(known["names"])})


def arguments_of(settings: Settings, *, index_only: bool) -> dict[str, Any]:
    """What the job is given: the model of the command's settings."""
    return {
        "embedder": settings.embedder,
        "backend": settings.embedder_backend,
        "precision": settings.embedder_precision,
        "index_only": index_only,
    }


def settings_for(settings: Settings, arguments: Mapping[str, Any]) -> Settings:
    """The settings of whoever does the job, with the model that it is to change to."""
    return replace(
        settings,
        embedder=str(arguments["embedder"]),
        embedder_backend=str(arguments["backend"]),
        embedder_precision=str(arguments["precision"]),
    )


@dataclass(slots=True)
class Reindexing:
    """One job, done under the ingest lock. `settings` name the model to change to.

    `say` hears where it stands: `before` and `embedder` (models), then `chunks` to embed and how many are `embedded`;
    `settle` hears of each document. `stop` is asked before each batch, and raises to end the run there.
    Ended anywhere, the vectors made so far stay, and the next run goes on; until the flip the old index answers.
    """

    settings: Settings
    ledger: Ledger
    open_model: Callable[[Settings], Embedder]
    settle: Callable[[Embedded], None]
    say: Callable[[Mapping[str, Any]], None]
    stop: Callable[[], None]
    _chunks: int = 0
    _embedded: int = 0

    def run(self, *, index_only: bool, before: str = "") -> None:
        """`before` is the model that an earlier run of the job began with. Raises what opening the model raises."""
        known = self.ledger.embedder()
        before = before or (known[0] if known is not None else "")
        if index_only or known is None:
            self.say({"before": before, "embedder": before})
            self.ledger.seal_index("")
            make_visible(self.settings, self.ledger)
            return
        model = self.open_model(self.settings)
        self.say({"before": before, "embedder": model.id})
        with CachedEmbedder(model, self.settings.kb / CACHE / FILE_NAME) as embedder:
            self._embed_all(embedder)
            spec = (self.settings.embedder, self.settings.embedder_backend, self.settings.embedder_precision)
            self.ledger.adopt_embedder(model.id, model.dimension, spec)
            make_visible(self.settings, self.ledger)
            self._rechunk_all(embedder)
        make_visible(self.settings, self.ledger)

    def _embed_all(self, embedder: Embedder) -> None:
        """Every document that is visible, or about to be; a batch is stored at a time."""
        versions = [*self.ledger.versions_in("ready"), *self.ledger.versions_in("indexing")]
        self._expect(sum(len(self.ledger.chunks_to_embed(version, embedder.id)) for version in versions))
        for version in versions:
            started = time.monotonic()
            waiting = self.ledger.chunks_to_embed(version, embedder.id)
            queue = iter(sorted(waiting, key=lambda part: len(part.embedded_text)))
            while batch := list(islice(queue, EMBED_BATCH)):
                self.stop()
                matrix = embedder.embed_passages([part.embedded_text for part in batch])
                self.ledger.store_vectors(version, [part.id for part in batch], matrix, embedder.id)
                self._advance(len(batch))
            self._settle(version, len(waiting), started)

    def _rechunk_all(self, embedder: Embedder) -> None:
        """Every ready version whose chunks other code made, cut, indexed and embedded anew; they wait to be published.

        Not those of which a newer version waits already: a copy of what is ready would take its place.
        """
        waiting = {self.ledger.version(version).document_id for version in self.ledger.versions_in("indexing")}
        outdated = self.ledger.outdated()
        old = [version for version in outdated if self.ledger.version(version).document_id not in waiting]
        left = sum(self.ledger.counts(version).chunks for version in old)
        for version in old:
            self.stop()
            started = time.monotonic()
            left -= self.ledger.counts(version).chunks
            made = with_own_chunks(self.ledger, version)
            store_chunks(self.ledger, made, self._names(version)[0])
            count = self.ledger.counts(made).chunks
            self._expect(self._embedded + count + left)  # of the others, as many as they have now
            embed_chunks(self.ledger, embedder, made, self.stop, self._advance)
            self._settle(made, count, started, rechunked=True)

    def _names(self, version: int) -> tuple[str, ...]:
        document_id = self.ledger.version(version).document_id
        record = self.ledger.document(document_id)
        return (record.names if record is not None else ()) or (document_id,)

    def _settle(self, version: int, embedded: int, started: float, *, rechunked: bool = False) -> None:
        document_id, seconds = self.ledger.version(version).document_id, round(time.monotonic() - started, 2)
        count = self.ledger.counts(version).chunks
        self.settle(Embedded(document_id, self._names(version), count, embedded, seconds, rechunked))

    def _expect(self, chunks: int) -> None:
        self._chunks = chunks
        self.say({"chunks": chunks, "embedded": self._embedded})

    def _advance(self, count: int) -> None:
        self._embedded += count
        self.say({"chunks": self._chunks, "embedded": self._embedded})
