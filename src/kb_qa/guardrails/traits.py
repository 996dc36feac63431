"""What a text can hold, by its characters and words: a pass of the lexer whose traits are missing finds nothing.

One look at the set of a text's characters and one at its words stand for the searches of some sixty patterns. A trait
is necessary for what it names, and not sufficient.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

DIGIT, LETTER, NUMERAL, CHINESE_DIGIT, LOWERED, MARK, RAISED, VULGAR, ROMAN = (1 << bit for bit in range(9))
BAR, OPEN, COLON, SLASH, PLUS, DOT, QUOTE, AT, DASH, LABEL = (1 << bit for bit in range(9, 19))
YEAR_MARK, MONTH_MARK, DAY_MARK, SEASON, HALF_MARK, FORMER, CLOCK, DAYTIME = (1 << bit for bit in range(19, 27))
UNTIL, FISCAL_MARK, DECADE_MARK, ORDINAL_MARK, POWER, VAGUE, TURN, PARTS, INDEX, EDITION = (
    1 << bit for bit in range(27, 37)
)
MONTH_WORD, PART_WORD, FISCAL_WORD, NOON_WORD, NUMBER_WORD, SCALE_WORD, STANDARD_WORD, REFERENCE_WORD, VERSION_WORD = (
    1 << bit for bit in range(37, 46)
)
CENTURY, SEPARATED, PART_LETTER, ZEROS, LINE = (1 << bit for bit in range(46, 51))


def _between(*ranges: str) -> str:
    """The characters of ranges such as `⁴⁹`, ends included."""
    return "".join(chr(code) for ends in ranges for code in range(ord(ends[0]), ord(ends[1]) + 1))


_SUPERSCRIPTS = f"⁰¹²³{_between('⁴⁹')}"
_CIRCLED = _between("①⓿", "㉑㊿", "❶➓")
_CHINESE_DIGITS = "零一二三四五六七八九〇壹贰弍叁叄肆伍陆柒捌玖拾佰仟两廿卅十百千万亿兆"
_CHARACTERS: tuple[tuple[int, str], ...] = (
    (DIGIT, string.digits),
    (NUMERAL, f"{_CHINESE_DIGITS}半翻第"),
    (CHINESE_DIGIT, _CHINESE_DIGITS),
    (LOWERED, _between("₀₉")),
    (MARK, f"[【{_CIRCLED}"),
    (RAISED, _SUPERSCRIPTS),
    (VULGAR, _between("¼¾", "⅐⅞")),
    (ROMAN, _between("Ⅰↈ")),
    *zip((BAR, OPEN, COLON, SLASH, PLUS, DOT, QUOTE, AT, LINE), "|(:/+.'@_", strict=True),
    (DASH, "-–—~/"),
    (LABEL, "§№#第图表附注式步阶页"),
    *zip((YEAR_MARK, MONTH_MARK, SEASON, HALF_MARK, FORMER, ORDINAL_MARK), "年月季半前第", strict=True),
    *zip((DECADE_MARK, TURN, EDITION, PARTS), "代翻版分", strict=True),
    (DAY_MARK, "日号"),
    (CLOCK, "点时"),
    (DAYTIME, "午晚晨"),
    (UNTIL, "至到"),
    (FISCAL_MARK, "财计"),
    (POWER, "十百千万亿兆"),
    (VAGUE, "几数上成干二三四五六七八九两"),
    (INDEX, "证深"),
)


def by_key(table: Iterable[tuple[int, Iterable[str]]]) -> dict[str, int]:
    """The traits of each character or word of `(trait, keys)`."""
    bits: dict[str, int] = {}
    for bit, keys in table:
        for key in keys:
            bits[key] = bits.get(key, 0) | bit
    return bits


_BY_CHARACTER = by_key(_CHARACTERS)
_KNOWN = frozenset(_BY_CHARACTER)
_LETTERS = frozenset(string.ascii_letters)
WORD = re.compile("[a-z]+")
_SEPARATED = re.compile(r"(?a)\d[-/.]\d{1,2}[-/.]\d")
_PART_BEFORE = re.compile(r"(?a)[QqHh]\d")
_ZEROS = re.compile("[$£€¥] ?000")
_PART_BEHIND = re.compile(r"(?a)\d[QqHh]")


def traits_of(text: str, characters: AbstractSet[str], words: Mapping[str, int]) -> int:
    """The traits of a normalised text, as bits; `words` are those (in lower case) that have traits of their own."""
    bits = 0
    for character in _KNOWN & characters:
        bits |= _BY_CHARACTER[character]
    if not _LETTERS.isdisjoint(characters):
        bits |= LETTER
        lowered = text.lower()
        for word in words.keys() & set(WORD.findall(lowered)):
            bits |= words[word]
        if "quarter" in lowered or "half" in lowered:
            bits |= PART_WORD
    return bits | _digit_traits(text, bits) if bits & DIGIT else bits


def _digit_traits(text: str, bits: int) -> int:
    """What stands beside the digits of a text that has some."""
    found = 0
    if "20" in text or "19" in text:
        found |= CENTURY
    if _ZEROS.search(text):
        found |= ZEROS
    if bits & (DASH | DOT) and _SEPARATED.search(text):
        found |= SEPARATED
    if bits & LETTER and (_PART_BEFORE.search(text) or _PART_BEHIND.search(text)):
        found |= PART_LETTER
    return found
