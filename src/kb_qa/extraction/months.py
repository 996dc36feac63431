"""Months that are named without a year: `in May`, 5月."""

from __future__ import annotations

import re
from functools import lru_cache

from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.periods import parts_of
from kb_qa.guardrails.quantities import PERIOD_KINDS

_NAMES = "january february march april may june july august september october november december".split()
_NUMBERS = {name[:3]: f"m{number:02}" for number, name in enumerate(_NAMES, 1)}
_ANY = (
    r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_NAME = re.compile(f"(?a){_ANY}")
# `How may I` names no month.
_ASKED = re.compile(rf"(?a)(?:\b(?i:in|for|of|during|since|by|until|through|from|to|and|or)|,)\s+(?P<name>{_ANY})")


def asked_months(question: str) -> tuple[str, ...]:
    """The months as the question writes them, those of a year or day left out."""
    dated = [each for each in lex(question) if each.kind in PERIOD_KINDS]
    bare = [each.raw for each in dated if (parts := parts_of(each)) and all(part[0] == "m" for part in parts)]
    named = (match for match in _ASKED.finditer(question))
    outside = (
        match["name"] for match in named if not any(each.start <= match.start("name") < each.end for each in dated)
    )
    return tuple(dict.fromkeys((*bare, *outside)))


@lru_cache(maxsize=8192)
def months_in(text: str) -> frozenset[str]:
    """`m05` of every month that a text names, with or without a year."""
    dated = (parts_of(each) for each in lex(text) if each.kind in PERIOD_KINDS)
    printed = {part for parts in dated for part in parts if part[0] == "m"}
    return frozenset(printed | {_NUMBERS[match[0][:3].lower()] for match in _NAME.finditer(text)})
