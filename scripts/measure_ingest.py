"""Pages per second of parsing and of the whole of ingest, beside plain text extraction and embedding alone, in one run.

python scripts/measure_ingest.py FILE.pdf…
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pymupdf

from ingest.children import ParserPool
from ingest.limits import Limits
from ingest.pipeline import EMBED_BATCH
from ingest.progress import IngestProgress
from ingest.writer import ingest_into
from kb_qa.elements import content_id
from kb_qa.embed import open_embedder
from kb_qa.ledger import Ledger
from kb_qa.settings import Settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    files = parser.parse_args().files
    settings = Settings()
    with timed("plain text extraction (PyMuPDF get_text), one process") as plain:
        pages = sum(len([page.get_text() for page in pymupdf.open(file)]) for file in files)
    with timed(f"parsing, {settings.parsers} processes") as parsing:
        parse(files, settings)
    with tempfile.TemporaryDirectory() as folder:
        kb = replace(settings, kb=Path(folder) / "kb")
        with timed("the whole of ingest") as whole, IngestProgress(lambda outcome: None) as progress:
            ingest_into(kb, files, progress)
        texts = chunk_texts(kb)
    embedder = open_embedder(settings.embedder)
    with timed("embedding alone") as embedding:
        for start in range(0, len(texts), EMBED_BATCH):
            embedder.embed_passages(texts[start : start + EMBED_BATCH])
    print(f"\nn = {len(files)} files, {pages} pages, {len(texts)} chunks")
    for name, seconds in (plain, parsing, whole, embedding):
        print(f"{name:<56} {seconds:8.1f} s {pages / seconds:8.2f} pages/s {len(texts) / seconds:8.1f} chunks/s")


@contextmanager
def timed(name: str) -> Iterator[list[object]]:
    result: list[object] = [name, 0.0]
    started = time.monotonic()
    yield result
    result[1] = time.monotonic() - started
    print(f"{name}: {result[1]:.1f} s", flush=True)


def parse(files: list[Path], settings: Settings) -> None:
    with ParserPool(limits=Limits.from_settings(settings), workers=settings.parsers) as pool:
        for future in [pool.submit(file, content_id(file.name), "pdf") for file in files]:
            future.result()


def chunk_texts(settings: Settings) -> list[str]:
    with Ledger.open(settings.kb, create=False) as ledger:
        rows = (rows for version in ledger.versions_in("ready") for rows in ledger.index_rows(version))
        return sorted((chunk.embedded_text for part in rows for chunk in part.chunks), key=len)


if __name__ == "__main__":
    main()
