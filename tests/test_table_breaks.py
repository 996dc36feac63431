"""Tables that continue on the next page: joined with and without a repeated header, and what is not joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from ingest.chunk import Origin, chunk
from ingest.limits import Limits
from ingest.pdf import parse_pdf
from kb_qa.elements import Cell, Element
from tests.pdf_pages import Draw, draw_grid, ink, tables, write_pdf

HEADER = ["Item", "2023", "2024"]
WIDTH, HEIGHT = 400, 560


def rows_of(first: int, last: int) -> list[list[str]]:
    return [[f"Item {index}", f"{1000 + 7 * index:,}", f"{2000 + 11 * index:,}"] for index in range(first, last + 1)]


def drawn(rows: Sequence[Sequence[str]], number: int, *, ruled: bool = True, of: int = 2) -> Draw:
    """A page with a running title, the rows right below it, and a page number."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((40, 24), "Northwind annual report", fontsize=8)
        page.insert_text((170, HEIGHT - 10), f"Page {number} of {of}", fontsize=8)
        if ruled:
            draw_grid(page, rows, origin=(40, 36), cell=(100, 23))
            return
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                x = 44 if column == 0 else 140 + column * 100 - pymupdf.get_text_length(text, fontsize=10)
                page.insert_text(
                    (x, 50 + row * 20), text, fontsize=10, fontname="hebo" if texts[1] == "2023" else "helv"
                )

    return draw


def parse(path: Path) -> list[Element]:
    return tables(parse_pdf(path, "document", limits=Limits()))


def value(element: Element, label: str, year: str) -> Cell:
    assert element.table is not None
    (cell,) = [
        cell
        for cell in element.table.cells
        if cell.row_headers[-1:] == (label,) and cell.column_headers[-1:] == (year,) and not cell.header
    ]
    return cell


@pytest.mark.parametrize("ruled", [True, False], ids=["ruled", "borderless"])
@pytest.mark.parametrize("repeated", [True, False], ids=["repeated header", "no header"])
def test_b4_a_table_goes_on_on_the_next_page(tmp_path: Path, ruled: bool, repeated: bool) -> None:
    """Rows on page 2 stand under the headers of page 1, with their own page; furniture is not in the table (B4)."""
    later = [HEADER, *rows_of(21, 25)] if repeated else rows_of(21, 25)
    pages = (drawn([HEADER, *rows_of(1, 20)], 1, ruled=ruled), drawn(later, 2, ruled=ruled))
    path = write_pdf(tmp_path / "a.pdf", *pages, width=WIDTH, height=HEIGHT)
    (element,) = parse(path)
    assert [region.page for region in element.regions] == [1, 2]
    for label, number in (("Item 3", 3), ("Item 23", 23)):
        cell = value(element, label, "2024")
        assert cell.text == f"{2000 + 11 * number:,}"
        assert cell.page == (1 if number <= 20 else 2)
        assert cell.bbox is not None
        assert ink(path, cell.page, cell.bbox) > 0.01
    assert not any(word in element.text for word in ("Page", "of 2", "Northwind"))
    assert {word.page for word in element.words} == {1, 2}


def test_b4_a_row_on_the_second_page_is_cited_there(tmp_path: Path) -> None:
    """The block of a continuation row has a region on its own page only, and is labelled with the headers (B4)."""
    pages = (drawn([HEADER, *rows_of(1, 20)], 1), drawn(rows_of(21, 25), 2))
    path = write_pdf(tmp_path / "a.pdf", *pages, width=WIDTH, height=HEIGHT)
    document = parse_pdf(path, "document", limits=Limits())
    chunks = chunk(document.elements, Origin("document", 1, "a.pdf", "1"))
    (block,) = [block for one in chunks for block in one.blocks if block.text.startswith("Item 23")]
    assert [region.page for region in block.regions] == [2]
    assert "2024：2,253" in block.labelled


def test_a_table_over_three_pages_is_one(tmp_path: Path) -> None:
    """The page in the middle holds nothing but rows; all three are one table."""
    parts = ([HEADER, *rows_of(1, 20)], rows_of(21, 41), rows_of(42, 45))
    pages = [drawn(rows, number, of=3) for number, rows in enumerate(parts, start=1)]
    (element,) = parse(write_pdf(tmp_path / "a.pdf", *pages, width=WIDTH, height=HEIGHT))
    assert [region.page for region in element.regions] == [1, 2, 3]
    assert value(element, "Item 30", "2023").page == 2
    assert value(element, "Item 45", "2024").page == 3


def test_another_table_at_the_top_of_a_page_stays_apart(tmp_path: Path) -> None:
    """A table with a header of its own is not the rest of the one before it."""
    other = [["Region", "Sites", "Staff"], ["North", "12", "340"], ["South", "9", "281"], ["West", "4", "77"]]
    pages = (drawn([HEADER, *rows_of(1, 20)], 1), drawn(other, 2))
    found = parse(write_pdf(tmp_path / "a.pdf", *pages, width=WIDTH, height=HEIGHT))
    assert [[region.page for region in element.regions] for element in found] == [[1], [2]]


def test_a_table_after_a_paragraph_stays_apart(tmp_path: Path) -> None:
    """Where text stands between two tables, the second one begins anew."""

    def after_text(page: pymupdf.Page) -> None:
        drawn([], 2)(page)
        page.insert_text((40, 60), "The items of the second group are counted by another method.", fontsize=10)
        draw_grid(page, rows_of(21, 25), origin=(40, 80), cell=(100, 23))

    pages = (drawn([HEADER, *rows_of(1, 20)], 1), after_text)
    assert len(parse(write_pdf(tmp_path / "a.pdf", *pages, width=WIDTH, height=HEIGHT))) == 2
