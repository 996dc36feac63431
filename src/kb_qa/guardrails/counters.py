"""Whether a figure in running text and one in a source count the same thing, by the characters beside them.

Chinese text counts with words that no list holds: `3胜` is no `3平`, `27分` are no `27个`, `1：0` is no `1号`, the 8 of
`787-8` counts nothing, and the 3rd of a month (`截至3日`) is no span of three days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kb_qa.guardrails.quantities import Quantity

# Characters that may follow a number without counting anything.
_FUNCTION = frozenset("的了和与及至到以左右上下余多等为是在占按元角万亿千百十年月日")
_COUNTER = re.compile("[\u4e00-\u9fff:]")
LEAD, TAIL = 14, 60  # characters to keep beside a figure
_LEFT = re.compile(r"(?a)(?:([A-Za-z0-9]{1,12})[-–‑]|(\d{1,4})[:：])$")
_RIGHT = re.compile(r"(?a)[-–‑:：](\d{1,4})(?!\d)")
_SPAN_BEFORE = frozenset("期假共为满达休长约近超第每前后逾仅续历")
_SPAN_BEHIND = frozenset("内以之前后间期假")
_LAST_DAY = 31


@dataclass(frozen=True, slots=True)
class Beside:
    """The characters before and behind a figure, and what is joined to it (`787-` of `787-8`, `-4` of `1:4`)."""

    before: str = ""
    behind: str = ""
    partner: str = ""


@lru_cache(maxsize=8192)
def beside(lead: str, tail: str) -> Beside:
    """From what stands before and behind a figure: of the text before it the last `LEAD` characters."""
    left, right = _LEFT.search(lead[-LEAD:]), _RIGHT.match(tail)
    partner = f"{left[1] or left[2]}-" if left else f"-{right[1]}" if right else ""
    return Beside(lead[-1:], tail[:1].replace("：", ":"), partner)


def counts_the_same(claim: Quantity, mine: Beside, fact: Quantity, theirs: Beside) -> bool:
    """Whether two figures of equal value may count the same thing."""
    if claim.scale and fact.scale:
        return True
    if "number" in {claim.kind, fact.kind} and (mine.partner or theirs.partner):
        return mine.partner == theirs.partner
    said, printed = _counted(claim, mine), _counted(fact, theirs)
    return not said or not printed or bool(claim.unit and fact.unit) or not said.isdisjoint(printed)


def is_day_of_month(quantity: Quantity, sides: Beside) -> bool:
    """Whether `3日` is written as the day of a month (`截至3日`, `3日晚`), and not as a span (`3日内`, `为期3日`)."""
    if quantity.kind != "duration" or quantity.unit != "day" or not quantity.raw.endswith("日"):
        return False
    whole = not isinstance(quantity.value, str) and quantity.value == int(quantity.value)
    return (
        whole
        and 1 <= int(quantity.value) <= _LAST_DAY
        and "工作" not in quantity.raw
        and sides.before not in _SPAN_BEFORE
        and sides.behind not in _SPAN_BEHIND
    )


def _counted(quantity: Quantity, sides: Beside) -> frozenset[str]:
    """What is counted: the unit, and the character behind that may be a counter or begin a noun; empty for nothing."""
    if quantity.kind not in {"number", "count"} or isinstance(quantity.value, str):
        return frozenset()
    said = sides.behind if _COUNTER.match(sides.behind) and sides.behind not in _FUNCTION else ""
    return frozenset({quantity.unit, said} - {""})
