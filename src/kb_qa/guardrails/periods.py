"""Periods as sets of parts, so that `2024年第三季度` names 2024, and 2024 with `Q3` beside it names 2024Q3."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity

Parts = frozenset[str]

_SHAPES = (
    re.compile(r"(?a)(?P<year>\d{4}|-)-(?P<month>\d\d)(?:-(?P<day>\d\d))?"),
    re.compile(r"(?a)(?P<year>\d{4}|--)(?P<part>Q[1-4](?:-[1-4])?|H[12])"),
    re.compile(r"(?a)(?:FY)?(?P<year>\d{4})"),
)


def parts_of(quantity: Quantity) -> Parts:
    """`2025Q3` → {y2025, Q3}; `--03-31` → {m03, d31}; a range of years, all its years. Empty for what is no period."""
    if quantity.kind not in PERIOD_KINDS or not isinstance(quantity.value, str):
        return frozenset()
    first, slash, last = quantity.value.partition("/")
    if slash:
        return frozenset(f"y{year}" for year in range(int(first), int(last) + 1))
    for shape in _SHAPES:
        match = shape.fullmatch(quantity.value)
        if match:
            return _parts(match.groupdict())
    return frozenset({quantity.value})


def _parts(groups: dict[str, str | None]) -> Parts:
    year, month, day, part = (groups.get(name) for name in ("year", "month", "day", "part"))
    parts = {f"y{year}"} if year and year[0] != "-" else set()
    if month:
        parts.add(f"m{month}")
    if day:
        parts.add(f"d{day}")
    if part:
        parts.add(part)
    return frozenset(parts)


def is_named(claim: Quantity, facts: Iterable[Quantity]) -> bool:
    """Whether the facts name the claimed period: one of them is equal or finer, or a year and a part stand apart.

    A month names its quarter and half-year, so `March 2024` names 2024; a claim finer than the facts is not named.
    """
    wanted = parts_of(claim)
    known = [parts_of(fact) for fact in facts]
    if any(wanted <= parts for parts in known):
        return True
    if len(wanted) > 1 and all(part[0] == "y" for part in wanted):
        # `2017-2019` over columns of its years
        return all(any(part in parts for parts in known) for part in wanted)
    year = frozenset(part for part in wanted if part[0] == "y")
    rest = wanted - year
    # A quarter in the row and its year in the column compose; a day needs its month printed with it.
    return bool(year and rest) and any(year <= parts for parts in known) and frozenset(rest) in known
