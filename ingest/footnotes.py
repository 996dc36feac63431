"""Footnotes that the layout model took for text: smaller than the text, with a mark, at the foot of a column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Draft, PageDraft
from ingest.headings import body_size
from kb_qa.elements import FURNITURE

MARK = re.compile(r"^(?:\d{1,3}\s|[*∗†‡§¶]{1,3}|[①-⑳]|\[\d{1,3}\]|[(（]\d{1,2}[)）]\s*\D|注\s*\d*\s*[:：])")
SMALLER = 0.92  # times the size of the text
FOOT = 0.5  # of the page's height: footnotes begin below
TABLE_REACH = 30.0  # points below a table in which a note is the table's


def with_footnotes(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, with Footnote given to what is set as one."""
    body = body_size(pages)
    return [replace(page, drafts=tuple(_judged(page, body))) for page in pages]


def _judged(page: PageDraft, body: float) -> list[Draft]:
    """From the bottom up: only footnotes and furniture stand below a footnote in its column."""
    drafts = list(page.drafts)
    notes: list[Draft] = [draft for draft in drafts if draft.category == "Footnote"]
    for index in sorted(range(len(drafts)), key=lambda index: -drafts[index].bbox.y0):
        draft = drafts[index]
        below = [
            other
            for other in drafts
            if other.bbox.y0 > draft.bbox.center[1]
            and _shares_column(other, draft)
            and other.category not in FURNITURE
            and not other.hidden
            and other not in notes
        ]
        if not below and _is_set_as_note(draft, body, page.page.height) and not _is_of_table(draft, drafts):
            drafts[index] = replace(draft, category="Footnote")
            notes.append(drafts[index])
    return drafts


def _is_set_as_note(draft: Draft, body: float, height: float) -> bool:
    return (
        draft.category in ("NarrativeText", "ListItem")
        and bool(draft.lines)
        and not draft.hidden
        and draft.bbox.y0 > FOOT * height
        and draft.size <= SMALLER * body
        and MARK.match(draft.text) is not None
    )


def _is_of_table(draft: Draft, drafts: Sequence[Draft]) -> bool:
    """Whether a table ends right above: then the note tells of the table, and belongs to it."""
    return any(
        other.element_type == "table"
        and -5 <= draft.bbox.y0 - other.bbox.y1 <= TABLE_REACH
        and _shares_column(other, draft)
        for other in drafts
    )


def _shares_column(one: Draft, other: Draft) -> bool:
    return min(one.bbox.x1, other.bbox.x1) - max(one.bbox.x0, other.bbox.x0) > 0
