"""The printed words and lines of a page, in display space, nothing left out and nothing printed twice.

MuPDF's characters are grouped into words (a character each in Chinese, Japanese and Korean) and into lines. Text drawn
twice to look bold is read once; a raised footnote mark is a word of its own.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pymupdf

from ingest.glyph_numbers import character_of, glyph_numbered_fonts, holds_glyph_numbers
from ingest.glyph_order import in_spoken_order, turns_direction
from kb_qa.geometry import BBox, union_of

FLAGS = (
    pymupdf.TEXT_PRESERVE_LIGATURES
    | pymupdf.TEXT_PRESERVE_WHITESPACE
    | pymupdf.TEXT_MEDIABOX_CLIP
    | pymupdf.TEXT_COLLECT_STYLES
)
FILLED, STROKED, CLIPPED, BOLD_STYLE = 16, 32, 64, 8  # MuPDF's FZ_STEXT_* bits of `char_flags`
SOFT_HYPHEN = "\u00ad"
_PLACE = 4.0  # points; cells in which glyphs drawn before are looked up
WIDEST_SPACE = 0.9  # of the type size, between words of one justified line

Direction = Literal["right", "down", "up", "left", "oblique"]


@dataclass(frozen=True, slots=True)
class PrintedWord:
    """`hidden` says why a reader cannot see it (empty: it can be seen). `spaced`: a space stands before it."""

    bbox: BBox
    text: str
    size: float
    baseline: float
    spaced: bool = False
    bold: bool = False
    mono: bool = False
    hidden: str = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """Words in reading order. `direction` is where the text runs; `vertical`: Chinese or Japanese written top-down."""

    words: tuple[PrintedWord, ...]
    bbox: BBox
    direction: Direction = "right"
    vertical: bool = False

    @property
    def size(self) -> float:
        """The size most of its characters have, in points."""
        weights: dict[float, int] = {}
        for word in self.words:
            weights[round(word.size, 1)] = weights.get(round(word.size, 1), 0) + len(word.text)
        return max(weights, key=lambda size: (weights[size], size))

    @property
    def confidence(self) -> float:
        """The OCR's, mean over characters; 1 for a text layer."""
        weights = [(1.0 if word.confidence is None else word.confidence, len(word.text)) for word in self.words]
        return sum(sure * count for sure, count in weights) / max(sum(count for _, count in weights), 1)

    def moved(self, across: float, down: float) -> PrintedLine:
        words = tuple(
            replace(word, bbox=word.bbox.moved(across, down), baseline=word.baseline + down) for word in self.words
        )
        return replace(self, words=words, bbox=self.bbox.moved(across, down))

    @property
    def text(self) -> str:
        return "".join((" " if word.spaced and index else "") + word.text for index, word in enumerate(self.words))


def line_of(words: Sequence[PrintedWord], direction: Direction = "right", vertical: bool = False) -> PrintedLine:
    """A line of at least one word."""
    box = union_of(word.bbox for word in words)
    if box is None:
        raise ValueError("a line needs a word")
    return PrintedLine(tuple(words), box, direction, vertical)


def is_cjk(char: str) -> bool:
    """Chinese, Japanese or Korean, punctuation included: written without spaces, or a syllable per character."""
    code = ord(char)
    return (
        0x2E80 <= code <= 0x9FFF
        or 0xAC00 <= code <= 0xD7AF
        or 0xF900 <= code <= 0xFAFF
        or 0xFE30 <= code <= 0xFE4F
        or 0xFF00 <= code <= 0xFFEF
        or 0x1100 <= code <= 0x11FF
        or 0x20000 <= code <= 0x3FFFF
    ) and not char.isspace()


def is_hangul(char: str) -> bool:
    return 0xAC00 <= ord(char) <= 0xD7AF or 0x1100 <= ord(char) <= 0x11FF


def joins_without_space(before: str, after: str) -> bool:
    """Whether a line break between the two characters stands for nothing: Chinese and Japanese, not Korean."""
    cjk = is_cjk(before) and not is_hangul(before), is_cjk(after) and not is_hangul(after)
    return any(cjk) and not (is_hangul(before) or is_hangul(after))


@dataclass(slots=True)  # not frozen: there are thousands on a page, and freezing makes each three times as slow
class _Glyph:
    char: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    baseline: float
    bold: bool
    mono: bool
    hidden: str


def read_lines(page: pymupdf.Page) -> list[PrintedLine]:
    """All printed lines of an upright page, in the order in which the file draws them."""
    seen = _DrawnBefore()
    lines: list[PrintedLine] = []
    blocks: list[int] = []
    for number, block in enumerate(page.get_text("rawdict", flags=FLAGS)["blocks"]):
        numbered = glyph_numbered_fonts(block)
        for line in block.get("lines", ()):
            glyphs = [glyph for glyph in in_spoken_order(_glyphs(line, numbered)) if not seen.before(glyph)]
            words = list(_words(glyphs))
            if words:
                lines.append(line_of(words, _direction(line["dir"], line["wmode"]), line["wmode"] == 1))
                blocks.append(number)
    return join_fragments(lines, blocks)


def _glyphs(line: dict[str, Any], numbered: frozenset[str]) -> Iterator[_Glyph]:
    horizontal = abs(line["dir"][1]) < 0.01
    for span in line["spans"]:
        hidden = _hidden_reason(span)
        bold = bool(span["flags"] & pymupdf.TEXT_FONT_BOLD or span.get("char_flags", 0) & BOLD_STYLE)
        mono = bool(span["flags"] & pymupdf.TEXT_FONT_MONOSPACED)
        size = span["size"]
        decode = span["font"] in numbered and holds_glyph_numbers(span)
        for char in span["chars"]:
            x0, y0, x1, y1 = char["bbox"]
            if x1 < x0:
                x0, x1 = x1, x0
            if y1 < y0:
                y0, y1 = y1, y0
            text = character_of(char["c"]) if decode else char["c"]
            yield _Glyph(text, x0, y0, x1, y1, size, char["origin"][1] if horizontal else y1, bold, mono, hidden)


def _hidden_reason(span: dict[str, Any]) -> str:
    styles = span.get("char_flags", FILLED)
    if span["size"] < 1:
        return "smaller than one point"
    if span.get("alpha", 255) == 0 and not styles & CLIPPED:
        return "transparent" if styles & (FILLED | STROKED) else "invisible text"
    return ""


def _direction(vector: tuple[float, float], wmode: int) -> Direction:
    angle = math.degrees(math.atan2(vector[1], vector[0]))
    for wanted, name in ((0, "right"), (90, "down"), (-90, "up"), (180, "left"), (-180, "left")):
        if abs(angle - wanted) < 3:
            return name  # type: ignore[return-value]  # the literals above
    return "down" if wmode == 1 else "oblique"


class _DrawnBefore:
    """Remembers glyphs, to find those drawn again at nearly the same place: text printed twice to look bold."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, int, int], list[_Glyph]] = {}

    def before(self, glyph: _Glyph) -> bool:
        char, x0, y0 = glyph.char, glyph.x0, glyph.y0
        if char.isspace():
            return False
        reach = min(1.0, 0.15 * glyph.size)  # below the advance of the narrowest letter, so that `11` stays `11`
        columns = {int((x0 - reach) / _PLACE), int((x0 + reach) / _PLACE)}
        rows = {int((y0 - reach) / _PLACE), int((y0 + reach) / _PLACE)}
        for x in columns:
            for y in rows:
                for other in self._places.get((char, x, y), ()):
                    if _same_place(glyph, other, reach):
                        return True
        self._places.setdefault((char, int(x0 / _PLACE), int(y0 / _PLACE)), []).append(glyph)
        return False


def _same_place(glyph: _Glyph, other: _Glyph, reach: float) -> bool:
    return (
        bool(glyph.hidden) == bool(other.hidden)
        and abs(glyph.x0 - other.x0) <= reach
        and abs(glyph.y0 - other.y0) <= reach
        and abs(glyph.size - other.size) <= 0.2 * glyph.size
    )


def _words(glyphs: Sequence[_Glyph]) -> Iterator[PrintedWord]:
    current: list[_Glyph] = []
    spaced = False
    for glyph in glyphs:
        if glyph.char.isspace() or glyph.char in "\u200b\ufeff":
            yield from _word(current, spaced)
            current, spaced = [], True
            continue
        if current and _breaks(current[-1], glyph):
            yield from _word(current, spaced)
            current, spaced = [], _stands_apart(current[-1], glyph)
        current.append(glyph)
    yield from _word(current, spaced)


def _breaks(before: _Glyph, glyph: _Glyph) -> bool:
    if glyph.char < "\u0300" and before.char < "\u0300":  # nearly every pair: no marks, no CJK, one direction
        if glyph.size == before.size and glyph.hidden == before.hidden:
            return False
    elif unicodedata.combining(glyph.char):
        return False
    return (
        turns_direction(before.char, glyph.char)
        or is_cjk(glyph.char)
        or is_cjk(before.char)
        or before.hidden != glyph.hidden
        or _is_raised(glyph, before)
        or _is_raised(before, glyph)
    )


def _is_raised(glyph: _Glyph, neighbour: _Glyph) -> bool:
    """Smaller and higher than its neighbour: a footnote mark or an exponent. Fonts seldom set the superscript flag."""
    return glyph.size < 0.82 * neighbour.size and neighbour.baseline - glyph.baseline > 0.12 * neighbour.size


def _stands_apart(before: _Glyph, glyph: _Glyph) -> bool:
    """A raised digit or sign is kept apart from what it is attached to: 250⁹ is not 2509. `1st` stays one string."""
    if _is_raised(glyph, before):
        return not glyph.char.isalpha()
    return _is_raised(before, glyph) and not before.char.isalpha() and glyph.char.isalnum()


def _word(glyphs: Sequence[_Glyph], spaced: bool) -> Iterator[PrintedWord]:
    if not glyphs:
        return
    box = BBox(
        min(glyph.x0 for glyph in glyphs),
        min(glyph.y0 for glyph in glyphs),
        max(glyph.x1 for glyph in glyphs),
        max(glyph.y1 for glyph in glyphs),
    )
    text = "".join(glyph.char for glyph in glyphs)
    # A soft hyphen is printed only where it ends a line; there the text builder needs it.
    text = text[:-1].replace(SOFT_HYPHEN, "") + text[-1]
    first = glyphs[0]
    yield PrintedWord(
        bbox=box,
        text=text,
        size=first.size,
        baseline=first.baseline,
        spaced=spaced,
        bold=first.bold,
        mono=first.mono,
        hidden=first.hidden,
    )


def join_fragments(lines: Sequence[PrintedLine], blocks: Sequence[int]) -> list[PrintedLine]:
    """Lines, with pieces that a reader sees as one line put together again; `blocks` says which block each is of.

    MuPDF ends a line where a raised mark or another font begins, and at the wide spaces of justified text.
    """
    order = sorted(range(len(lines)), key=lambda index: (lines[index].bbox.x0, index))
    by_band: dict[int, list[int]] = {}
    follows: dict[int, int] = {}
    followed: set[int] = set()
    for index in order:
        line = lines[index]
        if line.direction != "right":
            continue
        bands = range(int(line.bbox.y0 // 10), int(line.bbox.y1 // 10) + 1)
        nearby = {other for band in bands for other in by_band.get(band, ())}
        before = [
            other
            for other in nearby - followed
            if _continues(lines[other], line, WIDEST_SPACE if blocks[other] == blocks[index] else 0.35)
        ]
        if before:
            follows[index] = max(before, key=lambda other: (lines[other].bbox.x1, -other))
            followed.add(follows[index])
        for band in bands:
            by_band.setdefault(band, []).append(index)
    return list(_chained(lines, follows))


def _chained(lines: Sequence[PrintedLine], follows: dict[int, int]) -> Iterator[PrintedLine]:
    next_of = {before: after for after, before in follows.items()}
    for index, line in enumerate(lines):
        if index in follows:
            continue
        words = list(line.words)
        following = next_of.get(index)
        while following is not None:
            addition = lines[following].words
            words.append(_attached(words[-1], addition[0]))
            words.extend(addition[1:])
            following = next_of.get(following)
        yield line if len(words) == len(line.words) else line_of(words, line.direction, line.vertical)


def _continues(before: PrintedLine, line: PrintedLine, widest: float) -> bool:
    left, right = before.words[-1], line.words[0]
    shared = min(left.bbox.y1, right.bbox.y1) - max(left.bbox.y0, right.bbox.y0)
    size = max(left.size, right.size)
    gap = right.bbox.x0 - left.bbox.x1
    same_baseline = abs(left.baseline - right.baseline) < 0.2 * size
    smaller = min(left.size, right.size) < 0.82 * size
    return (
        bool(left.hidden) == bool(right.hidden)
        and shared > 0.5 * min(left.bbox.height, right.bbox.height)
        and -0.2 * size <= gap <= (widest if same_baseline else 0.2) * size
        and (same_baseline or smaller)
    )


def _attached(before: PrintedWord, word: PrintedWord) -> PrintedWord:
    if word.spaced or is_cjk(before.text[-1]) or is_cjk(word.text[0]):
        return word
    raised = word.size < 0.82 * before.size and before.baseline - word.baseline > 0.12 * before.size
    lowered_after = before.size < 0.82 * word.size and word.baseline - before.baseline > 0.12 * word.size
    apart = word.bbox.x0 - before.bbox.x1 > 0.15 * max(word.size, before.size)
    mark = (raised and not word.text.isalpha()) or (lowered_after and not before.text.isalpha())
    return replace(word, spaced=apart or mark)


def glyph_count(lines: Iterable[PrintedLine]) -> int:
    return sum(len(word.text) for line in lines for word in line.words)
