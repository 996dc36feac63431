"""The one writer of a knowledge base: the pipeline's parts, opened under the ingest lock and closed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ingest.captions import Captions
from ingest.children import ParserPool
from ingest.limits import Limits
from ingest.pipeline import Ingest, Outcome
from ingest.progress import IngestProgress
from ingest.spread import SpreadingPool
from kb_qa.answer_models import open_describer
from kb_qa.counters import Counters
from kb_qa.embedding_cache import FILE_NAME, CachedEmbedder
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of
from kb_qa.locks import DirectoryLock
from kb_qa.settings import Settings
from kb_qa.spending import SpendTable
from kb_qa.terms import use_cache
from kb_qa.wiring import CACHE, make_visible, open_caption_pictures, policy_of_settings


def ingest_into(settings: Settings, paths: Sequence[Path], progress: IngestProgress) -> tuple[Outcome, ...]:
    """Raises LockHeldError where another ingest writes, ReindexNeededError where another model made the index."""
    aliases = policy_of_settings(settings).aliases
    with DirectoryLock(settings.kb, "ingest"), Ledger.open(settings.kb, create=True) as ledger:
        ledger.remove_leftovers()
        use_cache(settings.kb / CACHE)
        model = embedder_of(settings)
        ledger.set_embedder(model.id, model.dimension)
        limits = Limits.from_settings(settings)
        with (
            CachedEmbedder(model, settings.kb / CACHE / FILE_NAME) as embedder,
            ParserPool(limits=limits, workers=settings.parsers) as pool,
            _open_captions(settings, ledger) as captions,
        ):
            pipeline = Ingest(
                ledger=ledger,
                embedder=embedder,
                pool=SpreadingPool(pool, limits),
                limits=limits,
                publish=partial(make_visible, settings, ledger),
                report=progress.report,
                discovered=progress.discovered,
                aliases=aliases,
                captions=captions,
            )
            return pipeline.run(paths)


@contextmanager
def _open_captions(settings: Settings, ledger: Ledger) -> Iterator[Captions | None]:
    """The stage that describes pictures; None where it is not wanted. The key stays in this process."""
    if not settings.captions:
        yield None
        return
    describer = open_describer(settings, spending=SpendTable(ledger.database), meter=Counters())
    with open_caption_pictures(settings, ledger) as pictures:
        yield Captions(ledger, pictures, describer, settings.captions_per_document)
