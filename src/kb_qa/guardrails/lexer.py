"""The lexer: every numeral of a text, in exactly one quantity. Its grammar is in the files beside it.

Passes run in a fixed order; what one pass owns is blanked out for the next, so that every pass is linear and no span
is read twice. Patterns compile with `(?a)`: in `公司2024年` Unicode's `\\b` sees no boundary before 2024.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import compress
from operator import attrgetter

from kb_qa.guardrails import cardinals, dates, numerals, protected, qualifiers, shares, spelled, traits
from kb_qa.guardrails.characters import Normalised, normalise
from kb_qa.guardrails.quantities import Quantity, amend

_BLANK = "\x00"
_START = attrgetter("start")
_NUMERAL_CATEGORIES = frozenset({"Nd", "No", "Nl"})
_FLIPPED = bytes.maketrans(b"\x00\x01", b"\x01\x00")
_NO_NUMERALS: set[str] = set()  # characters that are known to be none
# Anything that a pass reads from: digits of any script and other numerals, and Chinese numerals.
_CJK_NUMERAL = re.compile("[零一二三四五六七八九十百千万亿兆〇壹贰弍叁叄肆伍陆柒捌玖拾佰仟两廿卅半翻]")
# The words that call for a pass.
WORDS = traits.by_key(
    (
        (traits.MONTH_WORD, dates.MONTH_WORDS),
        (traits.FISCAL_WORD, dates.FISCAL_WORDS),
        (traits.NOON_WORD, dates.NOON_WORDS),
        (traits.DECADE_MARK, "s"),
        (traits.STANDARD_WORD, protected.STANDARD_WORDS),
        (traits.REFERENCE_WORD, protected.REFERENCE_WORDS),
        (traits.VERSION_WORD, protected.VERSION_WORDS),
        (traits.SCALE_WORD, protected.SCALE_WORDS),
        (traits.NUMBER_WORD, cardinals.NUMBER_WORDS),
    )
)
_CHINESE = traits.PARTS | traits.TURN | traits.HALF_MARK | traits.ORDINAL_MARK | traits.VAGUE
_PLANS = 4096  # of the passes for sets of traits; texts of one kind share a few dozen
_NUMERAL_IN_ID = re.compile(r"(?a)[\d₀-₉Ⅰ-ↈ]")


def lex(text: str, *, locale: str = "") -> tuple[Quantity, ...]:
    """Every quantity, marker, reference, enumerator and id of `text`, in order, with spans of the original text.

    `locale` says which separator is the decimal one (`de`: the comma); empty: unknown, and `1.234` has two readings.
    """
    normalised = normalise(text)
    page = _Page(normalised.text)
    for read in passes(traits.traits_of(normalised.text, normalised.characters, WORDS), locale):
        page.take(read)
    if not page.found:
        return ()
    page.found.sort(key=_START)
    found = qualifiers.qualified(normalised.text, page.found)
    return tuple(_in_original(text, quantity, normalised) for quantity in found)


def uncovered(text: str, quantities: Iterable[Quantity]) -> tuple[tuple[int, int], ...]:
    """The spans of numerals that lie in no quantity: homoglyphs, tricks and gaps of the grammar (invariant I2).

    Numerals are the characters of category Nd, No and Nl, English number words, and Chinese numerals with a unit.
    """
    covered = bytearray(len(text))
    for quantity in quantities:
        covered[quantity.start : quantity.end] = b"\x01" * (quantity.end - quantity.start)
    gaps = [(index, index + 1) for index in _numerals_outside(text, covered)]
    normalised = normalise(text)
    for match in _number_words(normalised.text):
        start, end = normalised.original_span(*match.span())
        if covered.find(0, start, end) >= 0:
            gaps.append((start, end))
    if len(normalised.text) != len(text):  # what was dropped may part words: a line may end at it
        gaps += [match.span() for match in _number_words(text) if covered.find(0, *match.span()) >= 0]
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


def _number_words(text: str) -> Iterator[re.Match[str]]:
    """English number words; a bare "one" is a pronoun."""
    if not cardinals.NUMBER_WORDS.isdisjoint(traits.WORD.findall(text.lower())):
        for match in cardinals.ENGLISH_WORD.finditer(text):
            if match[0].lower() != "one":
                yield match


def _numerals_outside(text: str, covered: bytearray) -> Iterator[int]:
    """Where characters of category Nd, No and Nl stand that are not covered."""
    outside = set(compress(text, covered.translate(_FLIPPED))) - _NO_NUMERALS
    found = {character for character in outside if unicodedata.category(character) in _NUMERAL_CATEGORIES}
    _NO_NUMERALS.update(outside - found)
    if found:
        yield from (index for index, each in enumerate(text) if each in found and not covered[index])


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


@lru_cache(maxsize=_PLANS)
def passes(bits: int, locale: str) -> tuple[protected.Read, ...]:
    """The passes that can find anything in a text of these traits, in the order in which they own a span."""
    found = [*protected.before_dates(bits), *dates.readers(bits), *protected.after_dates(bits)]
    if (bits & traits.NUMERAL and bits & _CHINESE) or (bits & traits.DIGIT and bits & traits.PARTS):
        found.append(spelled.chinese)
    if bits & traits.DIGIT:
        found += [spelled.mixed] if bits & traits.POWER else []
        found += [numerals.fractions] if bits & traits.SLASH else []
        found.append(partial(numerals.numbers, locale=locale))
    if bits & traits.VULGAR:
        found.append(numerals.vulgar_fractions)
    if bits & traits.NUMERAL and bits & (traits.CHINESE_DIGIT | traits.HALF_MARK):
        found.append(spelled.chinese_numerals)
    if bits & traits.NUMBER_WORD:
        found += [cardinals.english, shares.english_shares]
    if bits & traits.DIGIT and bits & traits.LETTER:
        found.append(protected.remaining_names)
    return tuple(found)


class _Page:
    """The text of one run with what is owned blanked out. Lives only inside `lex`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.owned = bytearray(len(text))
        self.found: list[Quantity] = []

    def take(self, read: protected.Read) -> None:
        taken = []
        for quantity in read(self.text):
            start, end = quantity.start, quantity.end
            if self.owned.find(1, start, end) < 0:
                self.owned[start:end] = b"\x01" * (end - start)
                taken.append((start, end))
                if quantity.role != "id" or _has_numeral(str(quantity.value)):
                    self.found.append(quantity)
        if taken:
            self.text = _blanked(self.text, sorted(taken))


def _has_numeral(name: str) -> bool:
    """A link or file name without a numeral is owned, so that nobody reads into it, and asserts nothing."""
    return _NUMERAL_IN_ID.search(name) is not None or any(_number_words(name))


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    parts, position = [], 0
    for start, end in spans:
        parts += [text[position:start], _BLANK * (end - start)]
        position = end
    return "".join([*parts, text[position:]])


def _in_original(text: str, quantity: Quantity, normalised: Normalised) -> Quantity:
    start, end = quantity.start, quantity.end
    if normalised.offsets:
        start, end = normalised.original_span(start, end)
        amend(quantity, start=start, end=end)
    return amend(quantity, raw=text[start:end])
