"""Running heads, running feet and page numbers: what repeats from page to page at the same height.

The layout model's word alone is not taken: a heading that stands once at the top of a page is not a running head.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Draft, PageDraft
from ingest.layout import PAGE_NUMBER

MARGIN = 0.14  # share of the page's height at top and bottom in which furniture stands
FEW_PAGES = 3


def with_furniture(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, with Header, Footer and PageNumber given by repetition, and taken back where nothing repeats."""
    counts = Counter(key for page in pages for key in {_key(draft, page) for draft in page.drafts if _short(draft)})
    return [
        replace(page, drafts=tuple(_reordered([_judged(draft, page, counts, len(pages)) for draft in page.drafts])))
        for page in pages
    ]


def _short(draft: Draft) -> bool:
    return draft.element_type == "text" and not draft.hidden and bool(draft.lines) and len(draft.text) <= 200


def _key(draft: Draft, page: PageDraft) -> tuple[str, int]:
    """Text without its digits, and the height on the page in steps of 2 %."""
    masked = re.sub(r"[\d\s]+", "", draft.text).casefold()
    return masked, round(draft.bbox.center[1] / max(page.page.height, 1) * 50)


def _repeats(draft: Draft, page: PageDraft, counts: Counter[tuple[str, int]]) -> int:
    text, height = _key(draft, page)
    return max(counts[text, height + step] for step in (-1, 0, 1))


def _judged(draft: Draft, page: PageDraft, counts: Counter[tuple[str, int]], pages: int) -> Draft:
    if not _short(draft):
        return replace(draft, category="NarrativeText") if draft.category in ("Header", "Footer") else draft
    middle = draft.bbox.center[1] / max(page.page.height, 1)
    in_margin = middle < MARGIN or middle > 1 - MARGIN
    repeats = _repeats(draft, page, counts)
    if draft.category == "PageNumber":
        return draft
    if draft.category in ("Header", "Footer"):
        at_its_end = (middle < 0.5) == (draft.category == "Header") and in_margin
        trusted = pages <= FEW_PAGES or repeats >= 2 or len(draft.text) <= 60
        return draft if trusted and at_its_end else replace(draft, category="NarrativeText")
    if not in_margin or pages < FEW_PAGES:
        return draft
    if PAGE_NUMBER.match(draft.text) and repeats * 2 >= pages:
        return replace(draft, category="PageNumber")
    if repeats >= max(FEW_PAGES, (pages + 1) // 2):
        return replace(draft, category="Header" if middle < 0.5 else "Footer")
    return draft


def _reordered(drafts: Sequence[Draft]) -> list[Draft]:
    """Headers first, footers after the body, hidden text last; else as it was."""
    places = {"Header": 0, "Footer": 2, "PageNumber": 2}
    return sorted(drafts, key=lambda draft: 3 if draft.hidden else places.get(draft.category, 1))
