"""The composition root: settings → concrete parts, opened once, closed once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from kb_qa.embed import check_embedder, open_embedder
from kb_qa.errors import InputError, LockHeldError
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock, holder
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.protocols import AnswerModel, Embedder
from kb_qa.publish import catch_up
from kb_qa.rerank import CrossEncoderReranker
from kb_qa.retrieve import Retriever
from kb_qa.settings import Settings
from kb_qa.terms import use_cache
from kb_qa.vectors import ChromaStore, open_store

INDEX = "index"
CACHE = "cache"
PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class OpenParts:
    """What a process works with while it owns the index. `refresh` publishes what ingest left in the ledger since."""

    knowledge_base: KnowledgeBase
    refresh: Callable[[], int]


@contextmanager
def open_ledger(settings: Settings) -> Iterator[Ledger]:
    """Raises MissingIndexError where nothing was ingested."""
    with Ledger.open(settings.kb, create=False) as ledger:
        yield ledger


@contextmanager
def open_parts(settings: Settings, *, address: str = "", create: bool = False) -> Iterator[OpenParts]:
    """Owns the index meanwhile. Raises MissingIndexError, ReindexNeededError or LockHeldError."""
    model = open_model(settings)
    with Ledger.open(settings.kb, create=create) as ledger:
        use_cache(settings.kb / CACHE)
        embedder = embedder_of(settings)
        check_embedder(ledger, embedder)
        reranker = CrossEncoderReranker(settings.reranker) if settings.reranker else None
        with _owned_index(settings, ledger, embedder.dimension, address) as store:
            knowledge_base = KnowledgeBase(
                retriever=Retriever(embedder, store, ledger, reranker),
                library=ledger,
                model=model,
                original=ledger.blob_path,
                top_k=settings.top_k,
                per_document=settings.per_document,
                trust_file_names=settings.trust_file_names,
            )
            yield OpenParts(knowledge_base, refresh=lambda: refresh(ledger, store))


@contextmanager
def open_knowledge_base(settings: Settings) -> Iterator[KnowledgeBase]:
    """Questions from this process. Raises what `open_parts` raises."""
    with open_parts(settings) as parts:
        yield parts.knowledge_base


def service_address(settings: Settings) -> str:
    """Where the service that owns this index answers; empty where none does."""
    who = holder(settings.kb, "index")
    return who.address if who is not None else ""


def make_visible(settings: Settings, ledger: Ledger) -> None:
    """Publishes what waits in the ledger: here where the index is free; a service that owns it does it by itself.

    Where neither comes to pass, it stays in the ledger: whoever opens the index next publishes it.
    """
    known = ledger.embedder()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while known is not None and not service_address(settings):
        try:
            with _owned_index(settings, ledger, known[1], ""):
                return
        except LockHeldError:  # a command that asks, and then publishes as well; it may end before it sees the last
            if time.monotonic() > deadline:
                return


def refresh(ledger: Ledger, store: ChromaStore) -> int:
    """How many versions became visible. Cheap where there is nothing to do, so that it can be asked every second."""
    if ledger.versions_in("indexing") or ledger.versions_in("deleting") or ledger.tombstones():
        return catch_up(ledger, store)
    return 0


@contextmanager
def _owned_index(settings: Settings, ledger: Ledger, dimension: int, address: str) -> Iterator[ChromaStore]:
    with (
        DirectoryLock(settings.kb, "index").acquire(address),
        closing(open_store(settings.kb / INDEX, dimension, ledger.index_seal())) as store,
    ):
        catch_up(ledger, store)
        yield store


def embedder_of(settings: Settings) -> Embedder:
    """The embedding model that the settings name. Raises InputError or EnvironmentProblemError."""
    return open_embedder(
        settings.embedder,
        backend=settings.embedder_backend,
        precision=settings.embedder_precision,
        models=settings.models,
    )


def open_model(settings: Settings) -> AnswerModel:
    """The answer model that `KB_QA_MODEL` names."""
    if settings.model in {"auto", "extractive"}:
        return ExtractiveModel()
    raise InputError(f"KB_QA_MODEL={settings.model!r} is not a model of this version; it has auto and extractive")
