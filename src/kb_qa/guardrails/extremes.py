"""The largest and the smallest of a row or column: what a superlative beside a figure claims of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kb_qa.guardrails.bind import Claim
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.labels import tokens
from kb_qa.guardrails.operations import LEAST, MOST, says_total
from kb_qa.guardrails.periods import Parts
from kb_qa.guardrails.values import kind_group

_WORDS = tokens(f"{MOST}|{LEAST}".replace("|", " "))


def outdone_by(claim: Claim, bound: Sequence[Fact], facts: Sequence[Fact]) -> Fact | None:
    """A cell that is larger (smaller) than what the claim calls the largest; None where one of `bound` may be it.

    It is enough to be the extreme of the row, over periods of one length, or of the column, totals aside.
    """
    found = None
    for fact in bound if claim.extreme else ():
        found = _outdone_by(claim, fact, facts)
        if found is None:
            return None
    return found


def _outdone_by(claim: Claim, fact: Fact, facts: Sequence[Fact]) -> Fact | None:
    if fact.cell is None or fact.number is None or not _WORDS.isdisjoint(fact.labels | fact.context):
        return None
    worst: Fact | None = None
    for group in _groups(fact, facts):
        beyond = [each for each in group if _exceeds(each, fact, claim.extreme)]
        if not beyond:
            return None
        worst = worst or beyond[0]
    return worst


def _exceeds(other: Fact, fact: Fact, sign: int) -> bool:
    assert other.number is not None
    assert fact.number is not None
    return (other.number - fact.number) * sign > 0


def _groups(fact: Fact, facts: Sequence[Fact]) -> Iterator[list[Fact]]:
    assert fact.cell is not None
    row, column = fact.cell
    peers = [
        each
        for each in facts
        if each.element_id == fact.element_id
        and each.cell is not None
        and each.body
        and each.number is not None
        and kind_group(each.quantity) == kind_group(fact.quantity)
    ]
    beside = [each for each in peers if each.cell and each.cell[0] == row and _length(each) == _length(fact)]
    below = [each for each in peers if each.cell and each.cell[1] == column and not says_total(each.row)]
    yield from (group for group in (beside, below) if len(group) > 1)


def _length(fact: Fact) -> frozenset[str]:
    """The kinds of parts of a fact's period: a quarter is no year."""
    parts: Parts = frozenset().union(*fact.periods)
    return frozenset(part[0] for part in parts)
