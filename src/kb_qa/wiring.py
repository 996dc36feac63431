"""The composition root: settings → concrete parts, opened once, closed once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kb_qa.access_keys import AccessKeys
from kb_qa.alias_file import read_aliases
from kb_qa.answer_models import chosen_model, open_model, open_rewriter
from kb_qa.asked.concepts import concept_book
from kb_qa.calibrate import is_stale, measured
from kb_qa.counters import Counters
from kb_qa.embedding_cache import FILE_NAME, forget_texts
from kb_qa.errors import InputError, LockHeldError
from kb_qa.geometry import Region
from kb_qa.guardrails.policies import Policy, policy_of
from kb_qa.job_table import job_states
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.ledger import Ledger
from kb_qa.live_index import LiveIndex, indexed_embedder, model_of
from kb_qa.locks import DirectoryLock, holder
from kb_qa.picture import Picture
from kb_qa.protocols import RegionPictures
from kb_qa.publish import catch_up
from kb_qa.removal import own_digests
from kb_qa.rerank import CrossEncoderReranker
from kb_qa.retrieve import Retriever
from kb_qa.settings import Settings
from kb_qa.spending import SpendTable
from kb_qa.terms import use_cache
from kb_qa.tracing import StageWatch, Tracer
from kb_qa.vectors import ChromaStore, open_store
from kb_qa.whole_document import QuotedPlaces

if TYPE_CHECKING:
    from kb_qa.renderer import Renderer

INDEX = "index"
CACHE = "cache"
WORDS = "words"  # below the models
PICTURES = "pictures"  # the folder of the knowledge base that keeps what was drawn
MODEL_DPI = 110  # a page of 8 × 11 inches at it is as much as a model looks at
CAPTION_DPI = 200  # the print of a chart is small
CAPTION_PIXELS = 1200  # of the longer side
PATIENCE_SECONDS = 30.0
AHEAD_SECONDS = 20.0  # before the first question; what is not read by then is read when it is asked for

Told = Callable[[str], None]


def _to_nobody(reason: str) -> None:
    """Whoever opens the parts for itself sees how long it takes."""


@dataclass(frozen=True, slots=True)
class OpenParts:
    """What a process works with while it owns the index. `refresh` publishes what ingest left in the ledger since;
    after `withdraw` a document is not seen any more, and its texts are forgotten. `warm_up` reads what each of the
    first questions would read, for whoever answers many.
    """

    knowledge_base: KnowledgeBase
    ledger: Ledger
    refresh: Callable[[], int]
    withdraw: Callable[[str], None]
    warm_up: Callable[[], None]
    counters: Counters
    keys: AccessKeys
    job_states: Callable[[], Mapping[str, int]]
    tracer: Tracer | None = None


@contextmanager
def open_ledger(settings: Settings) -> Iterator[Ledger]:
    """Raises MissingIndexError where nothing was ingested."""
    with Ledger.open(settings.kb, create=False) as ledger:
        yield ledger


@contextmanager
def open_parts(
    settings: Settings, *, address: str = "", create: bool = False, told: Told = _to_nobody
) -> Iterator[OpenParts]:
    """Owns the index meanwhile. Raises MissingIndexError, ReindexNeededError or LockHeldError.

    `told` hears what is being waited for, also later, where the index has to be rebuilt.
    """
    told("the models are being loaded")
    counters = Counters()
    policy = policy_of_settings(settings)
    with (
        Ledger.open(settings.kb, create=create) as ledger,
        _open_pictures(settings, ledger) as pictures,
        _open_tracer(settings) as tracer,
    ):
        spending = SpendTable(ledger.database)
        model = open_model(
            settings,
            spending=spending,
            meter=counters,
            notes_of=ledger.flags,
            pictures=pictures,
            places=QuotedPlaces(ledger),
        )
        use_cache(settings.models / WORDS)
        embedder = indexed_embedder(settings, ledger)
        reranker = CrossEncoderReranker(settings.reranker) if settings.reranker else None
        with owned_index(settings, ledger, model_of(embedder), address, told) as store:
            live = LiveIndex(
                settings,
                ledger,
                store,
                Retriever(embedder, store, ledger, reranker, concept_book(policy.aliases)),
                told=told,
            )
            knowledge_base = KnowledgeBase(
                retriever=live,
                library=ledger,
                model=model,
                original=ledger.blob_path,
                top_k=settings.top_k,
                per_document=settings.per_document,
                context_tokens=settings.context_tokens,
                trust_file_names=settings.trust_file_names,
                rewriter=open_rewriter(settings, spending=spending, meter=counters),
                policy=policy,
                stages=StageWatch(counters, tracer),
            )
            calibrate(ledger, live.retriever)
            yield OpenParts(
                knowledge_base,
                ledger,
                refresh=partial(refresh, ledger, live),
                withdraw=partial(_withdraw, settings, ledger),
                warm_up=partial(_warm_up, ledger, live),
                counters=counters,
                keys=AccessKeys(ledger.database),
                job_states=lambda: job_states(ledger.database),
                tracer=tracer,
            )


def _warm_up(ledger: Ledger, live: LiveIndex) -> None:
    ledger.sketches(())
    ledger.read_ahead(live.retriever.embedder.id, AHEAD_SECONDS)
    live.identities()
    live.retriever.embedder.embed_passages(["?"])  # its whole tokenizer, where questions alone need but a part


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
            with owned_index(settings, ledger, known, ""):
                return
        except LockHeldError:  # a command that asks, and then publishes as well; it may end before it sees the last
            if time.monotonic() > deadline:
                return


def wait_until_visible(settings: Settings, ledger: Ledger) -> None:
    """Where a service owns the index, it publishes what was ingested about once a second."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while ledger.versions_in("indexing") and service_address(settings) and time.monotonic() < deadline:
        time.sleep(0.1)


def refresh(ledger: Ledger, live: LiveIndex) -> int:
    """How many versions became visible. Cheap where there is nothing to do, so that it can be asked every second."""
    before = live.retriever
    published = live.refresh()
    if published or live.retriever is not before:
        calibrate(ledger, live.retriever)
    return published


def calibrate(ledger: Ledger, retriever: Retriever) -> None:
    """Measures anew what is no evidence, where the index is notably another one than when that was measured."""
    embedder, chunks = retriever.embedder.id, ledger.indexed_count()
    if chunks and is_stale(ledger.unrelated(), embedder=embedder, chunks=chunks):
        ledger.store_unrelated(measured(retriever, embedder=embedder, chunks=chunks))


@contextmanager
def owned_index(
    settings: Settings, ledger: Ledger, model: tuple[str, int], address: str, told: Told = _to_nobody
) -> Iterator[ChromaStore]:
    """The index with the vectors of `model`, an id and a dimension, caught up with the ledger."""
    told("the index is being opened")
    with (
        DirectoryLock(settings.kb, "index").acquire(address),
        closing(open_store(settings.kb / INDEX, model[1], ledger.index_seal(), model[0])) as store,
    ):
        catch_up(ledger, store, told)
        yield store


@contextmanager
def _open_tracer(settings: Settings) -> Iterator[Tracer | None]:
    if not settings.otlp_endpoint:
        yield None
        return
    with closing(Tracer(settings.otlp_endpoint)) as tracer:
        yield tracer


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
