"""Where the characters of an element are printed: from a range of its text to glyph boxes, and from those to lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from kb_qa.elements import Element, Word
from kb_qa.folding import Folding, fold_character, is_cjk, is_ignored
from kb_qa.geometry import BBox

# Rough advance widths beside an average letter's: a part of a Latin word is cut out of its box by these.
_NARROW = frozenset("iljftrI1.,:;'|!()[]{} ")
_WIDE = frozenset("mwMW@%&—…")

# A blank wider than this many line heights is a gutter or the space between two cells, not between two words.
_GUTTER = 2.0

_LETTERS = Folding()


@dataclass(frozen=True, slots=True)
class Glyph:
    """One printed character. `stacked` in vertical text, where the next one stands below or above it.

    `confidence` is that of its word, 0..1; None for a text layer.
    """

    page: int
    bbox: BBox
    stacked: bool = False
    confidence: float | None = None


Span = tuple[int, int]  # [first, last) of an element's glyphs


@dataclass(frozen=True, slots=True)
class _Cut:
    """A word in several pieces: the range `[start, end)` of the reading text, and the pieces' glyphs as text."""

    start: int
    end: int
    first: int
    text: str


class PrintedElement:
    """An element's glyphs in reading order, and which of them each character of its text stands for."""

    def __init__(self, element: Element) -> None:
        self._text = element.text
        self._reading: list[Span | None] = [None] * len(element.text)
        self._cuts: list[_Cut] = []
        self.glyphs: list[Glyph] = []
        words = sorted((word for word in element.words if word.bbox.is_finite), key=lambda word: (word.start, word.end))
        vertical = _runs_vertically(words)
        for (start, end), group in groupby(words, key=lambda word: (word.start, word.end)):
            self._add(max(start, 0), min(end, len(self._text)), tuple(group), vertical=vertical)

    def indexes(self, start: int, end: int) -> list[int]:
        """The glyphs of the reading text's range `[start, end)`, by their number."""
        return glyph_numbers(self._reading[start:end])

    def is_cut(self, start: int, end: int) -> bool:
        """Whether a word in the reading text's range `[start, end)` is printed in several pieces."""
        return any(cut.start < end and start < cut.end for cut in self._cuts)

    def printed(self) -> tuple[str, list[Span | None]] | None:
        """The text with its line-end hyphens, and each character's glyphs; None where it is the reading text."""
        if not self._cuts:
            return None
        text: list[str] = []
        spans: list[Span | None] = []
        position = 0
        for cut in self._cuts:
            text += (self._text[position : cut.start], cut.text)
            spans += self._reading[position : cut.start]
            spans += [(index, index + 1) for index in range(cut.first, cut.first + len(cut.text))]
            position = cut.end
        text.append(self._text[position:])
        spans += self._reading[position:]
        return "".join(text), spans

    def _add(self, start: int, end: int, words: Sequence[Word], *, vertical: bool) -> None:
        first = len(self.glyphs)
        for word in words:
            self.glyphs += _glyphs(word, vertical=vertical)
        printed = "".join(word.text for word in words)
        for index, span in enumerate(_aligned(self._text[start:end], printed), start):
            self._reading[index] = _joined(self._reading[index], (span[0] + first, span[1] + first))
        if len(words) > 1 and (not self._cuts or start >= self._cuts[-1].end):
            self._cuts.append(_Cut(start, end, first, printed))


def glyph_numbers(spans: Iterable[Span | None]) -> list[int]:
    """Every glyph of the spans once, in their order."""
    return list(dict.fromkeys(index for span in spans if span is not None for index in range(*span)))


def _joined(span: Span | None, other: Span) -> Span:
    return other if span is None else (min(span[0], other[0]), max(span[1], other[1]))


def _aligned(reading: str, printed: str) -> list[Span]:
    """For each character of the reading text, its characters of the printed one.

    Where both hold the same letters (`investment` and `invest-ment`, `ffi` and `ﬃ`) letter by letter, and a printed
    character that stands for none (the hyphen) goes to the one before it. Else in proportion.
    """
    if len(reading) == len(printed):
        return [(index, index + 1) for index in range(len(reading))]
    letters = [(part, index) for index, character in enumerate(reading) for part in fold_character(character, _LETTERS)]
    glyphs = [(part, index) for index, character in enumerate(printed) for part in fold_character(character, _LETTERS)]
    count, total = len(printed), len(reading)
    if [part for part, _ in letters] != [part for part, _ in glyphs]:
        return [(index * count // total, max(-(-(index + 1) * count // total), 1)) for index in range(total)]
    spans: list[Span | None] = [None] * total
    for (_, character), (_, glyph) in zip(letters, glyphs, strict=True):
        spans[character] = _joined(spans[character], (glyph, glyph + 1))
    return _filled(spans, count)


def _filled(spans: Sequence[Span | None], count: int) -> list[Span]:
    """Every span reaches up to the next one; a character without a glyph of its own shares what is between."""
    filled: list[Span] = []
    following = count
    for span in reversed(spans):
        start, end = span if span is not None else (following, following)
        filled.append((start, max(end, following)))
        following = start
    return filled[::-1]


def _glyphs(word: Word, *, vertical: bool) -> list[Glyph]:
    """The word's characters as slices of its box; in a vertical word the box is not cut."""
    if vertical or len(word.text) < 2:
        return [Glyph(word.page, word.bbox, vertical, word.confidence)] * len(word.text)
    weights = [_weight(character) for character in word.text]
    total = sum(weights) or 1.0
    shares = [0.0]
    for weight in weights:
        shares.append(shares[-1] + weight / total)
    box, right_to_left = word.bbox, is_right_to_left(word.text)
    cuts = [box.x1 - share * box.width if right_to_left else box.x0 + share * box.width for share in shares]
    cuts[-1] = box.x0 if right_to_left else box.x1
    slices = (BBox(min(start, end), box.y0, max(start, end), box.y1) for start, end in pairwise(cuts))
    return [Glyph(word.page, piece, confidence=word.confidence) for piece in slices]


def _weight(character: str) -> float:
    if is_ignored(character) or unicodedata.combining(character):
        return 0.0
    if is_cjk(character) or unicodedata.east_asian_width(character) in "FW":
        return 2.0
    return 0.5 if character in _NARROW else 1.5 if character in _WIDE else 1.0


def is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


def _runs_vertically(words: Sequence[Word]) -> bool:
    """Whether the text runs down or up.

    Most long words are taller than wide, as in a turned title, or most CJK characters stand under the one before.
    """
    long = [word for word in words if len(word.text) >= 5]
    pairs = [(one, other) for one, other in pairwise(words) if len(one.text) == len(other.text) == 1]
    pairs = [(one, other) for one, other in pairs if is_cjk(one.text) and is_cjk(other.text)]
    tall = sum(word.bbox.height > 1.5 * word.bbox.width for word in long)
    under = sum(_stands_under(one.bbox, other.bbox) for one, other in pairs)
    return 2 * (tall + under) > len(long) + len(pairs)


def _stands_under(above: BBox, below: BBox) -> bool:
    beside = abs(above.x0 - below.x0) > 0.3 * above.width
    return not beside and 0.5 * above.height < below.y0 - above.y0 < 2 * above.height


@dataclass(frozen=True, slots=True)
class LineRect:
    page: int
    bbox: BBox


def lines(glyphs: Iterable[Glyph]) -> list[LineRect]:
    """One rectangle for all glyphs that follow one another on one line of one column, in reading order."""
    rects: list[LineRect] = []
    last: Glyph | None = None
    for glyph in glyphs:
        if last is not None and last.page == glyph.page and _continues(rects[-1].bbox, last, glyph):
            rects[-1] = LineRect(glyph.page, rects[-1].bbox.union(glyph.bbox))
        else:
            rects.append(LineRect(glyph.page, glyph.bbox))
        last = glyph
    return rects


def _continues(line: BBox, last: Glyph, glyph: Glyph) -> bool:
    box = glyph.bbox
    if last.bbox == box:
        return True
    if last.stacked and glyph.stacked and _shared(last.bbox.x0, last.bbox.x1, box.x0, box.x1) > 0.8:
        return max(box.y0 - line.y1, line.y0 - box.y1) < max(line.width, box.width)
    if _shared(last.bbox.y0, last.bbox.y1, box.y0, box.y1) < 0.5:
        return False
    return max(box.x0 - line.x1, line.x0 - box.x1) <= _GUTTER * max(last.bbox.height, box.height)


def _shared(a0: float, a1: float, b0: float, b1: float) -> float:
    """The common part of two intervals, as a share of the shorter one."""
    shorter = min(a1 - a0, b1 - b0)
    return (min(a1, b1) - max(a0, b0)) / shorter if shorter > 0 else float(a0 <= b0 <= a1 or b0 <= a0 <= b1)
