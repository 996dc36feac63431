"""The path of headings above each element, by the size of the headings' type and their numbering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.drafts import Draft, PageDraft
from ingest.layout import can_head
from ingest.paragraphs import fills_column, goes_on
from ingest.printed import is_cjk

CHAPTER = re.compile(r"^第\s*[一二三四五六七八九十百\d]+\s*[章编篇部]")
SECTION = re.compile(r"^第\s*[一二三四五六七八九十百\d]+\s*节")
ENUMERATED = re.compile(r"^[一二三四五六七八九十]{1,3}\s*、")
BRACKETED = re.compile(r"^[（(]\s*[一二三四五六七八九十]{1,3}\s*[）)]")
CHINESE_LEVELS = (CHAPTER, SECTION, ENUMERATED, BRACKETED)
BELOW_CHINESE = re.compile(r"^(?:\d{1,2}\s*[.、．]\s*(?=\D)|[（(]\s*\d{1,2}\s*[）)])")
ENGLISH_LEVELS = (
    re.compile(r"^(?:part|chapter)\s+(?:[ivxlc]+|\d+)\b", re.IGNORECASE),
    re.compile(r"^(?:item|section)\s+\d+[a-z]?\b", re.IGNORECASE),
)
DECIMAL = re.compile(r"^(\d+(?:\.\d+)*)[.、\s]")
LARGE = 1.2  # times the size of the text: type of headings
LONGEST_HEADING = 200
LONGEST_BOLD_HEADING = 330
LEAST_CAPITALS = 4  # a shorter heading in capitals is an abbreviation
LONGEST_CHINESE_HEADING = 40
LEADERS = re.compile(r"[.…·]{3,}\s*\d*$|\s\d+$")  # a line of a table of contents


def body_size(pages: Iterable[PageDraft]) -> float:
    """The type size that most visible characters of the document have; 0 where there is no text."""
    weights: Counter[float] = Counter()
    for page in pages:
        for draft in page.drafts:
            for line in () if draft.hidden else draft.printed:
                weights[round(line.size, 1)] += sum(len(word.text) for word in line.words)
    return max(weights, key=lambda size: (weights[size], size)) if weights else 0.0


def with_headings(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, with headings recognised by size and numbering where the layout model left them as text."""
    body = body_size(pages)
    judged = [replace(page, drafts=tuple(_judged(draft, body) for draft in page.drafts)) for page in pages]
    return _with_chinese_headings(judged)


def _judged(draft: Draft, body: float) -> Draft:
    if draft.hidden or not draft.lines or draft.element_type != "text":
        return draft
    text = draft.text
    longest = LONGEST_BOLD_HEADING if draft.bold and len(draft.lines) <= 3 else LONGEST_HEADING
    if draft.category == "Title" and (len(text) > longest or not can_head(text)):
        return replace(draft, category="NarrativeText")
    large = draft.size >= LARGE * body > 0 and draft.origin == "text-layer"
    few = len(draft.lines) <= 2 and len(text) <= 120
    if draft.category == "NarrativeText" and large and few and can_head(text):
        return replace(draft, category="Title")
    return draft


def _with_chinese_headings(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """Numbered lines without a stop at their end, in the type of the text: headings if text follows, else items."""
    flat = [draft for page in pages for draft in _body(page)]
    last_and_full = {id(draft) for page in pages for draft in _body(page)[-1:] if fills_column(draft, page.drafts)}
    headings: set[int] = set()
    for position, draft in enumerate(flat):
        kind = _numbering(draft)
        if kind is None:
            continue
        beside = [other for other in flat[max(position - 1, 0) : position + 2] if other is not draft]
        following = flat[position + 1 : position + 2]
        if id(draft) in last_and_full and any(goes_on(draft, other) for other in following):
            continue  # the page ends in the middle of its sentence
        if kind is CHAPTER or kind is SECTION or not any(_starts_like(other, kind) for other in beside):
            headings.add(id(draft))
    return [
        replace(
            page,
            drafts=tuple(replace(draft, category="Title") if id(draft) in headings else draft for draft in page.drafts),
        )
        for page in pages
    ]


def _body(page: PageDraft) -> list[Draft]:
    return [
        draft
        for draft in page.drafts
        if draft.element_type == "text"
        and draft.category in ("NarrativeText", "ListItem", "Title")
        and not draft.hidden
    ]


def _numbering(draft: Draft) -> re.Pattern[str] | None:
    """How a line is numbered that may be a heading; None where nothing is numbered, or it reads like text."""
    text = draft.text
    if draft.category == "Title" or len(draft.lines) > 1 or len(text) > LONGEST_CHINESE_HEADING:
        return None
    if not any(map(is_cjk, text)) or text[-1] in "。；;，,：:！？!?、" or LEADERS.search(text):
        return None
    return next((kind for kind in (*CHINESE_LEVELS, BELOW_CHINESE) if kind.match(text)), None)


def _starts_like(draft: Draft, kind: re.Pattern[str]) -> bool:
    return kind.match(draft.text) is not None


Level = tuple[float, int, int]


class SectionPath:
    """Feeds on drafts in reading order and tells the headings above each."""

    def __init__(self) -> None:
        self._open: list[tuple[Level, str]] = []

    def above(self, draft: Draft, text: str) -> tuple[str, ...]:
        """The path above `draft`, outermost first; a heading then joins the path of what follows."""
        if draft.category != "Title" or draft.hidden:
            return tuple(title for _, title in self._open)
        under_chinese = any(kind.match(title) for _, title in self._open for kind in CHINESE_LEVELS)
        level = _level(draft, text, under_chinese)
        while self._open and not _is_under(level, self._open[-1][0]):
            self._open.pop()
        path = tuple(title for _, title in self._open)
        if path[-1:] != (text,):  # the title of a table often says its section's again
            self._open.append((level, text))
        return path


def _level(draft: Draft, text: str, under_chinese: bool) -> Level:
    """Size rounded to half points (negative: larger first), depth of its numbering, how little it stands out."""
    return -round(draft.size * 2) / 2, _depth(text, under_chinese), _weight(draft, text)


def _weight(draft: Draft, text: str) -> int:
    """0 for bold capitals, then bold, bold italic, plain capitals, plain, italic."""
    slanted = all(word.italic for line in draft.lines for word in line.words)
    style = 0 if text.isupper() and len(text) >= LEAST_CAPITALS else 2 if slanted else 1
    return style + (0 if draft.bold else 3)


def _depth(text: str, under_chinese: bool) -> int:
    """How deep the numbering says it is: 1 and up; 0 where there is no numbering.

    `1.` is the first level, except in a document that numbers with `一、` and `（一）`: there it stands below these.
    """
    for levels in (CHINESE_LEVELS, ENGLISH_LEVELS):
        for depth, pattern in enumerate(levels, start=1):
            if pattern.match(text):
                return depth
    below = len(CHINESE_LEVELS) if under_chinese else 0
    match = DECIMAL.match(text)
    if match:
        return match.group(1).count(".") + 1 + below
    if under_chinese and (match := BELOW_CHINESE.match(text)):
        return below + (2 if match.group().startswith(("(", "（")) else 1)
    return 0


def _is_under(level: Level, above: Level) -> bool:
    if level[1] and above[1] and level[1] != above[1]:
        return level[1] > above[1]
    if abs(level[0] - above[0]) > 0.6:
        return level[0] > above[0]
    return level[2] > above[2]
