"""Paragraphs and tables that run over the end of a column or page become one draft with a part on each side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Continuation, Draft, PageDraft
from ingest.paragraphs import goes_on, runs_on
from ingest.table_breaks import with_joined_tables
from kb_qa.elements import FURNITURE

# What may stand between the two parts of a paragraph: it is set at the edge of the text, wherever there is room.
BESIDE_THE_TEXT = FURNITURE | {"Footnote", "FigureCaption"}

Place = tuple[int, int]  # of a page and of a draft on it


def with_joined_pages(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, each table and each paragraph that goes on in the next column or page taking up its rest."""
    pages = with_joined_tables(pages)
    drafts: list[list[Draft | None]] = [list(page.drafts) for page in pages]
    body = [(page, index) for page in range(len(pages)) for index in _body(pages[page].drafts)]
    for position in reversed(range(len(body) - 1)):
        (page, index), (next_page, next_index) = body[position], body[position + 1]
        end, start = drafts[page][index], drafts[next_page][next_index]
        if end is None or start is None:
            continue
        if _is_broken(end, start, next_page - page) and goes_on(end, start):
            drafts[page][index] = replace(end, continuation=Continuation(pages[next_page].page.number, start))
            drafts[next_page][next_index] = None
    return [
        replace(page, drafts=tuple(draft for draft in members if draft is not None))
        for page, members in zip(pages, drafts, strict=True)
    ]


def _body(drafts: Sequence[Draft]) -> list[int]:
    """Places of what belongs to the running text, in reading order."""
    return [
        index
        for index, draft in enumerate(drafts)
        if not draft.hidden and draft.category not in BESIDE_THE_TEXT and draft.lines and _is_level(draft)
    ]


def _is_level(draft: Draft) -> bool:
    return draft.element_type == "text" and draft.lines[0].direction == "right"


def _is_broken(end: Draft, start: Draft, pages: int) -> bool:
    """Whether a page ends between the two, a column (`start` stands beside and higher up), or something is set in."""
    if pages:
        return True
    if start.bbox.x0 >= end.bbox.x1:
        return start.bbox.y0 < end.bbox.y1
    apart = start.bbox.y0 - end.bbox.y1 > max(end.size, start.size)
    return apart and abs(start.bbox.x0 - end.bbox.x0) <= 2 * end.size and runs_on(end.text, start.text)
