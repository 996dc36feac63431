"""What of a document stands on given pages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kb_qa.elements import Element


def cited_pages(start: int, end: int) -> range:
    """The pages of a cited range, from 1: `end` is exclusive. An end that is not behind its start says one page."""
    first = max(start, 1)
    return range(first, max(end, first + 1))


def on_pages(elements: Sequence[Element], pages: Collection[int]) -> Sequence[Element]:
    """The elements on the pages; of one that goes on over a page break, the text that is printed there."""
    parts = (_on_pages(element, pages) for element in elements)
    return [part for part in parts if part is not None]


def _on_pages(element: Element, pages: Collection[int]) -> Element | None:
    if not element.words:
        return element if any(region.page in pages for region in element.regions) else None
    words = [word for word in element.words if word.page in pages]
    if not words or len(words) == len(element.words):
        return element if words else None
    start, end = min(word.start for word in words), max(word.end for word in words)
    return replace(
        element,
        text=element.text[start:end],
        words=tuple(replace(word, start=word.start - start, end=word.end - start) for word in words),
        regions=tuple(region for region in element.regions if region.page in pages),
    )
