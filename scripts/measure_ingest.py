"""Pages per second of parsing and of the whole of ingest, beside plain text extraction and embedding alone, in one run.

    python scripts/measure_ingest.py FILE.pdf… [--pages 12] [--seed 1]

Of each file so many pages in a row are taken, from a place drawn by lot; 0 takes all of them. Both ingests go into an
empty knowledge base; the second one finds its embeddings remembered.
"""

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf

from ingest.children import ParserPool
from ingest.handover import ingest_into
from ingest.indexing import EMBED_BATCH
from ingest.limits import Limits
from ingest.progress import IngestProgress
from ingest.spread import SpreadingPool
from kb_qa.elements import content_id
from kb_qa.embedding_cache import FILE_NAME
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of
from kb_qa.settings import Settings
from kb_qa.wiring import CACHE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lot = random.Random(options.seed)
        files = [taken(file, Path(folder), options.pages, lot) for file in options.files]
        measure(files, Path(folder) / "kb")


def taken(file: Path, folder: Path, count: int, lot: random.Random) -> Path:
    """A PDF of `count` of the file's pages."""
    with pymupdf.open(file) as document, pymupdf.open() as part:
        last = document.page_count - 1
        start = lot.randrange(max(last + 2 - count, 1)) if count else 0
        part.insert_pdf(document, from_page=start, to_page=min(start + count - 1, last) if count else last)
        part.save(folder / file.name)
    return folder / file.name


def measure(files: list[Path], kb: Path) -> None:
    settings = replace(Settings(), kb=kb)
    with timed("plain text extraction (PyMuPDF get_text), one process") as plain:
        pages = sum(len([page.get_text() for page in pymupdf.open(file)]) for file in files)
    with timed(f"parsing, {settings.parsers} processes") as parsing:
        parse(files, settings)
    with timed("the whole of ingest") as whole, IngestProgress(lambda outcome: None) as progress:
        ingest_into(settings, files, progress)
    texts = chunk_texts(settings)
    shutil.move(kb / CACHE / FILE_NAME, kb.parent)
    shutil.rmtree(kb)
    (kb / CACHE).mkdir(parents=True)
    shutil.move(kb.parent / FILE_NAME, kb / CACHE)
    with timed("the whole of ingest, embeddings remembered") as again, IngestProgress(lambda outcome: None) as progress:
        ingest_into(settings, files, progress)
    embedder = embedder_of(settings)
    with timed("embedding alone") as embedding:
        for start in range(0, len(texts), EMBED_BATCH):
            embedder.embed_passages(texts[start : start + EMBED_BATCH])
    print(f"\nn = {len(files)} files, {pages} pages, {len(texts)} chunks")
    for name, seconds in (plain, parsing, whole, again, embedding):
        print(f"{name:<56} {seconds:8.1f} s {pages / seconds:8.2f} pages/s {len(texts) / seconds:8.1f} chunks/s")
    print(f"{'the whole of ingest / embedding alone':<56} {whole[1] / embedding[1]:8.2f}")


@contextmanager
def timed(name: str) -> Iterator[list[Any]]:
    result: list[Any] = [name, 0.0]
    started = time.monotonic()
    yield result
    result[1] = time.monotonic() - started
    print(f"{name}: {result[1]:.1f} s", flush=True)


def parse(files: list[Path], settings: Settings) -> None:
    limits = Limits.from_settings(settings)
    with ParserPool(limits=limits, workers=settings.parsers) as children:
        pool = SpreadingPool(children, limits)
        for future in [pool.submit(file, content_id(file.name), "pdf") for file in files]:
            future.result()


def chunk_texts(settings: Settings) -> list[str]:
    with Ledger.open(settings.kb, create=False) as ledger:
        rows = (rows for version in ledger.versions_in("ready") for rows in ledger.index_rows(version))
        return sorted((chunk.embedded_text for part in rows for chunk in part.chunks), key=len)


if __name__ == "__main__":
    main()
