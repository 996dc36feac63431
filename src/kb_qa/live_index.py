"""The index of a process that answers while others change the ledger: what they leave there is followed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kb_qa.answers import Filters, Found, Hit
from kb_qa.embed import open_embedder
from kb_qa.errors import ReindexNeededError
from kb_qa.index_ledger import reindex_needed
from kb_qa.ledger import Ledger
from kb_qa.protocols import Embedder, Identity
from kb_qa.publish import catch_up, rebuild
from kb_qa.retrieve import Retriever
from kb_qa.settings import Settings
from kb_qa.vectors import ChromaStore

log = logging.getLogger(__name__)

GRACE_SECONDS = 10.0  # that a question may search


def embedder_of(settings: Settings) -> Embedder:
    """The embedding model that the settings name. Raises InputError or EnvironmentProblemError."""
    return open_embedder(
        settings.embedder,
        backend=settings.embedder_backend,
        precision=settings.embedder_precision,
        models=settings.models,
    )


def model_of(embedder: Embedder) -> tuple[str, int]:
    """As `IndexLedger.embedder` names it."""
    return embedder.id, embedder.dimension


def indexed_embedder(
    settings: Settings, ledger: Ledger, open_model: Callable[[Settings], Embedder] = embedder_of
) -> Embedder:
    """The embedding model of the settings; where `kb-qa reindex` changed the index to another one, that one.

    Raises what opening either raises, and ReindexNeededError where the index is another model's still.
    """
    embedder, known = open_model(settings), ledger.embedder()
    if known is None or known == model_of(embedder):
        return embedder
    own = settings.embedder
    embedder = reindexed_embedder(settings, ledger, known, model_of(embedder), open_model)
    spec = ledger.embedder_spec()
    log.warning(
        "the index was changed to the model %s, which is used, and not %s: set KB_QA_EMBEDDER=%s, or run kb-qa reindex",
        known[0],
        own,
        spec[0],
    )
    return embedder


def reindexed_embedder(
    settings: Settings,
    ledger: Ledger,
    known: tuple[str, int],
    own: tuple[str, int],
    open_model: Callable[[Settings], Embedder],
) -> Embedder:
    """The model that the ledger was brought to, by the settings that `kb-qa reindex` ran with.

    Raises ReindexNeededError where these do not open it; `own` is the model of our settings.
    """
    spec = ledger.embedder_spec()
    if len(spec) != 3:
        raise ReindexNeededError(reindex_needed(known, own))
    settings = replace(settings, embedder=spec[0], embedder_backend=spec[1], embedder_precision=spec[2])
    embedder = open_model(settings)
    if model_of(embedder) != known:
        raise ReindexNeededError(reindex_needed(known, own))
    return embedder


@dataclass(slots=True)
class LiveIndex:
    """Retrieves from the index as it is now; `refresh` is for one thread at a time, under the index lock.

    A model and its index are replaced together, in one assignment: no question meets the index of another model.
    """

    settings: Settings
    ledger: Ledger
    store: ChromaStore
    retriever: Retriever
    open_model: Callable[[Settings], Embedder] = embedder_of
    told: Callable[[str], None] = lambda reason: None  # what is waited for, where the index has to be rebuilt
    _before: tuple[ChromaStore, float] | None = None  # what was replaced, and when: questions may still be asked of it
    _refused: tuple[str, int] | None = None  # the model that could not be opened here

    def retrieve(self, question: str, *, k: int, filters: Filters = Filters()) -> Sequence[Hit]:
        return self.retriever.retrieve(question, k=k, filters=filters)

    def find(self, question: str, *, k: int, filters: Filters = Filters(), per_document: int | None = None) -> Found:
        return self.retriever.find(question, k=k, filters=filters, per_document=per_document)

    def identities(self) -> Mapping[str, Identity]:
        return self.retriever.identities()

    def refresh(self) -> int:
        """How many versions became visible. Cheap where there is nothing to do, so that it can be asked every second.

        Where the ledger's model changed or its index is unsealed (`kb-qa reindex`), a new index is filled while the old
        one answers, and takes its place. Where the new model cannot be opened here, the error is raised once: the old
        index goes on, and nothing is published.
        """
        known = self.ledger.embedder()
        if known is not None and known == self._refused:
            return 0
        if self._before is not None:
            self._settle(*self._before)
        elif known is not None and known != self._own_model():
            self._replace(self._adopted(known))
        elif known is not None and not self.ledger.index_seal():
            self._replace(self.retriever.embedder)
        if self.ledger.versions_in("indexing") or self.ledger.versions_in("deleting") or self.ledger.tombstones():
            return catch_up(self.ledger, self.store, self.told)
        return 0

    def _adopted(self, known: tuple[str, int]) -> Embedder:
        """The model that the ledger was brought to, by the settings that `kb-qa reindex` ran with."""
        self._refused = known
        embedder = reindexed_embedder(self.settings, self.ledger, known, self._own_model(), self.open_model)
        self._refused = None
        spec = self.ledger.embedder_spec()
        log.warning("the index changes to the model %s; set KB_QA_EMBEDDER=%s before the next start", known[0], spec[0])
        return embedder

    def _replace(self, embedder: Embedder) -> None:
        made = self.store.successor(embedder.dimension)
        rebuild(self.ledger, made)
        self._before = (self.store, time.monotonic())
        self.store = made
        self.retriever = replace(self.retriever, embedder=embedder, vectors=made)
        log.info("a new index answers, with the model %s", embedder.id)

    def _settle(self, before: ChromaStore, since: float) -> None:
        """The replaced index goes once no question can be under way in it."""
        if time.monotonic() - since >= GRACE_SECONDS:
            self.store.take_place(before, self.retriever.embedder.id)
            self.ledger.seal_index(self.store.fingerprint())
            self._before = None

    def _own_model(self) -> tuple[str, int]:
        return model_of(self.retriever.embedder)
