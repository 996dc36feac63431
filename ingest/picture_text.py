"""What stands inside the pictures of a page that has a text layer: labels of charts, captions set into figures.

A picture is read where its own text layer says nothing and it is large enough to hold print. Reading costs a second and
more a picture, so there is a budget; what is repeated from page to page, a logo, is read once.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import pymupdf

from ingest.limits import affordable_dpi
from ingest.ocr import DETECTED_SIDE, GROUND, Picture, Reading, read_picture, render_bgr, shows_lines
from ingest.page_text import glyph_count
from ingest.printed import PrintedLine
from ingest.turned import Turn
from kb_qa.geometry import BBox

LEAST_WIDTH, LEAST_HEIGHT = 60.0, 24.0  # points; below it a picture is an icon, a bullet, a rule
DPI = 200.0
PAGE_MEGAPIXELS = 4.0
DOCUMENT_MEGAPIXELS = 80.0  # about two minutes
LEAST_CANVAS = 192  # pixels; the detector needs some ground around print
LARGE = 600_000  # pixels from which a picture is first looked at from afar: most are photographs without print
CONTRAST = 48  # grey levels; a picture of less has no print on it
SURE = 0.8  # confidence; on photographs and patterns OCR sees letters where there are none
REMEMBERED = 64


@dataclass(slots=True)
class PictureReader:
    """Reads the pictures of one document. Counts pixels, not seconds, so that a parse can be repeated."""

    left: float = DOCUMENT_MEGAPIXELS
    known: OrderedDict[bytes, Reading] = field(default_factory=OrderedDict)

    def lines_in(
        self, page: pymupdf.Page, pictures: Sequence[BBox], printed: Sequence[PrintedLine]
    ) -> tuple[list[PrintedLine], int]:
        """Lines on the upright page, largest picture first, and how many pictures the budget left out."""
        found: list[PrintedLine] = []
        left_out = 0
        budget = PAGE_MEGAPIXELS
        for box in _worth_reading(pictures, printed):
            picture, scale = _shown(page, box)
            if int(picture.max()) - int(picture.min()) < CONTRAST:
                continue
            key = blake2b(picture.tobytes(), digest_size=16).digest()
            if key not in self.known:
                canvas = on_canvas(picture)
                cost = canvas.shape[0] * canvas.shape[1] / 1_000_000
                if cost > min(budget, self.left):
                    left_out += 1
                    continue
                budget -= cost
                self.left -= cost
                self._remember(key, read_canvas(canvas, scale))
            found.extend(_placed(self.known[key], box))
        return found, left_out

    def _remember(self, key: bytes, reading: Reading) -> None:
        self.known[key] = reading
        while len(self.known) > REMEMBERED:
            self.known.popitem(last=False)


def _worth_reading(pictures: Sequence[BBox], printed: Sequence[PrintedLine]) -> list[BBox]:
    """Pictures of some size that hold no text of the page, none of them inside another; the largest first."""
    chosen: list[BBox] = []
    for box in sorted(pictures, key=lambda box: (-box.area, box.as_tuple())):
        if box.width < LEAST_WIDTH or box.height < LEAST_HEIGHT or any(box.overlap(other) > 0.5 for other in chosen):
            continue
        if not glyph_count([line for line in printed if line.bbox.overlap(box) > 0.5]):
            chosen.append(box)
    return chosen


def _shown(page: pymupdf.Page, box: BBox) -> tuple[Picture, float]:
    """The part of the page as it is displayed, and its pixels per point."""
    dpi = affordable_dpi(box.width, box.height, wanted=DPI, megapixels=PAGE_MEGAPIXELS)
    return render_bgr(page, dpi / 72, pymupdf.Rect(*box.as_tuple())), dpi / 72


def read_canvas(canvas: Picture, scale: float) -> Reading:
    height, width = canvas.shape[:2]
    if height * width >= LARGE and not shows_lines(canvas):
        return Reading((), Turn(0, width / scale, height / scale))
    return read_picture(canvas, scale, detected_side=GROUND)


def on_canvas(picture: Picture) -> Picture:
    """A small picture on a white ground that is hardly larger: the detector's time goes by pixels, white ones too."""
    sides = picture.shape[:2]
    if min(sides) >= DETECTED_SIDE:
        return picture
    height, width = (side if side >= DETECTED_SIDE else _with_ground(side) for side in sides)
    canvas = np.full((height, width, 3), 255, np.uint8)
    canvas[: sides[0], : sides[1]] = picture
    return canvas


def _with_ground(side: int) -> int:
    return max(math.ceil((side + GROUND) / GROUND) * GROUND, LEAST_CANVAS)


def _placed(reading: Reading, picture: BBox) -> list[PrintedLine]:
    """What was read with some certainty, moved to where the picture stands.

    A single sign is what the recogniser makes of the folds and edges in a photograph.
    """
    lines = map(reading.turn.back.line, reading.lines)
    sure = [line for line in lines if line.confidence >= SURE]
    if glyph_count(sure) < 2:
        return []
    return [line.moved(picture.x0, picture.y0) for line in sure]
