"""The implicit search: a figure that no source prints and whose words name the computation and its operands.

Tight on purpose. A word must ask for the operation, the operands come only from the rows and columns that the words fit
best, and a search that would accept more than one in a hundred figures by chance accepts none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, DecimalException

from kb_qa.guardrails.bind import Claim, compatible
from kb_qa.guardrails.derivation import ONE_PERCENT, Derived, agrees, coincidence
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.labels import tokens
from kb_qa.guardrails.operations import Operation, operations, says_total, superlative
from kb_qa.guardrails.phrases import sides
from kb_qa.guardrails.quantities import CONTEXT, ONE, Kind
from kb_qa.guardrails.series import Series, best, fully_named, named_series, year_of
from kb_qa.guardrails.values import is_same_currency

MAX_CANDIDATES = 200

_AMOUNTS: frozenset[str] = frozenset({"money", "number", "count"})
_HUNDRED = Decimal(100)
_HALVES = 4  # readings of one pair of sides
_BOTH = re.compile(r"(?ai)\b(?:increase|decrease) ?/ ?\(?(?:increase|decrease)|\(decrease\)|\(increase\)|增减")
_ABSOLUTE = re.compile(r"(?ai)\bdifference\b|\bdiffer\b|\bmore\b|\bless\b|差|比.{1,24}[高低多少]")


def derive(claim: Claim, facts: Sequence[Fact]) -> Derived | None:
    """The one computation that gives the claimed figure, or None."""
    if not isinstance(claim.quantity.value, Decimal):
        return None
    text = claim.question if claim.bare else claim.text
    wanted = operations(claim.quantity, text)
    found: dict[tuple[str, Decimal], Derived] = {}
    for operation in wanted:
        for candidate in _CANDIDATES[operation](claim, facts, text):
            found.setdefault((candidate.operation, candidate.value), candidate)
            if len(found) > MAX_CANDIDATES:
                return None
    chance = coincidence(claim.quantity, len(found))
    if chance > ONE_PERCENT:
        return None
    signs = _signs(claim, text)
    for candidate in found.values():
        for sign in signs:
            if agrees(CONTEXT.multiply(candidate.value, sign), claim.quantity.value, claim.quantity):
                return _with_chance(candidate, chance)
    return None


def _with_chance(candidate: Derived, chance: Decimal) -> Derived:
    return Derived(
        candidate.operation,
        candidate.expression,
        candidate.operands,
        candidate.value,
        coincidence=chance,
        warning=candidate.warning,
    )


def _signs(claim: Claim, text: str) -> tuple[Decimal, ...]:
    """A fall is claimed as a positive number; a bare answer to "the change" carries its own sign."""
    minus = Decimal(-1)
    if claim.direction.sign:
        return (ONE,) if claim.direction.sign > 0 or claim.quantity.sign < 0 else (minus,)
    if claim.bare and _BOTH.search(text) is None and claim.quantity.sign >= 0:
        asked = re.search(
            r"(?ai)\b(?:decreas\w{1,3}|declin\w{1,3}|fell|fall|drop\w{0,3}|reduc\w{1,5}|lower|less)\b|下降|减少", text
        )
        if asked and not re.search(r"(?ai)\bincreas|\bchange|\bgrow|增", text):
            return (minus,)
    return (ONE,)


def _kinds(claim: Claim) -> frozenset[str]:
    kind: Kind = claim.quantity.kind
    if kind in _AMOUNTS:
        return _AMOUNTS
    return frozenset({kind})


def _usable(claim: Claim, group: Iterable[Fact]) -> bool:
    return all(is_same_currency(claim.quantity.currency, fact.quantity.currency) for fact in group)


def _pairs(claim: Claim, series: Series) -> Iterator[tuple[Fact, Fact]]:
    """(later, earlier) facts of one series for the periods that the claim names."""
    years = sorted({part for parts in claim.periods for part in parts if part[0] == "y"})
    facts = [fact for fact in series.facts if fact.periods]
    if len(years) >= 2:
        later = [fact for fact in facts if years[-1] == year_of(fact)]
        earlier = [fact for fact in facts if years[0] == year_of(fact)]
    elif len(years) == 1:
        later = [fact for fact in facts if years[0] == year_of(fact)]
        before = sorted({year_of(fact) for fact in facts if year_of(fact) < years[0]})
        earlier = [fact for fact in facts if before and year_of(fact) == before[-1]]
    else:
        known = sorted({year_of(fact) for fact in facts})
        if len(known) != 2:
            return
        later, earlier = ([fact for fact in facts if year_of(fact) == year] for year in (known[1], known[0]))
    if len(later) == len(earlier) == 1:
        yield later[0], earlier[0]
    elif len(facts) == 2 and len(claim.periods) == 2 and facts[0].periods != facts[1].periods:
        yield facts[1], facts[0]


def _changes(claim: Claim, facts: Sequence[Fact], kinds: frozenset[str]) -> Iterator[tuple[Fact, Fact]]:
    for series in best(named_series(claim, facts, kinds)):
        yield from _pairs(claim, series)
    yield from _said_changes(claim, facts, kinds)


def _said_changes(claim: Claim, facts: Sequence[Fact], kinds: frozenset[str]) -> Iterator[tuple[Fact, Fact]]:
    """`由100万增长至300万`: two figures of one sentence without a table; the second is the later one."""
    by_sentence: dict[tuple[str, tuple[int, int]], list[Fact]] = {}
    for fact in facts:
        usable = fact.cell is None and fact.quantity.kind in kinds and fact.number is not None
        if usable and (fact.labels | fact.context) & (claim.words or claim.all_words):
            by_sentence.setdefault((fact.element_id, fact.sentence), []).append(fact)
    for pair in by_sentence.values():
        if len(pair) == 2 and pair[0].quantity.unit == pair[1].quantity.unit:
            first, second = sorted(pair, key=lambda fact: fact.quantity.start)
            newer_first = year_of(first) > year_of(second) != ""
            yield (first, second) if newer_first else (second, first)


def _growth(claim: Claim, facts: Sequence[Fact], text: str) -> Iterator[Derived]:
    del text
    kinds = _AMOUNTS | {"measure", "duration", "percent"}
    for later, earlier in _changes(claim, facts, kinds):
        new, old = _number(later), _number(earlier)
        if old and (new > 0) == (old > 0):
            value = CONTEXT.multiply(CONTEXT.divide(CONTEXT.subtract(new, old), abs(old)), _HUNDRED)
            yield Derived("growth", "({0}-{1})/{1}", (later, earlier), value)
            if old < 0:
                yield Derived("growth", "({0}-{1})/{1}", (later, earlier), CONTEXT.minus(value))


def _difference(claim: Claim, facts: Sequence[Fact], text: str) -> Iterator[Derived]:
    kinds = _kinds(claim)
    if claim.quantity.kind == "pp" or (claim.quantity.kind == "percent" and claim.bare):
        kinds = frozenset({"percent"})
    elif claim.quantity.kind == "percent":
        return
    absolute = _ABSOLUTE.search(text) is not None and (claim.bare or not claim.direction.sign)
    for later, earlier in _changes(claim, facts, kinds):
        if not _usable(claim, (later, earlier)):
            continue
        value = CONTEXT.subtract(_number(later), _number(earlier))
        yield Derived("difference", "{0}-{1}", (later, earlier), abs(value) if absolute else value)
    for first, second in _two(claim, facts, kinds):
        if absolute and _usable(claim, (first, second)):
            value = CONTEXT.subtract(_number(first), _number(second))
            yield Derived("difference", "{0}-{1}", (first, second), abs(value))


def _two(claim: Claim, facts: Sequence[Fact], kinds: frozenset[str]) -> Iterator[tuple[Fact, Fact]]:
    """Facts of two named series at one period, in the order in which the text names them."""
    whole = fully_named(named_series(claim, facts, kinds))
    for index, first in enumerate(whole):
        for second in whole[index + 1 :]:
            if first.mention == second.mention or first.facts[0].element_id != second.facts[0].element_id:
                continue
            pairs = [
                (one, other)
                for one in first.at(claim.periods)
                for other in second.at(claim.periods)
                if one.periods == other.periods and _same_column(one, other)
            ]
            if len(pairs) <= 2:
                yield from pairs


def _same_column(one: Fact, other: Fact) -> bool:
    if one.cell is None or other.cell is None:
        return False
    return one.cell[1] == other.cell[1] or one.cell[0] == other.cell[0]


def _average(claim: Claim, facts: Sequence[Fact], text: str) -> Iterator[Derived]:
    del text
    groups = [*_over_periods(claim, facts)]
    whole = () if groups else _column(claim, facts, _kinds(claim))
    for group in [*groups, whole] if whole else groups:
        total = _total(group)
        terms = "+".join(f"{{{index}}}" for index in range(len(group)))
        value = CONTEXT.divide(total, Decimal(len(group)))
        yield Derived("average", f"({terms})/{len(group)}", group, value)
        if total < 0 and all(fact.neutral for fact in group):
            yield Derived("average", f"({terms})/{len(group)}", group, abs(value))


def _over_periods(claim: Claim, facts: Sequence[Fact], *, total: bool = False) -> Iterator[tuple[Fact, ...]]:
    """The facts of one series at the periods named; at all of them where a range, or none, is named."""
    years = {part for parts in claim.periods for part in parts if part[0] == "y"}
    words = (claim.words or claim.all_words) - {"total", "sum"} if total else None
    for series in best(named_series(claim, facts, _kinds(claim), words)):
        dated = [fact for fact in series.facts if fact.periods]
        named = tuple(fact for fact in dated if compatible(claim.periods, fact.periods))
        if len({year_of(fact) for fact in named}) != len(named) or not _usable(claim, named):
            continue
        if len(named) > 1:
            yield named
        inside = [fact for fact in dated if years and min(years) <= year_of(fact) <= max(years)]
        if len(inside) > len(named):
            yield tuple(inside)


def _sum(claim: Claim, facts: Sequence[Fact], text: str) -> Iterator[Derived]:
    del text
    groups = [*_over_periods(claim, facts), *_over_periods(claim, facts, total=True)] if len(claim.periods) > 1 else []
    groups += [pair for pair in _two(claim, facts, _kinds(claim)) if _usable(claim, pair)]
    whole = _column(claim, facts, _kinds(claim))
    if not groups and whole:
        groups.append(whole)
    for group in groups:
        expression = "+".join(f"{{{index}}}" for index in range(len(group)))
        yield Derived("sum", expression, group, _total(group))


def _column(claim: Claim, facts: Sequence[Fact], kinds: frozenset[str]) -> tuple[Fact, ...]:
    """All rows of the column that the words fit best, where no row is printed as their total."""
    columns: dict[tuple[str, int], list[Fact]] = {}
    for fact in facts:
        if (
            fact.cell is not None
            and fact.body
            and fact.quantity.kind in kinds
            and compatible(claim.periods, fact.periods)
        ):
            columns.setdefault((fact.element_id, fact.cell[1]), []).append(fact)
    scored = [
        (len((group[0].labels - group[0].row_labels | group[0].context) & claim.all_words), group)
        for group in columns.values()
        if len(group) > 1
    ]
    top = max((score for score, _ in scored), default=0)
    chosen = [group for score, group in scored if score == top > 0]
    if len(chosen) != 1 or any(says_total(fact.row) or not fact.row for fact in chosen[0]):
        return ()
    group = tuple(chosen[0])
    return group if len({fact.quantity.unit for fact in group}) == 1 and _usable(claim, group) else ()


def _sides(claim: Claim, facts: Sequence[Fact], text: str) -> list[tuple[Fact, Fact]]:
    """The facts that the two sides of "A as a percentage of B" name, at one period or in one row."""
    for part, whole in sides(text):
        first = named_series(claim, facts, _AMOUNTS, tokens(part))
        second = named_series(claim, facts, _AMOUNTS, tokens(whole))
        if not first or not second:
            continue
        pairs = {
            (id(one), id(other)): (one, other)
            for mine in best(first)
            for theirs in best(second)
            for one in mine.at(claim.periods)
            for other in theirs.at(claim.periods)
            if one is not other and one.element_id == other.element_id
            if one.periods == other.periods and _same_column(one, other)
            if not says_total(whole) or "total" in other.labels | other.context
        }
        if 0 < len(pairs) <= _HALVES:
            return [*pairs.values()]
    return []


def _share(claim: Claim, facts: Sequence[Fact], text: str) -> Iterator[Derived]:
    factor = _HUNDRED if claim.quantity.kind == "percent" else ONE
    for first, second in _sides(claim, facts, text) or _two(claim, facts, _AMOUNTS):
        if _number(second):
            value = CONTEXT.multiply(CONTEXT.divide(_number(first), _number(second)), factor)
            value = abs(value) if first.neutral or second.neutral else value
            if factor == _HUNDRED and abs(value) > _HUNDRED and "ratio" not in text.lower():
                continue  # a part is no larger than its whole
            yield Derived("share", "{0}/{1}", (first, second), value)
    whole = _column(claim, facts, _AMOUNTS)
    if claim.quantity.kind != "percent" or not whole or not says_total(text):
        return
    total = _total(whole)
    named = [fact for fact in whole if fact.row_labels and fact.row_labels <= claim.all_words]
    for fact in named[:2]:
        if total:
            terms = "+".join(f"{{{index + 1}}}" for index in range(len(whole)))
            value = CONTEXT.multiply(CONTEXT.divide(_number(fact), total), _HUNDRED)
            yield Derived("share", f"{{0}}/({terms})", (fact, *whole), value)


def _multiple(claim: Claim, facts: Sequence[Fact], text: str) -> Iterator[Derived]:
    """增长N倍 is b/a-1, 增至N倍 and "N times" b/a, 翻N番 the power of two."""
    for later, earlier in _changes(claim, facts, _AMOUNTS | {"measure"}):
        new, old = _number(later), _number(earlier)
        if old <= 0 or new <= 0:
            continue
        ratio = CONTEXT.divide(new, old)
        if claim.quantity.kind == "doubling":
            power = CONTEXT.divide(CONTEXT.ln(ratio), CONTEXT.ln(Decimal(2)))
            yield Derived("multiple", "log2({0}/{1})", (later, earlier), power)
        elif re.search("(?:增长|增加|提高|上升|扩大)了?(?!到|至)", text):
            yield Derived("multiple", "({0}-{1})/{1}", (later, earlier), CONTEXT.subtract(ratio, ONE))
        else:
            yield Derived("multiple", "{0}/{1}", (later, earlier), ratio)


def _cagr(claim: Claim, facts: Sequence[Fact], text: str) -> Iterator[Derived]:
    del text
    for later, earlier in _changes(claim, facts, _AMOUNTS):
        years = int(year_of(later)[1:] or 0) - int(year_of(earlier)[1:] or 0)
        if years < 1 or _number(earlier) <= 0 or _number(later) <= 0:
            continue
        try:
            ratio = CONTEXT.divide(_number(later), _number(earlier))
            root = CONTEXT.power(ratio, CONTEXT.divide(ONE, Decimal(years)))
        except DecimalException:
            continue
        value = CONTEXT.multiply(CONTEXT.subtract(root, ONE), _HUNDRED)
        yield Derived("cagr", f"({{0}}/{{1}})^(1/{years})-1", (later, earlier), value)


def _extreme(claim: Claim, facts: Sequence[Fact], text: str) -> Iterator[Derived]:
    """The largest or smallest of one series over the finest periods inside those that the claim names."""
    name, choose = ("max", max) if superlative(text) > 0 else ("min", min)
    years = {part for parts in claim.periods for part in parts if part[0] == "y"}
    for series in best(named_series(claim, facts, _kinds(claim))):
        dated = [fact for fact in series.facts if fact.periods and (not years or year_of(fact) in years)]
        finest = max((_parts(fact) for fact in dated), default=0)
        group = tuple(fact for fact in dated if _parts(fact) == finest)
        if len(group) > 1 and _usable(claim, group):
            terms = ", ".join(f"{{{index}}}" for index in range(len(group)))
            yield Derived(name, f"{name}({terms})", group, choose(_number(fact) for fact in group))


def _parts(fact: Fact) -> int:
    return max(len(parts) for parts in fact.periods)


def _number(fact: Fact) -> Decimal:
    return fact.number or Decimal(0)


def _total(facts: Iterable[Fact]) -> Decimal:
    total = Decimal(0)
    for fact in facts:
        total = CONTEXT.add(total, _number(fact))
    return total


_CANDIDATES: dict[Operation, Callable[[Claim, Sequence[Fact], str], Iterator[Derived]]] = {
    "growth": _growth,
    "difference": _difference,
    "sum": _sum,
    "average": _average,
    "share": _share,
    "ratio": _share,
    "multiple": _multiple,
    "cagr": _cagr,
    "extreme": _extreme,
}
