"""The composition root: settings → concrete parts, opened once, closed once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kb_qa.alias_file import read_aliases
from kb_qa.answer_models import chosen_model, open_model, open_rewriter
from kb_qa.counters import Counters
from kb_qa.embed import check_embedder, open_embedder
from kb_qa.embedding_cache import FILE_NAME, forget_texts
from kb_qa.errors import InputError, LockHeldError
from kb_qa.geometry import Region
from kb_qa.guardrails.policies import Policy, policy_of
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock, holder
from kb_qa.picture import Picture
from kb_qa.protocols import Embedder, RegionPictures
from kb_qa.publish import catch_up
from kb_qa.removal import own_digests
from kb_qa.rerank import CrossEncoderReranker
from kb_qa.retrieve import Retriever
from kb_qa.settings import Settings
from kb_qa.spending import SpendTable
from kb_qa.terms import use_cache
from kb_qa.vectors import ChromaStore, open_store
from kb_qa.whole_document import QuotedPlaces

if TYPE_CHECKING:
    from kb_qa.renderer import Renderer

INDEX = "index"
CACHE = "cache"
PICTURES = "pictures"  # the folder of the knowledge base that keeps what was drawn
MODEL_DPI = 110  # a page of 8 × 11 inches at it is as much as a model looks at
CAPTION_DPI = 200  # the print of a chart is small
CAPTION_PIXELS = 1200  # of the longer side
PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class OpenParts:
    """What a process works with while it owns the index. `refresh` publishes what ingest left in the ledger since;
    after `withdraw` a document is not seen any more, and its texts are forgotten.
    """

    knowledge_base: KnowledgeBase
    ledger: Ledger
    refresh: Callable[[], int]
    withdraw: Callable[[str], None]
    counters: Counters


@contextmanager
def open_ledger(settings: Settings) -> Iterator[Ledger]:
    """Raises MissingIndexError where nothing was ingested."""
    with Ledger.open(settings.kb, create=False) as ledger:
        yield ledger


@contextmanager
def open_parts(settings: Settings, *, address: str = "", create: bool = False) -> Iterator[OpenParts]:
    """Owns the index meanwhile. Raises MissingIndexError, ReindexNeededError or LockHeldError."""
    counters = Counters()
    policy = policy_of_settings(settings)
    with Ledger.open(settings.kb, create=create) as ledger, _open_pictures(settings, ledger) as pictures:
        spending = SpendTable(ledger.database)
        model = open_model(
            settings,
            spending=spending,
            meter=counters,
            notes_of=ledger.flags,
            pictures=pictures,
            places=QuotedPlaces(ledger),
        )
        use_cache(settings.kb / CACHE)
        embedder = embedder_of(settings)
        check_embedder(ledger, embedder)
        reranker = CrossEncoderReranker(settings.reranker) if settings.reranker else None
        with owned_index(settings, ledger, embedder.dimension, address) as store:
            knowledge_base = KnowledgeBase(
                retriever=Retriever(embedder, store, ledger, reranker),
                library=ledger,
                model=model,
                original=ledger.blob_path,
                top_k=settings.top_k,
                per_document=settings.per_document,
                trust_file_names=settings.trust_file_names,
                rewriter=open_rewriter(settings, spending=spending, meter=counters),
                policy=policy,
            )
            yield OpenParts(
                knowledge_base,
                ledger,
                refresh=partial(refresh, ledger, store),
                withdraw=partial(_withdraw, settings, ledger),
                counters=counters,
            )


def _withdraw(settings: Settings, ledger: Ledger, document_id: str) -> None:
    # Its texts first: once the index owner has purged it, nothing knows which they were.
    forget_texts(settings.kb / CACHE / FILE_NAME, own_digests(ledger, document_id))
    ledger.withdraw(document_id)


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
            with owned_index(settings, ledger, known[1]):
                return
        except LockHeldError:  # a command that asks, and then publishes as well; it may end before it sees the last
            if time.monotonic() > deadline:
                return


def wait_until_visible(settings: Settings, ledger: Ledger) -> None:
    """Where a service owns the index, it publishes what was ingested about once a second."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while ledger.versions_in("indexing") and service_address(settings) and time.monotonic() < deadline:
        time.sleep(0.1)


def refresh(ledger: Ledger, store: ChromaStore) -> int:
    """How many versions became visible. Cheap where there is nothing to do, so that it can be asked every second."""
    if ledger.versions_in("indexing") or ledger.versions_in("deleting") or ledger.tombstones():
        return catch_up(ledger, store)
    return 0


@contextmanager
def owned_index(settings: Settings, ledger: Ledger, dimension: int, address: str = "") -> Iterator[ChromaStore]:
    with (
        DirectoryLock(settings.kb, "index").acquire(address),
        closing(open_store(settings.kb / INDEX, dimension, ledger.index_seal())) as store,
    ):
        catch_up(ledger, store)
        yield store


@dataclass(frozen=True, slots=True)
class _DrawnRegions:
    """Regions for a model, drawn by the children that draw for readers.

    `pixels` bound the longer side; 0 sets no bound.
    """

    renderer: Renderer
    original: Callable[[str], Path]
    dpi: float = MODEL_DPI
    pixels: int = 0

    async def png(self, document_id: str, region: Region) -> bytes:
        longer = 0.0 if region.bbox is None else max(region.bbox.width, region.bbox.height)
        dpi = min(self.dpi, self.pixels * 72 / longer) if self.pixels and longer else self.dpi
        picture = Picture(region.page, region.bbox, dpi=dpi)
        return await self.renderer.picture(self.original(document_id), document_id, picture)


@contextmanager
def open_caption_pictures(settings: Settings, ledger: Ledger) -> Iterator[RegionPictures]:
    """Pictures as a model is to describe them, drawn in child processes."""
    from kb_qa.renderer import Renderer

    with Renderer(settings.kb / PICTURES, max_megapixels=settings.max_megapixels) as renderer:
        yield _DrawnRegions(renderer, ledger.blob_path, CAPTION_DPI, CAPTION_PIXELS)


@contextmanager
def _open_pictures(settings: Settings, ledger: Ledger) -> Iterator[RegionPictures | None]:
    """None where none are sent: PyMuPDF loads only where it is needed."""
    if not settings.send_pictures or chosen_model(settings) != "claude":
        yield None
        return
    from kb_qa.renderer import Renderer

    with Renderer(settings.kb / PICTURES, max_megapixels=settings.max_megapixels) as renderer:
        yield _DrawnRegions(renderer, ledger.blob_path)


def policy_of_settings(settings: Settings) -> Policy:
    """What the guard holds to, with the alias table of the knowledge base. Raises InputError where either is wrong."""
    try:
        aliases = read_aliases(settings.kb)
        return policy_of(settings.policy, settings.policy_kinds, aliases, settings.policy_granularity)
    except ValueError as error:
        raise InputError(f"KB_QA_POLICY, KB_QA_POLICY_KINDS or KB_QA_POLICY_GRANULARITY: {error}") from error


def embedder_of(settings: Settings) -> Embedder:
    """The embedding model that the settings name. Raises InputError or EnvironmentProblemError."""
    return open_embedder(
        settings.embedder,
        backend=settings.embedder_backend,
        precision=settings.embedder_precision,
        models=settings.models,
    )
