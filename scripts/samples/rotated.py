"""rotated.pdf: a landscape table on a portrait sheet with /Rotate 90, trimmed by a CropBox."""

from __future__ import annotations

import pymupdf

from samples.canvas import Canvas, Entry, TableLook
from samples.typesetting import Colour, Style

GREEN: Colour = (0.13, 0.4, 0.27)
GREY: Colour = (0.42, 0.45, 0.44)
LEFT, RIGHT = 56.0, 786.0

# Points that the printer trims, as seen on the displayed page.
TRIM_LEFT, TRIM_TOP, TRIM_RIGHT, TRIM_BOTTOM = 36.0, 28.0, 20.0, 44.0

# Stands on the sheet outside the CropBox: no reader sees it, so no answer may rest on it.
SLUG = "Proof 3, job 90417, do not print"

ROWS: tuple[tuple[str | Entry | None, ...], ...] = (
    (Entry("Site", rows=2), Entry("Electricity use in 2025", columns=4), None, None, None, Entry("Full year", rows=2)),
    (None, "First quarter", "Second quarter", "Third quarter", "Fourth quarter", None),
    ("Aldersea", "1,846", "1,702", "1,655", "1,913", "7,116"),
    ("Brackwell", "962", "918", "904", "1,011", "3,795"),
    ("Corvane", "2,418", "2,287", "2,350", "2,594", "9,649"),
    ("Dunmere", "577", "549", "538", "603", "2,267"),
    ("All sites", "5,803", "5,456", "5,447", "6,121", "22,827"),
)


def draw() -> Canvas:
    canvas = Canvas("rotated.pdf", 842.0, 595.0)
    canvas.new_page()
    canvas.text("Merrowdale Water Company · Energy report", LEFT, 46, Style("sans", 8.5, GREY), role="header")
    canvas.text("Sheet 7", RIGHT, 46, Style("sans", 8.5, GREY), align="right", role="header")
    canvas.heading("Electricity use by site", LEFT, 98, Style("sans-bold", 20, GREEN), level=1)
    canvas.text("Table 7. Electricity use by site and quarter", LEFT, 134, Style("sans-bold", 10), role="caption")
    canvas.text("Unit: megawatt-hours (MWh)", RIGHT, 134, Style("sans", 9, GREY), align="right", role="unit")
    look = TableLook(
        widths=(150, 116, 116, 116, 116, 116),
        aligns=("left", "right", "right", "right", "right", "right"),
        body=Style("sans", 11),
        head=Style("sans-bold", 11, GREEN),
        row_height=34,
        head_fill=(0.92, 0.96, 0.93),
        head_rows=2,
        strong_rows=frozenset({6}),
        padding=12,
    )
    y = canvas.table("Table 7. Electricity use by site and quarter", ROWS, LEFT, 146, look)
    canvas.paragraph(
        "Corvane pumps for the whole of the northern district, which explains its share. Readings are taken from the "
        "billing meters on the last working day of each quarter; Dunmere was closed for nine days in August.",
        LEFT,
        y + 34,
        Style("sans", 10.5, leading=17),
        width=RIGHT - LEFT,
    )
    canvas.text(
        "A sample document. The company and its figures are invented.",
        LEFT,
        560,
        Style("sans", 8.5, GREY),
        role="footer",
    )
    _turn(canvas)
    return canvas


def _turn(canvas: Canvas) -> None:
    """Lay the drawn page sideways on a larger sheet, so that it shows as drawn only after /Rotate and CropBox.

    A point (x, y) of the drawn page, y up, goes to (height - y, x) of the sheet: a quarter turn against /Rotate 90.
    """
    page = canvas.page
    left, bottom = TRIM_TOP, TRIM_LEFT
    page.clean_contents()
    turn = f"q 0 1 -1 0 {canvas.height + left:g} {bottom:g} cm\n".encode()
    content = turn + page.read_contents() + b"\nQ"
    sheet = (canvas.height + TRIM_TOP + TRIM_BOTTOM, canvas.width + TRIM_LEFT + TRIM_RIGHT)
    xref = page.get_contents()[0]
    canvas.pdf.update_stream(xref, content)
    page.set_mediabox(pymupdf.Rect(0, 0, *sheet))
    page.insert_text((sheet[0] - 8, sheet[1] - 60), SLUG, fontname="sans", fontsize=7, rotate=90)
    canvas.pdf.xref_set_key(
        page.xref, "CropBox", f"[{left:g} {bottom:g} {left + canvas.height:g} {bottom + canvas.width:g}]"
    )
    page.set_rotation(90)
