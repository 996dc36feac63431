"""Where the characters of an element are printed: from a range of its text to glyph boxes, and from those to lines."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby, pairwise

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
    """Printed characters of one word. `stacked` in vertical text, where the next one stands below or above it.

    `confidence` is that of its word, 0..1; None for a text layer.
    """

    page: int
    bbox: BBox
    stacked: bool = False
    confidence: float | None = None


Span = tuple[int, int]  # [first, last) of the glyphs of a word


@dataclass(frozen=True, slots=True)
class _Group:
    """The printed pieces of one range `[start, end)` of the reading text: mostly one word, two over a line's end."""

    start: int
    end: int
    words: tuple[Word, ...]

    @property
    def printed(self) -> str:
        return "".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class _Segment:
    """Of the text as printed, `[start, end)`: the reading text from `reading` on, or a word in several pieces."""

    start: int
    end: int
    reading: int
    group: _Group | None = None


class PrintedElement:
    """Where each piece of an element's text is printed. Only what is asked for is worked out."""

    def __init__(self, element: Element) -> None:
        self._text = element.text
        words = sorted((word for word in element.words if word.bbox.is_finite), key=_range_of)
        self._stacked = _runs_vertically(words)
        ranges = ((key, tuple(group)) for key, group in groupby(words, key=_range_of))
        groups = (_Group(max(start, 0), min(end, len(self._text)), group) for (start, end), group in ranges)
        self._groups = [group for group in groups if group.start < group.end]
        self._starts = [group.start for group in self._groups]
        self._reached = list(accumulate((group.end for group in self._groups), max))

    def glyphs(self, start: int, end: int) -> list[Glyph]:
        """What is printed for the reading text's range `[start, end)`, in order: whole words, and parts at its ends."""
        found: list[Glyph] = []
        for group in self._overlapping(start, end):
            if start <= group.start and group.end <= end:
                found += (_part(word, 0, len(word.text), stacked=self._stacked) for word in group.words)
                continue
            spans = _aligned(self._text[group.start : group.end], group.printed)
            spans = spans[max(start - group.start, 0) : end - group.start]
            found += self._pieces(group, min(first for first, _ in spans), max(last for _, last in spans))
        return found

    def is_cut(self, start: int, end: int) -> bool:
        """Whether a word in the reading text's range `[start, end)` is printed in several pieces."""
        return any(len(group.words) > 1 for group in self._overlapping(start, end))

    @cached_property
    def printed(self) -> str:
        """The text with its line-end hyphens; empty where that is the reading text."""
        return "".join(map(self._printed_in, self._segments))

    def printed_glyphs(self, start: int, end: int) -> list[Glyph]:
        """The same as `glyphs` for a range of the text as printed."""
        found: list[Glyph] = []
        for part in self._segments:
            first, last = max(start, part.start) - part.start, min(end, part.end) - part.start
            if first >= last:
                continue
            if part.group is not None:
                found += self._pieces(part.group, first, last)
            else:
                found += self.glyphs(part.reading + first, part.reading + last)
        return found

    def _printed_in(self, part: _Segment) -> str:
        if part.group is not None:
            return part.group.printed
        return self._text[part.reading : part.reading + part.end - part.start]

    @cached_property
    def _segments(self) -> list[_Segment]:
        """None at all where no word is printed in several pieces."""
        segments: list[_Segment] = []
        reading = at = 0
        for group in self._groups:
            if len(group.words) < 2 or group.start < reading:
                continue
            before, length = group.start - reading, len(group.printed)
            segments += (_Segment(at, at + before, reading), _Segment(at + before, at + before + length, -1, group))
            at, reading = at + before + length, group.end
        rest = len(self._text) - reading
        return [*segments, _Segment(at, at + rest, reading)] if segments else []

    def _overlapping(self, start: int, end: int) -> Iterator[_Group]:
        for position in range(bisect_right(self._reached, start), bisect_left(self._starts, end)):
            if self._groups[position].end > start:
                yield self._groups[position]

    def _pieces(self, group: _Group, first: int, last: int) -> Iterator[Glyph]:
        """The glyphs `[first, last)` of the group, one piece a word."""
        at = 0
        for word in group.words:
            start, end = max(first - at, 0), min(last - at, len(word.text))
            if start < end:
                yield _part(word, start, end, stacked=self._stacked)
            at += len(word.text)


def _range_of(word: Word) -> tuple[int, int]:
    return word.start, word.end


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


def _part(word: Word, first: int, last: int, *, stacked: bool) -> Glyph:
    """The word's characters `[first, last)` as a slice of its box; in a vertical word the box is not cut."""
    box, count = word.bbox, len(word.text)
    if stacked or (first == 0 and last == count):
        return Glyph(word.page, box, stacked, word.confidence)
    weights = [_weight(character) for character in word.text]
    unit = box.width / (sum(weights) or 1.0)
    before, after = unit * sum(weights[:first]), unit * sum(weights[last:])
    if is_right_to_left(word.text):
        before, after = after, before
    piece = BBox(min(box.x0 + before, box.x1 - after), box.y0, max(box.x0 + before, box.x1 - after), box.y1)
    return Glyph(word.page, piece, confidence=word.confidence)


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
    if _shared(last.bbox.y0, last.bbox.y1, box.y0, box.y1) < 0.5 or not _is_level(last.bbox, box):
        return False
    return max(box.x0 - line.x1, line.x0 - box.x1) <= _GUTTER * max(last.bbox.height, box.height)


def _is_level(one: BBox, other: BBox) -> bool:
    """Whether two boxes may be of one line: the same foot or, side by side, nearly the same middle.

    The box of a bullet can reach over the lines above; a raised figure has another foot.
    """
    low = min(one.height, other.height)
    beside = max(one.x0 - other.x1, other.x0 - one.x1) <= _GUTTER * low
    return abs(one.y1 - other.y1) <= 0.5 * low or (beside and abs(one.center[1] - other.center[1]) <= 0.5 * low)


def _shared(a0: float, a1: float, b0: float, b1: float) -> float:
    """The common part of two intervals, as a share of the shorter one."""
    shorter = min(a1 - a0, b1 - b0)
    return (min(a1, b1) - max(a0, b0)) / shorter if shorter > 0 else float(a0 <= b0 <= a1 or b0 <= a0 <= b1)
