"""Exact factors between units of one dimension. Sources: the international yard and pound (1959), SI, IEC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from kb_qa.guardrails.bind import Claim, bind, matched
from kb_qa.guardrails.derivation import Derived, agrees
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.quantities import CONTEXT

# By dimension: what one unit is in the dimension's first unit.
_FACTORS: dict[str, dict[str, str]] = {
    "length": {"m": "1", "km": "1000", "cm": "0.01", "mm": "0.001", "mi": "1609.344", "ft": "0.3048", "in": "0.0254"},
    "area": {
        "m2": "1",
        "km2": "1000000",
        "ha": "10000",
        "acre": "4046.8564224",
        "ft2": "0.09290304",
        "mu": "666.66666666666666666666666666666666667",
    },
    "volume": {"m3": "1000", "l": "1", "ml": "0.001", "gal": "3.785411784", "bbl": "158.987294928"},
    "mass": {"kg": "1", "g": "0.001", "mg": "0.000001", "t": "1000", "lb": "0.45359237", "oz": "0.028349523125"},
    "energy": {"kwh": "1", "mwh": "1000", "gwh": "1000000"},
    "power": {"kw": "1", "mw": "1000", "gw": "1000000"},
    "speed": {"km/h": "1", "mph": "1.609344"},
    "data": {"kb": "1", "mb": "1000", "gb": "1000000", "tb": "1000000000"},
    "frequency": {"hz": "1", "mhz": "1000000", "ghz": "1000000000"},
    "time": {"second": "1", "minute": "60", "hour": "3600", "day": "86400", "week": "604800"},
    "long time": {"month": "1", "quarter": "3", "year": "12", "decade": "120"},
}
_DIMENSION = {unit: name for name, units in _FACTORS.items() for unit in units}
_FIVE_NINTHS = CONTEXT.divide(Decimal(5), Decimal(9))
_FREEZING = Decimal(32)


def convert(value: Decimal, unit: str, wanted: str) -> Decimal | None:
    """`value` of `unit` in `wanted`; None where they measure different things."""
    if {unit, wanted} == {"c", "f"}:
        if wanted == "c":
            return CONTEXT.multiply(CONTEXT.subtract(value, _FREEZING), _FIVE_NINTHS)
        return CONTEXT.add(CONTEXT.divide(value, _FIVE_NINTHS), _FREEZING)
    name = _DIMENSION.get(unit)
    if name is None or _DIMENSION.get(wanted) != name:
        return None
    factors = _FACTORS[name]
    return CONTEXT.divide(CONTEXT.multiply(value, Decimal(factors[unit])), Decimal(factors[wanted]))


def converted(claim: Claim, facts: Sequence[Fact], anchored: frozenset[int]) -> Derived | None:
    """The claimed measure as the conversion of a fact that the sentence names, or says in its own unit (`anchored`)."""
    for fact, value in _candidates(claim, facts, anchored):
        wanted = claim.quantity.value
        if isinstance(wanted, Decimal) and agrees(abs(value), abs(wanted), claim.quantity):
            return Derived("unit", f"{{0}} in {claim.quantity.unit}", (fact,), value)
    return None


def _candidates(claim: Claim, facts: Sequence[Fact], anchored: frozenset[int]) -> Iterator[tuple[Fact, Decimal]]:
    unit = claim.quantity.unit
    if claim.quantity.kind not in {"measure", "duration"} or not unit:
        return
    found = []
    for fact in facts:
        if fact.quantity.kind != claim.quantity.kind or fact.quantity.unit in {unit, ""} or fact.number is None:
            continue
        value = convert(fact.number, fact.quantity.unit, unit)
        if value is not None and (id(fact) in anchored or matched(fact, claim.words)):
            found.append((fact, value))
    equal = frozenset(id(fact) for fact, _ in found)
    for fact, value in found:
        if id(fact) in anchored or not bind(claim, [fact], facts, equal)[0].rule:
            yield fact, value
