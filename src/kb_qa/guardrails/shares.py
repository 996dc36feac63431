"""Parts and multiples in English words: `half`, `a third of`, `doubled`, `sixfold`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from kb_qa.guardrails import numerals
from kb_qa.guardrails.quantities import CONTEXT, Quantity, amend

BIG = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_TIMES = frozenset({"doubled", "doubling", "double", "doubles"})
_FOLDS = {
    word: str(value)
    for value, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
} | {"fifteen": "15", "twenty": "20", "thirty": "30", "fifty": "50", "hundred": "100", "thousand": "1000"}
_STEMS = {
    "tripl": "3",
    "trebl": "3",
    "quadrupl": "4",
    "quintupl": "5",
    "sextupl": "6",
    "septupl": "7",
    "octupl": "8",
    "halv": "0.5",
}
_MULTIPLES = {f"{stem}{ending}": value for stem, value in _STEMS.items() for ending in ("e", "es", "ed", "ing")}
_MULTIPLES |= {f"{word}fold": value for word, value in _FOLDS.items()} | {"twice": "2", "thrice": "3"}
ALONE = (*_TIMES, *_MULTIPLES, "half")

HALF = re.compile(
    r"(?ai)(?<![A-Za-z])(?P<article>half an?|half|an? quarter(?= (?:million|billion|of)))"
    r"(?P<rest>[ -](?P<big>thousand|million|billion|trillion|dozen|hour|year|day|month)(?:ly)?)?(?![A-Za-z])"
)
_ALONE_PATTERN = re.compile(rf"(?ai)(?<![A-Za-z])(?:{'|'.join((*_TIMES, *_MULTIPLES))})(?![A-Za-z])")
_PARTS = {
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "quarter": 4,
}
# "a third of revenue", "rose by a fifth"; "a third party" and "a fifth year" are ordinals: a noun follows.
ARTICLE_SHARE = re.compile(
    r"(?ai)(?<![a-z])(?:an? (?P<part>third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)|(?<=by )a (?P<by>quarter))"
    r"(?=\s*(?:[.,;:!?)\]\u3000-\uffef]|\Z)|\s*\[|\s(?:year[ -](?:on|over)|of|in|to|from|on|at|over|by|for|since"
    r"|during|compared|higher|lower|more|less|larger|smaller|fewer|and|or|as|than|between|after|before|the|this|last"
    r"|its|were|was|is|are|when|while|with|each|against|below|above)\b)"
)


def english_shares(text: str) -> Iterator[Quantity]:
    """`half`, `a third of`, `half a million`, `doubled`, `twice`: what is left when the cardinals are read."""
    for match in HALF.finditer(text):
        yield half(text, match)
    for match in ARTICLE_SHARE.finditer(text):
        below = _PARTS[(match["part"] or match["by"]).lower()]
        yield share(Decimal(1), Decimal(below), match.start(), match.end())
    for match in _ALONE_PATTERN.finditer(text):
        word = match[0].lower()
        if word in _TIMES:
            yield Quantity("doubling", Decimal(1), match.start(), match.end())
        else:
            yield Quantity("multiple", Decimal(_MULTIPLES[word]), match.start(), match.end())


def share(above: Decimal, below: Decimal, start: int, end: int) -> Quantity:
    """A fraction as percent where that ends (3/4: 75), else as `2/3`."""
    percent = CONTEXT.divide(CONTEXT.multiply(above, Decimal(100)), below)
    if percent == CONTEXT.quantize(percent, Decimal("0.0001")):
        return Quantity("percent", percent, start, end, quantum=Decimal("0.1"))
    return Quantity("number", f"{above}/{below}", start, end)


# How near `half a million` and `a quarter million` are meant: between 0.45 and 0.55, 0.225 and 0.275 of it.
_NEAREST = {Decimal("0.5"): Decimal("0.1"), Decimal("0.25"): Decimal("0.05")}


def half(text: str, match: re.Match[str]) -> Quantity:
    """The quantity of a match of `HALF`."""
    part = Decimal("0.25") if "quarter" in match["article"].lower() else Decimal("0.5")
    big = (match["big"] or "").lower()
    if not big:
        return Quantity("percent", CONTEXT.multiply(part, Decimal(100)), match.start(), match.end())
    if big in BIG or big == "dozen":
        if big == "dozen":
            return numerals.spelled(text, match.start(), match.end(), CONTEXT.multiply(part, Decimal(12)), Decimal(1))
        value, place = CONTEXT.scaleb(part, BIG[big]), CONTEXT.scaleb(_NEAREST[part], BIG[big])
        return amend(numerals.spelled(text, match.start(), match.end(), value, place), scale=BIG[big])
    return Quantity("duration", part, match.start(), match.end(), unit=big, quantum=Decimal("0.1"))
