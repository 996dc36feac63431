"""Reads a page from its picture with RapidOCR."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pymupdf
from numpy.typing import NDArray
from rapidocr import RapidOCR

from ingest.limits import affordable_dpi
from ingest.page_text import PrintedLine, PrintedWord, is_cjk, line_of
from ingest.turned import Turn
from kb_qa.geometry import BBox

OCR_DPI = 200.0
SHOWN_DPI = 100.0  # for the layout model
WELL_READ = 0.85
LEAST_SIDE = 32  # pixels; RapidOCR fails on slivers

Picture = NDArray[np.uint8]


@cache
def _engine() -> RapidOCR:
    """Models load once a process. One thread: parsers run side by side, one to a core."""
    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """Lines in the space of the page turned upright, top to bottom, with a confidence per word.

    `turn` is how the displayed page was turned to read it; `page` shows it so, with the words as invisible text: the
    layout model and the table finder look at text and rules.
    """

    lines: tuple[PrintedLine, ...]
    turn: Turn

    @property
    def confidence(self) -> float:
        """Mean over characters, 0..1; 0 where there are none."""
        pairs = [(word.confidence or 0.0, len(word.text)) for line in self.lines for word in line.words]
        total = sum(count for _, count in pairs)
        return sum(confidence * count for confidence, count in pairs) / total if total else 0.0


def read_page(page: pymupdf.Page, *, megapixels: float, dpi: float = OCR_DPI) -> Reading:
    """What OCR reads on the displayed page; a scan that lies on its side or head is turned."""
    size = page.rect.width, page.rect.height
    dpi = affordable_dpi(*size, wanted=dpi, megapixels=megapixels)
    scale = dpi / 72
    picture = _rendered(page, scale)
    if min(picture.shape[:2]) < LEAST_SIDE:
        return Reading((), Turn(0, *size))
    best = Reading(tuple(read_picture(picture, scale)), Turn(0, *size))
    for degrees in _turns_to_try(best):
        if best.confidence >= WELL_READ and not _stands_on_side(best):
            break
        turned = np.ascontiguousarray(np.rot90(picture, -degrees // 90))
        other = Reading(tuple(read_picture(turned, scale)), Turn(degrees, *size))
        if (not _stands_on_side(other), other.confidence) > (not _stands_on_side(best), best.confidence):
            best = other
    return best


def _turns_to_try(reading: Reading) -> tuple[int, ...]:
    if _stands_on_side(reading):
        return (90, 270)
    return (180,) if 0 < reading.confidence < WELL_READ else ()


def _stands_on_side(reading: Reading) -> bool:
    """Whether most lines of more than two characters are taller than wide."""
    long = [line.bbox for line in reading.lines if len(line.text) > 2]
    return sum(box.height > 1.5 * box.width for box in long) * 2 > len(long)


def _rendered(page: pymupdf.Page, scale: float) -> Picture:
    """Rows × columns × BGR."""
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False)
    rows = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.stride)
    rgb = rows[:, : pixmap.width * 3].reshape(pixmap.height, pixmap.width, 3)
    return np.ascontiguousarray(rgb[:, :, ::-1])


def read_picture(bgr: Picture, scale: float) -> list[PrintedLine]:
    """The lines on a picture (rows × columns × BGR) with `scale` pixels to the point."""
    # Without turning single lines over: a page that lies on its head has to show in its confidence.
    result = _engine()(bgr, return_word_box=True, use_cls=False)
    if result.boxes is None or result.txts is None:
        return []
    lines = []
    for quad, text, score, pieces in zip(result.boxes, result.txts, result.scores, result.word_results, strict=True):
        words = _words(text, pieces, _box(quad, scale), float(score), scale)
        if words:
            lines.append(line_of(words))
    return sorted(lines, key=lambda line: (line.bbox.y0, line.bbox.x0))


def _box(quad: Sequence[Sequence[float]], scale: float) -> BBox:
    xs, ys = [float(point[0]) / scale for point in quad], [float(point[1]) / scale for point in quad]
    return BBox(min(xs), min(ys), max(xs), max(ys))


def _words(
    text: str, pieces: Sequence[tuple[str, float, Sequence[Sequence[float]]]], line: BBox, score: float, scale: float
) -> list[PrintedWord]:
    """Words with boxes; where the pieces do not spell the line, the line's box is shared out by character."""
    spelled = "".join(piece[0] for piece in pieces if piece and piece[0])
    if spelled.replace(" ", "") != text.replace(" ", "") or any(len(piece) < 3 for piece in pieces):
        return _shared_out(text, line, score)
    words: list[PrintedWord] = []
    rest = text
    for piece, confidence, quad in pieces:
        spaced = rest[:1].isspace() and bool(words)
        rest = rest.lstrip()
        rest = rest[len(piece.strip()) :] if rest.startswith(piece.strip()) else rest
        box = _box(quad, scale)
        words.extend(_per_character(piece.strip(), box, float(confidence), spaced))
    return words


def _per_character(text: str, box: BBox, confidence: float, spaced: bool) -> list[PrintedWord]:
    """One word; in Chinese, Japanese and Korean one per character, each an equal share of the box."""
    if not text:
        return []
    if not any(is_cjk(char) for char in text) or len(text) == 1:
        return [_word(text, box, confidence, spaced)]
    share = box.width / len(text)
    words: list[PrintedWord] = []
    start = 0
    while start < len(text):
        end = start + 1
        while not is_cjk(text[start]) and end < len(text) and not is_cjk(text[end]):
            end += 1
        part = BBox(box.x0 + start * share, box.y0, box.x0 + end * share, box.y1)
        words.append(_word(text[start:end], part, confidence, spaced and start == 0))
        start = end
    return words


def _shared_out(text: str, line: BBox, score: float) -> list[PrintedWord]:
    share = line.width / max(len(text), 1)
    words: list[PrintedWord] = []
    at = 0
    for part in text.split(" "):
        if part:
            box = BBox(line.x0 + at * share, line.y0, line.x0 + (at + len(part)) * share, line.y1)
            words.extend(_per_character(part, box, score, bool(words)))
        at += len(part) + 1
    return words


def _word(text: str, box: BBox, confidence: float, spaced: bool) -> PrintedWord:
    size = max(box.height * 0.75, 1.0)  # the box holds ascenders and descenders
    return PrintedWord(
        bbox=box,
        text=text,
        size=size,
        baseline=box.y1 - 0.22 * box.height,
        spaced=spaced,
        confidence=min(max(confidence, 0.0), 1.0),
    )


def page_of_words(page: pymupdf.Page, reading: Reading) -> pymupdf.Page:
    """A page of its own that shows the same, turned upright, with the words that OCR read as invisible text."""
    document = pymupdf.open()
    back = reading.turn.back  # its size is that of the turned page
    target = document.new_page(width=back.width, height=back.height)
    dpi = affordable_dpi(page.rect.width, page.rect.height, wanted=SHOWN_DPI, megapixels=4)
    turned = np.rot90(_rendered(page, dpi / 72)[:, :, ::-1], -reading.turn.degrees // 90)
    height, width = turned.shape[:2]
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, width, height, np.ascontiguousarray(turned).tobytes(), False)
    target.insert_image(target.rect, pixmap=pixmap)
    fonts = {False: pymupdf.Font("helv"), True: pymupdf.Font("cjk")}
    writer = pymupdf.TextWriter(target.rect)
    for line in reading.lines:
        font = fonts[any(ord(char) > 0x2FF for char in line.text)]
        length = font.text_length(line.text, 1.0)
        if length > 0:
            size = max(min(line.bbox.width / length, line.bbox.height), 1.0)
            writer.append((line.bbox.x0, line.words[0].baseline), line.text, font=font, fontsize=size)
    if reading.lines:
        writer.write_text(target, render_mode=3)
    return document.reload_page(target)
