"""One character for one character: the lexer's view of a text, with the way back to the original offsets.

Unicode's NFKC is not used: it turns `1,234¹` into `1,2341`, `10⁵` into `105` and `2½` into `21⁄2`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set as AbstractSet
from typing import NamedTuple

# A space that may stand inside a number (`1 234 567`): NBSP, thin, narrow and figure space all become this one.
GROUP_SPACE = "\u00a0"

BIDI_OVERRIDES = frozenset("\u202d\u202e")

_ZERO_WIDTH = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u180e\u061c")
_KEPT_FULL_WIDTH = frozenset("，；：！？")
_ONE_TO_ONE = {
    "\u3000": " ",
    **dict.fromkeys("\u2212\ufe63\u2010\u2011", "-"),
    "\u2024": ".",
    **dict.fromkeys("\u2009\u202f\u2007", GROUP_SPACE),
    "’": "'",
    "￥": "¥",
    "￡": "£",
    "￠": "¢",
    **dict(
        zip(
            "萬億點個兩圓貳參陸負餘佔幣鎊約歲頁條圖節項級層時鐘號間單噸後週輛臺",
            "万亿点个两圆贰叁陆负余占币镑约岁页条图节项级层时钟号间单吨后周辆台",
            strict=True,
        )
    ),
}
# `１，２３４` is one number, `$20，300美元` are two: the comma joins only full-width digits, and only groups of three.
_FULL_WIDTH_GROUP = re.compile("，(?<=[０-９]，)(?=[０-９]{3}(?![０-９]))")
_FULL_WIDTH_DIGITS = frozenset("０１２３４５６７８９")


class _Table(dict[int, str]):
    """A table for `str.translate` that decides each character once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = mapped = _mapped(character)
        if mapped == character and character not in _ZERO_WIDTH:
            _STABLE.add(character)
        return mapped


def _mapped(character: str) -> str:
    if character in _ONE_TO_ONE:
        return _ONE_TO_ONE[character]
    if "！" <= character <= "～" and character not in _KEPT_FULL_WIDTH:
        return chr(ord(character) - 0xFEE0)
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.decimal(character))
    return character


# Characters that are known to stand for themselves: a text of them alone needs no table.
_STABLE = {chr(code) for code in range(128)}
_TABLE = _Table()
_FEW = 8  # with more kinds of characters to map, one walk over the text is cheaper than a replacement of each


class Normalised(NamedTuple):  # made for every text: a dataclass takes three times as long
    """`text` as the lexer reads it. `offsets[i]` is where character i stands in the original; empty: at i itself.

    `characters` are all that `text` has, and may be more.
    """

    text: str
    characters: AbstractSet[str]
    offsets: tuple[int, ...] = ()

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original for the range `[start, end)` of `text`."""
        if not self.offsets:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1


def normalise(text: str) -> Normalised:
    """Full-width to ASCII, other scripts' digits to ASCII, spaces and dashes unified, zero-width characters dropped."""
    characters = set(text)
    odd = characters - _STABLE
    if not odd:
        return Normalised(text, characters)
    if not _FULL_WIDTH_DIGITS.isdisjoint(odd):
        text = _FULL_WIDTH_GROUP.sub(",", text)
    if len(odd) > _FEW:
        text = text.translate(_TABLE)
        characters = set(text)
    else:
        for character in odd:
            text = text.replace(character, _TABLE[ord(character)])
            characters.add(_TABLE[ord(character)])
    if _ZERO_WIDTH.isdisjoint(odd):
        return Normalised(text, characters)
    kept = [index for index, character in enumerate(text) if character not in _ZERO_WIDTH]
    return Normalised("".join(text[index] for index in kept), characters, tuple(kept))
