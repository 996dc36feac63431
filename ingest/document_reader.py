"""Reads the pages of an open document one by one and makes them into a parsed document."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import pymupdf

from ingest.assemble import assemble_elements
from ingest.document_dates import pdf_date
from ingest.drafts import PageDraft
from ingest.layout import page_drafts
from ingest.limits import Limits
from ingest.ocr import OCR_DPI
from ingest.page_reader import read_page_draft
from ingest.page_text import read_lines
from ingest.page_watch import PageWatch
from ingest.picture_text import PictureReader
from ingest.upright import make_upright
from ingest.visibility import mark_unseen, render_grey
from kb_qa.elements import Element, ParsedDocument
from kb_qa.errors import DamagedFileError, EmptyFileError
from kb_qa.geometry import Page, Quality

log = logging.getLogger(__name__)

PARSER = f"pymupdf {pymupdf.VersionBind}"
LETTER = (612.0, 792.0)
STORE_PAGES = 25  # MuPDF's cache is emptied after this many pages

Progress = Callable[[int, int], None]


def silence_mupdf() -> None:
    """MuPDF's messages go to the log: a child's output carries its result."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    pymupdf.set_messages(pylogging=True, pylogging_name="ingest.mupdf", pylogging_level=logging.DEBUG)


@dataclass(frozen=True, slots=True)
class Source:
    """An open document with what is known of its file. `flags` are facts for a reader ("repaired")."""

    document: pymupdf.Document
    name: str
    document_id: str
    flags: tuple[str, ...] = ()
    ocr_dpi: float = OCR_DPI


def read_document(source: Source, limits: Limits, progress: Progress | None = None) -> ParsedDocument:
    """All pages of an open document. Raises EmptyFileError or DamagedFileError where not one of them holds anything."""
    count = source.document.page_count
    drafts = []
    for draft in read_pages(source, range(count), limits):
        drafts.append(draft)
        if progress is not None:
            progress(len(drafts), count)
    return assembled(source, drafts)


def read_pages(
    source: Source, indexes: Iterable[int], limits: Limits, watch: PageWatch | None = None
) -> Iterator[PageDraft]:
    """The pages at these places (from 0), each for itself; one that cannot be read says so. `watch` sees each."""
    pictures = PictureReader()
    for index in indexes:
        with watch.at(index, source.document.page_count) if watch is not None else nullcontext():
            draft = _page_or_flag(source, index, limits, pictures)
        yield draft
        if index % STORE_PAGES == STORE_PAGES - 1:
            pymupdf.TOOLS.store_shrink(100)


def assembled(source: Source, drafts: Sequence[PageDraft]) -> ParsedDocument:
    """What the pages make together; `drafts` are all of them. Raises what `read_document` raises."""
    _check_content(drafts, source)
    elements = assemble_elements(drafts, source.document_id)
    dated, dated_by = pdf_date(source.document)
    return ParsedDocument(
        pages=tuple(draft.page for draft in drafts),
        elements=elements,
        parser=PARSER,
        title=_title(source.document, elements),
        flags=(*source.flags, *(flag for draft in drafts for flag in draft.flags)),
        dated=dated,
        dated_by=dated_by,
    )


def _page_or_flag(source: Source, index: int, limits: Limits, pictures: PictureReader) -> PageDraft:
    number = index + 1
    pymupdf.TOOLS.reset_mupdf_warnings()
    try:
        page = source.document[index]
        draft = read_page_draft(page, number, limits, ocr_dpi=source.ocr_dpi, picture_reader=pictures)
    except Exception as error:  # one page of foreign bytes: whatever it breaks, the others are kept
        log.warning("page %d cannot be read", number, exc_info=True)
        plain = read_page_plainly(source, index)
        return plain or _unreadable(Page(number, *_size_of(source.document, index)), plain_reason(error))
    # MuPDF skips what it cannot read and goes on: a damaged page comes out blank, or in part, without an exception.
    complained = "error" in pymupdf.TOOLS.mupdf_warnings(reset=True)
    if not draft.drafts and (complained or not _is_page_object(source.document, index)):
        return _unreadable(draft.page, "its content is damaged")
    if not complained:
        return draft
    quality = draft.page.quality
    reasons = (*quality.reasons, "parts of the page are damaged and may be missing")
    grade = "poor" if quality.grade == "poor" else "fair"
    return replace(draft, page=replace(draft.page, quality=Quality(grade, reasons)))


def read_page_plainly(source: Source, index: int) -> PageDraft | None:
    """The text layer of a page that cannot be read otherwise; None where it has none, or where that fails too."""
    try:
        return _plainly_read(source.document[index], index + 1)
    except Exception:  # noqa: BLE001  # one page of foreign bytes, as below
        return None


def lost_page(document: pymupdf.Document, index: int, reason: str) -> PageDraft:
    """A page at the place `index` (from 0) of which nothing is known but why; it is not loaded, as it may be deadly."""
    width, height = LETTER
    if document.is_pdf:
        box = document.page_cropbox(index)
        width, height = round(box.width, 3), round(box.height, 3)
    return _unreadable(Page(index + 1, width, height), reason)


def _plainly_read(page: pymupdf.Page, number: int) -> PageDraft:
    """The lines of the text layer alone, where a model or what else reads a page failed. Raises where it has none."""
    facts = Page(
        number,
        round(page.rect.width, 3),
        round(page.rect.height, 3),
        rotation=page.rotation,
        label=page.get_label() if page.parent.is_pdf else "",
        quality=Quality("fair", ("read without layout and tables",)),
    )
    page = make_upright(page)
    lines = mark_unseen(read_lines(page), *render_grey(page))
    drafts = page_drafts(lines, (), tables=(), pictures=(), origin="text-layer")
    if not drafts:
        raise ValueError("no text layer")
    flags = (f"page {number} read without layout and tables: the parser failed on it",)
    return PageDraft(facts, tuple(drafts), flags)


def _is_page_object(document: pymupdf.Document, index: int) -> bool:
    """False where the page tree of a PDF points to something that is no page; MuPDF shows it as a blank one."""
    try:
        return not document.is_pdf or document.xref_get_key(document.page_xref(index), "Type")[1] == "/Page"
    except ValueError:  # it points to nothing
        return False


def _unreadable(page: Page, reason: str) -> PageDraft:
    quality = Quality("poor", (f"unreadable: {reason}",))
    return PageDraft(replace(page, quality=quality), flags=(f"page {page.number} unreadable: {reason}",))


def plain_reason(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    return "its content is damaged or of a kind that cannot be drawn"


def _size_of(document: pymupdf.Document, index: int) -> tuple[float, float]:
    try:
        rect = document[index].rect
    except (RuntimeError, ValueError):
        return LETTER
    return round(rect.width, 3), round(rect.height, 3)


def _check_content(drafts: Sequence[PageDraft], source: Source) -> None:
    if any(draft.drafts for draft in drafts):
        return
    unreadable = all(draft.flags for draft in drafts)
    if "repaired" in source.flags or unreadable:
        raise DamagedFileError(f"{source.name!r} is damaged: nothing is left on its pages; get a complete copy")
    if not any(draft.page.quality.reasons for draft in drafts):
        raise EmptyFileError(f"{source.name!r} has no content: every page is blank")


def _title(document: pymupdf.Document, elements: tuple[Element, ...]) -> str:
    """The title in the file's metadata, unless a program put a file name there; else the first heading on page 1."""
    title = str((document.metadata or {}).get("title") or "").strip()
    if title and not re.search(r"\.\w{2,4}$|^untitled|^microsoft word", title, re.IGNORECASE):
        return title
    first = [element for element in elements if element.category == "Title" and not element.hidden]
    return next((element.text for element in first if element.regions[0].page == 1), "")
