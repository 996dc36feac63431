"""Sources that disagree: another element that gives another value for the very same labels and period."""

from __future__ import annotations

from collections.abc import Container, Sequence

from kb_qa.guardrails.bind import Claim, matched, unmatched
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.values import compare, kind_group


def conflicting(claim: Claim, fact: Fact, facts: Sequence[Fact], equal: Container[int]) -> Fact | None:
    """The first fact that the claim's words fit as well as `fact`, and that says otherwise.

    `equal` holds the ids (`id()`) of the facts of the claimed value. Two tables must agree in caption and section as
    well; where one of the two is text, the claim's own words must not tell them apart.
    """
    if not fact.labels or not fact.periods:
        return None
    return next(
        (
            other
            for other in facts
            if other.periods == fact.periods
            and other.element_id != fact.element_id
            and id(other) not in equal
            and _are_alike(fact, other)
            and _fits_as_well(claim.all_words, fact, other)
            and not compare(other.quantity, fact).agreement
            and not compare(fact.quantity, other).agreement
        ),
        None,
    )


def _fits_as_well(words: frozenset[str], fact: Fact, other: Fact) -> bool:
    if fact.cell is not None and other.cell is not None:
        return other.labels == fact.labels and other.context == fact.context
    said = fact.labels & words
    return (
        bool(said)
        and other.labels & words == said
        and unmatched(other, words) <= unmatched(fact, words)
        and matched(other, words) >= matched(fact, words)
    )


def _are_alike(fact: Fact, other: Fact) -> bool:
    mine, theirs = fact.quantity, other.quantity
    return (
        theirs.role == "figure"
        and kind_group(mine) == kind_group(theirs)
        and mine.unit == theirs.unit
        and fact.direction.change == other.direction.change
    )
