"""Finds text that is in the file but that no reader of the page can see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pymupdf
from numpy.typing import NDArray

from ingest.limits import affordable_dpi
from ingest.printed import PrintedLine, PrintedWord, line_of

Grey = NDArray[np.uint8]

LEAST_CONTRAST = 8  # of 255; thin light print at 72 dpi shows more
RENDER_MEGAPIXELS = 2.0
RENDER_DPI = 96.0


def render_grey(page: pymupdf.Page) -> tuple[Grey, float]:
    """The displayed page as grey levels, rows × columns, and its pixels per point."""
    dpi = affordable_dpi(page.rect.width, page.rect.height, wanted=RENDER_DPI, megapixels=RENDER_MEGAPIXELS)
    scale = dpi / 72
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY, alpha=False)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.stride)
    return pixels[:, : pixmap.width], scale


def is_blank(grey: Grey) -> bool:
    return grey.size == 0 or int(grey.max()) - int(grey.min()) < LEAST_CONTRAST


def mark_unseen(lines: Sequence[PrintedLine], grey: Grey, scale: float) -> list[PrintedLine]:
    """The lines, words marked hidden where the rendered page shows nothing: covered, or in the colour of the ground.

    A line of which a part is hidden becomes several lines.
    """
    marked: list[PrintedLine] = []
    for line in lines:
        words = [_marked(word, grey, scale) for word in line.words]
        marked.extend(_split_by_visibility(line, words))
    return marked


def _marked(word: PrintedWord, grey: Grey, scale: float) -> PrintedWord:
    if word.hidden:
        return word
    box = word.bbox
    rows = slice(max(int(box.y0 * scale), 0), max(int(box.y1 * scale) + 1, 0))
    columns = slice(max(int(box.x0 * scale), 0), max(int(box.x1 * scale) + 1, 0))
    crop = grey[rows, columns]
    if crop.size == 0:
        return replace(word, hidden="off the page")
    if int(crop.max()) - int(crop.min()) < LEAST_CONTRAST:
        return replace(word, hidden="covered, or in the colour of its background")
    return word


def _split_by_visibility(line: PrintedLine, words: Sequence[PrintedWord]) -> list[PrintedLine]:
    pieces: list[list[PrintedWord]] = []
    for word in words:
        if pieces and pieces[-1][-1].hidden == word.hidden:
            pieces[-1].append(word)
        else:
            pieces.append([word])
    return [line_of(piece, line.direction, line.vertical) for piece in pieces]
