"""Whether a claimed quantity is the one a source prints: same kind, unit and currency, the very value."""

from __future__ import annotations

import re
from decimal import Decimal

from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.evidence import Fact
from kb_qa.guardrails.quantities import Quantity

_MUTUAL = frozenset({"money", "number", "count"})
_DOLLARS = frozenset({"USD", "$?"})
_YUAN_OR_YEN = frozenset({"CNY", "JPY", "¥?"})
_PRINTED = re.compile(r"(?a)\d[\d.,' \u00a0]*")
_RAISED = re.compile(r"(?a)(?<![\d.,])(?!10[⁰¹²³⁴-⁹])\d{1,3}[⁰²³⁴-⁹][⁰¹²³⁴-⁹]*")


def is_equal(claim: Quantity, fact: Fact) -> bool:
    """Rules V1, V2, V6, V8 and V12 at their strictest."""
    printed = fact.quantity
    return (
        printed.role == "figure"
        and _is_same_kind(claim, fact)
        and _is_same_value(claim, printed)
        and _is_same_currency(claim, fact)
        and not (claim.basis and printed.basis and claim.basis != printed.basis)
        and _is_same_bound(claim, printed)
    )


def _is_same_kind(claim: Quantity, fact: Fact) -> bool:
    printed = fact.quantity
    if claim.kind in _MUTUAL and printed.kind in _MUTUAL:
        if "money" in {claim.kind, printed.kind} and (claim.unit or printed.unit):
            return False
        if claim.unit and not printed.unit and fact.scope.own:
            # `年假（天）：15` counts no people, and `数量（万件）：15` no single pieces.
            return claim.unit in fact.scope.units and not fact.scope.scaled
        return not (claim.unit and printed.unit) or claim.unit == printed.unit or "个" in {claim.unit, printed.unit}
    if claim.kind == printed.kind:
        return claim.unit == printed.unit
    # A bare number under a header that prints the unit: `年假天数（天）：15`.
    wanted = "%" if claim.kind == "percent" else claim.unit
    return printed.kind == "number" and bool(wanted) and wanted in fact.scope.units and not fact.scope.scaled


def _is_same_value(claim: Quantity, fact: Quantity) -> bool:
    """Where the separators of either may be read two ways, both must print the same digits and separators."""
    if isinstance(claim.value, str) or isinstance(fact.value, str):
        return claim.shown_value == fact.shown_value
    wanted: set[Decimal] = set(claim.readings) or {claim.value}
    known = set(fact.readings) or {fact.value}
    raised = _RAISED.search(claim.raw)
    if raised and raised[0] not in fact.raw:
        return False  # `2⁵` may be 2 with a note, or 32
    if len(known) == 1:
        return wanted == known
    return wanted <= known and _digits(claim) == _digits(fact)


def _digits(quantity: Quantity) -> str:
    match = _PRINTED.search(normalise(quantity.raw).text)
    return match[0].rstrip(".,' \u00a0") if match else quantity.raw


def _is_same_currency(claim: Quantity, fact: Fact) -> bool:
    """A claim may leave the currency out, and never add one that neither the figure nor its header prints."""
    printed = fact.quantity
    if not claim.currency or claim.currency == printed.currency:
        return True
    if not printed.currency:
        return not fact.scope.scaled and any(_is_compatible(claim.currency, each) for each in fact.scope.units)
    return _is_compatible(claim.currency, printed.currency)


def _is_compatible(first: str, second: str) -> bool:
    pair = {first, second}
    return first == second or ("$?" in pair and pair <= _DOLLARS) or ("¥?" in pair and pair <= _YUAN_OR_YEN)


def _is_same_bound(claim: Quantity, fact: Quantity) -> bool:
    """A bound may be left out; `at least 5` holds for a printed 5, `more than 5` does not."""
    if not claim.bound or claim.bound == fact.bound:
        return True
    return not fact.bound and claim.bound in {">=", "<="}
