"""Pages per second of parsing and of the whole of ingest, beside a plain dense pipeline, all in one run.

    python scripts/measure_ingest.py FILE.pdf… [--pages 12] [--seed 1]

Of each file so many pages in a row are taken, from a place drawn by lot; 0 takes all of them. Both ingests go into an
empty knowledge base; the second one finds its embeddings remembered. The plain pipeline cuts PyMuPDF's text into pieces
of 1,000 characters, and embeds them with the same model into Chroma. Processor time is that of this process and its
children: it tells how fast an idle machine of so many cores could be at best.
"""

import argparse
import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
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
from kb_qa.protocols import Embedder, Vectors
from kb_qa.settings import Settings
from kb_qa.vectors import ChromaStore
from kb_qa.wiring import CACHE

PLAIN = 1000  # characters


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
        embed(embedder, texts)
    with timed("plain dense pipeline (PyMuPDF, 1,000 characters, Chroma)") as dense:
        pieces = plain_pieces(files)
        vectors = embed(embedder, pieces)
        store = ChromaStore(kb.parent / "plain", embedder.dimension)
        store.upsert([str(i) for i in range(len(pieces))], vectors, [{"document_id": "d"}] * len(pieces))
        store.close()
    cores = len(os.sched_getaffinity(0))
    print(f"\nn = {len(files)} files, {pages} pages, {len(texts)} chunks, {len(pieces)} plain pieces; {cores} cores")
    print(f"{'':<58} {'seconds':>8} {'pages/s':>8} {'processor s':>12} {'a page':>8} {'pages/s at best':>16}")
    for name, seconds, work in (plain, parsing, whole, again, embedding, dense):
        rates = f"{seconds:8.1f} {pages / seconds:8.2f} {work:12.1f} {work / pages:8.3f} {cores * pages / work:16.2f}"
        print(f"{name:<58} {rates}")
    print(f"{'processor time, the whole of ingest / plain dense':<58} {whole[2] / dense[2]:8.2f}")


def embed(embedder: Embedder, texts: list[str]) -> Vectors:
    """By length, so that a batch pads little."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    vectors = np.zeros((len(texts), embedder.dimension), np.float32)
    for start in range(0, len(order), EMBED_BATCH):
        part = order[start : start + EMBED_BATCH]
        vectors[part] = embedder.embed_passages([texts[place] for place in part])
    return vectors


def plain_pieces(files: list[Path]) -> list[str]:
    pieces = []
    for file in files:
        with pymupdf.open(file) as document:
            text = "".join(page.get_text() for page in document)
        pieces += [text[start : start + PLAIN] for start in range(0, len(text), PLAIN)]
    return [piece for piece in pieces if piece.strip()]


@contextmanager
def timed(name: str) -> Iterator[list[Any]]:
    """Name, seconds, and processor seconds of this process and its children that ended."""
    result: list[Any] = [name, 0.0, 0.0]
    started, before = time.monotonic(), processor_seconds()
    yield result
    result[1:] = [time.monotonic() - started, processor_seconds() - before]
    print(f"{name}: {result[1]:.1f} s", flush=True)


def processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


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
