"""Fonts, styles, and breaking text into lines of known width."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import pymupdf

from kb_qa.geometry import BBox

Colour = tuple[float, float, float]

# Fonts that ship inside PyMuPDF, so that the files come out the same on every machine.
FONTS = {"zh": "cjk", "sans": "helv", "sans-bold": "hebo", "serif": "tiro", "serif-bold": "tibo"}
SOFT_HYPHEN = "\u00ad"

# A run of Latin text, or one character with the punctuation that must not leave its line; then the space after it.
_PIECE = re.compile(r"[“（《]*(?:[!-~\u00a0-\u024f–—’“”]+|.)[，。；：、！？”）》]*\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Style:
    """`leading` is the distance of baselines in points. `heavy` thickens a font that has no bold of its own."""

    font: str
    size: float
    colour: Colour = (0.13, 0.15, 0.18)
    leading: float = 0.0
    heavy: bool = False

    @property
    def line_height(self) -> float:
        return self.leading or self.size * 1.5


@cache
def font(name: str) -> pymupdf.Font:
    return pymupdf.Font(FONTS[name])


@cache
def _advance(name: str, character: str) -> float:
    return float(font(name).glyph_advance(ord(character)))


def text_width(text: str, style: Style) -> float:
    return sum(_advance(style.font, character) for character in text) * style.size


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line. `reading` is what it adds to the reading text: no line-end hyphen, but the space after it."""

    page: int
    x: float
    baseline: float
    text: str
    reading: str
    style: Style

    @property
    def bbox(self) -> BBox:
        return self.part(0, len(self.text))

    def part(self, start: int, end: int) -> BBox:
        """The box of `text[start:end]`: from pen position to pen position, as high as the font says."""
        metrics = font(self.style.font)
        return BBox(
            self.x + text_width(self.text[:start], self.style),
            self.baseline - metrics.ascender * self.style.size,
            self.x + text_width(self.text[:end], self.style),
            self.baseline - metrics.descender * self.style.size,
        )


def broken(text: str, style: Style, width: float) -> list[tuple[str, str]]:
    """(printed, reading) of each line of `text` at `width` points; soft hyphens print only where a line ends."""
    lines: list[tuple[str, str]] = []
    reading = ""
    for piece in _PIECE.findall(text):
        if text_width((reading + _plain(piece)).rstrip(), style) <= width:
            reading += _plain(piece)
            continue
        head, tail = _hyphenated(reading, piece, style, width)
        lines.append((reading + head if head else reading.rstrip(), reading + head.removesuffix("-")))
        reading = _plain(tail)
    return [*lines, (reading.rstrip(), reading)] if reading else lines


def _hyphenated(reading: str, piece: str, style: Style, width: float) -> tuple[str, str]:
    """The longest start of `piece` that still fits, with its hyphen, and the rest; ("", piece) for none."""
    syllables = piece.split(SOFT_HYPHEN)
    for count in range(len(syllables) - 1, 0, -1):
        head = "".join(syllables[:count]) + "-"
        if text_width(reading + head, style) <= width:
            return head, SOFT_HYPHEN.join(syllables[count:])
    return "", piece


def _plain(piece: str) -> str:
    return piece.replace(SOFT_HYPHEN, "")


def quote_parts(paragraphs: list[list[Line]], quote: str) -> tuple[int, list[BBox]]:
    """The page and the boxes, one per line, of a quotation of one paragraph. ValueError unless it stands just once."""
    places = [
        (lines, start) for lines in paragraphs for start in _starts("".join(line.reading for line in lines), quote)
    ]
    if len(places) != 1:
        raise ValueError(f"{quote!r} stands {len(places)} times")
    lines, start = places[0]
    end, offset, boxes = start + len(quote), 0, []
    for line in lines:
        first, last = max(start - offset, 0), min(end - offset, len(line.reading))
        if first < min(last, len(line.text)):
            hyphen = line.text == line.reading + "-" and end - offset > len(line.reading)
            boxes.append(line.part(first, len(line.text) if hyphen else min(last, len(line.text))))
        offset += len(line.reading)
    return lines[0].page, boxes


def _starts(text: str, quote: str) -> list[int]:
    return [match.start() for match in re.finditer(re.escape(quote), text)]
