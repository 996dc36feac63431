"""For what went wrong, the pictures of what was found and of what was expected."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from kb_qa.answers import Language
from kb_qa.errors import KbQaError
from kb_qa.evaluation.labels import word
from kb_qa.evaluation.report import Crops, place_title
from kb_qa.evaluation.runs import missed
from kb_qa.evaluation.scores import Observed, Place, outcomes
from kb_qa.ledger import Ledger
from kb_qa.picture import Picture

MOST = 40  # misses with pictures: a report is to be opened, and sent
REGION_DPI = 110
PAGE_DPI = 60
FOUND_MARGIN = 12.0  # points around a passage
EXPECTED_MARGIN = 60.0
EXCERPT = 240  # characters of a text that has no page


def crops_of(observed: Sequence[Observed], ledger: Ledger, cache: Path, language: Language) -> Mapping[str, Crops]:
    """By question, for the first of those that went wrong. What cannot be drawn is said in the picture's title."""
    from kb_qa.renderer import Renderer  # PyMuPDF loads only where it is needed

    wrong = [each for each in observed if missed(each)][:MOST]
    if not wrong:
        return {}
    with Renderer(cache) as renderer:

        async def drawn(place: Place | None, picture: Picture | None) -> tuple[bytes, str]:
            if place is None:
                return b"", ""
            title = place_title(place, language)
            if picture is None:
                excerpt = " ".join(place.text.split())[:EXCERPT]
                return b"", f"{title}: {excerpt}" if excerpt else title
            try:
                path = ledger.blob_path(place.document_id)
                return await renderer.picture(path, place.document_id, picture, subject=repr(place.document)), title
            except KbQaError as error:
                return b"", f"{title}: {word('no_picture', language)} ({error})"

        async def all_drawn() -> dict[str, Crops]:
            crops = {}
            for each in wrong:
                found, expected = _found(each), _expected(each)
                left, right = await drawn(found, _passage(found)), await drawn(expected, _expected_picture(expected))
                crops[each.case.id] = Crops(left[0], left[1], right[0], right[1])
            return crops

        return asyncio.run(all_drawn())


def _found(each: Observed) -> Place | None:
    """What the answer cites where the page was found, else what the search puts first."""
    cited = each.answered.cited if each.answered is not None else ()
    if cited and outcomes(each).get("page_hit@5", True):
        return cited[0]
    return next(iter(each.found.get("", ())), None)


def _expected(each: Observed) -> Place | None:
    case = each.case
    if not each.documents or not (case.pages or case.region):
        return None
    page = case.region.page if case.region is not None else case.pools[0][0]
    bbox = case.region.bbox if case.region is not None else None
    return Place(min(each.documents), case.document, page, bbox)


def _passage(place: Place | None) -> Picture | None:
    if place is None or place.page is None:
        return None
    if place.bbox is None:
        return Picture(place.page, dpi=PAGE_DPI)
    return Picture(place.page, place.bbox, dpi=REGION_DPI, margin=FOUND_MARGIN)


def _expected_picture(place: Place | None) -> Picture | None:
    if place is None or place.page is None:
        return None
    if place.bbox is None:
        return Picture(place.page, dpi=PAGE_DPI)
    return Picture(place.page, place.bbox, dpi=REGION_DPI, margin=EXPECTED_MARGIN, marks=(place.bbox,))
