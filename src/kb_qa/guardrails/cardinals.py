"""Numbers in English words: cardinals with their decimals, parts of them, and vague quantities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from kb_qa.guardrails import numerals, traits
from kb_qa.guardrails.affixes import scale_at
from kb_qa.guardrails.quantities import CONTEXT, ONE, Quantity, amend
from kb_qa.guardrails.shares import ALONE, BIG, HALF, half, share

_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen"
        " fourteen fifteen sixteen seventeen"
        " eighteen nineteen".split()
    )
}
_TY = {
    word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_PLURALS = ("hundreds", "thousands", "millions", "billions", "trillions", "dozens")
_CARDINALS = dict.fromkeys((*_SMALL, *_TY, "hundred", *BIG, "dozen"))
_VAGUE_WORDS = frozenset((*_PLURALS, *"hundred thousand million billion trillion dozen digit digits".split()))

NUMBER_WORDS = frozenset(
    (
        *_CARDINALS,
        *_PLURALS,
        *ALONE,
        *"digit digits half quarter third fourth fifth sixth seventh eighth ninth tenth".split(),
    )
)
ENGLISH_WORD = re.compile(rf"(?ai)(?<![A-Za-z])(?:{'|'.join((*_CARDINALS, *_PLURALS, *ALONE))})(?![A-Za-z])")
_LATIN = re.compile("[A-Za-z]+")
_CARDINAL = re.compile(rf"(?ai)(?<![A-Za-z])(?:{'|'.join(_CARDINALS)})(?![A-Za-z])")
_VAGUE = re.compile(
    r"(?ai)(?<![A-Za-z])(?:(?:several|a few|few|many|some|tens of|hundreds of|thousands of) "
    r"(?:hundreds?|thousands?|millions?|billions?|dozens?)"
    rf"|{'|'.join(_PLURALS)}|(?:double|triple|single)-digits?)(?![A-Za-z])"
)
_DENOMINATOR = re.compile(
    r"(?ai)[ -](?P<name>halves|thirds?|quarters?(?= of| the)|(?<=-)quarters?|fourths?|fifths?"
    r"|sixths?|sevenths?|eighths?|ninths?|tenths?)(?![A-Za-z])"
)
_DENOMINATORS = {"halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6}
_DENOMINATORS |= {"seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10}
_NUMBER = rf"(?:\d|\x00|one\b|{'|'.join(_CARDINALS)})"
# "nine out of ten", "one in five", "two meals per day" are figures, and no list of reasons.
_PROPORTION_AFTER = re.compile(rf"(?ai) (?:out of|(?:[a-z]+ )?(?:per|of every)\b|in (?:every |each )?{_NUMBER})")
_PROPORTION_BEFORE = re.compile(rf"(?ai)(?:\bper|out of(?: the)?|\bevery|{_NUMBER}[a-z]* in(?: every)?) $")
_GAP = re.compile(r"(?ai)[ \u00a0-]|,? and |\n")
_ARTICLE = re.compile(r"(?ai)(?<![A-Za-z])an? $")
_POINT = re.compile(r"(?ai) point ")
_AND_HALF = re.compile(r"(?ai) and a half(?![A-Za-z])")


def english(text: str) -> Iterator[Quantity]:
    """Cardinal phrases, halves and quarters, doublings, vague plurals, in the order in which they own a span."""
    words = set(traits.WORD.findall(text.lower()))
    if words.isdisjoint(NUMBER_WORDS):
        return  # `$5 million` is read
    for match in () if words.isdisjoint(_VAGUE_WORDS) else _VAGUE.finditer(text):
        yield Quantity("count", match[0].lower(), match.start(), match.end(), approximate=True)
    for match in HALF.finditer(text):
        if match["big"]:
            yield half(text, match)
    yield from _cardinals(text)


def _cardinals(text: str) -> Iterator[Quantity]:
    runs = ((match.start(), match.end(), match[0].lower()) for match in _LATIN.finditer(text))
    tokens = [run for run in runs if run[2] in _CARDINALS]
    index = 0
    while index < len(tokens):
        count, value, scale = _phrase(text, tokens, index)
        quantity = _cardinal(text, tokens[index : index + count], value, scale)
        if quantity is not None:
            yield quantity
        index += count


def _phrase(text: str, tokens: list[tuple[int, int, str]], index: int) -> tuple[int, Decimal, int]:
    """(tokens used, value, scale) of the longest cardinal that starts at token `index`."""
    total, current, last_scale, last = Decimal(0), 0, 99, ""
    used = 0
    for start, _, word in tokens[index : index + 16]:
        if used and _GAP.fullmatch(text, tokens[index + used - 1][1], start) is None:
            break
        if word in _SMALL and (not last or last == "hundred" or last in BIG or (last in _TY and 0 < _SMALL[word] < 10)):
            current += _SMALL[word]
        elif word in _TY and (not last or last == "hundred" or last in BIG):
            current += _TY[word]
        elif word == "hundred" and (not last or last in _SMALL or last in _TY):
            current = (current or 1) * 100
        elif word in BIG and BIG[word] < last_scale and (current or not last):
            last_scale = BIG[word]
            total, current = CONTEXT.add(total, CONTEXT.scaleb(Decimal(current or 1), last_scale)), 0
        elif word == "dozen" and (not last or last in _SMALL):
            return used + 1, Decimal(12 * (current or 1)), 0
        else:
            break
        used, last = used + 1, word
    scale = last_scale if last in BIG else 0
    return max(used, 1), CONTEXT.add(total, Decimal(current)), scale


def _cardinal(text: str, tokens: list[tuple[int, int, str]], value: Decimal, scale: int) -> Quantity | None:
    start, end, quantum = tokens[0][0], tokens[-1][1], CONTEXT.scaleb(ONE, scale)
    denominator = _DENOMINATOR.match(text, end)
    if denominator:
        name = denominator["name"].lower().removesuffix("s") if denominator["name"].lower() != "halves" else "halves"
        return share(value, Decimal(_DENOMINATORS[name]), start, denominator.end())
    value, quantum, end = _with_decimals(text, end, value, quantum)
    if tokens[0][2] in {"hundred", "dozen", *BIG}:
        article = _ARTICLE.search(text, max(0, start - 4), start)
        if article is None and tokens[0][2] in BIG:
            # "USD million" states a scale; it is no million.
            return Quantity("ref", text[start:end], start, end, role="ref")
        start = article.start() if article else start
    spelled = numerals.spelled(text, start, end, value, quantum)
    if len(tokens) == 1 and tokens[0][2] == "one" and spelled.kind in {"number", "count"}:
        return None
    soft = 0 < value <= 10 and spelled.kind == "number" and not spelled.currency and not scale and end == tokens[-1][1]
    soft = soft and not (
        _PROPORTION_AFTER.match(text, end) or _PROPORTION_BEFORE.search(text[max(0, start - 24) : start])
    )
    return amend(spelled, scale=scale, soft=soft and tokens[-1][2] not in {"dozen", "hundred"})


def _with_decimals(text: str, end: int, value: Decimal, quantum: Decimal) -> tuple[Decimal, Decimal, int]:
    """`four point one million`, `two and a half million`: (value, quantum, end) with what follows the cardinal."""
    digits, position = "", end
    point = _POINT.match(text, end)
    if point:
        position = point.end()
        while (word := _CARDINAL.match(text, position)) and _SMALL.get(word[0].lower(), 10) < 10 and len(digits) < 12:
            digits += str(_SMALL[word[0].lower()])
            end, position = word.end(), word.end() + 1
    half = _AND_HALF.match(text, end) if not digits else None
    if half:
        digits, end = "5", half.end()
    if not digits:
        return value, quantum, end
    value, quantum = CONTEXT.add(value, Decimal(f"0.{digits}")), CONTEXT.scaleb(ONE, -len(digits))
    power, after = scale_at(text, end, money=False)
    return CONTEXT.scaleb(value, power), CONTEXT.scaleb(quantum, power), after
