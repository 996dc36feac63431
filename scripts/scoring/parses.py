"""What the parser makes of a file, parsed once and kept packed in a folder for the next run."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pymupdf

from ingest.limits import Limits
from ingest.pdf import parse_pdf
from ingest.pipeline import PIPELINE
from kb_qa.elements import ParsedDocument
from kb_qa.records import pack, unpack


def parse_of(path: Path, cache: Path | None, pages: Sequence[int] | None = None) -> ParsedDocument:
    """The parse of a PDF, or of some of its pages (from 0), which then count from 1 in their order.

    What is kept is known by the file's bytes, the pages and the parser's version. It does not see a change of the
    parser's code alone: empty the folder after one.
    """
    key = hashlib.sha256(path.read_bytes() + repr((pages, PIPELINE)).encode()).hexdigest()[:32]
    kept = cache / f"{key}.parse" if cache is not None else None
    if kept is not None and kept.exists():
        return unpack(ParsedDocument, kept.read_bytes())
    parsed = _parsed(path, pages)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pack(parsed))
    return parsed


def _parsed(path: Path, pages: Sequence[int] | None) -> ParsedDocument:
    if pages is None:
        return parse_pdf(path, "document", limits=Limits())
    with tempfile.TemporaryDirectory() as folder, pymupdf.open(path) as document:
        document.select(list(pages))
        sample = Path(folder) / path.name
        document.save(sample)
        return parse_pdf(sample, "document", limits=Limits())
