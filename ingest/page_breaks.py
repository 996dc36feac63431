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

SMALL_PRINT = 0.92  # times the size of the paragraph that it interrupts

_Places = list[list[Draft | None]]


def with_joined_pages(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, each table and each paragraph that goes on in the next column or page taking up its rest.

    Small print between the two parts is a footnote, whether it has a mark or not.
    """
    pages = with_joined_tables(pages)
    drafts: _Places = [list(page.drafts) for page in pages]
    body = [(page, index) for page in range(len(pages)) for index in _body(pages[page].drafts)]
    for position in reversed(range(len(body) - 1)):
        page, index = body[position]
        end = drafts[page][index]
        reached = _rest_of(end, position, body, drafts) if end is not None else None
        if end is None or reached is None:
            continue
        next_page, next_index = body[reached]
        start = drafts[next_page][next_index]
        assert start is not None
        drafts[page][index] = replace(end, continuation=Continuation(pages[next_page].page.number, start))
        drafts[next_page][next_index] = None
        for other_page, other in body[position + 1 : reached]:
            between = drafts[other_page][other]
            if between is not None and between.category != "CodeSnippet":
                drafts[other_page][other] = replace(between, category="Footnote")
    return [
        replace(page, drafts=tuple(draft for draft in members if draft is not None))
        for page, members in zip(pages, drafts, strict=True)
    ]


def _rest_of(end: Draft, position: int, body: Sequence[tuple[int, int]], drafts: _Places) -> int | None:
    """Which of the following goes on with the paragraph: the next, or the first after what is only set in."""
    for reached in range(position + 1, len(body)):
        page, index = body[reached]
        start = drafts[page][index]
        if start is None:
            continue
        passed = reached > position + 1
        if (
            goes_on(end, start)
            and _is_broken(end, start, page - body[position][0])
            and (not passed or runs_on(end.text, start.text))
        ):
            return reached
        if start.category != "CodeSnippet" and start.size > SMALL_PRINT * end.size:
            return None
    return None


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
