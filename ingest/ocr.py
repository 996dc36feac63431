"""Reads a page from its picture with RapidOCR."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pymupdf
from numpy.typing import NDArray

from ingest.ink_boxes import PixelBox, tight_line, tight_words
from ingest.limits import affordable_dpi
from ingest.printed import PrintedLine, is_cjk, line_of
from ingest.read_words import ReadWord, spelled_words
from ingest.skew import Quad, skew_of, straightened
from ingest.turned import Turn
from kb_qa.geometry import BBox

if TYPE_CHECKING:
    from rapidocr import RapidOCR

OCR_DPI = 200.0
SHOWN_DPI = 100.0  # for the layout model
WELL_READ = 0.85
MARGIN = 0.15  # of the height of a line's ink, left around it on all sides: a box that people draw has one
COLUMN_GAP = 1.0  # of the type size, four common spaces: what stands so far apart on a row is no line
LEAST_LINE = 8  # pixels
LINE_MEGAPIXELS = 2.0
MOST_SIDE = 2000  # pixels; RapidOCR shrinks what is larger
INK = 32  # grey levels from the paper
CLOSER = 0.5  # of the page: where its ink takes more, a second look would show no more than the first
LEAST_SIDE = 32  # pixels; RapidOCR fails on slivers
GROUND = 32  # pixels; the sides of what the detector looks at are multiples of it
DETECTED_SIDE = 736  # pixels; RapidOCR blows up what is smaller before it looks for lines

Picture = NDArray[np.uint8]


@cache
def _engine() -> RapidOCR:
    """Models load once a process. One thread: parsers run side by side, one to a core.

    The package is imported here: that takes a second, and most documents need no OCR.
    """
    from rapidocr import RapidOCR

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
    """What OCR reads on the displayed page; a scan that lies askew, on its side or on its head is turned."""
    size = page.rect.width, page.rect.height
    dpi = affordable_dpi(*size, wanted=dpi, megapixels=megapixels)
    scale = dpi / 72
    picture = render_bgr(page, scale)
    if min(picture.shape[:2]) < LEAST_SIDE:
        return Reading((), Turn(0, *size))
    best = read_picture(picture, scale)
    for degrees in _turns_to_try(best):
        if best.confidence >= WELL_READ and not _stands_on_side(best):
            break
        other = read_picture(np.ascontiguousarray(np.rot90(picture, -degrees // 90)), scale)
        other = replace(other, turn=Turn((degrees + other.turn.degrees) % 360, *size, onto=other.turn.frame))
        if (not _stands_on_side(other), other.confidence) > (not _stands_on_side(best), best.confidence):
            best = other
    return best if best.lines else _read_where_ink_is(page)


def _read_where_ink_is(page: pymupdf.Page) -> Reading:
    """Once more, closer: the detector looks at no more than two thousand pixels, too few for a line on a huge sheet."""
    size = page.rect.width, page.rect.height
    dpi = affordable_dpi(*size, wanted=72, megapixels=1)
    grey = render_bgr(page, dpi / 72).mean(axis=2)
    ink = np.abs(grey - np.median(grey)) > INK
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not rows.size or (rows[-1] - rows[0]) * (columns[-1] - columns[0]) > CLOSER * ink.size:
        return Reading((), Turn(0, *size))
    edges = (columns[0] - 4, rows[0] - 4, columns[-1] + 5, rows[-1] + 5)
    clip = pymupdf.Rect(*(float(edge) * 72 / dpi for edge in edges)) & page.rect
    scale = min(OCR_DPI / 72, MOST_SIDE / max(clip.width, clip.height))
    picture = render_bgr(page, scale, clip)
    if min(picture.shape[:2]) < LEAST_SIDE:
        return Reading((), Turn(0, *size))
    part = read_picture(picture, scale)
    lines = (part.turn.back.line(line).moved(clip.x0, clip.y0) for line in part.lines)
    return Reading(tuple(lines), Turn(0, *size))


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
    result = _engine()(render_bgr(page, scale, clip), return_word_box=False, use_det=False, use_cls=False, use_rec=True)
    return "".join(result.txts or ())


def render_bgr(page: pymupdf.Page, scale: float, clip: pymupdf.Rect | None = None) -> Picture:
    """Rows × columns × BGR."""
    matrix = pymupdf.Matrix(scale, scale)
    pixmap = page.get_pixmap(matrix=matrix, clip=clip, colorspace=pymupdf.csRGB, alpha=False)
    rows = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.stride)
    rgb = rows[:, : pixmap.width * 3].reshape(pixmap.height, pixmap.width, 3)
    return np.ascontiguousarray(rgb[:, :, ::-1])


def read_picture(bgr: Picture, scale: float, *, detected_side: int = DETECTED_SIDE) -> Reading:
    """What stands on a picture (rows × columns × BGR) with `scale` pixels to the point.

    A picture whose shorter side has fewer pixels than `detected_side` is blown up to it to find its lines.
    """
    # Without turning single lines over: a page that lies on its head has to show in its confidence.
    # RapidOCR keeps the steps of the last call: each call names them all.
    size = bgr.shape[1] / scale, bgr.shape[0] / scale
    result = _told(detected_side)(bgr, return_word_box=True, use_det=True, use_cls=False, use_rec=True)
    if result.boxes is None or result.txts is None:
        return Reading((), Turn(0, *size))
    skew = skew_of(result.boxes)
    grey = straightened(bgr.mean(axis=2).astype(np.uint8), skew)
    turn = Turn(-skew % 360, *size, onto=(grey.shape[1] / scale, grey.shape[0] / scale))
    lines: list[PrintedLine] = []
    for quad, text, score, pieces in zip(result.boxes, result.txts, result.scores, result.word_results, strict=True):
        level = _turned(quad, turn, scale)
        placed = [(piece[0], piece[1], _turned(piece[2], turn, scale)) for piece in pieces if piece and len(piece) == 3]
        words = spelled_words(text, placed, _box(level), float(score))
        if _is_level(level):
            words = _tight(words, grey, _box(level))
        lines.extend(line_of([word.scaled(scale) for word in part]) for part in _parted(words))
    return Reading(tuple(sorted(lines, key=lambda line: (line.bbox.y0, line.bbox.x0))), turn)


def shows_lines(bgr: Picture) -> bool:
    """Whether the detector sees any line of print at half the size, where it takes a quarter of the time."""
    half = [bgr[row::2, column::2] for row in (0, 1) for column in (0, 1)]
    height, width = half[3].shape[:2]  # the smallest
    mean = sum(part[:height, :width].astype(np.uint16) for part in half) // 4
    engine = _told(GROUND)
    result = engine(np.asarray(mean, np.uint8), return_word_box=False, use_det=True, use_cls=False, use_rec=False)
    return result.boxes is not None


def _told(detected_side: int) -> RapidOCR:
    """The engine, its detector told to blow up pictures whose shorter side has fewer pixels."""
    engine = _engine()
    engine.cfg.Det.limit_side_len = detected_side
    if engine.text_det is not None:  # which is loaded when it is first needed, and keeps what it was told
        engine.text_det.limit_side_len = detected_side
    return engine


def _turned(quad: Quad, turn: Turn, scale: float) -> Quad:
    """Corners in pixels, on the turned picture."""
    points = (turn.point(float(x) / scale, float(y) / scale) for x, y in quad)
    return [(x * scale, y * scale) for x, y in points]


def _box(quad: Quad) -> BBox:
    xs, ys = [float(point[0]) for point in quad], [float(point[1]) for point in quad]
    return BBox(min(xs), min(ys), max(xs), max(ys))


def _is_level(quad: Quad) -> bool:
    """Whether the line runs so level that its rows of pixels hold no other line."""
    (x0, y0), (x1, y1) = quad[0], quad[1]
    return abs(float(y1) - float(y0)) <= 0.02 * abs(float(x1) - float(x0)) + 1


def _tight(words: Sequence[ReadWord], grey: NDArray[np.uint8], detected: BBox) -> list[ReadWord]:
    """The words in boxes that end where the ink does, all of the line's height."""
    line = tight_line(grey, PixelBox(*detected.as_tuple()))
    margin = MARGIN * (line.y1 - line.y0)
    y0, y1 = max(line.y0 - margin, 0.0), line.y1 + margin
    spans = tight_words(grey, line, [(word.bbox.x0, word.bbox.x1) for word in words])
    result = []
    for index, (word, (x0, x1)) in enumerate(zip(words, spans, strict=True)):
        left = max(x0 - (margin / 2 if index else margin), 0.0)
        right = x1 + (margin / 2 if index < len(words) - 1 else margin)
        result.append(replace(word, bbox=BBox(left, y0, max(right, left + 1), max(y1, y0 + 1))))
    return result


def _parted(words: Sequence[ReadWord]) -> list[list[ReadWord]]:
    """The words of a row in which the detector saw one line, parted where a column ends."""
    parts: list[list[ReadWord]] = []
    for word in words:
        if parts and not _begins_column(parts[-1][-1], word):
            parts[-1].append(word)
        else:
            parts.append([word])
    return parts


def _begins_column(before: ReadWord, word: ReadWord) -> bool:
    """Between Chinese characters a blank of their own width is a space."""
    apart = word.bbox.x0 - before.bbox.x1 > COLUMN_GAP * word.type_size
    return apart and not (is_cjk(before.text[-1]) and is_cjk(word.text[0]))


def page_of_words(page: pymupdf.Page, reading: Reading) -> pymupdf.Page:
    """A page of its own that shows the same, turned upright, with the words that OCR read as invisible text."""
    document = pymupdf.open()
    width, height = reading.turn.frame
    target = document.new_page(width=width, height=height)
    quarters = round(reading.turn.degrees / 90)
    skew = 90 * quarters - reading.turn.degrees
    dpi = affordable_dpi(page.rect.width, page.rect.height, wanted=SHOWN_DPI, megapixels=4)
    turned = straightened(np.rot90(render_bgr(page, dpi / 72)[:, :, ::-1], -quarters), skew)
    rows, columns = turned.shape[:2]
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, columns, rows, np.ascontiguousarray(turned).tobytes(), False)
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
