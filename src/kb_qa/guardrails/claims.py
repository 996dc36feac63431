"""Claims: what the sentence around a figure, or the question of a bare answer, says that the figure is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb_qa.guardrails.bind import Claim
from kb_qa.guardrails.directions import LEVEL, direction_asked, direction_at, says_loss
from kb_qa.guardrails.labels import DEFAULT_ALIASES, Aliases, tokens
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.operations import superlative
from kb_qa.guardrails.periods import Parts
from kb_qa.guardrails.quantities import Kind, Quantity, scaled_by
from kb_qa.guardrails.scopes import stated_in_caption
from kb_qa.guardrails.trends import trend_at
from kb_qa.guardrails.windows import masked, sentence_periods, windows, without_periods

_SCALED: frozenset[Kind] = frozenset({"number", "money", "count"})
_IN_BRACKETS = re.compile(r"(?a)[ \u00a0]?[(（]([^()（）\d]{2,60})[)）]")
_PREVIOUS = re.compile(
    r"(?ai)\b(?:previous|prior|preceding|last) (?:fiscal )?(?:year|period)|\byear (?:earlier|before|ago)|上年"
    r"|去年|前一年|上一年|上期"
)

_WANTS_FIGURE = re.compile(
    r"(?ai)\bhow (?:many|much|long|old|high|large|big|often)\b|\bwhat percent"
    r"|\b(?:what|which) (?:was|is|were|are) (?:the )?(?:[a-z-]+ ){0,3}"
    r"(?:number|amount|total|sum|average|percentage|rate|ratio|share|price|value|margin|difference)\b"
    r"|多少|几[个名人年天月次家项倍成元]|第几|多[大高长久]|比例是|占比"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, with what an answer may take from it: words, periods, and figures to deny (kind and value)."""

    text: str
    words: frozenset[str]
    quantities: tuple[Quantity, ...]
    echoes: frozenset[tuple[str, str]]
    wants_figure: bool = False


def asked_of(question: str, *, locale: str = "", aliases: Aliases = DEFAULT_ALIASES) -> Asked:
    quantities = lex(question, locale=locale or "en")
    words = tokens(without_periods(question, quantities), aliases)
    echoes = frozenset((each.kind, each.shown_value) for each in quantities)
    return Asked(question, words, quantities, echoes, _WANTS_FIGURE.search(question) is not None)


def claims_of(
    text: str, quantities: Sequence[Quantity], asked: Asked, *, aliases: Aliases = DEFAULT_ALIASES
) -> dict[int, Claim]:
    """The claim of every figure of one unit, by where the figure starts; periods and markers make none.

    W(c) is the figure's window, else the sentence, else the question; P(c) likewise.
    """
    own = windows(text, quantities)
    if not own:
        return {}
    blank = masked(text, quantities)
    sentence = tokens(blank.replace("\x00", " ").replace("\x01", " "), aliases)
    named, wanted = sentence_periods(quantities), sentence_periods(asked.quantities)
    bare = not sentence
    claims = {}
    figures = [each for each in quantities if each.start in own]
    places = {each.start: index for index, each in enumerate(figures)}
    carried: frozenset[str] = frozenset()
    for quantity in quantities:
        window = own.get(quantity.start)
        if window is None:
            continue
        carried = tokens(window.text, aliases) or carried  # `fell 9.2% to 912`: both are of one subject
        direction = direction_at(blank, quantity.start, quantity.end)
        trend, base = trend_at(blank, figures, places[quantity.start])
        if bare and direction == LEVEL and asked.text:
            direction = direction_asked(asked.text)
        claims[quantity.start] = Claim(
            quantity=_as_stated(quantity, text),
            words=carried or sentence or asked.words,
            all_words=sentence | asked.words,
            periods=window.periods or _relative(window.text, named or wanted) or named or wanted,
            direction=direction,
            bare=bare,
            loss=says_loss(window.text or text) or (bare and says_loss(asked.text)),
            trend=trend,
            base=base,
            extreme=superlative(asked.text if bare else window.text),
            text=text,
            question=asked.text,
        )
    return claims


def _as_stated(quantity: Quantity, text: str) -> Quantity:
    """`4,132 (in millions)`, `4,132（单位：万元）`: what stands in brackets right behind a figure is its scale."""
    behind = _IN_BRACKETS.match(text, quantity.end)
    if behind is None or quantity.scale or quantity.kind not in _SCALED:
        return quantity
    stated = stated_in_caption(behind[1])
    if not stated.scale or stated.ambiguous:
        return quantity
    named = quantity if quantity.currency or quantity.unit else replace(quantity, currency=stated.currency)
    return scaled_by(named, stated.scale)


def _relative(words: str, named: tuple[Parts, ...]) -> tuple[Parts, ...]:
    """`in the previous year` beside a figure: the year before the latest one that is named."""
    years = [part for parts in named for part in parts if part[0] == "y"]
    if not years or _PREVIOUS.search(words) is None:
        return ()
    return (frozenset({f"y{int(max(years)[1:]) - 1}"}),)
