"""What the parser read: a document's pages with their quality, and the elements of a page."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from kb_qa.answers import Language
from kb_qa.errors import NotFoundError
from kb_qa.geometry import Page
from kb_qa.listing import element_line
from kb_qa.protocols import Library
from kb_qa.quality_reasons import reason_in
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import UsedParts
from kb_qa.service.pictures import NO_DOCUMENT, PathNumber, ReaderLanguage, checked_document_id

router = APIRouter(prefix="/v1/documents/{document_id}")

MOST_ELEMENTS: Final = 200  # of one response
First = Annotated[int, Query(ge=0, le=2**53)]


@router.get("/pages")
async def document_pages(document_id: str, parts: UsedParts, language: ReaderLanguage) -> Response:
    """The size of each page in points, its printed label, and how well it was read; none where it has no pages."""
    library, wanted = parts.knowledge_base.library, checked_document_id(document_id)
    await _require_ready(library, wanted)
    pages = await asyncio.to_thread(library.pages, wanted)
    lines = [page_json(page, language) for page in pages]
    return AsciiJSONResponse({"document_id": wanted, "pages": lines}, headers={"Vary": "Accept-Language"})


@router.get("/pages/{number}/elements")
async def page_elements(document_id: str, number: PathNumber, parts: UsedParts, language: ReaderLanguage) -> Response:
    """The elements of a page in reading order, with the cells of tables; boxes are in points."""
    library, wanted = parts.knowledge_base.library, checked_document_id(document_id)
    page = await asyncio.to_thread(library.page, wanted, number)
    if page is None:
        raise NotFoundError(f"this document has no page {number}")
    elements = await asyncio.to_thread(library.elements_on, wanted, number)
    return AsciiJSONResponse(
        {"page": page_json(page, language), "elements": [element_line(element) for element in elements]},
        headers={"Vary": "Accept-Language"},
    )


@router.get("/elements")
async def document_elements(document_id: str, parts: UsedParts, first: First = 0) -> Response:
    """The elements of a document in reading order, also of one without pages, from the one with order `first` on.

    `next` is the `first` of the request for those that follow; null at the end.
    """
    library, wanted = parts.knowledge_base.library, checked_document_id(document_id)
    await _require_ready(library, wanted)
    found = await asyncio.to_thread(library.elements_from, wanted, first, MOST_ELEMENTS + 1)
    lines = [element_line(element) for element in found[:MOST_ELEMENTS]]
    following = found[MOST_ELEMENTS].order if len(found) > MOST_ELEMENTS else None
    return AsciiJSONResponse({"document_id": wanted, "elements": lines, "next": following})


async def _require_ready(library: Library, document_id: str) -> None:
    record = await asyncio.to_thread(library.document, document_id)
    if record is None or record.state != "ready":
        raise NotFoundError(NO_DOCUMENT)


def page_json(page: Page, language: Language) -> dict[str, object]:
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "label": page.label,
        "grade": page.quality.grade,
        "reasons": [reason_in(language, reason) for reason in page.quality.reasons],
    }
