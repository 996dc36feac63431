"""Where a question says to look: `on page 12`, `Table 3`, `第5页`, `图2`, `in the chart`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb_qa.elements import ElementType

_MOST_PAGES = 50
_PAGES = re.compile(
    r"(?ai)\b(?:pages?|pp?\.)\s*(?P<first>\d{1,4})(?:\s*(?:-|–|—|to|and|through)\s*(?P<last>\d{1,4}))?\b"
    r"|第\s*(?P<zh>\d{1,4})(?:\s*(?:-|–|—|~|至|到)\s*(?P<zhlast>\d{1,4}))?\s*页|(?<![A-Za-z])P\.?\s?(?P<p>\d{1,4})\b(?=\s*页)"
)
_NUMBERED = re.compile(
    r"(?ai)\b(?P<word>tables?|figures?|figs?\.?|charts?|exhibits?|schedules?)\s*"
    r"(?P<number>\d{1,3}(?:[.-]\d{1,3})*|[IVX]{1,5}\b|[A-Z]\b(?!\s+[a-z]))"
    r"|(?P<zh>[表图])\s*(?P<zhnumber>\d{1,3}(?:[.-]\d{1,3})*|[一二三四五六七八九十]{1,3})"
)
_KINDS: tuple[tuple[ElementType, re.Pattern[str]], ...] = (
    (
        "table",
        re.compile(
            r"(?ai)\b(?:in|from|of|see|per) (?:the|this|which|what)(?: \w+){0,2} tables?\b|表格|表中|表里|上表|下表"
        ),
    ),
    (
        "image",
        re.compile(
            r"(?ai)\b(?:in|from|of|see|per) (?:the|this|which|what)(?: \w+){0,2}"
            r" (?:figure|chart|picture|image|photo|diagram|graph)s?\b"
            r"|图中|图里|图片|图表|照片|插图|示意图"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Places:
    """Empty where the question says nothing. `captions` are as captions print them, in lower case: `table 3`, `图2`."""

    pages: frozenset[int] = frozenset()
    element_types: frozenset[ElementType] = frozenset()
    captions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pages or self.element_types or self.captions)


def places_in(question: str) -> Places:
    captions = tuple(dict.fromkeys(_captions(question)))
    kinds = {kind for kind, pattern in _KINDS if pattern.search(question)}
    kinds |= {"table" for each in captions if each[0] in "t表"}
    kinds |= {"image" for each in captions if each[0] in "fc图"}
    return Places(frozenset(_pages(question)), frozenset(kinds), captions)


def _pages(question: str) -> Iterator[int]:
    for match in _PAGES.finditer(question):
        first = int(match["first"] or match["zh"] or match["p"])
        last = int(match["last"] or match["zhlast"] or first)
        yield from range(first, min(max(last, first), first + _MOST_PAGES) + 1)


def _captions(question: str) -> Iterator[str]:
    for match in _NUMBERED.finditer(question):
        if match["zh"]:
            yield match["zh"] + match["zhnumber"]
        else:
            word = match["word"].lower().rstrip(".").removesuffix("s")
            yield f"{'figure' if word == 'fig' else word} {match['number'].lower()}"
