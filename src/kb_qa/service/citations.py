"""Routes of a stored answer's citations: the export for web viewers (S2.4) and the crops.

A citation's number in a path is the ordinal, from 1, of its event in the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from kb_qa.answers import AnswerEvent
from kb_qa.errors import NotFoundError
from kb_qa.geometry import BBox, union_of
from kb_qa.marks import Data, answer_language, answer_text, cited, line_rects
from kb_qa.picture import Picture
from kb_qa.protocols import Library
from kb_qa.search_filters import MAX_PAGE
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import UsedParts
from kb_qa.service.pictures import (
    DEFAULT_DPI,
    Dpi,
    IfNoneMatch,
    Margin,
    PathNumber,
    picture_response,
)

router = APIRouter(prefix="/v1/answers/{answer_id}/citations")

PageChoice = Annotated[int | None, Query(ge=1, le=MAX_PAGE)]


@router.get("")
async def exported_citations(answer_id: str, parts: UsedParts) -> Response:
    library = parts.knowledge_base.library
    events = await parts.open_answers.find(library, answer_id)
    exported = await asyncio.to_thread(_exported, library, answer_id, events)
    return AsciiJSONResponse({"answer_id": answer_id, "citations": exported})


@router.get("/{n}/region.png")
async def citation_picture(  # noqa: PLR0913 -- a query's fields
    answer_id: str,
    n: PathNumber,
    parts: UsedParts,
    page: PageChoice = None,
    dpi: Dpi = DEFAULT_DPI,
    margin: Margin = 0,
    marks: bool = False,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The citation's region on its first page, or on `page` where a passage runs over a page break.

    `marks` tints the cited words.
    """
    events = await parts.open_answers.find(parts.knowledge_base.library, answer_id)
    document_id, region = _place(cited(events), n, page)
    asked = Picture(region["page"], BBox(*region["bbox"]), dpi, margin, line_rects(region) if marks else ())
    return await picture_response(
        parts, document_id, asked, language=answer_language(events), if_none_match=if_none_match
    )


def _place(citations: Sequence[Data], n: int, page: int | None) -> tuple[str, Data]:
    """Document and region of citation `n`. Raises NotFoundError where it has no place on a page."""
    if n > len(citations):
        raise NotFoundError(f"this answer has no citation {n}")
    citation = citations[n - 1]
    for region in citation["regions"]:
        if region["bbox"] is not None and page in (None, region["page"]):
            return citation["document_id"], region
    raise NotFoundError(f"citation {n} has no place on {'a page' if page is None else f'page {page}'}")


def _exported(library: Library, answer_id: str, events: Sequence[AnswerEvent]) -> list[dict[str, object]]:
    text = answer_text(events)
    return [
        _citation_json(library, citation, n=n, answer_id=answer_id, claim=text[citation["start"] : citation["end"]])
        for n, citation in enumerate(cited(events), 1)
    ]


NOWHERE: dict[str, Any] = {
    "page_number": None, "box": None, "rects": [], "quads": [], "region_url": None, "page_url": None,
}  # fmt: skip


def _citation_json(library: Library, citation: Data, *, n: int, answer_id: str, claim: str) -> dict[str, object]:
    """The fields of the first place stand beside the citation's own, as viewers of one box expect them."""
    crop = f"/v1/answers/{answer_id}/citations/{n}/region.png"
    regions = [_region_json(library, citation["document_id"], region, crop) for region in citation["regions"]]
    return {
        "n": n,
        "number": citation["number"],
        "claim": claim,
        "cited_text": citation["cited_text"],
        "found": citation["found"],
        "level": citation["level"],
        "label": citation["label"],
        "document": citation["document"],
        "document_id": citation["document_id"],
        **(regions[0] if regions else NOWHERE),
        "regions": regions,
    }


def _region_json(library: Library, document_id: str, region: Data, crop: str) -> dict[str, object]:
    """`box` (of all lines) and `rects` (one a line) as shares (0..1) of the displayed page; `quads` in points."""
    number = region["page"]
    page = library.page(document_id, number)
    rects = line_rects(region)
    union = union_of(rects)
    if page is None or union is None:
        return NOWHERE | {"page_number": number}
    return {
        "page_number": number,
        "box": list(union.normalised(page)),
        "rects": [list(rect.normalised(page)) for rect in rects],
        "quads": [list(rect.quad()) for rect in rects],
        "region_url": f"{crop}?page={number}",
        "page_url": f"/v1/documents/{document_id}/pages/{number}.png",
    }
