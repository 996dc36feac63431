"""Spelled-out counts that structure an answer ("two reasons"), and the sources that count the same noun otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.quantities import Quantity

_LATIN = re.compile(r"(?a)[ -]?([A-Za-z]{2,30})")
_HAN = re.compile("[\u4e00-\u9fff]{2,8}")
_PLURALS_WITHOUT_S = frozenset("people staff children men women personnel".split())
_STOP = frozenset(
    "the a an of in on at to for from by with and or but is are was were be been has have had that which who"
    " as per than its their this these those".split()
)
_STRUCTURE = frozenset("point reason aspect step item part thing way factor category conclusion finding".split())
_STRUCTURE_HAN = ("方面", "原因", "要点", "步骤", "部分", "理由", "因素", "结论", "点：", "点:")
_FEW = 10
_WORDS = 4  # a noun stands at most so far behind its number: `three new operating segments`


def structures(claim: Quantity, text: str) -> bool:
    """Whether a small count only leads a list of the answer's own: `Here are 3 points:`, `有3个原因：`."""
    if not isinstance(claim.value, Decimal) or claim.kind not in {"number", "count"} or claim.scale:
        return False
    if claim.value != int(claim.value) or not 1 < claim.value <= _FEW or text.rstrip()[-1:] not in {":", "："}:
        return False
    return _noun(text, claim.end) in _STRUCTURE or _run(text, claim.end).startswith(_STRUCTURE_HAN)


def contradiction(claim: Quantity, text: str, facts: Iterable[Fact]) -> str:
    """What the facts say of the noun that `claim` counts in `text`, where it is another number; empty for nothing."""
    noun, run = _noun(text, claim.end), _run(text, claim.end)
    if not noun and not run:
        return ""
    for fact in facts:
        quantity = fact.quantity
        if quantity.role != "figure" or not isinstance(quantity.value, Decimal) or quantity.value == claim.value:
            continue
        if quantity.kind not in {"number", "count"}:
            continue
        if (noun and _noun(fact.tail, 0) == noun) or _share_noun(run, _run(fact.tail, 0)):
            return f"the materials say {quantity.raw} {noun or run[:2]}"
    return ""


def _noun(text: str, position: int) -> str:
    """The counted noun behind a number: the first plural of the next words, else the first word."""
    words: list[str] = []
    while len(words) < _WORDS and (match := _LATIN.match(text, position)):
        word = match[1].lower()
        if word in _STOP:
            break
        words.append(word)
        position = match.end()
        if word in _PLURALS_WITHOUT_S or (word.endswith("s") and not word.endswith("ss")):
            return word.removesuffix("s")
    return words[0] if words else ""


def _run(text: str, position: int) -> str:
    match = _HAN.match(text, position)
    return match[0] if match else ""


def _share_noun(first: str, second: str) -> bool:
    """`四个分部` and `三个可报告分部` count the same: one noun stands behind the other's adjectives."""
    return bool(first and second) and (first[:2] in second or second[:2] in first)
