"""Binding: whether a fact of the right value is the fact that the claim's words name (rules B1 to B4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from kb_qa.guardrails.directions import LEVEL, Direction
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.periods import Parts
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity
from kb_qa.guardrails.values import compare, kind_group

_SAID_OF_ANY = frozenset({"total"})  # a row of totals, of whatever the table is about
Rule = Literal["", "B1", "B2", "B3", "unbound"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure and what its sentence says of it. `words` is W(c), `periods` P(c), `all_words` sentence and question.

    `bare`: the sentence has no words of its own, and the question's stand for them. `loss`: words that make a negative
    fact positive stand beside it.
    """

    quantity: Quantity
    words: frozenset[str]
    all_words: frozenset[str]
    periods: tuple[Parts, ...] = ()
    direction: Direction = LEVEL
    bare: bool = False
    loss: bool = False
    extreme: int = 0  # 1 where the words say that it is the largest, -1 the smallest
    trend: int = 0  # 1 where the words say that the level was risen to, -1 fallen to; `base` is where it came from
    base: Decimal | None = None
    text: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class Binding:
    """`rule` is empty where the fact is bound; else `rival` is what the words fit better, if anything is."""

    fact: Fact
    rule: Rule = ""
    rival: Fact | None = None


def bind(claim: Claim, candidates: Iterable[Fact], facts: Sequence[Fact], matching: frozenset[int]) -> list[Binding]:
    """Each candidate with the rule it breaks. `matching` holds the ids (`id()`) of all facts of the claimed value."""
    return [_bound(claim, fact, facts, matching) for fact in candidates]


def compatible(first: Sequence[Parts], second: Sequence[Parts]) -> bool:
    """Whether two lists of periods have a pair that can mean the same; an empty list fits everything."""
    if not first or not second or first == second:
        return True
    return any(_is_compatible(mine, theirs) for mine in first for theirs in second)


@lru_cache(maxsize=4096)
def _is_compatible(claimed: Parts, printed: Parts) -> bool:
    years, known = _years(claimed), _years(printed)
    if years and known:
        if len(years) > 1 and len(known) > 1 and years != known:
            return False
        if years.isdisjoint(known):
            return False
    within, other = _parts(claimed), _parts(printed)
    if within != other:
        months = any(part[0] == "m" for part in claimed | printed)
        if not months or (within and other):
            return False
    return all(_agree(claimed, printed, kind) for kind in "md")


def _agree(claimed: Parts, printed: Parts, kind: str) -> bool:
    mine, theirs = ({part for part in parts if part[0] == kind} for parts in (claimed, printed))
    return not mine or not theirs or mine == theirs


def _years(parts: Parts) -> frozenset[str]:
    return frozenset(part for part in parts if part[0] == "y")


def _parts(parts: Parts) -> frozenset[str]:
    """Quarters and halves: 2024 is not 2024Q3."""
    return frozenset(part for part in parts if part[0] in "QH")


def matched(fact: Fact, words: frozenset[str]) -> frozenset[str]:
    return (fact.labels | fact.context) & words


def unmatched(fact: Fact, words: frozenset[str]) -> int:
    return len(fact.labels - words)


def _bound(claim: Claim, fact: Fact, facts: Sequence[Fact], matching: frozenset[int]) -> Binding:
    words = claim.words
    if not compatible(claim.periods, fact.periods):
        return Binding(fact, "B1", _named(claim, fact, facts))
    if claim.periods and not fact.periods and fact.body:
        dated = [each for each in facts if _is_sibling(each, fact) and each.periods]
        group = kind_group(fact.quantity)
        others = [
            each for each in dated if compatible(claim.periods, each.periods) and kind_group(each.quantity) == group
        ]
        if others:
            return Binding(fact, "B2", others[0])
        latest = max((max(each.periods, key=_order) for each in dated), key=_order, default=frozenset())
        if fact.direction.change and not compatible(claim.periods, (latest,)):
            return Binding(fact, "B1")  # a column of changes without a period is of the latest beside it
    if _is_day(fact.quantity):
        return Binding(fact)  # the day of a month is a date, and nothing else competes for it
    rivals = (
        rival
        for rival in facts
        if _is_spoken_of(rival, fact, words) and id(rival) not in matching and _competes(claim, fact, rival)
    )
    named = _named_periods(claim, fact)
    better = [each for each in rivals if _is_better(fact, each, claim) and named <= _named_periods(claim, each)]
    if better:
        return Binding(fact, "B3", max(better, key=lambda rival: len(matched(rival, words))))
    if claim.all_words and not matched(fact, words) and not matched(fact, claim.all_words):
        return Binding(fact, "unbound")
    return Binding(fact)


def _named_periods(claim: Claim, fact: Fact) -> frozenset[Parts]:
    """The claimed periods that the fact's headers name: a row of August is not outdone by the total of all months."""
    return frozenset(parts for parts in claim.periods if any(parts <= own for own in fact.periods))


def _is_spoken_of(rival: Fact, fact: Fact, words: frozenset[str]) -> bool:
    """Whether the words say anything of the rival: no other can be better, and most of an answer's facts are others."""
    said = not words.isdisjoint(rival.labels)
    return said or (rival.element_id == fact.element_id and not words.isdisjoint(rival.context))


def _competes(claim: Claim, fact: Fact, rival: Fact) -> bool:
    """Whether a fact of another value could be what the claim means."""
    if rival.quantity.role != "figure":
        return False
    if claim.periods and fact.periods and not rival.periods and rival.cell is not None:
        return False  # a column of changes has no period to compete with
    return _is_counted_alike(claim.quantity, rival.quantity) and compatible(claim.periods, rival.periods)


def _is_counted_alike(claimed: Quantity, printed: Quantity) -> bool:
    """A header's （天） makes a plain 12 compete with 12天, and not with an amount of money."""
    if claimed.unit and claimed.unit == printed.unit:
        return True
    if (claimed.currency and printed.unit) or (claimed.unit and printed.currency):
        return False
    return kind_group(printed) == kind_group(claimed)


def _is_better(fact: Fact, rival: Fact, claim: Claim) -> bool:
    """B3: the words fit the rival at least as well in what they say and in what they leave out, and better in one.

    In text figures of one sentence compete by the words of their own clauses, others only where they are named wholly.
    """
    words = claim.words
    is_cell, apart = fact.cell is not None, fact.element_id != rival.element_id
    if is_cell != (rival.cell is not None) or (is_cell and apart):
        return _is_named_elsewhere(fact, rival, words)
    if not is_cell:
        mine, theirs = fact.labels & words, rival.labels & words
        if claim.bare and theirs and not mine:
            return True  # a bare figure is of what the question names, wherever that stands
        if rival.sentence != fact.sentence or apart:
            if _is_parallel(fact, rival) and theirs > mine and unmatched(rival, words) < unmatched(fact, words):
                return True
            return _is_named_elsewhere(fact, rival, words)
        whole = bool(mine) and theirs == mine == rival.labels < fact.labels  # named is the whole, and not its part
        return theirs > mine or whole
    if not fact.body or not rival.body:
        return False  # a header's own numeral: a footnote mark, a term
    mine, theirs = matched(fact, words), matched(rival, words)
    if theirs == mine and matched(fact, claim.all_words) > matched(rival, claim.all_words):
        return False  # `P5：22000元`: the question says of what
    missing, left_out = unmatched(fact, words), unmatched(rival, words)
    if not theirs or not theirs >= mine or left_out > missing:
        return False  # a rival of which the words say nothing is none
    return theirs > mine or left_out < missing


def _is_named_elsewhere(fact: Fact, rival: Fact, words: frozenset[str]) -> bool:
    """Across elements: the words name all that tells the rival from the fact (of a cell, by its row), and nothing of
    what tells the fact from the rival.
    """
    if any(each.cell is not None and not each.body for each in (fact, rival)):
        return False
    if (fact.cell is None or rival.cell is None) and fact.quantity.unit != rival.quantity.unit:
        return False
    mine, theirs = _subject(fact), _subject(rival)
    apart = theirs - mine - _SAID_OF_ANY
    if not apart or not apart <= words or not mine - theirs:
        return False
    if rival.direction.change != fact.direction.change or not theirs & words > matched(fact, words):
        return False
    return not compare(rival.quantity, fact).agreement  # `$1.2 billion` in the text is 1,200,181 of the table


def _subject(fact: Fact) -> frozenset[str]:
    return fact.labels if fact.cell is None else fact.row_labels


def _is_parallel(fact: Fact, rival: Fact) -> bool:
    """Whether two sentences say the same of two subjects: `Media revenue rose 3.4%`, `Wireless revenue rose 3.6%`."""
    return (
        rival.periods == fact.periods
        and rival.direction.change == fact.direction.change
        and rival.quantity.unit == fact.quantity.unit
        and 2 * len(rival.labels & fact.labels) >= len(fact.labels)
    )


def _is_day(quantity: Quantity) -> bool:
    """`13日`, and the date that it is the day of."""
    if quantity.kind in PERIOD_KINDS:
        return True
    return quantity.kind == "duration" and quantity.unit == "day" and quantity.raw.endswith("日")


def _order(parts: Parts) -> list[str]:
    return sorted(parts, key=lambda part: "yHQmd".find(part[0]))


def _is_sibling(other: Fact, fact: Fact) -> bool:
    return (
        other.element_id == fact.element_id
        and other.cell is not None
        and fact.cell is not None
        and other.cell[0] == fact.cell[0]
        and other.cell[1] != fact.cell[1]
    )


def _named(claim: Claim, fact: Fact, facts: Sequence[Fact]) -> Fact | None:
    """What stands where the claim's period points: the same row, else the best-matched of the period."""
    row = [
        each for each in facts if _is_sibling(each, fact) and each.periods and compatible(claim.periods, each.periods)
    ]
    if row:
        return row[0]
    group = kind_group(claim.quantity)
    others = [
        each
        for each in facts
        if each.periods
        and each is not fact
        and kind_group(each.quantity) == group
        and compatible(claim.periods, each.periods)
        and matched(each, claim.words)
    ]
    return max(others, key=lambda each: len(matched(each, claim.words)), default=None)
