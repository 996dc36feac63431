"""What the words beside a number make of it: ranges, tolerances, bounds, approximation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from kb_qa.guardrails.quantities import CONTEXT, Bound, Quantity, amend, interval, plain

_LEFT_WINDOW, _RIGHT_WINDOW = 24, 4
_WIDEST_GAP = 5
_RANGED = frozenset({"money", "count", "measure", "number", "percent", "pp", "multiple", "duration"})

# What the last words before a number say of it; `~`: approximate.
_MEANINGS: tuple[tuple[Literal["~", ">=", "<=", ">", "<"], str], ...] = (
    ("~", "about|around|approximately|approx|approx.|roughly|nearly|almost|circa|ca.|c.|some|an estimated|close to"),
    ("~", "~|≈|约|约为|大约|大概|将近|接近|近"),
    (">=", "at least|no less than|not less than|no fewer than|minimum of|不低于|不少于|不小于|至少|≥"),
    ("<=", "up to|at most|no more than|not more than|not exceeding|maximum of|within"),
    ("<=", "不超过|不高于|不多于|不大于|至多|最多|≤"),
    (">", "more than|over|above|exceed|exceeds|exceeded|exceeding|greater than|in excess of|upwards of"),
    (">", "逾|超过|超出|超|高于|多于|大于|突破|>"),
    ("<", "less than|under|below|fewer than|lower than|低于|少于|小于|不足|不到|<"),
)


def _by_ending() -> dict[str, list[tuple[str, Literal["~", ">=", "<=", ">", "<"]]]]:
    """The words by their last two characters, the longest first: `不超过` is no `超过`."""
    found: dict[str, list[tuple[str, Literal["~", ">=", "<=", ">", "<"]]]] = {}
    for meaning, words in _MEANINGS:
        for word in words.split("|"):
            found.setdefault(word[-2:], []).append((word, meaning))
    return {ending: sorted(words, key=lambda pair: -len(pair[0])) for ending, words in found.items()}


_BY_ENDING = _by_ending()
_ASCII_SPACES = frozenset(" \t\n\r\f\v")
_RIGHT: tuple[tuple[Bound, re.Pattern[str]], ...] = (
    (">=", re.compile(r"(?ai)(?:\(?含?\)?(?:及|或)?以上| or more| and up)")),
    ("<=", re.compile(r"(?ai)(?:(?:及|或)?以[下内]|之内| or less| or fewer)")),
    (">", re.compile("[余多]")),
)
_RIGHT_CHARACTERS = frozenset("左上前()含及或以之余多 ")
_APPROXIMATE_RIGHT = re.compile("(?:左右|上下|前后)")
_JOIN = re.compile(r"(?ai) ?[-–—~～至到] ?| to | ?± ?| ?\+/- ?")
_AND = re.compile(r"(?ai) and |和|与|至|到")
_BETWEEN = re.compile(r"(?ai)(?:between |介于|在)$")
# "from 10% to 12%" and "rose 1.8% to 18.4%" are two figures, no range.
_CHANGE = re.compile(
    r"(?ai)(?:(?<![a-z])(?:from|rose|rises?|risen|rising|grew|grown|grows?|increas\w{1,3}"
    r"|gain\w{0,3}|climb\w{0,3}|fell|falls?"
    r"|fallen|falling|drop\w{0,4}|declin\w{1,3}|decreas\w{1,3}|reduc\w{1,3}|cut|slid|up|down|by)(?![a-z])"
    r"|由|从|自|上升|下降|增长|增加|减少|提高|降低|上涨|下跌|回落|升|降)"
)


def qualified(text: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    """Ranges and tolerances joined into one quantity each, bounds and approximation read; sorted in, sorted out."""
    joined: list[Quantity] = []
    for quantity in quantities:
        pair = _pair(text, joined[-1], quantity) if joined else None
        if pair is not None:
            joined[-1] = pair
        else:
            joined.append(quantity)
    return [_bounded(text, quantity) if quantity.role == "figure" else quantity for quantity in joined]


def _pair(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    if second.start - first.end > _WIDEST_GAP or not (_is_ranged(first) and _is_ranged(second)):
        return None
    gap = text[first.end : second.start]
    if gap.strip() in {"±", "+/-"}:
        return _tolerance(first, second)
    if second.sign and gap.strip() != "" and second.sign_source == "glyph":
        return None
    left = text[max(0, first.start - _LEFT_WINDOW) : first.start]
    between = _AND.fullmatch(gap) and _BETWEEN.search(left)
    worded = gap.strip().lower() in {"to", "至", "到"}
    if not (between or _JOIN.fullmatch(gap)) or (worded and _CHANGE.search(left)):
        return None
    return _range(first, second)


def _is_ranged(quantity: Quantity) -> bool:
    return quantity.role == "figure" and quantity.kind in _RANGED and isinstance(quantity.value, Decimal)


def _range(first: Quantity, second: Quantity) -> Quantity | None:
    """`10–12 million`: the end that prints no scale, unit or currency takes the other's."""
    low, high = _number(first), _number(second)
    low = _spread(low, first, second)
    same_unit = first.kind in {second.kind, "number"} or (first.kind == "money" and second.kind == "number")
    if not same_unit or (first.unit and first.unit != second.unit) or low >= high:
        return None
    kind = first.kind if first.kind == "money" else second.kind
    return amend(
        second,
        kind=kind,
        value=f"{plain(low)}..{plain(high)}",
        start=first.start,
        lo=low,
        hi=high,
        currency=first.currency or second.currency,
        readings=(),
        soft=False,
    )


def _spread(low: Decimal, first: Quantity, second: Quantity) -> Decimal:
    if first.scale or not second.scale:
        return low
    return CONTEXT.scaleb(low, second.scale)


def _tolerance(first: Quantity, second: Quantity) -> Quantity:
    center, spread = _number(first), abs(_number(second))
    return amend(
        second,
        value=f"{plain(center)}±{plain(spread)}",
        start=first.start,
        lo=CONTEXT.subtract(center, spread),
        hi=CONTEXT.add(center, spread),
        currency=first.currency or second.currency,
        readings=(),
        soft=False,
    )


def _number(quantity: Quantity) -> Decimal:
    return quantity.value if isinstance(quantity.value, Decimal) else Decimal(0)


def _bounded(text: str, quantity: Quantity) -> Quantity:
    if not _is_ranged(quantity) and ".." not in str(quantity.value):
        return quantity
    said = _said_left(text, quantity.start)
    approximate = said == "~"
    bound: Bound = quantity.bound or ("" if said == "~" else said) or _completed(text, quantity)
    if text[quantity.end : quantity.end + 1] in _RIGHT_CHARACTERS:
        right = text[quantity.end : quantity.end + _RIGHT_WINDOW + 4]
        approximate = approximate or _APPROXIMATE_RIGHT.match(right) is not None
        bound = bound or next((candidate for candidate, pattern in _RIGHT if pattern.match(right)), "")
    low, high = quantity.lo, quantity.hi
    if low is None and isinstance(quantity.value, Decimal):
        low, high = interval(quantity.value, quantity.quantum)
    soft = quantity.soft and not bound
    if (approximate, bound, low, soft) == (quantity.approximate, quantity.bound, quantity.lo, quantity.soft):
        return quantity
    return amend(quantity, approximate=approximate, bound=bound, lo=low, hi=high, soft=soft)


def _completed(text: str, quantity: Quantity) -> Bound:
    """`满20年`: not less than so long; `不满20年`, `未满20年`: less. Of anything but time, 不满 is discontent."""
    start = quantity.start
    if quantity.kind != "duration" or not text.startswith("满", max(start - 1, 0), start):
        return ""
    return "<" if text[max(start - 2, 0) : start - 1] in {"不", "未"} else ">="


def _said_left(text: str, start: int) -> Literal["", "~", ">=", "<=", ">", "<"]:
    """What the last words before `start` say of the number there."""
    left = text[max(0, start - _LEFT_WINDOW) : start].removesuffix("\n").lower()
    if left[-1:] in _ASCII_SPACES:
        left = left[:-1]
    for ending in (left[-2:], left[-1:]):
        for word, meaning in _BY_ENDING.get(ending, ()):
            if left.endswith(word):
                before = left[-len(word) - 1 : -len(word)]
                if not (word[0].isascii() and word[0].isalpha() and "a" <= before <= "z"):
                    return meaning
    return ""
