"""The facts of one answer by what they print: a figure is compared with those that it may be, and not with all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import TypeVar

from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.quantities import CONTEXT, Quantity
from kb_qa.guardrails.values import may_be_ratio, printed_quantum

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Sorted = tuple[Sequence[Decimal], Sequence[int]]  # sizes in order, and where the fact of each stands in `facts`


class FactIndex:
    """`facts` in their order. The tables are made when they are first asked for, and are no part of the verdict."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.facts = facts

    def near(self, claim: Quantity) -> Sequence[Fact]:
        """The facts, in order, of which `values.compare` may say anything but that the kind or the value is another:
        of the same digits, or apart by no more than a last place of either.
        """
        wanted = claim.value
        if isinstance(wanted, str) or claim.bound or claim.readings or claim.kind in {"multiple", "doubling"}:
            return self.facts
        size = abs(wanted)
        places = {*self._odd, *self._by_digits.get(_digits(size), ())}
        if claim.kind == "percent":
            places.update(self._ratios)
        printed = printed_quantum(claim)
        for quantum, (sizes, where) in self._by_quantum.items():
            apart = max(printed, quantum)
            first = bisect_left(sizes, CONTEXT.subtract(size, apart))
            places.update(where[first : bisect_right(sizes, CONTEXT.add(size, apart))])
        return [self.facts[place] for place in sorted(places)]

    def of_face(self, value: Decimal) -> Sequence[Fact]:
        """The facts, in order, that print this number, whatever its sign: with their scale or without it."""
        return self._by_face.get(value, ())

    @cached_property
    def _sizes(self) -> Sequence[tuple[int, Decimal, Fact]]:
        return [
            (place, abs(fact.quantity.value), fact)
            for place, fact in enumerate(self.facts)
            if isinstance(fact.quantity.value, Decimal)
        ]

    @cached_property
    def _odd(self) -> Sequence[int]:
        """What no single number says."""
        return [
            place
            for place, fact in enumerate(self.facts)
            if fact.quantity.readings or not isinstance(fact.quantity.value, Decimal)
        ]

    @cached_property
    def _ratios(self) -> Sequence[int]:
        return [place for place, _, fact in self._sizes if may_be_ratio(fact.quantity)]

    @cached_property
    def _by_digits(self) -> Mapping[tuple[int, ...], Sequence[int]]:
        return _grouped((_digits(size), place) for place, size, _ in self._sizes)

    @cached_property
    def _by_quantum(self) -> Mapping[Decimal, _Sorted]:
        groups = _grouped((fact.quantity.quantum, (size, place)) for place, size, fact in self._sizes)
        ordered = {quantum: sorted(group) for quantum, group in groups.items()}
        return {
            quantum: ([size for size, _ in group], [place for _, place in group]) for quantum, group in ordered.items()
        }

    @cached_property
    def _by_face(self) -> Mapping[Decimal, Sequence[Fact]]:
        return _grouped(
            (face, fact)
            for _, size, fact in self._sizes
            for face in (
                (size, CONTEXT.scaleb(size, -fact.quantity.scale)) if fact.quantity.scale and size else (size,)
            )
        )


def _grouped(pairs: Iterable[tuple[_Key, _Value]]) -> defaultdict[_Key, list[_Value]]:
    groups: defaultdict[_Key, list[_Value]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _digits(size: Decimal) -> tuple[int, ...]:
    """The digits without the zeros behind them: the same for every power of ten."""
    return CONTEXT.normalize(size).as_tuple().digits
