"""Amounts in another currency: a rate counts only where a source prints it and names both currencies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from kb_qa.guardrails.bind import Claim, bind, compatible, matched
from kb_qa.guardrails.derivation import ONE_PERCENT, Derived, agrees, coincidence
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.quantities import CONTEXT, ONE
from kb_qa.guardrails.scopes import CURRENCY_NAME, currency_named
from kb_qa.guardrails.values import is_same_currency

_UNITS = frozenset({ONE, Decimal(100), Decimal(1000)})  # `100日元兑4.8元`
_RATE = re.compile(r"(?ai)\brates?\b|exchang|convert|translat|equivalent|=|汇率|汇价|牌价|中间价|折算|折合|兑|换算")
_PAIR = re.compile(
    rf"(?a)(?P<first>{CURRENCY_NAME})\s?(?P<mark>[/／]|to|per|兑换?|对|:)\s?(?:the )?(?P<second>{CURRENCY_NAME})"
)


@dataclass(frozen=True, slots=True)
class Rate:
    """`units` of currency `base` are the fact's number of currency `quote`."""

    fact: Fact
    base: str
    quote: str
    units: Decimal = ONE

    def of(self, operator: str) -> str:
        """The currency of an amount times, or by, the rate; empty where the units do not cancel."""
        if self.units != ONE:
            return ""
        return {"*": self.quote, "/": self.base}.get(operator, "")


def rates(facts: Sequence[Fact]) -> Iterator[Rate]:
    """`1美元兑7.1元`, `US$1 = RMB 7.1`, and a number whose row, column or sentence says `USD/CNY`."""
    sentences: dict[tuple[str, tuple[int, int]], list[Fact]] = {}
    for fact in facts:
        quantity = fact.quantity
        if quantity.kind not in {"money", "number"} or quantity.scale or quantity.unit or not fact.number:
            continue
        if fact.cell is None and _RATE.search(fact.row):
            sentences.setdefault((fact.element_id, fact.sentence), []).append(fact)
        elif fact.body and (named := _named(f"{fact.row} {fact.column}")):
            yield Rate(fact, *named)
    for found in sentences.values():
        yield from _said(found)


def exchanged(claim: Claim, facts: Sequence[Fact], anchored: frozenset[int]) -> Derived | None:
    """The claimed amount as another one at a rate; the amount is bound, or stands in the same sentence (`anchored`)."""
    wanted = claim.quantity.value
    if claim.quantity.kind != "money" or not claim.quantity.currency or not isinstance(wanted, Decimal):
        return None
    found = [*_candidates(claim, facts, anchored)]
    chance = coincidence(claim.quantity, len(found))
    if chance > ONE_PERCENT:
        return None
    fitting = (each for each in found if agrees(abs(each.value), abs(wanted), claim.quantity))
    return next(fitting, None)


def _candidates(claim: Claim, facts: Sequence[Fact], anchored: frozenset[int]) -> Iterator[Derived]:
    currency = claim.quantity.currency
    for rate in rates(facts):
        if not compatible(claim.periods, rate.fact.periods):
            continue
        for operator, target, given in (("*", rate.quote, rate.base), ("/", rate.base, rate.quote)):
            if not is_same_currency(currency, target):
                continue
            for fact in _amounts(claim, facts, given, rate, anchored):
                value = _exchanged(fact.number or Decimal(0), rate, operator)
                units = {"*": "/", "/": "*"}[operator] + str(rate.units) if rate.units != ONE else ""
                yield Derived("fx", f"{{0}}{operator}{{1}}{units}", (fact, rate.fact), value)


def _amounts(
    claim: Claim, facts: Sequence[Fact], currency: str, rate: Rate, anchored: frozenset[int]
) -> Iterator[Fact]:
    for fact in facts:
        quantity = fact.quantity
        if fact is rate.fact or quantity.kind not in {"money", "number"} or not fact.number or not quantity.currency:
            continue
        if fact.sentence == rate.fact.sentence and fact.element_id == rate.fact.element_id and fact.number in _UNITS:
            continue
        if not is_same_currency(quantity.currency, currency) or fact.ambiguous:
            continue
        if id(fact) in anchored or (matched(fact, claim.words) and not bind(claim, [fact], facts, frozenset())[0].rule):
            yield fact


def _exchanged(amount: Decimal, rate: Rate, operator: str) -> Decimal:
    one = CONTEXT.divide(rate.fact.number or ONE, rate.units)
    return CONTEXT.multiply(amount, one) if operator == "*" else CONTEXT.divide(amount, one)


def _said(facts: Sequence[Fact]) -> Iterator[Rate]:
    """A unit of one currency beside an amount of another, or the only number of a sentence that names a pair."""
    for one in facts:
        if one.number not in _UNITS or not one.quantity.currency:
            continue
        others = [each for each in facts if each.quantity.currency and each.quantity.currency != one.quantity.currency]
        if len(others) == 1:
            yield Rate(others[0], one.quantity.currency, others[0].quantity.currency, one.number or ONE)
    plain = [fact for fact in facts if fact.quantity.kind == "number"]
    if len(plain) == 1 and (named := _named(facts[0].row)):
        yield Rate(plain[0], *named)


def _named(text: str) -> tuple[str, str] | None:
    """(base, quote) of the one pair that a text names; `RMB per USD` is quoted for one dollar."""
    pairs = set()
    for match in _PAIR.finditer(text):
        first, second = currency_named(match["first"]), currency_named(match["second"])
        if first and second and first != second:
            pairs.add((second, first) if match["mark"] == "per" else (first, second))
    return pairs.pop() if len(pairs) == 1 else None
