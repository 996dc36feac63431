"""Levels that are said to have been reached upwards or downwards: `rose to 18.4%`, `从76.5亿元增加到87.7亿元`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from kb_qa.guardrails.bind import Claim
from kb_qa.guardrails.directions import trend_of
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.quantities import Quantity
from kb_qa.guardrails.series import year_of

_FROM = re.compile(r"(?ai)(?:\bfrom|从|由) ?$")
_BEHIND_FROM = re.compile(r"(?ai)\s*(?:\x00+\s*)?(?:,|，)?\s*(?:up |down )?(?:from|从|由) ?$")
_NEAR = 48  # characters


def trend_at(masked: str, figures: Sequence[Quantity], index: int) -> tuple[int, Decimal | None]:
    """(1 up, -1 down, 0 for nothing said; the level that it is said to come from, where the sentence says one)."""
    figure = figures[index]
    before = figures[index - 1] if index else None
    if before is not None and _FROM.search(masked, max(0, before.start - 8), before.start):
        lead = masked[max(0, before.start - _NEAR) : before.start]
        between = masked[before.end : figure.start]
        if re.search(r"(?ai)\bto ?$|[至到] ?$", between):
            return trend_of(lead) or trend_of(between, to=True), _number(before)
    sign = trend_of(masked[max(0, figure.start - _NEAR) : figure.start], to=True)
    behind = figures[index + 1] if index + 1 < len(figures) else None
    if sign and behind is not None and _BEHIND_FROM.fullmatch(masked, figure.end, behind.start):
        return sign, _number(behind)
    return sign, None


def _number(quantity: Quantity) -> Decimal | None:
    return quantity.value if isinstance(quantity.value, Decimal) else None


def goes_otherwise(claim: Claim, fact: Fact, facts: Sequence[Fact]) -> Fact | None:
    """The earlier level of the row that denies the claimed way; `fact` itself where the claim contradicts itself."""
    value = claim.quantity.value
    if not claim.trend or not isinstance(value, Decimal):
        return None
    if claim.base is not None:
        return fact if (value - claim.base) * claim.trend < 0 else None
    if fact.cell is None or fact.number is None or not year_of(fact):
        return None
    earlier = [
        each
        for each in facts
        if each.element_id == fact.element_id
        and each.cell is not None
        and each.cell[0] == fact.cell[0]
        and each.labels == fact.labels
        and each.number is not None
        and "" < year_of(each) < year_of(fact)
    ]
    size = abs(fact.number)
    if not earlier or any((size - abs(each.number or Decimal(0))) * claim.trend > 0 for each in earlier):
        return None
    return max(earlier, key=year_of)
