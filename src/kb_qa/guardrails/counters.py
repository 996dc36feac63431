"""Whether a figure in running text and one in a source count the same thing, by the characters beside them.

Chinese text counts with words that no list holds: `3胜` is no `3平`, `27分` are no `27个`, `1：0` is no `1号`, the 8 of
`787-8` counts nothing, and the 3rd of a month (`截至3日`) is no span of three days.
"""

from __future__ import annotations

import re

from kb_qa.guardrails.quantities import Quantity

# Characters that may follow a number without counting anything.
_FUNCTION = frozenset("的了和与及至到以左右上下余多等为是在占按元角万亿千百十年月日")
_COUNTER = re.compile("[\u4e00-\u9fff:]")
_JOINTS = frozenset("-–‑:")
_SPAN_BEFORE = frozenset("期假共为满达休长约近超第每前后逾仅续历")
_SPAN_BEHIND = frozenset("内以之前后间期假")
_LAST_DAY = 31


def counts_the_same(claim: Quantity, beside: str, fact: Quantity, around: str) -> bool:
    """`beside` and `around` are the characters before and behind each of them (`-` + `和` of `787-8和`)."""
    if claim.scale and fact.scale:
        return True
    if "number" in {claim.kind, fact.kind} and (_is_joined(beside) or _is_joined(around)):
        return _is_joined(beside) == _is_joined(around)
    mine, theirs = _counted(claim, beside), _counted(fact, around)
    return not mine or not theirs or bool(claim.unit and fact.unit) or not mine.isdisjoint(theirs)


def is_day_of_month(quantity: Quantity, beside: str) -> bool:
    """Whether `3日` is written as the day of a month (`截至3日`, `3日晚`), and not as a span (`3日内`, `为期3日`)."""
    if quantity.kind != "duration" or quantity.unit != "day" or not quantity.raw.endswith("日"):
        return False
    before, behind = beside[:1], beside[1:2]
    whole = not isinstance(quantity.value, str) and quantity.value == int(quantity.value)
    return (
        whole
        and 1 <= int(quantity.value) <= _LAST_DAY
        and "工作" not in quantity.raw
        and before not in _SPAN_BEFORE
        and behind not in _SPAN_BEHIND
    )


def beside(text: str, start: int, end: int) -> str:
    """Two characters: the one before `[start, end)` and the one behind.

    Before it stands a space for the start of the text, and for a hyphen or colon that joins it to no other number.
    """
    before = text[start - 1 : start].replace("：", ":") or " "
    joins = text[start - 2 : start - 1].isdecimal() or (before != ":" and text[start - 2 : start - 1].isalnum())
    if before in _JOINTS and not joins:
        before = " "
    return before + text[end : end + 1].replace("：", ":")


def _is_joined(sides: str) -> bool:
    return sides[:1] in _JOINTS


def _counted(quantity: Quantity, sides: str) -> frozenset[str]:
    """What is counted: the unit, and the character behind that may be a counter or begin a noun; empty for nothing."""
    if quantity.kind not in {"number", "count"} or isinstance(quantity.value, str):
        return frozenset()
    behind = sides[1:2]
    said = behind if _COUNTER.match(behind) and behind not in _FUNCTION else ""
    return frozenset({quantity.unit, said} - {""})
