"""Where a question says to look: `on page 12`, `Table 3`, `第5页`, `图2`, `in the chart`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb_qa.elements import ElementType

_MOST_PAGES = 50
_WORDS = {word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_ORDINALS = {
    word: number
    for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}
_DIGITS = {digit: number for number, digit in enumerate("一二三四五六七八九", 1)}
_ZH = r"\d{1,4}|[一二三四五六七八九十]{1,3}"
_PAGES = re.compile(
    r"(?ai)\b(?:pages?|pp?\.)\s*(?P<first>\d{1,4})(?:\s*(?:-|–|—|to|and|through)\s*(?P<last>\d{1,4}))?\b"
    rf"|\bpage (?P<word>{'|'.join(_WORDS)})\b|\b(?P<ordinal>{'|'.join(_ORDINALS)}) page\b"
    rf"|第\s*(?P<zh>{_ZH})(?:\s*(?:-|–|—|~|至|到)\s*第?\s*(?P<zhlast>{_ZH}))?\s*页"
    r"|(?<![A-Za-z])P\.?\s?(?P<p>\d{1,4})\b(?=\s*页)"
)
_NUMBERED = re.compile(
    r"(?ai)\b(?P<word>tables?|figures?|figs?\.?|charts?|exhibits?|schedules?)\s*"
    r"(?P<number>\d{1,3}(?:[.-]\d{1,3})*|[IVX]{1,5}\b|[A-Z]\b(?!\s+[a-z]))"
    r"|(?P<zh>[表图])\s*(?P<zhnumber>\d{1,3}(?:[.-]\d{1,3})*|[一二三四五六七八九十]{1,3})"
)
# A numbered place: where to look is no word of what is looked for.
PLACE = _NUMBERED
_WHERE = r"\b(?:in|from|of|see|per|according to) (?:the|this|which|what)(?: \w+){0,2}"
_SHOWS = r"(?:shows?|lists?|gives?|contains?|presents?|displays?|illustrates?|depicts?|plots?|compares?|breaks?)\b"
_KINDS: tuple[tuple[ElementType, re.Pattern[str]], ...] = (
    (
        "table",
        re.compile(
            rf"(?ai){_WHERE} tables?\b|\b(?:which|what) (?:\w+ )?tables? {_SHOWS}"
            r"|\bthe table on (?:page|the \w+ page)\b"
            r"|表格|表中|表里|上表|下表|哪一?[张个]表|哪些表"
        ),
    ),
    (
        "image",
        # `Which figure was reported` asks for a number: a figure is a picture where it shows something.
        re.compile(
            rf"(?ai){_WHERE} (?:figure|chart|picture|image|photo|diagram|graph)s?\b"
            rf"|\b(?:which|what) (?:\w+ )?(?:figure|chart|picture|image|photo|diagram|graph)s? {_SHOWS}"
            r"|\bthe (?:figure|chart|picture|image|photo|diagram|graph)s? on (?:page|the \w+ page)\b"
            r"|\b(?:does|do) the (?:figure|chart|picture|image|photo|diagram|graph)s? (?:[\w-]+ ){0,5}?show\b"
            r"|图中|图里|图片|图表|照片|插图|示意图|哪一?[张幅个]图|哪些图"
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
        first = _number(next(match[name] for name in ("first", "word", "ordinal", "zh", "p") if match[name]))
        last = _number(match["last"] or match["zhlast"] or str(first))
        yield from range(first, min(max(last, first), first + _MOST_PAGES) + 1)


def _number(text: str) -> int:
    """Of digits, an English word to ten, or Chinese numerals to ninety-nine (`十二`, `二十`)."""
    word = text.lower()
    if word.isdigit():
        return int(word)
    if word in _WORDS or word in _ORDINALS:
        return _WORDS.get(word) or _ORDINALS[word]
    tens, ten, ones = word.rpartition("十")
    return (10 * _DIGITS.get(tens, 1) if ten else 0) + _DIGITS.get(ones, 0)


def _captions(question: str) -> Iterator[str]:
    for match in _NUMBERED.finditer(question):
        if match["zh"]:
            yield match["zh"] + match["zhnumber"]
        else:
            word = match["word"].lower().rstrip(".").removesuffix("s")
            yield f"{'figure' if word == 'fig' else word} {match['number'].lower()}"
