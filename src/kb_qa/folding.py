"""Text as it is compared when a quote is looked for, with the way back to the characters it was made of.

Characters are mapped one by one, never through NFKC: that would turn `10⁵` into `105` and `1,234¹` into `1,2341`.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import lru_cache

# Between two digits a separator changes the number; everywhere else punctuation is not compared.
NUMBER_SEPARATORS = ".,'"
GAP = " "
RAISED = "^"  # stands before raised digits that follow a digit: `10⁵` equals `10^5`, and is not `105`

_SEPARATORS = {
    ".": ".",
    "．": ".",
    ",": ",",
    "，": ",",
    "'": "'",
    "’": "'",
    "/": "/",
    "／": "/",
    "⁄": "/",
    ":": ":",
    "：": ":",
}
_QUOTES = dict.fromkeys("“”„‟«»″＂", '"') | dict.fromkeys("‘’‚‛`´′＇", "'")
_DASHES = frozenset("-‐‑‒–—―−﹣－")
_MINUS = frozenset("-−－﹣")
_KEPT_PUNCTUATION = frozenset("%‰‱")
_DROPPED_SYMBOLS = frozenset("|¦~^®™©℗⁄")
_SPACES = frozenset("\t\n\v\f\r\x85")
_FRACTION_SLASH = "⁄"

# Marks of these blocks are accents; others (Japanese, Thai, Indic) spell another letter and always count.
_ACCENTS = (
    *((0x300, 0x36F), (0x483, 0x487), (0x591, 0x5C7), (0x610, 0x61A), (0x64B, 0x65F), (0x670, 0x670)),
    *((0x6D6, 0x6ED), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F)),
)

# Compatibility forms of one letter: ligatures, Arabic presentation forms, half-width kana, Kangxi radicals.
_COMPATIBLE = (
    *((0xFB00, 0xFDFF), (0xFE70, 0xFEFC), (0xFF61, 0xFFDC), (0x2E80, 0x2FDF), (0xF900, 0xFAFF), (0x132, 0x133)),
    # raised letters, ℃, Roman numerals, square units, mathematical alphabets
    *((0xAA, 0xAA), (0xBA, 0xBA), (0x2B0, 0x2B8), (0x2E0, 0x2E4), (0x1D2C, 0x1D6A), (0x207F, 0x207F), (0x2090, 0x209C)),
    *((0x2103, 0x2103), (0x2109, 0x2109), (0x2160, 0x217F), (0x3371, 0x33DF), (0x1D400, 0x1D7CB)),
)
_RAISED_DIGITS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789", strict=True))

_LETTERS = re.compile("[A-Za-z]{2,}")

SIGN, HYPHEN = 1, 2


@dataclass(frozen=True, slots=True)
class Folding:
    """What counts when texts are compared.

    Without `punctuation`, whitespace does not count either; with it, blanks between words do.
    """

    case: bool = False
    diacritics: bool = True
    punctuation: bool = False


QUOTE = Folding()


@dataclass(frozen=True, slots=True)
class Folded:
    """`origins[i]` is the index of the character that `text[i]` came from.

    `signs[i]` says what stands right before a digit: SIGN for a minus, HYPHEN for a dash after a letter or digit.
    `breaks[i]` is 1 where whitespace stood before the character.
    """

    text: str
    origins: array[int]
    signs: bytes
    breaks: bytes


def is_cjk(character: str) -> bool:
    """Whether the character is Chinese, Japanese or Korean: a Word by itself."""
    return _is_unspaced(character) or _is_hangul(character)


def _is_unspaced(character: str) -> bool:
    code = ord(character)
    return (
        0x2E80 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x3FFFF
    )


def _is_hangul(character: str) -> bool:
    return 0xAC00 <= ord(character) <= 0xD7A3


@lru_cache(maxsize=65536)
def is_space(character: str) -> bool:
    return character in _SPACES or unicodedata.category(character) in ("Zs", "Zl", "Zp")


@lru_cache(maxsize=65536)
def is_ignored(character: str) -> bool:
    """Controls, soft hyphens, zero-width and private-use characters: no reader sees them.

    NUL and U+FFFD stand for a glyph that could not be read, so they count.
    """
    return (
        character not in _SPACES and character != "\0" and unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs")
    )


def is_punctuation(character: str) -> bool:
    """Whether the character makes no difference to a quote, outside a number."""
    if character in _KEPT_PUNCTUATION:
        return False
    if character in _DASHES or character in _DROPPED_SYMBOLS:
        return True
    category = unicodedata.category(character)
    if category == "So":  # bullets, boxes, arrows and dingbats
        return 0x2190 <= ord(character) <= 0x2BFF
    return category[0] == "P" or category == "Sk"


def plain_punctuation(character: str) -> str:
    """One of several printed shapes of a punctuation mark, so that `“` equals `"` and `–` equals `-`."""
    if character in _DASHES:
        return "-"
    return _QUOTES.get(character, _half_width(character))


@lru_cache(maxsize=65536)
def fold_character(character: str, folding: Folding) -> str:
    """The letters, digits and symbols that the character stands for; empty where it does not count."""
    if is_ignored(character) or is_space(character):
        return ""
    if is_punctuation(character):
        return plain_punctuation(character) if folding.punctuation else ""
    if character in _RAISED_DIGITS and not folding.punctuation:
        return _RAISED_DIGITS[character]
    return "".join(_plain(part, folding) for part in _spelt_out(character))


def _spelt_out(character: str) -> str:
    code = ord(character)
    if any(first <= code <= last for first, last in _COMPATIBLE):
        return unicodedata.normalize("NFKD", character)
    if unicodedata.category(character) == "No" and _FRACTION_SLASH in unicodedata.normalize("NFKD", character):
        return unicodedata.normalize("NFKD", character).replace(_FRACTION_SLASH, "/")
    return character if _is_hangul(character) else unicodedata.normalize("NFD", _half_width(character))


def _plain(character: str, folding: Folding) -> str:
    if is_space(character):
        return ""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if not folding.diacritics and is_accent(character):
        return ""
    return character if folding.case else character.casefold()


def _half_width(character: str) -> str:
    if character == "￥":
        return "¥"
    code = ord(character)
    return chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else character


def is_accent(character: str) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in _ACCENTS)


def fold(text: str, folding: Folding = QUOTE) -> Folded:
    """`text` as compared. Linear in its length."""
    folder = _Folder(text, folding)
    position = 0
    for run in _LETTERS.finditer(text):
        folder.add(position, run.start() + 1)
        folder.add_letters(run.start() + 1, run.end())
        position = run.end()
    folder.add(position, len(text))
    return folder.result()


class _Folder:
    def __init__(self, source: str, folding: Folding) -> None:
        self._source = source
        self._folding = folding
        self._out: list[str] = []
        self._origins = array("l")
        self._signs = bytearray()
        self._breaks = bytearray()
        self._skipped: list[int] = []  # what was dropped since the last character that counts
        self._spaced = False

    def add(self, start: int, end: int) -> None:
        for index in range(start, end):
            self._add(index, self._source[index])

    def add_letters(self, start: int, end: int) -> None:
        """The same for plain letters that follow a letter, which are most of what there is: in one step."""
        letters = self._source[start:end]
        self._out.extend(letters if self._folding.case else letters.lower())
        self._origins.extend(range(start, end))
        self._signs.extend(bytes(end - start))
        self._breaks.extend(bytes(end - start))

    def _add(self, index: int, character: str) -> None:
        folded = fold_character(character, self._folding)
        if not folded:
            if not is_ignored(character):
                self._skipped.append(index)
                self._spaced = self._spaced or is_space(character)
            return
        self._bridge(index, character, folded[0])
        for position, part in enumerate(folded):
            sign = self._sign() if position == 0 and part.isdecimal() else 0
            self._emit(part, index, sign=sign, spaced=position == 0 and self._spaced and not self._after_hyphen())
        self._skipped.clear()
        self._spaced = False

    def result(self) -> Folded:
        return Folded("".join(self._out), self._origins, bytes(self._signs), bytes(self._breaks))

    def _emit(self, part: str, index: int, *, sign: int = 0, spaced: bool = False) -> None:
        self._out.append(part)
        self._origins.append(index)
        self._signs.append(sign)
        self._breaks.append(spaced)

    def _bridge(self, index: int, character: str, first: str) -> None:
        """What has to stand between the last character that counts and this one."""
        if not self._out:
            return
        if self._folding.punctuation:
            if self._spaced and _separates(self._out[-1], first):
                self._emit(GAP, index - 1)
        elif self._out[-1].isdecimal() and first.isdecimal():
            gap = self._number_gap(character)
            if gap:
                self._emit(gap, self._skipped[0] if self._skipped else index)

    def _number_gap(self, character: str) -> str:
        """What keeps two digits apart: the separator itself, or a blank for any other punctuation."""
        before = self._source[self._origins[-1]]
        raised = character in _RAISED_DIGITS
        if raised and before not in _RAISED_DIGITS:
            return RAISED
        if not self._skipped:
            return "" if raised or not {"No"} & {unicodedata.category(side) for side in (before, character)} else GAP
        marks = [self._source[index] for index in self._skipped if not is_space(self._source[index])]
        if any(mark in _DASHES for mark in marks):
            return "-"
        if marks == [RAISED]:
            return RAISED
        if len(marks) != 1 or marks[0] not in _SEPARATORS:
            return GAP
        mark = _SEPARATORS[marks[0]]
        if mark in NUMBER_SEPARATORS and (self._spaced or _full_width(marks[0]) > _full_width(before)):
            return GAP  # `$20，300` is a list; `４，８１２` is one number
        return mark

    def _sign(self) -> int:
        if not self._skipped or self._source[self._skipped[-1]] not in _DASHES:
            return 0
        dash = self._skipped[-1]
        if dash > 0 and self._source[dash - 1].isalnum():
            return HYPHEN
        return SIGN if self._source[dash] in _MINUS else HYPHEN

    def _after_hyphen(self) -> bool:
        return any(self._source[index] in _DASHES for index in self._skipped)


def _full_width(character: str) -> bool:
    return 0xFF01 <= ord(character) <= 0xFF5E


def _separates(before: str, after: str) -> bool:
    """Whether a blank between the two says anything: not beside punctuation, nor between Chinese characters."""
    return not any(is_punctuation(side) or _is_unspaced(side) for side in (before, after))
