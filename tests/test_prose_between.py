"""Paragraphs between two tables that were taken for one are text, and the tables are two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from ingest.limits import Limits
from ingest.pdf import parse_pdf
from ingest.printed import PrintedLine
from ingest.prose_between import parted_by_prose
from kb_qa.geometry import BBox
from tests.pdf_pages import tables, texts, write_pdf
from tests.table_drafts import line

WIDTH = 400.0
PARAGRAPH = [
    "The overall increase in total deposits was driven mainly by an increase in demand",
    "and was partly offset by a decrease in the money market deposits of all the banks",
    "and time deposits of the other banks.",
]
WIDE_PARAGRAPH = [
    "The overall increase in total deposits was driven mainly by an increase in demand and",
    "in time deposits, and was partly offset by a decrease in the money market deposits of all",
    "our banks, as the following table of the deposits by their maturity tells.",
]
HEADING = ["", "In 2022"]
FIGURES = [["Loans", "1,234"], ["Bonds", "5,678"], ["Total", "6,912"]]


def rows_of(*rows: Sequence[str]) -> tuple[list[BBox], list[PrintedLine]]:
    """A grid of two columns, and its lines; a row of one text runs through both."""
    boxes, lines = [], []
    for row, texts_ in enumerate(rows):
        y = 12.0 * row
        boxes += [BBox(0, y, 200, y + 12), BBox(200, y, WIDTH, y + 12)]
        lines += [line(text, 200 * column, y + 1, size=9, gap=0.25) for column, text in enumerate(texts_) if text]
    return boxes, lines


def heights(parts: Sequence[Sequence[BBox]]) -> list[tuple[float, float]]:
    return [(min(box.y0 for box in part), max(box.y1 for box in part)) for part in parts]


def test_paragraphs_part_the_grid() -> None:
    """Cells that reach into them are cut off; the short last line belongs to its paragraph."""
    boxes, lines = rows_of(HEADING, *FIGURES, *([text] for text in PARAGRAPH), HEADING, *FIGURES)
    assert heights(parted_by_prose(boxes, lines)) == [(0, 48), (84, 132)]
    boxes[6:10] = [BBox(0, 36, 200, 60), BBox(200, 36, WIDTH, 60)]
    upper, lower = parted_by_prose(boxes, lines)
    assert [box.y1 for box in upper[-2:]] == [49, 49]
    assert len(lower) >= 8


@pytest.mark.parametrize(
    "rows",
    [
        [HEADING, *FIGURES, [PARAGRAPH[0]], HEADING, *FIGURES],
        [HEADING, *FIGURES, *([text] for text in PARAGRAPH[:2]), *FIGURES],
        [HEADING, *FIGURES, *([text] for text in PARAGRAPH[:2])],
        [HEADING, *FIGURES, ["Deposits of all banks", "that are in the group"], ["go", "on"], HEADING, *FIGURES],
    ],
)
def test_a_grid_stays_whole(rows: list[list[str]]) -> None:
    """With one line alone, over a part without headings, at its end, and with texts in columns."""
    boxes, lines = rows_of(*rows)
    assert parted_by_prose(boxes, lines) == [tuple(boxes)]


def test_a_grid_without_cells_has_nothing_to_part() -> None:
    assert parted_by_prose([], []) == [()]


def two_tables(page: pymupdf.Page) -> None:
    """Without ruling lines, a paragraph as wide as they are between them."""

    def flush_right(text: str, x: float, y: float, font: str = "helv") -> None:
        page.insert_text((x - pymupdf.get_text_length(text, font, 10), y), text, fontsize=10, fontname=font)

    def table(y: float, *labels: str) -> None:
        for column, year in enumerate(("2022", "2021", "2020")):
            flush_right(year, 290 + 100 * column, y, "hebo")
            for row, label in enumerate(labels, start=1):
                page.insert_text((72, y + 13 * row), label, fontsize=10)
                flush_right(f"{row + 2},{column}{row}7", 290 + 100 * column, y + 13 * row)
        page.draw_line((230, y + 3), (490, y + 3), width=0.6)

    table(100, "Loans", "Bonds", "Deposits", "Total")
    for row, text in enumerate(WIDE_PARAGRAPH):
        page.insert_text((72, 165 + 13 * row), text, fontsize=10)
    table(204, "Three months", "Six months", "One year", "Total")


def test_a_paragraph_between_two_tables_is_text(tmp_path: Path) -> None:
    """On a page: no cell of either holds it, and each has its own headings."""
    parsed = parse_pdf(write_pdf(tmp_path / "a.pdf", two_tables), "document", limits=Limits())
    assert " ".join(WIDE_PARAGRAPH) in texts(parsed)
    found = [element.table.rows for element in tables(parsed) if element.table is not None]
    assert [[row[0].text for row in rows] for rows in found] == [
        ["", "Loans", "Bonds", "Deposits", "Total"],
        ["", "Three months", "Six months", "One year", "Total"],
    ]
    assert all([cell.text for cell in rows[0]] == ["", "2022", "2021", "2020"] for rows in found)
