"""The printed words and lines of a page, in display space, nothing left out and nothing printed twice.

MuPDF's characters are grouped into words (a character each in Chinese, Japanese and Korean) and into lines. Text drawn
twice to look bold is read once; a raised footnote mark is a word of its own.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pymupdf

from ingest.glyph_numbers import character_of, glyph_numbered_fonts, holds_glyph_numbers
from ingest.glyph_order import FIRST_RIGHT_TO_LEFT, in_spoken_order, turns_direction
from ingest.printed import Direction, PrintedLine, PrintedWord, is_cjk, line_of
from kb_qa.geometry import BBox

# Without COLLECT_STYLES: it takes three times as long, and leaves out an Arabic letter that a ligature with the same
# letter follows, because it looks like one printed twice.
FLAGS = pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
FILLED, STROKED, CLIPPED, BOLD_STYLE = 16, 32, 64, 8  # MuPDF's FZ_STEXT_* bits of `char_flags`
SOFT_HYPHEN = "\u00ad"
BREAK_HYPHEN = "\x02"  # how some programs write the hyphen of a line break
FIXED_WIDTH = re.compile(r"courier|consol|menlo|monaco|mono|typewriter|cmtt|fixed|terminal", re.IGNORECASE)
LETTERS_APART = 6  # so many single letters in a line are no words
LEAST_SHIFT = 0.05  # points between two drawings of a glyph that make it bold
_PLACE = 16.0  # points; cells in which glyphs drawn before are looked up
NO_WIDTH = "\u200b\ufeff"
FIRST_MARK = "\u0300"  # below it are no combining marks, no CJK and no letters written to the left
WIDEST_SPACE = 0.9  # of the type size, between words of one justified line


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
    italic: bool
    mono: bool
    hidden: str
    filled: bool


def read_lines(page: pymupdf.Page) -> list[PrintedLine]:
    """All printed lines of an upright page, in the order in which the file draws them."""
    seen = _DrawnBefore()
    drawn: list[tuple[int, dict[str, Any], list[_Glyph]]] = []
    for number, block in enumerate(page.get_text("rawdict", flags=FLAGS)["blocks"]):
        numbered = glyph_numbered_fonts(block)
        for line in block.get("lines", ()):
            glyphs = _glyphs(line, numbered)
            if any(glyph.char >= FIRST_RIGHT_TO_LEFT for glyph in glyphs):
                glyphs = list(in_spoken_order(glyphs))
            drawn.append((number, line, [glyph for glyph in glyphs if not seen.before(glyph)]))
    lines: list[PrintedLine] = []
    blocks: list[int] = []
    for number, line, glyphs in drawn:  # only now is known what is drawn twice, and bold by that
        words = list(_words(glyphs))
        if words:
            lines.append(line_of(words, _direction(line["dir"], line["wmode"]), line["wmode"] == 1))
            blocks.append(number)
    whole = [_closed_up(line) for line in join_fragments(lines, blocks)]
    return _combs_joined(whole, comb_boxes(page))


def _glyphs(line: dict[str, Any], numbered: frozenset[str]) -> list[_Glyph]:
    found: list[_Glyph] = []
    horizontal = abs(line["dir"][1]) < 0.01
    for span in line["spans"]:
        hidden = _hidden_reason(span)
        filled = bool(span.get("char_flags", FILLED) & FILLED)
        bold = bool(span["flags"] & pymupdf.TEXT_FONT_BOLD or span.get("char_flags", 0) & BOLD_STYLE)
        italic = bool(span["flags"] & pymupdf.TEXT_FONT_ITALIC)
        mono = bool(span["flags"] & pymupdf.TEXT_FONT_MONOSPACED) or is_fixed_width(span["font"])
        size = span["size"]
        decode = span["font"] in numbered and holds_glyph_numbers(span)
        for char in span["chars"]:
            x0, y0, x1, y1 = char["bbox"]
            if x1 < x0:
                x0, x1 = x1, x0
            if y1 < y0:
                y0, y1 = y1, y0
            text = character_of(char["c"]) if decode else char["c"]
            baseline = char["origin"][1] if horizontal else y1
            found.append(_Glyph(text, x0, y0, x1, y1, size, baseline, bold, italic, mono, hidden, filled))
    return found


@functools.lru_cache(maxsize=256)
def is_fixed_width(font: str) -> bool:
    """By the font's name; few fonts set the flag for it."""
    return FIXED_WIDTH.search(font) is not None and "monotype" not in font.lower()


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
        places = self._places
        left, right = int((x0 - reach) / _PLACE), int((x0 + reach) / _PLACE)
        upper, lower = int((y0 - reach) / _PLACE), int((y0 + reach) / _PLACE)
        for x in (left,) if left == right else (left, right):
            for y in (upper,) if upper == lower else (upper, lower):
                for other in places.get((char, x, y), ()):
                    if _same_place(glyph, other, reach):
                        other.bold |= glyph.filled != other.filled or abs(x0 - other.x0) > LEAST_SHIFT
                        return True
        places.setdefault((char, int(x0 / _PLACE), int(y0 / _PLACE)), []).append(glyph)
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
        char = glyph.char
        if char.isspace() or char in NO_WIDTH:
            yield from _word(current, spaced)
            current, spaced = [], True
            continue
        if current and _breaks(current[-1], glyph):
            yield from _word(current, spaced)
            current, spaced = [], _stands_apart(current[-1], glyph)
        current.append(glyph)
    yield from _word(current, spaced)


def _breaks(before: _Glyph, glyph: _Glyph) -> bool:
    if glyph.char < FIRST_MARK and before.char < FIRST_MARK:  # nearly every pair
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
        min([glyph.x0 for glyph in glyphs]),  # lists: there are thousands of glyphs
        min([glyph.y0 for glyph in glyphs]),
        max([glyph.x1 for glyph in glyphs]),
        max([glyph.y1 for glyph in glyphs]),
    )
    text = "".join(glyph.char for glyph in glyphs).replace(BREAK_HYPHEN, SOFT_HYPHEN)
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
        italic=first.italic,
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


def _closed_up(line: PrintedLine) -> PrintedLine:
    """A line set with spaces between its letters (`A B S T R A C T`) as its words; wider gaps part them."""
    words = line.words
    if len(words) < LETTERS_APART or line.direction != "right":
        return line
    if not all(len(word.text) == 1 and word.text.isalpha() and not is_cjk(word.text) for word in words):
        return line
    gaps = [right.bbox.x0 - left.bbox.x1 for left, right in itertools.pairwise(words)]
    usual = sorted(gaps)[len(gaps) // 2]
    closed = [words[0]]
    for gap, word in zip(gaps, words[1:], strict=True):
        if gap > 1.6 * usual + 0.5:
            closed.append(word)
        else:
            before = closed[-1]
            closed[-1] = replace(before, text=before.text + word.text, bbox=before.bbox.union(word.bbox))
    return line_of(closed, line.direction, line.vertical)


def comb_boxes(page: pymupdf.Page) -> list[BBox]:
    """Form fields that print each character of their value in a place of its own."""
    if page.first_widget is None:
        return []
    combs = (widget.rect for widget in page.widgets() if widget.field_flags & pymupdf.PDF_TX_FIELD_IS_COMB)
    return [BBox(*(float(value) for value in rect)) for rect in combs]


def _combs_joined(lines: Sequence[PrintedLine], combs: Sequence[BBox]) -> list[PrintedLine]:
    """The lines, the characters in a comb field one word again, which stands in a line of its own."""
    for comb in combs:
        parted = [(line, [word for word in line.words if comb.contains_point(*word.bbox.center)]) for line in lines]
        inside = sorted((word for _, words in parted for word in words), key=lambda word: word.bbox.x0)
        if len(inside) < 2:
            continue
        others = [(line, [word for word in line.words if word not in words]) for line, words in parted]
        value = replace(inside[0], text="".join(word.text for word in inside), bbox=line_of(inside).bbox)
        lines = [line_of(words, line.direction, line.vertical) for line, words in others if words]
        lines.append(line_of([value]))
    return list(lines)


def glyph_count(lines: Iterable[PrintedLine]) -> int:
    return sum(len(word.text) for line in lines for word in line.words)
