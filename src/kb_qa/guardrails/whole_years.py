"""Expressions over all quarters or halves of a year: their sum, average, smallest and largest are of the year."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from kb_qa.guardrails.expressions import Node, Operation
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.periods import Parts

_DIVISIONS = (frozenset({"Q1", "Q2", "Q3", "Q4"}), frozenset({"H1", "H2"}))
_GATHERING = frozenset({"+", "sum", "avg", "min", "max"})


def divided(periods: Sequence[Parts], tree: Node, found: Mapping[int, Sequence[Fact]]) -> tuple[Parts, ...]:
    """The claimed periods, with the parts of a year in its place where the expression gathers facts of all of them.

    `found` are the facts that each operand may be, by `id()` of the operand. Whether each part is there just once is
    known when they are chosen (`is_whole`).
    """
    return tuple(chain.from_iterable(_divided(each, tree, found) for each in periods))


def _divided(claimed: Parts, tree: Node, found: Mapping[int, Sequence[Fact]]) -> tuple[Parts, ...]:
    for leaves in _gathered(tree) if _is_year(claimed) else ():
        parts = [part for leaf in leaves for fact in found.get(id(leaf), ()) for part in _parts_in(fact, claimed)]
        for division in _DIVISIONS:
            if len(leaves) == len(division) and division <= frozenset(parts):
                return tuple(claimed | {part} for part in sorted(division))
    return (claimed,)


def is_whole(claimed: Sequence[Parts], tree: Node, chosen: Mapping[int, Fact]) -> bool:
    """Whether the facts of each claimed year are gathered, each part of it once."""
    groups = [[chosen.get(id(leaf)) for leaf in leaves] for leaves in _gathered(tree)]
    for year in filter(_is_year, claimed):
        said = {id(fact) for fact in chosen.values() if _parts_in(fact, year)}
        for group in groups:
            parts = sorted(part for fact in group if fact is not None for part in _parts_in(fact, year))
            if any(parts == sorted(division) for division in _DIVISIONS) and len(parts) == len(group):
                said -= {id(fact) for fact in group}
        if said:
            return False
    return True


def _is_year(parts: Parts) -> bool:
    return len(parts) == 1 and all(part[0] == "y" for part in parts)


def _parts_in(fact: Fact, year: Parts) -> tuple[str, ...]:
    """The quarter or half of the year that the fact is of; none where its headers name no single one."""
    named = {part for parts in fact.periods if year <= parts for part in parts - year}
    return (*named,) if len(named) == 1 and any(named <= division for division in _DIVISIONS) else ()


def _gathered(node: Node) -> Iterator[Sequence[Node]]:
    """What each sum, average or extreme of the expression is made of; `(a+b)+c` is one sum."""
    if not isinstance(node, Operation):
        return
    leaves = [*_flat(node, node.operator)]
    if node.operator in _GATHERING:
        yield leaves
    for leaf in leaves:
        yield from _gathered(leaf)


def _flat(node: Node, operator: str) -> Iterator[Node]:
    assert isinstance(node, Operation)
    for argument in node.arguments:
        if operator == "+" and isinstance(argument, Operation) and argument.operator == operator:
            yield from _flat(argument, operator)
        else:
            yield argument
