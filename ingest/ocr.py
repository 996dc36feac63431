"""Reads a page from its picture with RapidOCR."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pymupdf
from numpy.typing import NDArray
from rapidocr import RapidOCR

from ingest.ink_boxes import PixelBox, tight_line, tight_words
from ingest.limits import affordable_dpi
from ingest.page_text import PrintedLine, line_of
from ingest.read_words import ReadWord, spelled_words
from ingest.turned import Turn
from kb_qa.geometry import BBox

OCR_DPI = 200.0
SHOWN_DPI = 100.0  # for the layout model
WELL_READ = 0.85
MARGIN = 0.15  # of the height of a line's ink, left around it: a box that people draw has one
LEAST_LINE = 8  # pixels
LINE_MEGAPIXELS = 2.0
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


def read_line(page: pymupdf.Page, box: BBox, *, dpi: float = OCR_DPI) -> str:
    """What OCR reads in a box that holds one line; empty where it reads nothing."""
    margin = 0.15 * box.height
    clip = pymupdf.Rect(box.x0 - margin, box.y0 - margin, box.x1 + margin, box.y1 + margin) & page.rect
    scale = affordable_dpi(clip.width, clip.height, wanted=dpi, megapixels=LINE_MEGAPIXELS) / 72
    if clip.is_empty or min(clip.width, clip.height) * scale < LEAST_LINE:
        return ""
    result = _engine()(_rendered(page, scale, clip), return_word_box=False, use_det=False, use_cls=False, use_rec=True)
    return "".join(result.txts or ())


def _rendered(page: pymupdf.Page, scale: float, clip: pymupdf.Rect | None = None) -> Picture:
    """Rows × columns × BGR."""
    matrix = pymupdf.Matrix(scale, scale)
    pixmap = page.get_pixmap(matrix=matrix, clip=clip, colorspace=pymupdf.csRGB, alpha=False)
    rows = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.stride)
    rgb = rows[:, : pixmap.width * 3].reshape(pixmap.height, pixmap.width, 3)
    return np.ascontiguousarray(rgb[:, :, ::-1])


def read_picture(bgr: Picture, scale: float) -> list[PrintedLine]:
    """The lines on a picture (rows × columns × BGR) with `scale` pixels to the point."""
    # Without turning single lines over: a page that lies on its head has to show in its confidence.
    # RapidOCR keeps the steps of the last call: each call names them all.
    result = _engine()(bgr, return_word_box=True, use_det=True, use_cls=False, use_rec=True)
    if result.boxes is None or result.txts is None:
        return []
    grey = bgr.mean(axis=2).astype(np.uint8)
    lines = []
    for quad, text, score, pieces in zip(result.boxes, result.txts, result.scores, result.word_results, strict=True):
        words = spelled_words(text, pieces, _box(quad), float(score))
        if _is_level(quad):
            words = _tight(words, grey, _box(quad))
        if words:
            lines.append(line_of([word.scaled(scale) for word in words]))
    return sorted(lines, key=lambda line: (line.bbox.y0, line.bbox.x0))


def _box(quad: Sequence[Sequence[float]]) -> BBox:
    xs, ys = [float(point[0]) for point in quad], [float(point[1]) for point in quad]
    return BBox(min(xs), min(ys), max(xs), max(ys))


def _is_level(quad: Sequence[Sequence[float]]) -> bool:
    """Whether the line runs so level that its rows of pixels hold no other line."""
    (x0, y0), (x1, y1) = quad[0], quad[1]
    return abs(float(y1) - float(y0)) <= 0.02 * abs(float(x1) - float(x0)) + 1


def _tight(words: Sequence[ReadWord], grey: NDArray[np.uint8], detected: BBox) -> list[ReadWord]:
    """The words in boxes that end where the ink does, all of the line's height."""
    line = tight_line(grey, PixelBox(*detected.as_tuple()))
    margin = MARGIN * (line.y1 - line.y0)
    y0, y1 = line.y0 - margin, line.y1 + margin
    spans = tight_words(grey, line, [(word.bbox.x0, word.bbox.x1) for word in words])
    return [
        replace(word, bbox=BBox(max(x0 - margin / 2, 0.0), max(y0, 0.0), max(x1 + margin / 2, x0 + 1), max(y1, y0 + 1)))
        for word, (x0, x1) in zip(words, spans, strict=True)
    ]


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
