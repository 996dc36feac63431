"""From what the recogniser says of a line to its words: text, place and confidence of each.

The recogniser gives a line's text and, separately, pieces of it with boxes: words where the line is all Latin, single
characters as soon as it holds one that is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.printed import PrintedWord, is_cjk
from kb_qa.geometry import BBox, union_of

Piece = tuple[str, float, Sequence[Sequence[float]]]  # text, confidence, four corners in pixels
HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


@dataclass(frozen=True, slots=True)
class ReadWord:
    """A word in pixels. `spaced`: there is a space before it. `line` is the detector's box of the line."""

    text: str
    bbox: BBox
    confidence: float
    spaced: bool
    line: BBox

    @property
    def type_size(self) -> float:
        """In pixels; the detector's box holds ascenders, descenders and a margin."""
        return (self.line if self.line.height < self.line.width else self.bbox).height * 0.75

    def scaled(self, scale: float) -> PrintedWord:
        """In points, `scale` pixels to the point. Size and baseline follow the line, which varies less than its ink."""
        return PrintedWord(
            bbox=BBox(*(value / scale for value in self.bbox.as_tuple())),
            text=self.text,
            size=max(self.type_size / scale, 1.0),
            baseline=(self.bbox.y1 - 0.22 * self.bbox.height) / scale,
            spaced=self.spaced,
            confidence=min(max(self.confidence, 0.0), 1.0),
        )


def spelled_words(text: str, pieces: Sequence[Piece], line: BBox, score: float) -> list[ReadWord]:
    """The words of a line; where the pieces do not spell it, its box is shared out by character.

    The model writes brackets and commas between Latin letters at full width: without a Chinese, Japanese or Korean
    letter on the line they are the plain ones.
    """
    if not any(is_cjk(char) and char.isalpha() and not 0xFF01 <= ord(char) < 0xFF5F for char in text):
        text = text.translate(HALF_WIDTH)
        pieces = [(piece[0].translate(HALF_WIDTH), *piece[1:]) for piece in pieces if piece and len(piece) == 3]
    spelled = "".join(piece[0] for piece in pieces if piece and piece[0])
    if "".join(spelled.split()) != "".join(text.split()) or any(len(piece) < 3 for piece in pieces):
        return _shared_out(text, line, score)
    return list(_joined(_placed(text, pieces, line)))


def _placed(text: str, pieces: Iterable[Piece], line: BBox) -> Iterator[ReadWord]:
    """The pieces with the spaces that the text has between them."""
    rest = text
    first = True
    for piece, confidence, quad in pieces:
        printed = piece.strip()
        if not printed:
            continue
        spaced = rest[:1].isspace() and not first
        rest = rest.lstrip()
        rest = rest[len(printed) :] if rest.startswith(printed) else rest
        xs, ys = [float(point[0]) for point in quad], [float(point[1]) for point in quad]
        box = BBox(min(xs), min(ys), max(xs), max(ys))
        yield from _per_character(ReadWord(printed, box, float(confidence), spaced, line))
        first = False


def _joined(parts: Iterable[ReadWord]) -> Iterator[ReadWord]:
    """Pieces without a space between them are one word, unless one of them is Chinese, Japanese or Korean."""
    word: ReadWord | None = None
    for part in parts:
        if word is None:
            word = part
        elif part.spaced or is_cjk(word.text[-1]) or is_cjk(part.text[0]):
            yield word
            word = part
        else:
            count = len(word.text) + len(part.text)
            mean = (word.confidence * len(word.text) + part.confidence * len(part.text)) / count
            box = union_of((word.bbox, part.bbox)) or word.bbox
            word = replace(word, text=word.text + part.text, bbox=box, confidence=mean)
    if word is not None:
        yield word


def _per_character(word: ReadWord) -> Iterator[ReadWord]:
    """One word; in Chinese, Japanese and Korean one per character, each an equal share of the box."""
    text, box = word.text, word.bbox
    if len(text) == 1 or not any(is_cjk(char) for char in text):
        yield word
        return
    share = box.width / len(text)
    start = 0
    while start < len(text):
        end = start + 1
        while not is_cjk(text[start]) and end < len(text) and not is_cjk(text[end]):
            end += 1
        part = BBox(box.x0 + start * share, box.y0, box.x0 + end * share, box.y1)
        yield replace(word, text=text[start:end], bbox=part, spaced=word.spaced and start == 0)
        start = end


def _shared_out(text: str, line: BBox, score: float) -> list[ReadWord]:
    share = line.width / max(len(text), 1)
    words: list[ReadWord] = []
    at = 0
    for part in text.split(" "):
        if part:
            box = BBox(line.x0 + at * share, line.y0, line.x0 + (at + len(part)) * share, line.y1)
            words.extend(_per_character(ReadWord(part, box, score, bool(words), line)))
        at += len(part) + 1
    return words
