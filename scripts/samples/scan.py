"""scan.pdf: an invoice as a scanner sees it: one picture, slightly askew, no text layer."""

from __future__ import annotations

import io
import math

import numpy as np
import pymupdf
from PIL import Image

from kb_qa.geometry import BBox
from samples.canvas import Canvas, TableLook
from samples.typesetting import Colour, Style

INK: Colour = (0.1, 0.1, 0.12)
LEFT, RIGHT = 72.0, 523.0

BODY = Style("sans", 11, INK, leading=17)
BOLD = Style("sans-bold", 11, INK)
CHINESE = Style("zh", 11.5, INK, leading=19)

DPI = 200
SKEW = 0.5  # degrees, anticlockwise
PAPER = 246
NOISE = 3.0  # standard deviation, of 255
SEED = 20250318

ROWS = (
    ("Article", "Quantity", "Unit price", "Amount"),
    ("Ergonomic desk chair", "36", "149.50", "5,382.00"),
    ("Height-adjustable desk", "12", "415.00", "4,980.00"),
    ("Subtotal", "", "", "10,362.00"),
    ("Sales tax 8%", "", "", "828.96"),
    ("Total due (USD)", "", "", "11,190.96"),
)


def draw() -> Canvas:
    """The page as printed, then its picture; the golden boxes turn with the picture."""
    canvas = Canvas("scan.pdf", 595.0, 842.0)
    canvas.new_page()
    _print(canvas)
    picture = _scanned(canvas.page)
    canvas.pdf = pymupdf.open()
    canvas.new_page()
    canvas.page.insert_image(canvas.page.rect, stream=picture)
    canvas.items = [_turned(item, canvas.width, canvas.height) for item in canvas.items]
    canvas.section = ()
    canvas.image("", BBox(0, 0, canvas.width, canvas.height))
    return canvas


def _print(canvas: Canvas) -> None:
    canvas.text("Brightwater Office Supply", LEFT, 92, Style("sans-bold", 20, INK), role="title")
    canvas.text("18 Harbour Lane, Tidewell", LEFT, 112, BODY)
    canvas.heading("INVOICE", LEFT, 168, Style("sans-bold", 26, INK), level=1)
    for number, (label, value) in enumerate(
        (
            ("Invoice number", "BW-70318"),
            ("Invoice date", "March 18, 2025"),
            ("Customer", "Larkfield Public Library"),
            ("Order", "LPL-2291"),
        )
    ):
        canvas.text(label, LEFT, 204 + 18 * number, BOLD)
        canvas.text(value, LEFT + 130, 204 + 18 * number, BODY)
    look = TableLook(
        widths=(205, 70, 82, 94),
        aligns=("left", "right", "right", "right"),
        body=BODY,
        head=BOLD,
        row_height=28,
        rule_colour=INK,
        strong_rows=frozenset({5}),
    )
    y = canvas.table("INVOICE", ROWS, LEFT, 290, look)
    y = canvas.paragraph(
        "Please pay within 21 days of the invoice date. Goods may be returned unopened; a restocking fee of $85.00 is "
        "charged for each pallet.",
        LEFT,
        y + 40,
        BODY,
        width=RIGHT - LEFT,
    )
    canvas.paragraph(
        "请于收到发票后二十一日内付款，并注明合同编号HT-0926。",
        LEFT,
        y + 12,
        CHINESE,
        width=RIGHT - LEFT,
    )
    canvas.text("Thank you for your business.", LEFT, y + 64, BODY)


def _scanned(page: pymupdf.Page) -> bytes:
    """The page as a JPEG at `DPI`, turned, on grey paper, with seeded noise."""
    pixmap = page.get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY)
    clean = Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)
    turned = clean.rotate(SKEW, resample=Image.Resampling.BICUBIC, fillcolor=255)
    noise = np.random.default_rng(SEED).normal(0.0, NOISE, (pixmap.height, pixmap.width))
    pixels = np.clip(np.asarray(turned, dtype=np.float64) * (PAPER / 255) + noise, 0, 255).astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=42, dpi=(DPI, DPI))
    return stream.getvalue()


def _turned(item: dict[str, object], width: float, height: float) -> dict[str, object]:
    boxes = {key: _turned_box(item[key], width, height) for key in ("bbox", "text_bbox") if item.get(key)}
    return {**item, **boxes, "origin": "ocr"}


def _turned_box(box: object, width: float, height: float) -> list[float]:
    """The upright box around `box` after the turn about the page's middle."""
    assert isinstance(box, list)
    x0, y0, x1, y1 = box
    cosine, sine = math.cos(math.radians(SKEW)), math.sin(math.radians(SKEW))
    xs, ys = [], []
    for x, y in ((x0, y0), (x1, y0), (x0, y1), (x1, y1)):
        right, down = x - width / 2, y - height / 2
        xs.append(width / 2 + right * cosine + down * sine)
        ys.append(height / 2 - right * sine + down * cosine)
    return list(BBox(min(xs), min(ys), max(xs), max(ys)).rounded().as_tuple())
