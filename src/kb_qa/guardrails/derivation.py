"""What a computed figure rests on, and how it is shown to a reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from kb_qa.guardrails.expressions import evaluate, parse
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.quantities import CONTEXT, Quantity, plain
from kb_qa.guardrails.values import printed_quantum, rounds_to

ONE_PERCENT = Decimal("0.01")
_LEAST_FIGURES = 200  # a figure of one digit is one of so many all the same: nobody draws only from 1 to 9


@dataclass(frozen=True, slots=True)
class Derived:
    """A figure computed from facts. `expression` names them by position (`{0}-{1}`), `value` is in the claim's unit."""

    operation: str
    expression: str
    operands: tuple[Fact, ...]
    value: Decimal
    origin: str = "implicit"
    coincidence: Decimal = Decimal(0)
    warning: str = ""

    def formula(self, names: Sequence[str]) -> str:
        return self.expression.format(*names)

    def shown(self, claim: Quantity) -> str:
        """`(4,132-3,541)/3,541 = 16.69%`: with one place more than the claim prints."""
        unit = {"percent": "%", "pp": " pp"}.get(claim.kind, "")
        value = self.value
        if claim.kind not in {"percent", "pp", "multiple", "doubling"} and claim.scale:
            value = CONTEXT.scaleb(value, -claim.scale)
        return f"{self.formula([_face(fact) for fact in self.operands])} = {_trimmed(value)}{unit}"


def _face(fact: Fact) -> str:
    return fact.printed.strip()


def _trimmed(value: Decimal) -> str:
    if value == value.to_integral_value():
        return f"{value:,.0f}"
    places = 2 if abs(value) >= 1 else 4
    return plain(CONTEXT.quantize(value, CONTEXT.scaleb(Decimal(1), -places)))


def agrees(value: Decimal, claimed: Decimal, claim: Quantity) -> bool:
    """Whether the computed value, printed as the claim is, is the claimed one; signs included."""
    return rounds_to(value, claimed, printed_quantum(claim))


def is_finer_than_operands(derived: Derived, claim: Quantity) -> bool:
    """Whether the claim prints more places than the operands' own rounding leaves certain: a warning, no refusal."""
    if not isinstance(claim.value, Decimal) or not claim.value:
        return False
    names = [f"F{index}" for index in range(len(derived.operands))]
    values = {name: fact.number or Decimal(0) for name, fact in zip(names, derived.operands, strict=True)}
    try:
        tree = parse(derived.formula(names))
        result = evaluate(tree, values)
        spread = Decimal(0)
        for name, fact in zip(names, derived.operands, strict=True):
            half = CONTEXT.divide(fact.quantity.quantum, Decimal(2))
            moved = evaluate(tree, {**values, name: CONTEXT.add(values[name], half)})
            spread = CONTEXT.add(spread, abs(CONTEXT.subtract(moved, result)))
    except ValueError:  # a formula outside the grammar (`log2`), or one without a value
        return False
    if not result:
        return False
    return CONTEXT.divide(spread, abs(result)) > CONTEXT.divide(claim.quantum, abs(claim.value))


def coincidence(claim: Quantity, candidates: int) -> Decimal:
    """The share of figures of the claim's precision that the same search would accept."""
    digits = len(str(abs(_units(claim))))
    figures = max(9 * 10 ** (digits - 1), _LEAST_FIGURES)
    return CONTEXT.divide(Decimal(candidates), Decimal(figures))


def _units(claim: Quantity) -> int:
    value = claim.value if isinstance(claim.value, Decimal) else Decimal(0)
    return int(CONTEXT.divide(value, claim.quantum).to_integral_value()) if claim.quantum else 0
