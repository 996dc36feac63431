"""Running heads, running feet and page numbers: what repeats from page to page at the same height.

The layout model's word alone is not taken: a heading that stands once at the top of a page is not a running head.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ingest.drafts import Draft, PageDraft
from ingest.headings import LARGE, body_size
from ingest.layout import PAGE_NUMBER

MARGIN = 0.14  # share of the page's height at top and bottom in which furniture stands
EDGE = 0.025  # share of the height: what a download or a fax stamps on the page stands so far out, and no text does
FEW_PAGES = 3
STEPS = 50  # of the height of a page: how finely two places are told apart

Key = tuple[str, int]  # text without its digits, and the height on the page in steps


def with_furniture(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, with Header, Footer and PageNumber given by repetition, and taken back where nothing repeats."""
    found = _Repeats(pages=len(pages), body=body_size(pages))
    for page in pages:
        found.count(page)
    return [
        replace(page, drafts=tuple(_reordered([_judged(draft, page, found) for draft in page.drafts])))
        for page in pages
    ]


@dataclass(slots=True)
class _Repeats:
    """On how many pages a text stands at a height: on all, and on left and right pages, which may differ.

    `named` counts the pages that have at a height what the layout model calls a header or footer, whatever it says.
    """

    pages: int
    body: float
    texts: Counter[Key] = field(default_factory=Counter)
    by_side: Counter[tuple[Key, int]] = field(default_factory=Counter)
    named: Counter[int] = field(default_factory=Counter)

    def count(self, page: PageDraft) -> None:
        short = [draft for draft in page.drafts if _is_short(draft)]
        for key in {_key(draft, page) for draft in short}:
            self.texts[key] += 1
            self.by_side[key, page.page.number % 2] += 1
        self.named.update({_key(draft, page)[1] for draft in short if draft.category in ("Header", "Footer")})

    def of(self, draft: Draft, page: PageDraft) -> int:
        text, height = _key(draft, page)
        return max(self.texts[text, height + step] for step in (-1, 0, 1))

    def is_usual(self, draft: Draft, page: PageDraft) -> bool:
        """Whether it stands on at least half of the pages, or of the left or the right ones."""
        if self.of(draft, page) >= max(FEW_PAGES, (self.pages + 1) // 2):
            return True
        text, height = _key(draft, page)
        side = page.page.number % 2
        same = max(self.by_side[(text, height + step), side] for step in (-1, 0, 1))
        return same >= max(FEW_PAGES, self.pages // 4)

    def is_place_of_furniture(self, draft: Draft, page: PageDraft) -> bool:
        """Whether other pages, too, have headers or footers there: a running head may change with every chapter."""
        height = _key(draft, page)[1]
        return max(self.named[height + step] for step in (-1, 0, 1)) >= FEW_PAGES


def _is_short(draft: Draft) -> bool:
    return draft.element_type == "text" and not draft.hidden and bool(draft.lines) and len(draft.text) <= 200


def _key(draft: Draft, page: PageDraft) -> Key:
    masked = re.sub(r"[\d\s]+", "", draft.text).casefold()
    return masked, round(draft.bbox.center[1] / max(page.page.height, 1) * STEPS)


def _judged(draft: Draft, page: PageDraft, found: _Repeats) -> Draft:
    named = draft.category in ("Header", "Footer")
    if not _is_short(draft):
        return replace(draft, category="NarrativeText") if named else draft
    if draft.category == "PageNumber" or draft.lines[0].direction != "right":
        return draft
    middle = draft.bbox.center[1] / max(page.page.height, 1)
    in_margin = middle < MARGIN or middle > 1 - MARGIN
    if named:
        at_its_end = (middle < 0.5) == (draft.category == "Header") and in_margin
        return draft if at_its_end and _is_trusted(draft, page, found) else replace(draft, category="NarrativeText")
    if len(draft.lines) == 1 and (draft.bbox.y1 < EDGE * page.page.height or middle > 1 - EDGE / 2):
        return replace(draft, category="Header" if middle < 0.5 else "Footer")
    if found.pages == 2 and middle > 1 - MARGIN and found.of(draft, page) == 2:
        return replace(draft, category="Footer")
    if not in_margin or found.pages < FEW_PAGES:
        return draft
    if PAGE_NUMBER.match(draft.text) and found.of(draft, page) * 2 >= found.pages:
        return replace(draft, category="PageNumber")
    return replace(draft, category="Header" if middle < 0.5 else "Footer") if found.is_usual(draft, page) else draft


def _is_trusted(draft: Draft, page: PageDraft, found: _Repeats) -> bool:
    """Whether what the model calls a header or footer is one: it repeats, or is small and stands where others do."""
    if found.of(draft, page) >= 2:
        return True
    if draft.size >= LARGE * found.body:
        return False
    return found.pages <= FEW_PAGES or (len(draft.text) <= 60 and found.is_place_of_furniture(draft, page))


def _reordered(drafts: Sequence[Draft]) -> list[Draft]:
    """Headers first, footers after the body, hidden text last; else as it was."""
    places = {"Header": 0, "Footer": 2, "PageNumber": 2}
    return sorted(drafts, key=lambda draft: 3 if draft.hidden else places.get(draft.category, 1))
