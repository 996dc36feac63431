"""Text whose codes are glyph numbers, because its font says nothing of characters (no ToUnicode map).

TrueType fonts number their glyphs in the order of the Macintosh character set: 3 is the space, 36 is `A`, 192 the
ligature fi. A font that was embedded without a map comes out of MuPDF as those numbers, `Kitchen` as `.LWFKHQ`; the
control character U+0003 for the space gives it away.
"""

from __future__ import annotations

from typing import Any

SPACE, LAST_ASCII, LAST = 3, 97, 225  # glyph numbers
TO_ASCII, TO_MAC_ROMAN = 29, 30


def character_of(code: str) -> str:
    """The character of a glyph number, or the same code where the order of glyphs says nothing."""
    number = ord(code)
    if SPACE <= number <= LAST_ASCII:
        return chr(number + TO_ASCII)
    if LAST_ASCII < number <= LAST:
        return bytes([number + TO_MAC_ROMAN]).decode("mac_roman")
    return code


def glyph_numbered_fonts(block: dict[str, Any]) -> frozenset[str]:
    """Names of the fonts that set spaces of this block as glyph number 3, where the numbers then spell words."""
    texts: dict[str, list[str]] = {}
    for line in block.get("lines", ()):
        for span in line["spans"]:
            if any(char["c"] == chr(SPACE) for char in span["chars"]):
                texts.setdefault(span["font"], []).extend(char["c"] for char in span["chars"])
    return frozenset(font for font, codes in texts.items() if _spells_words(codes))


def _spells_words(codes: list[str]) -> bool:
    text = "".join(map(character_of, codes))
    return sum(char.isalnum() or char in " .,;:-\u2019'()&/%" for char in text) >= 0.9 * len(text)


def holds_glyph_numbers(span: dict[str, Any]) -> bool:
    """Whether a span of such a font is numbers; two subsets of one name may stand in a block, one of them with a map.

    Small letters are what numbers hardly ever look like: they would stand for accented capitals.
    """
    codes = [char["c"] for char in span["chars"]]
    return chr(SPACE) in codes or not any("a" <= code <= "z" for code in codes)
