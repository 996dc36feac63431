"""A PDF read in ranges of pages, each by a child of its own, and put together by one more.

What looks at several pages (running headers, paragraphs and tables that go on) comes after the joining, so that the
document is the same as if one child had read it. A range travels as packed bytes, which the parent does not open.
"""

from __future__ import annotations

import pickle
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.document_reader import assembled, read_document, read_pages
from ingest.drafts import PageDraft
from ingest.kinds import Kind
from ingest.limits import Limits
from ingest.pdf import opened_pdf
from kb_qa.elements import ParsedDocument

RANGE = 12  # pages; the tail in which one child still reads and the others have nothing left is no longer


@dataclass(frozen=True, slots=True)
class ReadRange:
    """The drafts of some pages, packed, and the seconds it took to read them."""

    packed: bytes
    seconds: float


def parse_or_count(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument | int:
    """A short PDF parsed, or the number of pages of one that is worth to be read in ranges.

    A file that MuPDF had to repair is read at once: every child would have to repair it again.
    """
    with opened_pdf(path, document_id, limits=limits) as source:
        count = int(source.document.page_count)
        return read_document(source, limits) if count <= RANGE or source.flags else count


def read_range(path: Path, document_id: str, kind: Kind, *, limits: Limits, start: int, stop: int) -> ReadRange:
    """The pages at the places from `start` (from 0) to before `stop`."""
    started = time.monotonic()
    with opened_pdf(path, document_id, limits=limits) as source:
        drafts = list(read_pages(source, range(start, stop), limits))
    packed = zlib.compress(pickle.dumps(drafts, pickle.HIGHEST_PROTOCOL), 1)
    return ReadRange(packed, time.monotonic() - started)


def join_ranges(path: Path, document_id: str, kind: Kind, *, limits: Limits, ranges: Sequence[bytes]) -> ParsedDocument:
    """The document, from its ranges in order."""
    drafts: list[PageDraft] = []
    for packed in ranges:
        drafts.extend(pickle.loads(zlib.decompress(packed)))  # made by a child, opened in a child
    with opened_pdf(path, document_id, limits=limits) as source:
        return assembled(source, drafts)
