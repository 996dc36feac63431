"""Units: the pieces of an answer that are checked and released as one: a sentence, a list item, a table row."""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    "inc ltd co corp plc llc bros mr mrs ms dr prof st jr sr vs no nos fig figs eq sec ch vol"
    " pp p art approx est ca etc"
    " e.g i.e u.s u.k u.n a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec dept div"
    " cf al resp incl excl avg max"
    " min para paras".split()
)
_MARKS = re.compile(r"[。！？；!?\n]|\.(?!\d)|…{1,2}")
_STRONG = frozenset("。！？；!?…")
_TRAIL = re.compile(
    r"(?a)[。！？!?.…]{0,6}[”’\"')）】」』》〉\]*_]{0,6}"
    r"(?:[ \u00a0]?(?:\[\^?\d{1,3}(?:[,，、-]\s?\d{1,3}){0,9}\](?:\(id=\d{1,6}\))?|【"
    r"(?:材料)?\d{1,3}】|\[pp?\. ?\d{1,5}(?:[-–]\d{1,5})?\]"
    r"|[①-⑳]|[（(]P\d{1,5}·(?:文本|表格|图片|text|table|image)[）)])){0,12}[。！？!?.]?[ \t\u00a0]{0,16}"
)
_LAST_WORD = re.compile(r"(?a)(?:^|[\s(\[（“\"'*])((?:[A-Za-z]\.)*[A-Za-z]{1,8})$")
_ENUMERATOR = re.compile(r"(?a)(?:^|\n)[ \t>*-]{0,12}\d{1,3}$")


def split_units(text: str) -> tuple[tuple[int, int], ...]:
    """The ranges of the units, in order; together they are the whole text.

    A unit ends after `。！？；`, after `.!?` before a space, and at a line's end, which closes list items and table
    rows; trailing quotes, citation markers and spaces belong to it. It never ends inside a number (`4.1`), after an
    abbreviation (`Inc.`, `e.g.`), or after a list number (`1.`).
    """
    units: list[tuple[int, int]] = []
    start = 0
    while (end := unit_end(text, start)) is not None:
        units.append((start, end))
        start = end
    if start < len(text):
        units.append((start, len(text)))
    return _joined_blank_tail(text, units)


def unit_end(text: str, start: int = 0) -> int | None:
    """Where the unit that begins at `start` ends; None where it goes to the end of the text without a mark."""
    position = start
    while (match := _MARKS.search(text, position)) is not None:
        position = match.end()
        if not _ends_unit(text, start, match):
            continue
        position = match.end() if match[0] == "\n" else _with_trail(text, match)
        if text[start:position].strip():
            return position
    return None


def _with_trail(text: str, match: re.Match[str]) -> int:
    trail = _TRAIL.match(text, match.end())
    end = trail.end() if trail else match.end()
    # The line's end closes the unit with it, so that a list keeps its lines.
    return end + 1 if text[end : end + 1] == "\n" else end


def _ends_unit(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match[0]
    if mark == "\n":
        return True
    if mark in {"!", "?"} or mark[0] == "…":
        return _space_follows(text, match)
    if mark in _STRONG:
        return True
    if not _space_follows(text, match):
        return False
    before = text[max(start, match.start() - 16) : match.start()]
    word = _LAST_WORD.search(before)
    if word and (word[1].lower() in _ABBREVIATIONS or (len(word[1]) == 1 and word[1].isupper())):
        return False
    # What stands before the unit is no part of it: a gate that cut it off before sees no more of it than we do here.
    return _ENUMERATOR.search(text[max(start, match.start() - 20) : match.start()]) is None


def _space_follows(text: str, match: re.Match[str]) -> bool:
    trail = _TRAIL.match(text, match.end())
    end = trail.end() if trail else match.end()
    if end >= len(text) or text[end] == "\n" or text[end - 1] in " \t\u00a0]】":
        return True
    return "\u2e80" <= text[end] <= "\uffef"


def _joined_blank_tail(text: str, units: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Blank rest belongs to the last unit."""
    if len(units) > 1 and not text[slice(*units[-1])].strip():
        units[-2:] = [(units[-2][0], units[-1][1])]
    return tuple(units)
