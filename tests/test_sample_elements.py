"""What the parser makes of the samples, held against the boxes that their script drew and the ink of the page."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from ingest.limits import Limits
from ingest.pdf import parse_pdf
from kb_qa.elements import Element, Word
from kb_qa.geometry import BBox, Page
from tests.golden_boxes import (
    GOLDEN,
    TRIM,
    TURNED_PAGES,
    ink,
    items_of,
    rendered,
    text_box,
    turned,
    turned_page,
)
from tests.golden_elements import parsed_sample

WHOLE = (0.0, 0.0, 0.0, 0.0)
PAGES = [
    (page["document"], page["number"])
    for page in GOLDEN["pages"]
    if (page["document"], page["number"]) not in TURNED_PAGES
]


def parsed_page(
    folder: Path, name: str, number: int, quarter_turns: int, trim: tuple[float, float, float, float]
) -> tuple[Page, list[Element], bytes]:
    content = turned_page(name, number, quarter_turns, trim)
    path = folder / name
    path.write_bytes(content)
    parsed = parse_pdf(path, "document", limits=Limits())
    return parsed.pages[0], [element for element in parsed.elements if not element.hidden], content


def moved_boxes(name: str, number: int, page: Page, quarter_turns: int, trim: tuple[float, ...]) -> dict[str, BBox]:
    """Golden texts that stand once on the page, with their boxes on the turned and trimmed page."""
    left, top = trim[0], trim[1]
    width, height = (page.width, page.height) if quarter_turns % 2 == 0 else (page.height, page.width)
    texts = [item["text"] for item in items_of(name, number)]
    boxes = {}
    for item in items_of(name, number):
        box = text_box(item)
        moved = BBox(box.x0 - left, box.y0 - top, box.x1 - left, box.y1 - top)
        inside = moved.x0 >= 0 and moved.y0 >= 0 and moved.x1 <= width and moved.y1 <= height
        if inside and texts.count(item["text"]) == 1:
            boxes[item["text"]] = turned(moved, width, height, quarter_turns)
    return boxes


def text_within(words: list[Word], box: BBox) -> str:
    """The words whose middle lies in the box, without spaces, in reading order."""
    return squeezed("".join(word.text for word in words if box.contains_point(*word.bbox.center)))


def squeezed(text: str) -> str:
    return "".join(text.split())


def check_page(
    folder: Path, name: str, number: int, quarter_turns: int, trim: tuple[float, float, float, float]
) -> None:
    page, elements, content = parsed_page(folder, name, number, quarter_turns, trim)
    words = [word for element in elements for word in element.words]
    boxes = moved_boxes(name, number, page, quarter_turns, trim)
    assert len(boxes) > 4
    other = {
        text: found for text, box in boxes.items() if (found := text_within(words, box.expanded(1))) != squeezed(text)
    }
    # The scan is read by OCR: a character or two may differ. Everything else is exact.
    assert len(other) <= (0.2 * len(boxes) if name == "scan.pdf" else 0), other
    with pymupdf.open(stream=content, filetype="pdf") as pdf:
        picture = rendered(pdf[0])
    for element in elements:
        for region in element.regions:
            assert region.bbox is not None
            assert BBox(0, 0, page.width, page.height).expanded(1).union(region.bbox) == BBox(
                0, 0, page.width, page.height
            ).expanded(1), f"{element.category} {element.text!r} leaves the page"
            assert np.count_nonzero(ink(picture, region.bbox)), f"no ink for {element.text!r}"
    for word in words:
        if word.text.strip(" .,;:，。；：·•"):
            assert np.count_nonzero(ink(picture, word.bbox)), f"no ink for {word.text!r} at {word.bbox}"


def ways() -> list[Any]:
    """Each page, turn and trim. A scan takes seconds, and is read at every turn and at both trims; the rest is long."""
    trims = {"whole": WHOLE, "trimmed": TRIM}
    found = []
    for (name, number), turns, (trim_id, trim) in itertools.product(TURNED_PAGES, range(4), trims.items()):
        is_long = name == "scan.pdf" and (turns in {1, 2}) != (trim_id == "trimmed")
        marks = [pytest.mark.long] if is_long else []
        found.append(pytest.param(name, number, turns, trim, id=f"{name}-{number}-{turns}-{trim_id}", marks=marks))
    return found


@pytest.mark.parametrize(("name", "number", "quarter_turns", "trim"), ways())
def test_elements_lie_where_the_glyphs_are_however_the_page_is_turned(
    tmp_path: Path, name: str, number: int, quarter_turns: int, trim: tuple[float, float, float, float]
) -> None:
    """At each /Rotate and with a CropBox offset, boxes hold their ink, and each drawn text is where it was drawn."""
    check_page(tmp_path, name, number, quarter_turns, trim)


@pytest.mark.parametrize(("name", "number"), PAGES)
def test_elements_lie_where_the_glyphs_are(tmp_path: Path, name: str, number: int) -> None:
    """Every other page of the samples, as it is."""
    check_page(tmp_path, name, number, 0, WHOLE)


def cells_of(name: str) -> list[tuple[str, tuple[str, ...], str]]:
    return [
        (cell.row_headers[0] if cell.row_headers else "", cell.column_headers, cell.text)
        for element in parsed_sample(name).elements
        if element.table is not None
        for cell in element.table.cells
        if not cell.header
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("briefing.pdf", ("P5", ("基本工资",), "22000")),
        ("annual-report.pdf", ("Net sales", ("2024",), "8,412")),
        ("annual-report.pdf", ("Selling, general and administrative", ("2024",), "(1,204)")),
        ("annual-report.pdf", ("Europe", ("2024 share",), "31.2%")),
        ("rotated.pdf", ("Corvane", ("Electricity use in 2025", "Fourth quarter"), "2,594")),
    ],
    ids=lambda value: value if isinstance(value, str) else value[2],
)
def test_cells_know_their_headers(name: str, expected: tuple[str, tuple[str, ...], str]) -> None:
    """The printed string, byte for byte, under its row's and column's labels, spanning ones repeated."""
    row, columns, text = expected
    found = [(header, path[-len(columns) :]) for header, path, cell in cells_of(name) if cell == text]
    assert (row, columns) in found
