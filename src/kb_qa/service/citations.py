"""Routes of a stored answer's citations: the export for web viewers (S2.4) and the crops.

A citation's number in a path is the ordinal, from 1, of its event in the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query
from starlette.responses import Response

from kb_qa.answers import AnswerEvent
from kb_qa.errors import NotFoundError
from kb_qa.geometry import BBox, union_of
from kb_qa.protocols import Library
from kb_qa.service.answers import answer_text
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import UsedParts
from kb_qa.service.pictures import DEFAULT_DPI, Dpi, IfNoneMatch, PathNumber, picture_response, shown_page
from kb_qa.service.questions import MAX_PAGE

router = APIRouter(prefix="/v1/answers/{answer_id}/citations")

PageChoice = Annotated[int | None, Query(ge=1, le=MAX_PAGE)]


@router.get("")
async def exported_citations(answer_id: str, parts: UsedParts) -> Response:
    library = parts.knowledge_base.library
    events = await parts.open_answers.find(library, answer_id)
    exported = await asyncio.to_thread(_exported, library, answer_id, events)
    return AsciiJSONResponse({"answer_id": answer_id, "citations": exported})


@router.get("/{n}/region.png")
async def citation_picture(
    answer_id: str,
    n: PathNumber,
    parts: UsedParts,
    page: PageChoice = None,
    dpi: Dpi = DEFAULT_DPI,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The citation's region on its first page, or on `page` where a passage runs over a page break."""
    events = await parts.open_answers.find(parts.knowledge_base.library, answer_id)
    document_id, number, bbox = _place(_citations(events), n, page)
    await shown_page(parts.knowledge_base.library, document_id, number)

    async def render() -> bytes:
        path = await asyncio.to_thread(parts.knowledge_base.original, document_id)
        return await parts.renderer.region_png(path, document_id, number, bbox, dpi=dpi)

    return await picture_response(("region", document_id, number, bbox.as_tuple(), dpi), if_none_match, render)


# The data of stored events is plain JSON whose shape ARCHITECTURE.md fixes; `Any` stands for that.
Data = Mapping[str, Any]


def _citations(events: Sequence[AnswerEvent]) -> list[Data]:
    return [cast(Data, event.data) for event in events if event.event == "citation"]


def _place(citations: Sequence[Data], n: int, page: int | None) -> tuple[str, int, BBox]:
    """Document, page and box of citation `n`. Raises NotFoundError where it has no place on a page."""
    if n > len(citations):
        raise NotFoundError(f"this answer has no citation {n}")
    citation = citations[n - 1]
    for region in citation["regions"]:
        if region["bbox"] is not None and page in (None, region["page"]):
            return citation["document_id"], region["page"], BBox(*region["bbox"])
    raise NotFoundError(f"citation {n} has no place on {'a page' if page is None else f'page {page}'}")


def _exported(library: Library, answer_id: str, events: Sequence[AnswerEvent]) -> list[dict[str, object]]:
    text = answer_text(events)
    return [
        _citation_json(library, citation, n=n, answer_id=answer_id, claim=text[citation["start"] : citation["end"]])
        for n, citation in enumerate(_citations(events), 1)
    ]


def _citation_json(library: Library, citation: Data, *, n: int, answer_id: str, claim: str) -> dict[str, object]:
    crop = f"/v1/answers/{answer_id}/citations/{n}/region.png"
    regions = [_region_json(library, citation["document_id"], region, crop) for region in citation["regions"]]
    first = (
        regions[0] if regions else {"page_number": None, "box": None, "rects": [], "region_url": None, "page_url": None}
    )
    return {
        "n": n,
        "number": citation["number"],
        "claim": claim,
        "cited_text": citation["cited_text"],
        "found": citation["found"],
        "label": citation["label"],
        "document": citation["document"],
        "document_id": citation["document_id"],
        **first,
        "regions": regions,
    }


def _region_json(library: Library, document_id: str, region: Data, crop: str) -> dict[str, object]:
    """Boxes as shares (0..1) of the displayed page: the union, and one rectangle per line of the quote."""
    number = region["page"]
    page = library.page(document_id, number)
    rects = [BBox(*rect) for rect in region.get("rects") or ()]
    union = union_of(rects) or (BBox(*region["bbox"]) if region["bbox"] is not None else None)
    return {
        "page_number": number,
        "box": None if page is None or union is None else list(union.normalised(page)),
        "rects": [] if page is None else [list(rect.normalised(page)) for rect in rects],
        "region_url": None if union is None else f"{crop}?page={number}",
        "page_url": None if page is None else f"/v1/documents/{document_id}/pages/{number}.png",
    }
