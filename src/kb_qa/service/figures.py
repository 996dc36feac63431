"""Routes of a stored answer's figures: every place that tells the same thing.

A figure's number in a path is the ordinal, from 1, of its event in the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from kb_qa.addresses import area_url, page_url
from kb_qa.answers import Decision, Language
from kb_qa.citation import label
from kb_qa.dispute import Place, dispute
from kb_qa.listing import decision_line
from kb_qa.marks import answer_language, figures_of
from kb_qa.protocols import Library
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import UsedParts
from kb_qa.service.pictures import PathNumber

router = APIRouter(prefix="/v1")


@router.get("/answers/{answer_id}/figures")
async def answer_figures(answer_id: str, parts: UsedParts) -> Response:
    """All figures of an answer, each with the reader's decision or null: the record of a check."""
    library = parts.knowledge_base.library
    events = await parts.open_answers.find(library, answer_id)
    decided = await asyncio.to_thread(library.decisions, answer_id)
    listed = [{**figure, "decision": _decided(decided, n)} for n, figure in enumerate(figures_of(events), 1)]
    return AsciiJSONResponse({"answer_id": answer_id, "figures": listed})


@router.get("/answers/{answer_id}/figures/{n}")
async def figure_places(answer_id: str, n: PathNumber, parts: UsedParts) -> Response:
    """The figure with all its evidence: every place of its measure and period, whatever value stands there."""
    library = parts.knowledge_base.library
    events = await parts.open_answers.find(library, answer_id)
    language = answer_language(events)
    found = await asyncio.to_thread(dispute, library, events, n, parts.knowledge_base.policy)
    places = await asyncio.to_thread(lambda: [_place_json(library, place, language) for place in found.places])
    decided = await asyncio.to_thread(library.decisions, answer_id)
    return AsciiJSONResponse(
        {
            "answer_id": answer_id,
            "n": n,
            "figure": dict(found.figure),
            "conflict": found.conflict,
            "places": places,
            "decision": _decided(decided, n),
        }
    )


def _decided(decided: Sequence[Decision], n: int) -> dict[str, object] | None:
    return next((decision_line(each) for each in decided if each.n == n), None)


def _place_json(library: Library, place: Place, language: Language) -> dict[str, object]:
    """`bbox` is the printed figure's own box in points, `box` the same as shares (0..1) of the displayed page;
    `region_url` shows the whole row, or the paragraph, around it.
    """
    fact, shown = place.telling.fact, place.shown
    element_type = "text" if fact.cell is None else "table"
    pages = () if fact.page is None else (fact.page,)
    page = None if fact.page is None else library.page(fact.document_id, fact.page)
    spot = fact.bbox
    return {
        "document": place.source,
        "document_id": fact.document_id,
        "label": label(place.source, pages=pages, element_type=element_type, language=language),
        "element": fact.element_id,
        "element_type": element_type,
        "section": fact.section,
        "page": fact.page,
        "bbox": None if spot is None else list(spot.rounded().as_tuple()),
        "box": None if spot is None or page is None else list(spot.normalised(page)),
        "cell": None if fact.cell is None else list(fact.cell),
        "row": fact.row,
        "column": fact.column,
        "printed": fact.printed,
        "value": fact.quantity.shown_value,
        "unit": fact.quantity.currency or fact.quantity.unit,
        "scale_from": fact.scale_source,
        "currency_from": fact.currency_source,
        "is_support": place.is_support,
        "agrees": place.telling.agrees,
        "contradicts": place.telling.contradicts,
        "region_url": None if shown is None else area_url(fact.document_id, shown),
        "page_url": None if fact.page is None else page_url(fact.document_id, fact.page),
    }
