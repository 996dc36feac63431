"""The boxes that the samples' script says it drew, pages turned and trimmed, and the test that a box holds ink."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from kb_qa.geometry import BBox

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "data" / "samples"
GOLDEN_PATH = ROOT / "tests" / "golden" / "samples.json"
GOLDEN: dict[str, list[dict[str, Any]]] = json.loads(GOLDEN_PATH.read_text(encoding="utf-8"))

PDFS = ("briefing.pdf", "annual-report.pdf", "scan.pdf", "rotated.pdf")

DPI = 144
PIXELS = DPI / 72  # a point
CONTRAST = 60  # grey levels between ink and what it is printed on; the scan's noise stays below

# A page of each document is enough where pages are turned and trimmed.
TURNED_PAGES = (("briefing.pdf", 4), ("annual-report.pdf", 3), ("scan.pdf", 1), ("rotated.pdf", 1))
TRIM = (30.0, 24.0, 17.0, 11.0)  # points cut off left, top, right and bottom


def items_of(document: str, page: int | None = None) -> list[dict[str, Any]]:
    return [
        item
        for item in GOLDEN["items"]
        if item["document"] == document and page in (None, item["page"]) and item["text"] and item["kind"] != "image"
    ]


def text_box(item: dict[str, Any]) -> BBox:
    return BBox(*(item.get("text_bbox") or item["bbox"]))


def rendered(page: pymupdf.Page) -> NDArray[np.int16]:
    pixmap = page.get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY)
    samples = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)
    return samples[:, : pixmap.width].astype(np.int16)


def crop_of(picture: NDArray[np.int16], box: BBox) -> NDArray[np.int16]:
    x0, y0, x1, y1 = (round(value * PIXELS) for value in box.as_tuple())
    crop = picture[max(y0, 0) : y1, max(x0, 0) : x1]
    assert crop.size, f"{box} is off the page"
    return crop


def ink(picture: NDArray[np.int16], box: BBox) -> NDArray[np.bool_]:
    """Which pixels of the box differ from the box's commonest grey."""
    crop = crop_of(picture, box)
    paper = np.bincount(crop.ravel(), minlength=256).argmax()
    found: NDArray[np.bool_] = np.abs(crop - paper) > CONTRAST
    return found


def check_ink(picture: NDArray[np.int16], text: str, box: BBox) -> None:
    """The glyphs fill the box from side to side, and none of them sticks out."""
    found = ink(picture, box)
    columns, rows = np.flatnonzero(found.any(axis=0)), np.flatnonzero(found.any(axis=1))
    assert columns.size, f"no ink for {text!r} at {box}"
    # Full-width punctuation fills only half of its square.
    wide = 0.62 * box.height
    start = wide if text[0] in "（“" else 0.25 * box.height
    end = wide if text[-1] in "，。；：）”" else 0.25 * box.height
    assert columns[0] <= start * PIXELS + 1, f"{text!r} begins right of {box}"
    assert columns[-1] >= found.shape[1] - end * PIXELS - 2, f"{text!r} ends left of the end of {box}"
    assert np.ptp(rows) >= 0.28 * box.height * PIXELS, f"{text!r} is lower than {box}"
    middle = (rows[0] + rows[-1]) / 2 / PIXELS
    assert abs(middle - box.height / 2) <= 0.17 * box.height, f"{text!r} stands above or below the middle of {box}"
    around = ink(picture, BBox(box.x0 - 2, box.y0, box.x1 + 2, box.y1))
    assert not around[:, 0].any() and not around[:, -1].any(), f"{text!r} sticks out of {box}"


def turned(box: BBox, width: float, height: float, quarter_turns: int) -> BBox:
    """The box after clockwise quarter turns of the displayed page it lies on."""
    for _ in range(quarter_turns % 4):
        box = BBox(height - box.y1, box.x0, height - box.y0, box.x1)
        width, height = height, width
    return box


def cut_displayed(page: pymupdf.Page, trim: tuple[float, float, float, float]) -> None:
    """Set the CropBox so that the displayed page loses `trim` points left, top, right and bottom."""
    if not any(trim):
        return
    left, top, right, bottom = trim
    kept = pymupdf.Rect(left, top, page.rect.width - right, page.rect.height - bottom) * page.derotation_matrix
    corner = page.cropbox.tl
    page.set_cropbox(kept + pymupdf.Rect(*corner, *corner))


def turned_page(name: str, number: int, quarter_turns: int, trim: tuple[float, float, float, float]) -> bytes:
    """A sample's page as a file of its own, re-saved with another /Rotate and a CropBox."""
    with pymupdf.open(SAMPLES / name) as pdf:
        pdf.select([number - 1])
        cut_displayed(pdf[0], trim)
        pdf[0].set_rotation((pdf[0].rotation + 90 * quarter_turns) % 360)
        content: bytes = pdf.tobytes()
        return content
