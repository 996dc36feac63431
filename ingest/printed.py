"""What is printed on a page: words and lines, and which writing stands without spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kb_qa.geometry import BBox, union_of

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
    italic: bool = False
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
    _size: float = field(default=0.0, init=False, repr=False, compare=False)  # 0 until it is asked for

    @property
    def size(self) -> float:
        """The size most of its characters have, in points. Layout asks it of each line many times."""
        if not self._size:
            object.__setattr__(self, "_size", _usual_size(self.words))
        return self._size

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


def _usual_size(words: Sequence[PrintedWord]) -> float:
    weights: dict[float, int] = {}
    for word in words:
        size = round(word.size, 1)
        weights[size] = weights.get(size, 0) + len(word.text)
    return max(weights, key=lambda size: (weights[size], size))


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
