"""Series: the facts of one label over periods, and which of them a claim's words name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kb_qa.guardrails.bind import Claim, compatible, matched, unmatched
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.periods import Parts

_MOST = 4  # series that one claim may name


@dataclass(frozen=True, slots=True)
class Series:
    """Facts of one table and one set of labels, in the order of their periods. `mention`: where the text names it."""

    facts: tuple[Fact, ...]
    score: int
    missing: int
    matched: frozenset[str]
    mention: int = 0

    def at(self, periods: Sequence[Parts]) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if compatible(periods, fact.periods))


def named_series(
    claim: Claim, facts: Iterable[Fact], kinds: frozenset[str], words: frozenset[str] | None = None
) -> list[Series]:
    """The series of the given kinds that share words (by default the claim's) with the facts, the best first."""
    groups: dict[tuple[object, ...], list[Fact]] = {}
    rows: dict[tuple[object, ...], list[Fact]] = {}
    for fact in facts:
        quantity = fact.quantity
        if fact.cell is None or not fact.body or quantity.kind not in kinds or fact.number is None:
            continue
        if fact.ambiguous:
            continue
        percent = quantity.kind == "percent"
        groups.setdefault((fact.element_id, fact.labels, fact.context, percent), []).append(fact)
        rows.setdefault((fact.element_id, fact.cell[0], percent), []).append(fact)
    if words is None:
        own = any(matched(each[0], claim.words) for each in groups.values())
        words = claim.words if own else claim.all_words
    text = (claim.question if claim.bare else f"{claim.text}\n{claim.question}").lower()
    named = [group for group in groups.values() if matched(group[0], words)]
    named += [group for row in rows.values() if (group := _across(row, words)) and matched(group[0], words)]
    found = [_series(group, words, text) for group in named]
    return sorted(found, key=lambda each: (-each.score, each.missing, each.facts[0].cell or (0, 0)))


def _series(group: Sequence[Fact], words: frozenset[str], text: str) -> Series:
    said = matched(group[0], words)
    labels = group[0].labels if len({fact.labels for fact in group}) == 1 else group[0].row_labels
    missing = len(labels - words)
    return Series(
        tuple(sorted(group, key=_order)), 2 * len(said) - missing, missing, said, _mention(group[0], said, text)
    )


def _across(row: Sequence[Fact], words: frozenset[str]) -> list[Fact]:
    """A row whose columns are labelled differently for each period: of each, the column that the words fit best."""
    by_year: dict[str, list[Fact]] = {}
    for fact in row:
        if year := year_of(fact):
            by_year.setdefault(year, []).append(fact)
    if len(by_year) < 2 or len({fact.labels for facts in by_year.values() for fact in facts}) == 1:
        return []
    chosen = []
    for facts in by_year.values():
        scored = sorted(((len(matched(fact, words)), -unmatched(fact, words)) for fact in facts), reverse=True)
        if len(scored) > 1 and scored[0] == scored[1]:
            return []
        chosen.append(max(facts, key=lambda fact: (len(matched(fact, words)), -unmatched(fact, words))))
    return chosen if len({fact.labels for fact in chosen}) > 1 else []


def best(series: Sequence[Series]) -> list[Series]:
    """Those that the words fit equally well; none where too many do."""
    top = [each for each in series if (each.score, each.missing) == (series[0].score, series[0].missing)]
    return top if len(top) <= _MOST else []


def fully_named(series: Sequence[Series]) -> list[Series]:
    """Series of which the words leave nothing out, in the order of their mention."""
    whole = [each for each in series if each.missing == 0][: _MOST * 2]
    kept = [
        each
        for each in whole
        if not any(each.facts[0].labels < other.facts[0].labels and each.mention == other.mention for other in whole)
    ]
    return sorted(kept, key=lambda each: each.mention)[:_MOST]


def year_of(fact: Fact) -> str:
    """What a fact's periods sort by; empty for none."""
    return max((part for parts in fact.periods for part in parts if part[0] == "y"), default="")


def _order(fact: Fact) -> tuple[str, tuple[str, ...], tuple[int, int]]:
    rest = sorted(part for parts in fact.periods for part in parts if part[0] != "y")
    return year_of(fact), tuple(rest), fact.cell or (0, 0)


def _mention(fact: Fact, said: frozenset[str], text: str) -> int:
    """Where the text first says the row's own words."""
    own = [token for token in fact.row_labels & said if len(token) > 1 and token != "total"] or [*said]
    places = [place for token in own if (place := text.find(token)) >= 0]
    return max(places, default=len(text)) if len(places) == 1 else sorted(places)[0] if places else len(text)
