"""Disputes: every place that tells the measure and period of a figure, whatever value it prints there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kb_qa.guardrails.bind import Claim, compatible
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.periods import Parts
from kb_qa.guardrails.values import compare, kind_group

# Words that a row may add to a measure without making it another one: `Total revenue` is revenue.
_NEUTRAL = frozenset({"total", "合计", "总计", "consolidat"})
# A sentence says more than a row does; so many further words around its figure may still speak of the same measure.
_FURTHER_WORDS = 4


@dataclass(frozen=True, slots=True)
class Subject:
    """What a figure is about: the label tokens of its measure, its periods, and the group of kinds it competes in.

    `context` are the tokens of the section and caption around it: two segments print rows of the same labels.
    `row` are those that a row must carry where the figure stands in a table; empty for a figure of a sentence.
    """

    labels: frozenset[str]
    periods: tuple[Parts, ...]
    group: str
    change: bool = False
    row: frozenset[str] = frozenset()
    context: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Telling:
    """A place that tells the subject. `agrees`: it prints the claimed value. `same_context`: under like headings."""

    fact: Fact
    agrees: bool
    same_context: bool

    @property
    def contradicts(self) -> bool:
        return self.same_context and not self.agrees


def subject_of_fact(fact: Fact) -> Subject:
    """The subject of a figure by the place that supports it."""
    return Subject(
        labels=_measure(fact.labels),
        periods=fact.periods,
        group=kind_group(fact.quantity),
        change=fact.direction.change,
        row=_measure(fact.row_labels),
        context=fact.context - fact.labels,
    )


def subject_of_claim(claim: Claim) -> Subject:
    """The subject of a figure that no place supports: what its sentence says."""
    return Subject(
        labels=_measure(claim.words),
        periods=claim.periods,
        group=kind_group(claim.quantity),
        change=claim.direction.change,
    )


def tellings(subject: Subject, claim: Claim, facts: Iterable[Fact], own: Sequence[Fact] = ()) -> list[Telling]:
    """The places among `facts` that tell the subject, in the order given; none where the subject has no words.

    `own` are the places that support the claim: they know the scale that a quoted cell leaves to its heading. A figure
    of no period is told by figures of no period alone: nothing says that they are of the same one.
    """
    return [
        Telling(fact, _agrees(claim, own, fact), _is_same_context(subject, fact))
        for fact in facts
        if fact.quantity.role == "figure" and _tells(subject, fact)
    ]


def _agrees(claim: Claim, own: Sequence[Fact], fact: Fact) -> bool:
    """The same value, or one that either of them was rounded to."""
    if not own:
        return bool(compare(claim.quantity, fact).agreement)
    return any(
        mine == fact or compare(mine.quantity, fact).agreement or compare(fact.quantity, mine).agreement for mine in own
    )


def is_conflict(found: Sequence[Telling]) -> bool:
    """Whether the places contradict each other: one prints the claimed value and one another, under like headings."""
    return any(each.agrees for each in found) and any(each.contradicts for each in found)


def _tells(subject: Subject, fact: Fact) -> bool:
    if not subject.labels or kind_group(fact.quantity) != subject.group or fact.direction.change != subject.change:
        return False
    if bool(subject.periods) != bool(fact.periods) or not compatible(subject.periods, fact.periods):
        return False
    if fact.cell is not None and not fact.body:
        return False
    mine, theirs = subject.labels, _measure(fact.labels)
    if subject.row and fact.cell is not None:
        return mine == theirs
    if subject.row:  # a sentence about the row: it names the whole measure, and not much else
        return mine <= theirs and len(theirs - mine) <= _FURTHER_WORDS
    if fact.cell is not None:  # a row about the sentence: what the row is called, the sentence says
        row = _measure(fact.row_labels)
        return bool(row) and row <= mine and len(mine - theirs) <= _FURTHER_WORDS
    shared = mine & theirs
    return bool(shared) and len((mine | theirs) - shared) <= min(_FURTHER_WORDS, len(shared))


def _is_same_context(subject: Subject, fact: Fact) -> bool:
    """A sentence has no headings of its own; two tables have the same where neither names what the other does not."""
    if not subject.row or fact.cell is None:
        return True
    theirs = fact.context - fact.labels
    return subject.context <= theirs or theirs <= subject.context


def _measure(labels: frozenset[str]) -> frozenset[str]:
    return labels - _NEUTRAL or labels
