"""Paragraphs and tables that run over the end of a page become one draft with a part on each page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Continuation, Draft, PageDraft
from ingest.layout import runs_on
from ingest.table_breaks import with_joined_tables
from kb_qa.elements import FURNITURE

JOINED = frozenset({"NarrativeText", "ListItem"})
BESIDE_THE_TEXT = FURNITURE | {"Footnote"}


def with_joined_pages(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, each table and each paragraph that goes on at the top of the next page taking up its rest."""
    pages = with_joined_tables(pages)
    drafts = [list(page.drafts) for page in pages]
    for number in reversed(range(len(pages) - 1)):
        last, first = _body(drafts[number]), _body(drafts[number + 1])
        if not last or not first:
            continue
        end, start = drafts[number][last[-1]], drafts[number + 1][first[0]]
        if _goes_on(end, start):
            drafts[number][last[-1]] = replace(end, continuation=Continuation(pages[number + 1].page.number, start))
            del drafts[number + 1][first[0]]
    return [replace(page, drafts=tuple(members)) for page, members in zip(pages, drafts, strict=True)]


def _body(drafts: Sequence[Draft]) -> list[int]:
    """Places of what belongs to the running text."""
    return [
        index
        for index, draft in enumerate(drafts)
        if not draft.hidden and draft.category not in BESIDE_THE_TEXT and draft.lines and _is_level(draft)
    ]


def _is_level(draft: Draft) -> bool:
    return draft.element_type == "text" and draft.lines[0].direction == "right"


def _goes_on(end: Draft, start: Draft) -> bool:
    if end.category not in JOINED or start.category != "NarrativeText" or end.origin != start.origin:
        return False
    size = max(end.size, start.size)
    return abs(end.lines[-1].size - start.lines[0].size) <= 0.1 * size and runs_on(end.text, start.text)
