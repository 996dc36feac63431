"""What the words beside a number make of it: ranges, tolerances, bounds, approximation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from kb_qa.guardrails.quantities import CONTEXT, Bound, Quantity, interval, plain

_LEFT_WINDOW, _RIGHT_WINDOW = 24, 4
_RANGED = frozenset({"money", "count", "measure", "number", "percent", "pp", "multiple", "duration"})

_APPROXIMATE = re.compile(
    r"(?ai)(?:(?<![a-z])(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.|c\.|some|an estimated"
    r"|close to)|[~≈]|约为?|大约|大概|将近|接近|近)\s?$"
)
_BOUNDS: tuple[tuple[Bound, re.Pattern[str]], ...] = (
    (
        ">=",
        re.compile(
            r"(?ai)(?:(?<![a-z])(?:at least|no less than|not less than|no fewer than|minimum of)"
            r"|不低于|不少于|不小于|至少|≥)\s?$"
        ),
    ),
    (
        "<=",
        re.compile(
            r"(?ai)(?:(?<![a-z])(?:up to|at most|no more than|not more than|not exceeding|maximum of"
            r"|within)|不超过|不高于|不多于|不大于|至多|最多|≤)\s?$"
        ),
    ),
    (
        ">",
        re.compile(
            r"(?ai)(?:(?<![a-z])(?:more than|over|above|exceed(?:s|ed|ing)?|greater than|in excess of"
            r"|upwards of)|逾|超过|超出|超|高于|多于|大于|突破|>)\s?$"
        ),
    ),
    (
        "<",
        re.compile(
            r"(?ai)(?:(?<![a-z])(?:less than|under|below|fewer than|lower than)|低于|少于|小于|不足"
            r"|不到|<)\s?$"
        ),
    ),
)
_RIGHT: tuple[tuple[Bound, re.Pattern[str]], ...] = (
    (">=", re.compile(r"(?ai)(?:\(?含?\)?(?:及|或)?以上| or more| and up)")),
    ("<=", re.compile(r"(?ai)(?:(?:及|或)?以[下内]|之内| or less| or fewer)")),
    (">", re.compile("[余多]")),
)
# The last words of all left patterns: a quick look before them.
_LAST_WORD = re.compile(
    r"(?ai)(?:about|around|ly|\.|almost|circa|some|estimated|least|to|than|of|most|exceed\w{0,3}|within|over|above|under|below"
    r"|[~≈≥≤<>为约概近接低少小至超过高多大逾出破于足到])\s?$"
)
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
    gap = text[first.end : second.start]
    if len(gap) > 5 or not (_is_ranged(first) and _is_ranged(second)):
        return None
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
    return replace(
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
    return replace(
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
    left = text[max(0, quantity.start - _LEFT_WINDOW) : quantity.start]
    right = text[quantity.end : quantity.end + _RIGHT_WINDOW + 4]
    left = left if _LAST_WORD.search(left) else ""
    approximate = bool(_APPROXIMATE.search(left) or _APPROXIMATE_RIGHT.match(right))
    bound: Bound = quantity.bound
    for candidate, pattern in _BOUNDS:
        bound = bound or (candidate if pattern.search(left) else "")
    for candidate, pattern in _RIGHT:
        bound = bound or (candidate if pattern.match(right) else "")
    low, high = quantity.lo, quantity.hi
    if low is None and isinstance(quantity.value, Decimal):
        low, high = interval(quantity.value, quantity.quantum)
    soft = quantity.soft and not bound
    if (approximate, bound, low, soft) == (quantity.approximate, quantity.bound, quantity.lo, quantity.soft):
        return quantity
    return replace(quantity, approximate=approximate, bound=bound, lo=low, hi=high, soft=soft)
