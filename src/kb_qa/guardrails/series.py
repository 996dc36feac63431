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


def named_series(claim: Claim, facts: Iterable[Fact], kinds: frozenset[str]) -> list[Series]:
    """The series of the given kinds that share words with the claim, the best first."""
    groups: dict[tuple[str, frozenset[str], frozenset[str], bool], list[Fact]] = {}
    for fact in facts:
        quantity = fact.quantity
        if fact.cell is None or quantity.kind not in kinds or fact.number is None or fact.ambiguous:
            continue
        key = fact.element_id, fact.labels, fact.context, quantity.kind == "percent"
        groups.setdefault(key, []).append(fact)
    words = claim.words if any(matched(each[0], claim.words) for each in groups.values()) else claim.all_words
    text = (claim.question if claim.bare else f"{claim.text}\n{claim.question}").lower()
    found = []
    for group in groups.values():
        said = matched(group[0], words)
        if not said:
            continue
        missing = unmatched(group[0], words)
        ordered = tuple(sorted(group, key=_order))
        found.append(Series(ordered, 2 * len(said) - missing, missing, said, _mention(group[0], said, text)))
    return sorted(found, key=lambda each: (-each.score, each.missing, each.facts[0].cell or (0, 0)))


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
