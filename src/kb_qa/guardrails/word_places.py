"""Where a range of an element's text is printed, and how surely it was read."""

from __future__ import annotations

from bisect import bisect_left

from kb_qa.elements import Element
from kb_qa.geometry import BBox, union_of


class WordPlaces:
    """The words of one element by the ranges they stand for: each look-up takes a logarithm of their number."""

    def __init__(self, element: Element) -> None:
        self._words = sorted(element.words, key=lambda word: (word.start, word.end))
        self._starts = [word.start for word in self._words]
        region = element.regions[0] if element.regions else None
        self._whole = (region.page if region else None, region.bbox if region else None)
        self._confidence = element.confidence

    def find(self, start: int, end: int) -> tuple[int | None, BBox | None, float | None]:
        """Page and box of the words of `[start, end)`, and the confidence of the worst of them.

        The element's own where its words are not known; words on a second page are left out.
        """
        last = bisect_left(self._starts, end)
        first = bisect_left(self._starts, start)
        while first > 0 and self._words[first - 1].end > start:
            first -= 1
        words = [word for word in self._words[first:last] if word.end > start]
        if not words:
            return *self._whole, self._confidence
        page = words[0].page
        box = union_of(word.bbox for word in words if word.page == page)
        sure = [word.confidence for word in words if word.confidence is not None]
        return page, box, min(sure, default=self._confidence)
