"""What the table finder gets is what it would have read itself."""

from __future__ import annotations

import random
from pathlib import Path

import pymupdf
import pymupdf.table
import pytest

from ingest.shared_reads import grounds_of_cells, shared_reads
from tests.pdf_pages import write_pdf


def ruled_table(page: pymupdf.Page) -> None:
    for row in range(5):
        page.draw_line((72, 100 + 20 * row), (400, 100 + 20 * row))
        if row < 4:
            for column, text in enumerate(("Item", "2023", "2024")):
                page.insert_text((80 + 110 * column, 114 + 20 * row), f"{text} {row}", fontsize=9)
    for x in (72, 180, 290, 400):
        page.draw_line((x, 100), (x, 180))
    page.insert_text((500, 300), "sideways", fontsize=9, rotate=90)
    page.insert_text((72, 300), "Büro 财务 x²", fontname="china-s", fontsize=11, color=(1, 0, 0))


@pytest.fixture(params=[False, True], ids=["whole", "cropped"])
def page(request: pytest.FixtureRequest, tmp_path: Path) -> pymupdf.Page:
    with pymupdf.open(write_pdf(tmp_path / "table.pdf", ruled_table)) as document:
        if request.param:
            document[0].set_cropbox(pymupdf.Rect(20, 30, 580, 700))
        yield document[0]


def found(page: pymupdf.Page) -> list[tuple[object, ...]]:
    tables = page.find_tables(strategy="lines_strict", use_layout=False, refine=True).tables
    return [(table.bbox, table.cells, table.header_rows, table.extract()) for table in tables]


def test_the_characters_are_equal(page: pymupdf.Page) -> None:
    """Every key of every character, sideways and coloured ones too, on a page whose CropBox is not its MediaBox too."""
    pymupdf.table._CHARS_VAR.set([])
    pymupdf.table.make_chars(page)
    expected = list(pymupdf.table.CHARS)
    with shared_reads(page):
        for _ in range(2):
            pymupdf.table._CHARS_VAR.set([])
            pymupdf.table.make_chars(page)
            assert list(pymupdf.table.CHARS) == expected
    assert len(expected) > 60


def test_tables_are_equal_and_the_page_is_read_once(page: pymupdf.Page) -> None:
    """Two searches find what two searches without it find; afterwards the page and PyMuPDF are as before."""
    functions = (pymupdf.table.make_chars, pymupdf.table.chars_in_rect)
    expected = found(page)
    with shared_reads(page):
        assert found(page) == found(page) == expected
        assert page.get_text("words") is page.get_text("words")
    assert len(expected) == 1
    assert (pymupdf.table.make_chars, pymupdf.table.chars_in_rect) == functions
    assert "get_text" not in vars(page)


@pytest.mark.parametrize("seed", range(4))
def test_the_grounds_of_cells_are_pymupdfs(seed: int) -> None:
    """Of rectangles within one another, beside one another and twice the same, the same ones are kept in order."""
    lot = random.Random(seed)
    rects = []
    for _ in range(60):
        x, y = lot.choice((20.0, 20.004, 40.0, 61.3)), lot.choice((30.0, 30.01, 55.5))
        rects.append(pymupdf.Rect(x, y, x + lot.choice((20.0, 21.0, 22.05, 80.0)), y + lot.choice((9.0, 10.0, 60.0))))
    expected = pymupdf._table_refine._refine_cell_background_rects(rects)
    assert 0 < len(expected) < len(rects)
    assert [id(rect) for rect in grounds_of_cells(rects)] == [id(rect) for rect in expected]
    assert grounds_of_cells([]) == []


def test_a_row_is_judged_once(page: pymupdf.Page) -> None:
    """What PyMuPDF says of a row's texts is what it says without, and comes from memory the second time."""
    row = ["Net sales", "8,412", "", "FY 2024"]
    headers = pymupdf._table_headers
    expected = headers.row_features(row), headers.row_vector(row)
    with shared_reads(page):
        again = headers.row_features(list(row)), headers.row_vector(list(row))
        assert again == expected
        assert headers.row_vector(list(row)) is again[1]
    assert headers.row_vector(row) is not again[1]
