"""The path of headings above each element, by the size of the headings' type and their numbering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.drafts import Draft, PageDraft
from ingest.layout import can_head

CHINESE_LEVELS = (
    re.compile(r"^第\s*[一二三四五六七八九十百\d]+\s*[章编篇部]"),
    re.compile(r"^第\s*[一二三四五六七八九十百\d]+\s*节"),
    re.compile(r"^[一二三四五六七八九十]+\s*、"),
    re.compile(r"^[（(]\s*[一二三四五六七八九十]+\s*[）)]"),
)
DECIMAL = re.compile(r"^(\d+(?:\.\d+)*)[.、\s]")
LONGEST_HEADING = 200


def body_size(pages: Iterable[PageDraft]) -> float:
    """The type size that most visible characters of the document have; 0 where there is no text."""
    weights: Counter[float] = Counter()
    for page in pages:
        for draft in page.drafts:
            for line in () if draft.hidden else draft.printed:
                weights[round(line.size, 1)] += sum(len(word.text) for word in line.words)
    return max(weights, key=lambda size: (weights[size], size)) if weights else 0.0


def with_headings(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, with headings recognised by their size where the layout model left them as text."""
    body = body_size(pages)
    return [replace(page, drafts=tuple(_judged(draft, body) for draft in page.drafts)) for page in pages]


def _judged(draft: Draft, body: float) -> Draft:
    if draft.hidden or not draft.lines or draft.element_type != "text":
        return draft
    text = draft.text
    if draft.category == "Title" and (len(text) > LONGEST_HEADING or not can_head(text)):
        return replace(draft, category="NarrativeText")
    large = draft.size >= 1.2 * body > 0 and draft.origin == "text-layer"
    few = len(draft.lines) <= 2 and len(text) <= 120
    if draft.category == "NarrativeText" and large and few and can_head(text):
        return replace(draft, category="Title")
    return draft


Level = tuple[float, int, int]


class SectionPath:
    """Feeds on drafts in reading order and tells the headings above each."""

    def __init__(self) -> None:
        self._open: list[tuple[Level, str]] = []

    def above(self, draft: Draft, text: str) -> tuple[str, ...]:
        """The path above `draft`, outermost first; a heading then joins the path of what follows."""
        if draft.category != "Title" or draft.hidden:
            return tuple(title for _, title in self._open)
        level = _level(draft, text)
        while self._open and not _is_under(level, self._open[-1][0]):
            self._open.pop()
        path = tuple(title for _, title in self._open)
        self._open.append((level, text))
        return path


def _level(draft: Draft, text: str) -> Level:
    """Size rounded to half points (negative: larger first), depth of its numbering, 0 for bold and 1 for plain."""
    return -round(draft.size * 2) / 2, _depth(text), 0 if draft.bold else 1


def _depth(text: str) -> int:
    """How deep the numbering says it is: 1 and up; 0 where there is no numbering."""
    for depth, pattern in enumerate(CHINESE_LEVELS, start=1):
        if pattern.match(text):
            return depth
    match = DECIMAL.match(text)
    return match.group(1).count(".") + 1 + (len(CHINESE_LEVELS) if "、" in text[:4] else 0) if match else 0


def _is_under(level: Level, above: Level) -> bool:
    if level[1] and above[1] and level[1] != above[1]:
        return level[1] > above[1]
    if abs(level[0] - above[0]) > 0.6:
        return level[0] > above[0]
    return level[1] == above[1] and level[2] > above[2]
