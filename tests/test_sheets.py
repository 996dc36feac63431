"""Workbooks and delimited text: which cells form a table, and what their cells say."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from tests.documents import cell, headers, read, tables, texts, wrote


def sheet_of(book: openpyxl.Workbook) -> Worksheet:
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    return sheet


def statement(path: Path) -> Path:
    """A title, a spanning header, a gap before the total, a blank column before the notes, a table beside it."""
    book = openpyxl.Workbook()
    sheet = sheet_of(book)
    for row in (
        ["Consolidated income statement"],
        ["(in millions of USD)"],
        [],
        ["", "Revenue", None, None, None, "Notes"],
        ["Region", "2022", "2023", "2024"],
        ["Europe", 96, 87, -1200, None, "restated"],
        ["Asia", 1.1, 12, 100, None, "new"],
        [],
        ["Total", 97.1, 99, -1100],
    ):
        sheet.append(row)
    sheet.merge_cells("B4:D4")
    for address, value in {"H6": "Currency", "I6": "Rate", "H7": "EUR", "I7": 1.0834, "H8": "CHF", "I8": 0.97}.items():
        sheet[address] = value
    book.save(path)
    return path


def test_rows_below_a_gap_stay_in_their_table(tmp_path: Path) -> None:
    """The total below a blank row keeps the headers, the title and the scale of its table."""
    table = tables(read(statement(tmp_path / "a.xlsx")))[2]
    assert headers(table, "-1100") == (("Total",), ("Revenue", "2024"))
    assert table.table is not None
    assert table.table.caption == "Consolidated income statement (in millions of USD)"
    assert (table.table.scale, table.table.unit) == (6, "USD")


def test_tables_side_by_side_are_two(tmp_path: Path) -> None:
    """A table beside another has its own headers; notes behind a blank column belong to their rows."""
    left, right = tables(read(statement(tmp_path / "a.xlsx")))[2:]
    assert headers(right, "0.97") == (("CHF",), ("Rate",))
    assert headers(left, "restated") == (("Europe",), ("Notes",))
    assert (cell(right, "1.0834").address, cell(left, "restated").address) == ("I7", "F6")


def test_a_second_table_with_its_own_header_is_not_a_continuation(tmp_path: Path) -> None:
    """Below a blank row a header row begins another table, with the same columns or not."""
    lines = ["Item,2023", "A,1", "", "Item,2024", "A,2"]
    first, second = tables(read(wrote(tmp_path / "a.csv", "\n".join(lines))))
    assert headers(first, "1") == (("A",), ("2023",))
    assert headers(second, "2") == (("A",), ("2024",))


def test_notes_below_a_table_are_not_its_rows(tmp_path: Path) -> None:
    """A line of text below a blank row does not become a value of the table's last column."""
    found = tables(read(wrote(tmp_path / "a.csv", "Item,2023\nA,1\n\nPrepared by,Finance\n")))
    assert [table.text for table in found] == ["Item | 2023\nA | 1", "Prepared by | Finance"]


def test_a_value_that_its_format_hides_is_not_shown(tmp_path: Path) -> None:
    """A cell with the format `;;;` is empty to a reader."""
    book = openpyxl.Workbook()
    sheet = sheet_of(book)
    sheet["A1"], sheet["B1"] = "shown", 666
    sheet["B1"].number_format = ";;;"
    book.save(tmp_path / "a.xlsx")
    assert texts(read(tmp_path / "a.xlsx")) == ["Sheet", "shown"]


@pytest.mark.parametrize(
    ("text", "encoding", "address"),
    [
        pytest.param('Item;2024\nA;"4.812,5"\nB;1,5\n', "utf-8", "B2", id="semicolons, decimal commas"),
        pytest.param("Item\t2024\nA\t4.812,5\n", "utf-8", "B2", id="tabs"),
        pytest.param("Item|2024\nA|4.812,5\n", "utf-8", "B2", id="bars"),
        pytest.param('\ufeffItem,2024\n"A, or ""a""","4.812,5"\n', "utf-8", "B2", id="byte order mark, quotes"),
        pytest.param("sep=;\nItem;2024\nA;4.812,5\n", "utf-8", "B3", id="named separator"),
        pytest.param("Item\t2024\nA\t4.812,5\n", "utf-16", "B2", id="utf-16, as Excel saves Unicode text"),
        pytest.param("项目;2024\n营业收入;4.812,5\n净利润;三亿\n", "gb18030", "B2", id="gb18030"),
    ],
)
def test_every_dialect_of_csv_is_a_table(tmp_path: Path, text: str, encoding: str, address: str) -> None:
    """Separator, quotes, byte order mark and encoding are found; strings stay what the file holds."""
    (table,) = tables(read(wrote(tmp_path / "a.csv", text, encoding)))
    found = cell(table, "4.812,5")
    assert (found.address, found.column_headers) == (address, ("2024",))


def test_a_stray_cell_far_away_costs_nothing(tmp_path: Path) -> None:
    """A sheet is read by its cells and not by the rectangle around them."""
    book = openpyxl.Workbook()
    sheet = sheet_of(book)
    sheet.append(["Item", "2024"])
    sheet.append(["A", 1])
    sheet["XFD2"] = "stray"
    book.save(tmp_path / "a.xlsx")
    assert [table.text for table in tables(read(tmp_path / "a.xlsx"))] == ["Item | 2024\nA | 1", "stray"]
