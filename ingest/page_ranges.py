"""A document with pages read in ranges of them, each by a child of its own, and put together by one more.

What looks at several pages (running headers, paragraphs and tables that go on) comes after the joining, so that the
document is the same as if one child had read it. A range travels as packed bytes, which the parent does not open.
"""

from __future__ import annotations

import pickle
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ingest.document_reader import Source, assembled, lost_page, read_page_plainly, read_pages
from ingest.drafts import PageDraft
from ingest.image import opened_image
from ingest.kinds import Kind
from ingest.limits import Limits
from ingest.page_watch import PageWatch
from ingest.pdf import opened_pdf
from kb_qa.elements import ParsedDocument

RANGE = 12  # pages; the tail in which one child still reads and the others have nothing left is no longer


@dataclass(frozen=True, slots=True)
class ReadRange:
    """The drafts of some pages, packed, and the seconds it took to read them."""

    packed: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class LostPage:
    """A page at the place `index` (from 0) that no child could read; `reason` in words for a reader."""

    index: int
    reason: str


Part = ReadRange | LostPage


@contextmanager
def _opened(path: Path, document_id: str, kind: Kind, limits: Limits) -> Iterator[Source]:
    opened = opened_image if kind == "image" else opened_pdf
    with opened(path, document_id, limits=limits) as source:
        yield source


def parse_or_count(
    path: Path, document_id: str, kind: Kind, *, limits: Limits, watch: PageWatch
) -> ParsedDocument | int:
    """A short document parsed, or the number of pages of one that is worth to be read in ranges.

    A file that MuPDF had to repair is read at once: every child would have to repair it again.
    """
    with _opened(path, document_id, kind, limits) as source:
        count = int(source.document.page_count)
        if count > RANGE and not source.flags:
            return count
        return assembled(source, list(read_pages(source, range(count), limits, watch)))


def read_range(
    path: Path, document_id: str, kind: Kind, *, limits: Limits, watch: PageWatch, pages: range
) -> ReadRange:
    """The pages at these places (from 0)."""
    started = time.monotonic()
    with _opened(path, document_id, kind, limits) as source:
        return _packed(list(read_pages(source, pages, limits, watch)), started)


def read_plainly(path: Path, document_id: str, kind: Kind, *, limits: Limits, watch: PageWatch, lost: LostPage) -> Part:
    """The text layer alone of a page on which the parser died; the page as it is, lost, where there is none."""
    started = time.monotonic()
    with _opened(path, document_id, kind, limits) as source, watch.at(lost.index, source.document.page_count):
        draft = read_page_plainly(source, lost.index)
    return lost if draft is None else _packed([draft], started)


def join_ranges(
    path: Path, document_id: str, kind: Kind, *, limits: Limits, ranges: Sequence[bytes | LostPage]
) -> ParsedDocument:
    """The document, from its ranges in order."""
    drafts: list[PageDraft] = []
    with _opened(path, document_id, kind, limits) as source:
        for part in ranges:
            if isinstance(part, LostPage):
                drafts.append(lost_page(source.document, part.index, part.reason))
            else:
                drafts.extend(pickle.loads(zlib.decompress(part)))  # made by a child, opened in a child
        return assembled(source, drafts)


def _packed(drafts: Sequence[PageDraft], started: float) -> ReadRange:
    packed = zlib.compress(pickle.dumps(drafts, pickle.HIGHEST_PROTOCOL), 1)
    return ReadRange(packed, time.monotonic() - started)
