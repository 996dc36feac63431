"""Pages laid askew on the scanner: the angle, and boxes on the page as displayed."""

from __future__ import annotations

import io
import math

import numpy as np
import pymupdf
import pytest
from PIL import Image

from ingest.ocr import Reading, read_picture
from ingest.skew import Quad, skew_of

LINES = ["Annual revenue was 4,812 million", "and the margin was 12.5% in 2024.", "The dividend is 1.25 for a share."]
SCALE = 150 / 72


def tilted(angle: float, *, x: float = 100, y: float = 100, length: float = 300, height: float = 20) -> Quad:
    """The box of a line that falls to the right by `angle` degrees."""
    turn = math.radians(angle)
    along, across = (math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))
    steps = ((0, 0), (length, 0), (length, height), (0, height))
    return [[x + a * along[0] + b * across[0], y + a * along[1] + b * across[1]] for a, b in steps]


def askew(angle: float) -> Image.Image:
    """A page of three lines at 150 dpi, turned clockwise by `angle` degrees on larger paper."""
    page = pymupdf.open().new_page(width=320, height=120)
    for row, line in enumerate(LINES):
        page.insert_text((20, 34 + row * 28), line, fontsize=14)
    picture = Image.open(io.BytesIO(page.get_pixmap(dpi=150).tobytes("png"))).convert("RGB")
    return picture.rotate(-angle, expand=True, fillcolor="white", resample=Image.Resampling.BICUBIC)


def read(picture: Image.Image) -> Reading:
    return read_picture(np.ascontiguousarray(np.asarray(picture)[:, :, ::-1]), SCALE)


@pytest.mark.parametrize("angle", [-7, -3, -1, 2, 5])
def test_a_page_askew_is_read_straight_and_found_where_it_is_displayed(angle: int) -> None:
    """Lines come out level and in order; turned back, each word's box is full of its ink and of nobody else's."""
    picture = askew(angle)
    reading = read(picture)
    assert [line.text for line in reading.lines] == LINES
    assert all(line.bbox.height < 20 for line in reading.lines)  # 14 points of type
    dark = np.asarray(picture.convert("L")) < 128
    covered = np.zeros_like(dark)
    for line in map(reading.turn.back.line, reading.lines):
        for word in line.words:
            box = [round(value * SCALE) for value in word.bbox.as_tuple()]
            part = slice(max(box[1], 0), box[3] + 1), slice(max(box[0], 0), box[2] + 1)
            assert dark[part].mean() > 0.04, word.text
            assert word.bbox.height < 14 * 1.3 + word.bbox.width * math.sin(math.radians(abs(angle)))
            covered[part] = True
    assert (dark & ~covered).sum() < 0.01 * dark.sum()


def test_a_level_page_is_not_turned() -> None:
    """At 0 degrees the page stays as it is."""
    reading = read(askew(0))
    assert [line.text for line in reading.lines] == LINES
    assert reading.turn.degrees == 0


@pytest.mark.parametrize("angle", [-10, -2.5, 1, 10])
def test_the_angle_is_that_of_most_of_the_print(angle: float) -> None:
    """The median over long boxes; a short one that stands otherwise says nothing."""
    quads = [*(tilted(angle, y=100 + 40 * row) for row in range(4)), tilted(0, length=40)]
    assert skew_of(quads) == pytest.approx(angle, abs=0.01)


def test_lines_that_disagree_are_left_alone() -> None:
    """Text set at several angles is a poster, not a page laid askew."""
    assert skew_of([tilted(angle) for angle in (-15, -8, 0, 8, 15)]) == 0
    assert skew_of([tilted(40) for _ in range(5)]) == 0
    assert skew_of([]) == 0
