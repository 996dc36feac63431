"""The lexer: every numeral of a text, in exactly one quantity. Its grammar is in the files beside it.

Passes run in a fixed order; what one pass owns is blanked out for the next, so that every pass is linear and no span
is read twice. Patterns compile with `(?a)`: in `公司2024年` Unicode's `\\b` sees no boundary before 2024.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kb_qa.guardrails import dates, numerals, protected, qualifiers, shares, spelled
from kb_qa.guardrails.characters import Normalised, normalise
from kb_qa.guardrails.quantities import Quantity

_BLANK = "\x00"
_NUMERAL_CATEGORIES = frozenset({"Nd", "No", "Nl"})
_NUMERAL_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# Anything that a pass reads from: digits of any script and other numerals, and Chinese numerals.
_NUMERAL = re.compile(
    "[\\d\\[【]|[^\\x00-\\xa9\\u2010-\\u203a\\u3000-\\u3020\\u4e00-\\u9fff\\uff00-\\uff0f\\uff1a-\\uffef\\u00c0-\\u024f]"
    "|[零一二三四五六七八九十百千万亿兆〇壹贰叁肆伍陆柒捌玖拾佰仟两廿卅半翻萬億兩貳參陸]"
)
# A piece of every English number word, and of the words of scales and periods. Most are in few other words.
_WORD_PIECES = (
    *(
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twel",
        "teen",
        "twenty",
    ),
    *("thirt", "fort", "fift", "hundred", "thousand", "illion", "dozen", "half", "halv", "third", "quart", "ninth"),
    *(
        "twice",
        "thrice",
        "fold",
        "doubl",
        "tripl",
        "trebl",
        "upl",
        "digit",
        "zero",
        "lakh",
        "crore",
        "http",
        "www",
        "@",
    ),
)
_DIGIT_OR_SIGN = re.compile(
    r"(?a)\d|[²³¹⁰⁴-⁹₀-₉¼-¾⅐-\u218f①-⓿❶-➓㉈-㉟㊀-㊿\[【§№#]|[A-Za-z]:|://|@|www|'000|P\d|illions\b|thousands\b"
)
_CJK_NUMERAL = re.compile("[零一二三四五六七八九十百千万亿兆〇壹贰叁肆伍陆柒捌玖拾佰仟两廿卅半翻]")
_DIGIT = re.compile(r"(?a)\d")
_NUMERAL_IN_ID = re.compile(r"(?a)[\d₀-₉Ⅰ-ↈ]")

Read = Callable[[str], Iterable[Quantity]]


def lex(text: str, *, locale: str = "") -> tuple[Quantity, ...]:
    """Every quantity, marker, reference, enumerator and id of `text`, in order, with spans of the original text.

    `locale` says which separator is the decimal one (`de`: the comma); empty: unknown, and `1.234` has two readings.
    """
    if _NUMERAL.search(text) is None and not _may_have_words(text):
        return ()  # many sentences hold no numeral at all, and cost nothing more
    normalised = normalise(text)
    page = _Page(normalised.text)
    for read in _passes(normalised.text, locale):
        page.take(read)
    found = qualifiers.qualified(normalised.text, sorted(page.found, key=lambda quantity: quantity.start))
    return tuple(_in_original(text, quantity, normalised.original_span) for quantity in found)


def uncovered(text: str, quantities: Iterable[Quantity]) -> tuple[tuple[int, int], ...]:
    """The spans of numerals that lie in no quantity: homoglyphs, tricks and gaps of the grammar (invariant I2).

    Numerals are the characters of category Nd, No and Nl, English number words (a bare "one" is a pronoun), and Chinese
    numerals with a unit.
    """
    covered = bytearray(len(text))
    for quantity in quantities:
        covered[quantity.start : quantity.end] = b"\x01" * (quantity.end - quantity.start)
    gaps = [(index, index + 1) for index in _numeral_positions(text) if not covered[index]]
    normalised = normalise(text)
    for match in spelled.ENGLISH_WORD.finditer(normalised.text):
        start, end = normalised.original_span(*match.span())
        if match[0].lower() != "one" and covered.find(0, start, end) >= 0:
            gaps.append((start, end))
    if _CJK_NUMERAL.search(normalised.text):
        gaps += _unread_chinese(covered, normalised)
    return _merged(gaps)


def _unread_chinese(covered: bytearray, normalised: Normalised) -> Iterator[tuple[int, int]]:
    spans = [normalised.original_span(index, index + 1) for index in range(len(normalised.text))]
    rest = "".join(
        _BLANK if any(covered[start:end]) else character
        for character, (start, end) in zip(normalised.text, spans, strict=True)
    )
    for start, end in spelled.unread(rest):
        yield normalised.original_span(start, end)


def _numeral_positions(text: str) -> Iterator[int]:
    for match in _DIGIT.finditer(text):
        yield match.start()
    for match in _NUMERAL_NOT_ASCII.finditer(text):
        if unicodedata.category(match[0]) in _NUMERAL_CATEGORIES:
            yield match.start()


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


def _may_have_words(text: str) -> bool:
    lowered = text.lower()
    return any(piece in lowered for piece in _WORD_PIECES)


def _passes(text: str, locale: str) -> Iterator[Read]:
    """The passes that can find anything in `text`, in the order in which they own a span."""
    cjk = "第" in text or _CJK_NUMERAL.search(text) is not None
    digits = _DIGIT_OR_SIGN.search(text) is not None
    if digits or cjk:
        yield protected.enumerators
        yield from protected.before_dates(text)
    if digits or cjk or "quarter" in text or "half" in text.lower():
        yield from _date_passes(text)
    if digits:
        yield from protected.after_dates(text)
    if cjk:
        yield spelled.chinese
        yield spelled.mixed
    if digits:
        yield from _number_passes(text, locale)
    if cjk:
        yield spelled.chinese_numerals
    if _may_have_words(text):
        yield spelled.english
        yield shares.english_shares
    if digits and protected.may_have_names(text):
        yield protected.remaining_names


def _number_passes(text: str, locale: str) -> Iterator[Read]:
    if "/" in text:
        yield numerals.fractions
    yield lambda page: numerals.numbers(page, locale=locale)
    if not text.isascii():
        yield numerals.vulgar_fractions


def _date_passes(text: str) -> Iterator[Read]:
    for pattern, reading in dates.read(text):
        yield lambda page, pattern=pattern, reading=reading: dates.periods(page, pattern, reading)  # type: ignore[misc]


class _Page:
    """The text of one run with what is owned blanked out. Lives only inside `lex`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.owned = bytearray(len(text))
        self.found: list[Quantity] = []

    def take(self, read: Read) -> None:
        taken = [quantity for quantity in read(self.text) if self._own(quantity)]
        if taken:
            # A link or file name without a numeral is owned, so that nobody reads into it, and asserts nothing.
            self.found.extend(each for each in taken if each.role != "id" or _NUMERAL_IN_ID.search(str(each.value)))
            self.text = _blanked(self.text, sorted(quantity.span for quantity in taken))

    def _own(self, quantity: Quantity) -> bool:
        start, end = quantity.span
        if self.owned.find(1, start, end) >= 0:
            return False
        self.owned[start:end] = b"\x01" * (end - start)
        return True


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    parts, position = [], 0
    for start, end in spans:
        parts += [text[position:start], _BLANK * (end - start)]
        position = end
    return "".join([*parts, text[position:]])


def _in_original(text: str, quantity: Quantity, original_span: Callable[[int, int], tuple[int, int]]) -> Quantity:
    start, end = original_span(*quantity.span)
    if (start, end) != quantity.span:
        return replace(quantity, start=start, end=end, raw=text[start:end])
    # The quantity is new and nobody else's yet: filling its last field costs a tenth of a copy.
    object.__setattr__(quantity, "raw", text[start:end])
    return quantity
