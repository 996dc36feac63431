"""The facts of one answer by what they print: a figure is compared with those that it may be, and not with all."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property

from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.quantities import CONTEXT, Quantity
from kb_qa.guardrails.values import may_be_ratio, printed_quantum


class FactIndex:
    """`facts` in their order. A whole comparison costs five times what leaving a fact out costs; tables by hash or
    order would cost more to make than one answer saves by them.
    """

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.facts = facts

    def near(self, claim: Quantity) -> Sequence[Fact]:
        """The facts, in order, of which `values.compare` may say anything but that the kind or the value is another:
        of the same digits, or apart by no more than a last place of either.
        """
        wanted = claim.value
        if isinstance(wanted, str) or claim.bound or claim.readings or claim.kind in {"multiple", "doubling"}:
            return self.facts
        size, printed, percent = wanted.copy_abs(), printed_quantum(claim), claim.kind == "percent"
        leading, subtract, scaleb = size.adjusted(), CONTEXT.subtract, CONTEXT.scaleb
        found: list[Fact] = []
        for fact, other, quantum in self._sizes:
            if (
                other is None
                or subtract(other, size).copy_abs() <= (printed if printed > quantum else quantum)
                or scaleb(other, leading - other.adjusted()) == size
                or (percent and may_be_ratio(fact.quantity))
            ):
                found.append(fact)
        return found

    def of_face(self, value: Decimal) -> Sequence[Fact]:
        """The facts, in order, that print this number, whatever its sign: with their scale or without it."""
        return [fact for fact, size, face in self._faces if value in (size, face)]

    @cached_property
    def _sizes(self) -> Sequence[tuple[Fact, Decimal | None, Decimal]]:
        """Each fact with its size, none where no single number says it, and its last place."""
        return [(fact, _size(fact.quantity), fact.quantity.quantum) for fact in self.facts]

    @cached_property
    def _faces(self) -> Sequence[tuple[Fact, Decimal, Decimal]]:
        return [
            (fact, size, CONTEXT.scaleb(size, -fact.quantity.scale) if fact.quantity.scale else size)
            for fact in self.facts
            if isinstance(fact.quantity.value, Decimal)
            for size in (fact.quantity.value.copy_abs(),)
        ]


def _size(quantity: Quantity) -> Decimal | None:
    return None if isinstance(quantity.value, str) or quantity.readings else quantity.value.copy_abs()
