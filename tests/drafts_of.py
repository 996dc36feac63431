"""Drafts of printed lines made by hand: what the stages between a page and its elements work on."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.drafts import Draft, PageDraft, text_draft
from ingest.printed import PrintedLine, PrintedWord, is_cjk, line_of
from kb_qa.geometry import BBox, Page


def printed(text: str, x: float = 72.0, y: float = 100.0, *, size: float = 10.0, **style: bool) -> PrintedLine:
    """A line from (x, y), half as wide a character as it is high; every Chinese character is a word."""
    words: list[PrintedWord] = []
    for index, part in enumerate(text.split(" ")):
        pieces = list(part) if any(map(is_cjk, part)) else [part]
        for place, piece in enumerate(pieces):
            box = BBox(x, y, x + size / 2 * len(piece), y + 1.2 * size)
            spaced = index > 0 and place == 0
            word = PrintedWord(box, piece, size, y + size, spaced=spaced, **style)
            words.append(word)
            x = box.x1
        x += size / 4
    return line_of(words)


def draft(category: str, *texts: str, x: float = 72.0, y: float = 100.0, size: float = 10.0, **style: bool) -> Draft:
    """A draft of lines under one another; `style`: bold, italic, mono."""
    lines = [printed(text, x, y + 1.25 * size * row, size=size, **style) for row, text in enumerate(texts)]
    return text_draft(category, lines)


def page_of(*drafts: Draft, number: int = 1) -> PageDraft:
    return PageDraft(Page(number, 595.0, 842.0), drafts)


def categories(pages: Sequence[PageDraft]) -> list[list[tuple[str, str]]]:
    """Page by page, what each draft is and says."""
    return [[(draft.category, draft.text) for draft in page.drafts] for page in pages]
