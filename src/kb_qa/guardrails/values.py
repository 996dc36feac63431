"""Whether a claimed quantity is what a fact prints: kind, printed precision, currency, bounds (rules V1 to V10)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Literal

from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.periods import parts_of
from kb_qa.guardrails.quantities import CONTEXT, ONE, PERIOD_KINDS, Kind, Quantity, plain

Agreement = Literal["", "exact", "rounded", "converted"]
Objection = Literal["", "kind", "value", "false_precision", "currency", "bound", "scale", "ambiguous"]

_MUTUAL: frozenset[Kind] = frozenset({"money", "number", "count"})
_DOLLARS = frozenset({"USD", "$?"})
_YUAN_OR_YEN = frozenset({"CNY", "JPY", "¥?"})
_GENERIC = frozenset({"个", "项", "种", "条", "大", "类"})
_HUNDRED, _TWO = Decimal(100), Decimal(2)
_NEAR = Decimal("0.025")  # `about 20,000` is not said of 21,870, though its zeros are not significant
_DECIMALS = re.compile(r"(?a)\.\d*0(?!\d)")
_RATIO = re.compile(r"(?ai)\bratio\b|\brates?\b|\bmargin\b|\bshare\b|率|比例|占比")
_MORE = re.compile(r"[多余]|\d\+")
_RAISED = re.compile(r"(?a)(?<![\d.,])(?!10[⁰¹²³⁴-⁹])\d{1,3}[⁰²³⁴-⁹][⁰¹²³⁴-⁹]*")


@dataclass(frozen=True, slots=True)
class Comparison:
    """`agreement` says how the values agree, empty where they do not; `objection` is then why. Signs are left out."""

    agreement: Agreement = ""
    objection: Objection = ""
    bound_dropped: bool = False


_KIND, _VALUE = Comparison(objection="kind"), Comparison(objection="value")


def kind_group(quantity: Quantity) -> str:
    """Quantities of one group compete for the same claim."""
    if quantity.kind in _MUTUAL:
        return "amount"
    return f"{quantity.kind}:{quantity.unit}" if quantity.unit else quantity.kind


def compare(claim: Quantity, fact: Fact) -> Comparison:
    """How the values of a claim and a fact agree, whatever their signs."""
    printed = fact.quantity
    if printed.role != "figure":
        return _KIND
    if isinstance(claim.value, str) or isinstance(printed.value, str):
        return _compared_ranges(claim, printed)
    converted = _converted(claim, fact)
    if converted is None:
        return _KIND
    value, quantum = converted
    agreement = _agreement(claim, fact, value, quantum)
    if not agreement.agreement:
        return agreement
    if fact.ambiguous:
        return Comparison(objection="ambiguous")
    same_sign = claim.currency.endswith("?") and claim.currency[0] in printed.raw
    if not same_sign and not is_same_currency(claim.currency, printed.currency):
        return Comparison(objection="currency")
    if claim.basis and printed.basis and claim.basis != printed.basis:
        return Comparison(objection="kind")
    return agreement


def may_be_ratio(printed: Quantity) -> bool:
    """Whether a plain number may be a ratio, if its headers say so: `0.19524`."""
    if printed.kind != "number" or isinstance(printed.value, str):
        return False
    return not printed.scale and printed.quantum < ONE and abs(printed.value) <= _TWO


def rounds_to(value: Decimal, claimed: Decimal, quantum: Decimal) -> bool:
    """Whether `value`, printed at `quantum`, is `claimed`: half-up or half-even (GB/T 8170)."""
    if quantum <= 0:
        return value == claimed
    if abs(CONTEXT.subtract(value, claimed)) > quantum:
        return False
    places = CONTEXT.divide(value, quantum)
    wanted = CONTEXT.divide(claimed, quantum)
    if abs(places) >= Decimal(10) ** 30:
        return places == wanted
    return any(
        places.quantize(ONE, rounding=rounding, context=CONTEXT) == wanted
        for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)
    )


def printed_quantum(claim: Quantity) -> Decimal:
    """One unit of the last significant place: with an approximation word the trailing zeros of a whole number are not
    significant (V4); those behind a point are, `about 4.0`.
    """
    if not claim.approximate or isinstance(claim.value, str) or not claim.value or _DECIMALS.search(claim.raw):
        return claim.quantum
    quantum, ten = claim.quantum, Decimal(10)
    while not CONTEXT.remainder(claim.value, CONTEXT.multiply(quantum, ten)):
        quantum = CONTEXT.multiply(quantum, ten)
    return quantum


def is_same_currency(claimed: str, printed: str) -> bool:
    """A claim may leave the currency out, and never add one that the source lacks."""
    pair = {claimed, printed}
    if not claimed or claimed == printed:
        return True
    return ("$?" in pair and pair <= _DOLLARS) or ("¥?" in pair and pair <= _YUAN_OR_YEN)


def _converted(claim: Quantity, fact: Fact) -> tuple[Decimal, Decimal] | None:
    """(value, quantum) of the fact in the claim's kind; None where the kinds do not agree (V1)."""
    printed = fact.quantity
    value = printed.value if isinstance(printed.value, Decimal) else Decimal(0)
    if claim.kind in _MUTUAL and printed.kind in _MUTUAL:
        if "money" in {claim.kind, printed.kind} and (claim.unit or printed.unit):
            return None
        units = {claim.unit, printed.unit} - {""}
        return (value, printed.quantum) if len(units) < 2 or units & _GENERIC else None
    if claim.kind == printed.kind:
        return (value, printed.quantum) if claim.unit == printed.unit else None
    if claim.kind == "percent" and may_be_ratio(printed):
        # `0.19524 (ratio)` is 19.52 %
        if _RATIO.search(f"{fact.row} {fact.column}"):
            return CONTEXT.multiply(value, _HUNDRED), CONTEXT.multiply(printed.quantum, _HUNDRED)
        return None
    if printed.kind == "number" and claim.unit and claim.unit == printed.unit:
        return value, printed.quantum
    if {claim.kind, printed.kind} == {"doubling", "multiple"}:
        times = value if printed.kind == "multiple" else CONTEXT.power(_TWO, value)
        wanted = claim.value if isinstance(claim.value, Decimal) else Decimal(0)
        times = times if claim.kind == "multiple" else (ONE if times == CONTEXT.power(_TWO, wanted) else Decimal(-1))
        return times, ONE
    return None


def _agreement(claim: Quantity, fact: Fact, value: Decimal, quantum: Decimal) -> Comparison:
    claimed = claim.value if isinstance(claim.value, Decimal) else Decimal(0)
    raised = None if claim.raw.isascii() else _RAISED.search(claim.raw)
    if raised and raised[0] not in fact.quantity.raw:
        return _VALUE  # `2⁵` may be 2 with a note, or 32
    value, wanted = abs(value), abs(claimed)
    factor_changed = claim.kind != fact.quantity.kind and claim.kind == "percent"
    if _is_known(claim, fact, value, wanted):
        return _bounded(claim, fact.quantity, "converted" if factor_changed else "exact")
    if claim.bound and claim.bound != fact.quantity.bound:
        return _within_bound(claim, wanted, value) if not fact.quantity.bound else _VALUE
    place = printed_quantum(claim)
    if place > quantum and not claim.readings:
        apart = abs(CONTEXT.subtract(value, wanted))
        if apart > place:
            return _VALUE
        loose = place > claim.quantum and apart > CONTEXT.multiply(value, _NEAR)
        if rounds_to(value, wanted, place) and not loose:
            return _bounded(claim, fact.quantity, "converted" if factor_changed else "rounded")
        return _VALUE
    if place < quantum and abs(CONTEXT.subtract(value, wanted)) <= quantum and rounds_to(wanted, value, quantum):
        return Comparison(objection="false_precision")
    if value and CONTEXT.scaleb(value, wanted.adjusted() - value.adjusted()) == wanted:
        return Comparison(objection="scale")  # a power of ten apart
    return _VALUE


def _is_known(claim: Quantity, fact: Fact, value: Decimal, wanted: Decimal) -> bool:
    """Whether the sizes are equal: for one reading of the fact's print, and for all of the claim's."""
    if not claim.readings and not fact.quantity.readings:
        return wanted == value
    known = {value, *(abs(each) for each in fact.quantity.readings)}
    return wanted in known and all(abs(each) in known for each in claim.readings)


def _bounded(claim: Quantity, printed: Quantity, agreement: Agreement) -> Comparison:
    """V8 where the values are equal: the same bound, or one dropped; `at least 5` holds for 5, `more than 5` not."""
    if claim.bound == printed.bound:
        return Comparison(agreement)
    if not claim.bound:
        return Comparison(agreement, bound_dropped=True)
    if not printed.bound:
        return Comparison(agreement) if claim.bound in {">=", "<="} else Comparison(objection="bound")
    same_side = claim.bound[0] == printed.bound[0]
    return Comparison(agreement) if same_side else Comparison(objection="bound")


def _within_bound(claim: Quantity, limit: Decimal, value: Decimal) -> Comparison:
    """`over 10,000` holds for 10,368: satisfied, and within a factor of two; 2000多 ends before 3000."""
    bound = claim.bound
    if bound == ">" and _MORE.search(claim.raw):
        step = printed_quantum(replace(claim, approximate=True))
        return Comparison("rounded") if limit < value < CONTEXT.add(limit, step) else _VALUE
    holds = value > limit if bound[0] == ">" else value < limit
    near = value <= CONTEXT.multiply(limit, _TWO) if bound[0] == ">" else CONTEXT.multiply(value, _TWO) >= limit
    return Comparison("rounded") if holds and near and value else _VALUE


@lru_cache(maxsize=4096)
def _fraction(value: Decimal | str) -> str:
    """`1/4` is what 四分之一 says; a fraction that does not end stays one."""
    shown = value if isinstance(value, str) else plain(value)
    above, slash, below = shown.partition("/")
    if not slash or not (above.isdigit() and below.isdigit()) or not int(below):
        return shown
    percent = CONTEXT.divide(CONTEXT.multiply(Decimal(above), _HUNDRED), Decimal(below))
    return plain(percent) if percent == CONTEXT.quantize(percent, Decimal("0.0001")) else shown


def _compared_ranges(claim: Quantity, printed: Quantity) -> Comparison:
    """V9, and everything that prints no single number: the very same ends or form."""
    if claim.kind == "duration" and claim.raw.endswith("日") and printed.kind in {"date", "monthday"}:
        # `13日` for 10月13日: coarser than the fact (V10)
        return Comparison("exact") if f"d{claim.shown_value:0>2}" in parts_of(printed) else _VALUE
    if printed.kind in PERIOD_KINDS:
        return _KIND
    same = _fraction(claim.value) == _fraction(printed.value)
    if not same or not is_same_currency(claim.currency, printed.currency):
        return _VALUE
    return Comparison("exact") if claim.unit == printed.unit or not claim.unit else _KIND
