"""Program text: what is set in a font of one width, in a document that is not set in it as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Draft, PageDraft, text_draft
from ingest.line_groups import in_reading_order
from ingest.printed import is_cjk

SET_AS_CODE = frozenset({"NarrativeText", "ListItem", "Title", "Formula", "CodeSnippet"})
MOST_OF_ALL = 0.5  # share of the characters: a typewritten document is no program
FEWEST_CHARACTERS = 8
APART = 2.5  # times the size: blank lines between parts of a program are no more


def with_program_text(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, neighbouring drafts in a font of one width joined to one CodeSnippet."""
    counts = {True: 0, False: 0}
    for page in pages:
        for word in (word for draft in page.drafts for line in draft.printed for word in line.words):
            counts[word.mono] += len(word.text)
    if not counts[True] or counts[True] > MOST_OF_ALL * sum(counts.values()):
        return list(pages)
    return [replace(page, drafts=tuple(_joined(page.drafts))) for page in pages]


def _joined(drafts: Sequence[Draft]) -> list[Draft]:
    result: list[Draft] = []
    for draft in drafts:
        if not _is_program(draft):
            result.append(draft)
        elif result and result[-1].category == "CodeSnippet" and _goes_on(result[-1], draft):
            result[-1] = text_draft("CodeSnippet", in_reading_order([*result[-1].lines, *draft.lines]))
        else:
            result.append(replace(draft, category="CodeSnippet"))
    return [
        replace(draft, category="NarrativeText")
        if draft.category == "CodeSnippet" and len(draft.text) < FEWEST_CHARACTERS
        else draft
        for draft in result
    ]


def _is_program(draft: Draft) -> bool:
    """Every letter in a font of one width; most fonts for Chinese are, and do not count."""
    if draft.hidden or draft.category not in SET_AS_CODE or not draft.lines or draft.lines[0].direction != "right":
        return False
    words = [word for line in draft.lines for word in line.words]
    return all(word.mono for word in words) and sum(is_cjk(word.text[0]) for word in words) * 2 < len(words)


def _goes_on(above: Draft, below: Draft) -> bool:
    """Below it without much room, or so near that the boxes overlap."""
    gap = below.bbox.y0 - above.bbox.y1
    return -above.bbox.height < gap < APART * above.size and below.bbox.x0 < above.bbox.x1 + 2 * above.size
