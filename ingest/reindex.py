"""Changes the embedding model of a knowledge base, or only fills its index anew. Nothing is parsed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from ingest.indexing import EMBED_BATCH, rechunk
from kb_qa.embedding_cache import FILE_NAME, CachedEmbedder
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of
from kb_qa.locks import DirectoryLock
from kb_qa.protocols import Embedder
from kb_qa.settings import Settings
from kb_qa.wiring import CACHE, make_visible, service_address

# Who filled the index: this command, the service that owns it, or whoever opens it next.
IndexedBy = Literal["command", "service", "later"]
SERVICE_SECONDS = 3600.0
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Embedded:
    """One document of the new index. `embedded` of its chunks had no vector of the model yet."""

    document_id: str
    names: tuple[str, ...]
    chunks: int
    embedded: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Reindexed:
    """`before` is the model that the index had, "" for none; both are the same where only the index was filled.

    `rechunked` documents were cut anew, because older code had made their chunks.
    """

    before: str
    embedder: str
    documents: tuple[Embedded, ...]
    index: IndexedBy
    rechunked: int = 0


@dataclass(frozen=True, slots=True)
class Reporting:
    """`total` hears once how many chunks there are to embed, `advanced` of each batch, `embedded` of each document."""

    total: Callable[[int], None] = lambda count: None
    advanced: Callable[[int], None] = lambda count: None
    embedded: Callable[[Embedded], None] = lambda document: None


def reindex(
    settings: Settings,
    reporting: Reporting = Reporting(),
    *,
    index_only: bool = False,
    open_model: Callable[[Settings], Embedder] = embedder_of,
) -> Reindexed:
    """Embeds what is visible with the model of the settings, flips to it, and fills the index from the ledger.

    Then documents whose chunks older code made are cut anew, from their stored parse.
    The old index answers until the flip. Killed before it, the vectors made so far stay, and the next run goes on.
    With `index_only` the model stays. Raises MissingIndexError, LockHeldError where an ingest writes, and what opening
    the model raises.
    """
    with DirectoryLock(settings.kb, "ingest"), Ledger.open(settings.kb, create=False) as ledger:
        known = ledger.embedder()
        before = known[0] if known is not None else ""
        if index_only or known is None:
            ledger.seal_index("")
            return Reindexed(before, before, (), _filled(settings, ledger))
        model = open_model(settings)
        with CachedEmbedder(model, settings.kb / CACHE / FILE_NAME) as embedder:
            documents = tuple(_embedded(ledger, embedder, reporting))
            if known == (model.id, model.dimension):
                ledger.seal_index("")
            else:
                spec = (settings.embedder, settings.embedder_backend, settings.embedder_precision)
                ledger.adopt_embedder(model.id, model.dimension, spec)
            index = _filled(settings, ledger)
            renewed = () if ledger.versions_in("indexing") else rechunk(ledger, embedder)
        if renewed:
            index = _filled(settings, ledger)
        return Reindexed(before, model.id, documents, index, len(renewed))


def _embedded(ledger: Ledger, embedder: Embedder, reporting: Reporting) -> Iterator[Embedded]:
    """Every document that is visible, or about to be; a batch is stored at a time."""
    names = {record.document_id: record.names for record in ledger.documents()}
    versions = [*ledger.versions_in("ready"), *ledger.versions_in("indexing")]
    reporting.total(sum(len(ledger.chunks_to_embed(version, embedder.id)) for version in versions))
    for version in versions:
        started = time.monotonic()
        waiting = sorted(ledger.chunks_to_embed(version, embedder.id), key=lambda part: len(part.embedded_text))
        queue = iter(waiting)
        while batch := list(islice(queue, EMBED_BATCH)):
            matrix = embedder.embed_passages([part.embedded_text for part in batch])
            ledger.store_vectors(version, [part.id for part in batch], matrix, embedder.id)
            reporting.advanced(len(batch))
        document_id = ledger.version(version).document_id
        seconds = round(time.monotonic() - started, 2)
        made = Embedded(document_id, names.get(document_id, ()), ledger.counts(version).chunks, len(waiting), seconds)
        reporting.embedded(made)
        yield made


def _filled(settings: Settings, ledger: Ledger) -> IndexedBy:
    """Waits until the index is whole again: filled here, or by the service that owns it."""
    deadline = time.monotonic() + SERVICE_SECONDS
    by_service = bool(service_address(settings))
    make_visible(settings, ledger)
    while not _is_whole(ledger) and service_address(settings) and time.monotonic() < deadline:
        by_service = True
        time.sleep(_LOOK_SECONDS)
    if not _is_whole(ledger):
        make_visible(settings, ledger)  # the service ended meanwhile
    if not _is_whole(ledger):
        return "later"
    return "service" if by_service else "command"


def _is_whole(ledger: Ledger) -> bool:
    return bool(ledger.index_seal()) and not ledger.versions_in("indexing")
