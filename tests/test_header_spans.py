"""Headings over several columns: periods in rows of their own, over the columns on whose middle they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from ingest.drafts import DraftCell
from ingest.grid_repairs import repaired
from ingest.header_rows import part_header_rows
from ingest.header_spans import spread_group_headers
from ingest.limits import Limits
from ingest.pdf import parse_pdf
from tests.pdf_pages import tables, write_pdf
from tests.table_drafts import COLUMN, cell, line, texts_of

NAMES = ["Balance", "Interest", "Yield"]


def over(row: int, column: int, *texts: tuple[str, float], columns: int = 1, middle: float | None = None) -> DraftCell:
    """A cell with lines at heights of their own, centred on its middle or another."""
    centre = COLUMN * (column + columns / 2) if middle is None else middle
    lines = [line(text, centre - line(text, 0, 0).bbox.width / 2, y) for text, y in texts]
    return cell(row, column, *lines, columns=columns)


def figures(row: int, columns: int) -> list[DraftCell]:
    return [
        cell(row, 0, "Loans"),
        *(over(row, column, ("1,234", 20 * row + 4)) for column in range(1, columns + 1)),
    ]


def in_grid(cells: Sequence[DraftCell], rows: int, columns: int) -> list[DraftCell]:
    """The cells, and an empty one wherever there is none."""
    taken = {(each.row, column) for each in cells for column in range(each.column, each.column + each.column_span)}
    empty = [cell(row, column) for row in range(rows) for column in range(columns + 1) if (row, column) not in taken]
    return sorted([*cells, *empty], key=lambda each: (each.row, each.column))


def test_periods_between_other_headings_get_a_row_of_their_own() -> None:
    """What stands over one of them stands over both; the line below is the first of the heading under it."""
    cells = [
        over(0, 2, ("Year ended December 31,", -12), ("2022", 0), ("Interest", 13), columns=3),
        over(0, 5, ("2021", 0), ("Interest", 13)),
        *(over(1, column, ("Average", 24), ("Balance", 35)) for column in (1, 3, 4, 6)),
        *(over(1, column, ("Income/", 24), ("Expense", 35)) for column in (2, 5)),
        *figures(2, 6),
    ]
    cells = [replace(each, column_span=1) if each.column == 2 and not each.row else each for each in cells]
    parted, header_rows = part_header_rows(in_grid(cells, 3, 6), 2)
    assert header_rows == 3
    assert texts_of([each for each in parted if each.text]) == [
        ["Year ended December 31,"],
        ["2022", "2021"],
        ["Average Balance", "Interest Income/ Expense", "Average Balance"] * 2,
        ["Loans", *["1,234"] * 6],
    ]


def test_periods_that_share_a_cell_are_parted_too() -> None:
    """The grid has one cell for two of three years and the heading over all."""
    shared = cell(
        0,
        2,
        line("Year ended December 31,", 425, 0),
        line("2021", 4 * COLUMN - 10, 11),
        line("2020", 6 * COLUMN - 15, 11),
        columns=4,
    )
    names = [over(1, column, (name, 26)) for column, name in enumerate(["Balance", "Rate"] * 3, start=1)]
    cells = in_grid([cell(0, 1, line("2022", 2 * COLUMN - 10, 11)), shared, *names, *figures(2, 6)], 3, 6)
    inside, _, header_rows = repaired(*part_header_rows(cells, 2))
    assert header_rows == 3
    spread = spread_group_headers(inside, ((0, 3),))
    assert spans(spread) == [("Year ended December 31,", 1, 6)]
    assert spans(spread, 1) == [("2022", 1, 2), ("2021", 3, 2), ("2020", 5, 2)]


def test_what_is_no_part_of_the_headings_below_periods_stays_in_a_row() -> None:
    """Set farther from them than their own lines are."""
    cells = [
        over(0, 2, ("2022", 0), ("Group", 12)),
        over(0, 5, ("2021", 0), ("Group", 12)),
        *(over(1, column, ("Average", 26), ("Balance", 36)) for column in range(1, 7)),
        *figures(2, 6),
    ]
    parted, header_rows = part_header_rows(in_grid(cells, 3, 6), 2)
    assert header_rows == 3
    assert texts_of([each for each in parted if each.text])[:2] == [["2022", "2021"], ["Group", "Group"]]


@pytest.mark.parametrize(
    ("stacks", "columns"),
    [
        ([("December 31,", "2022"), ("December 31,", "2021")], 6),
        ([("2022", "$m"), ("2021", "$m")], 2),
        ([("2022", "audited"), ("Change", "percent")], 6),
    ],
)
def test_a_heading_of_several_lines_stays_whole(stacks: list[tuple[str, str]], columns: int) -> None:
    """Where each year has its day above it, where each column has its own year, and where one year stands alone."""
    cells = [over(0, 2 * index + 1, *zip(texts, (0, 11), strict=True)) for index, texts in enumerate(stacks)]
    if columns == 2:
        cells = [over(0, index + 1, *zip(texts, (0, 11), strict=True)) for index, texts in enumerate(stacks)]
    grid = in_grid([*cells, *figures(1, columns)], 2, columns)
    parted, header_rows = part_header_rows(grid, 1)
    assert header_rows == 1
    assert texts_of([each for each in parted if each.text])[0] == [" ".join(texts) for texts in stacks]


def test_a_unit_below_several_headings_gets_a_row_of_its_own() -> None:
    """And the headings that shared its cell a cell each; below one heading it is a part of that."""
    both = cell(0, 1, line("Sales", 160, 0), line("Profit", 280, 0), line("(in thousands)", 205, 11), columns=2)
    parted, header_rows = part_header_rows([cell(0, 0), both, *figures(1, 2), *figures(2, 2)], 1)
    inside, _, header_rows = repaired(parted, header_rows)
    assert header_rows == 2
    assert texts_of([each for each in inside if each.text])[:2] == [["Sales", "Profit"], ["(in thousands)"]]
    one = over(0, 1, ("Sales", 0), ("(in thousands)", 11), columns=2)
    assert part_header_rows([cell(0, 0), one, *figures(1, 2)], 1)[1] == 1


def test_headings_under_one_another_in_a_wide_cell_are_parted_by_columns() -> None:
    """Though one has two lines; a phrase over both keeps them together."""
    two = cell(0, 1, line("Average", 160, 0), line("Balance", 160, 11), line("Percent", 280, 11), columns=2)
    inside = repaired([cell(0, 0), two, *figures(1, 2), *figures(2, 2)], 1)[0]
    assert texts_of(inside)[0] == ["", "Average Balance", "Percent"]
    phrase = cell(0, 1, line("Average of all deposits", 175, 0), line("Old", 170, 11), line("New", 290, 11), columns=2)
    inside = repaired([cell(0, 0), phrase, *figures(1, 2), *figures(2, 2)], 1)[0]
    assert texts_of(inside)[0] == ["", phrase.text]


def test_a_day_over_one_of_several_years_is_not_joined_with_it() -> None:
    """`December 31,` in the middle stands over all three; over each of them it is a part of each."""
    years = [over(1, column, (str(2023 - column), 18)) for column in (1, 2, 3)]
    below = [*years, *figures(2, 3), *figures(3, 3)]
    inside, _, headers = repaired(in_grid([over(0, 2, ("Year ended December 31,", 6)), *below], 4, 3), 2)
    assert headers == 2
    assert texts_of(inside)[:2] == [["", "", "Year ended December 31,", ""], ["", "2022", "2021", "2020"]]
    days = [over(0, column, ("December 31,", 6)) for column in (1, 2, 3)]
    inside, _, headers = repaired(in_grid([*days, *below], 4, 3), 2)
    assert headers == 1
    assert texts_of(inside)[0] == ["", "December 31, 2022", "December 31, 2021", "December 31, 2020"]


def spans(cells: Sequence[DraftCell], row: int = 0) -> list[tuple[str, int, int]]:
    return [(each.text, each.column, each.column_span) for each in cells if each.row == row and each.text]


def test_headings_beside_their_columns_are_moved_over_them() -> None:
    """Each stands over the middle of three columns of the same names; drawn rules say more than that."""
    cells = in_grid(
        [
            over(0, 2, ("2022", 4), columns=3, middle=2.5 * COLUMN),
            over(0, 5, ("2021", 4), middle=5.5 * COLUMN),
            *(over(1, column, (name, 24)) for column, name in enumerate(NAMES * 2, start=1)),
            *figures(2, 6),
        ],
        3,
        6,
    )
    assert spans(spread_group_headers(cells, ((0, 2),))) == [("2022", 1, 3), ("2021", 4, 3)]
    assert spans(spread_group_headers(cells, ((0, 2),), ruled=True))[0] == ("2022", 2, 3)


def test_headings_set_flush_left_keep_their_columns() -> None:
    """They stand over no other columns' middle that would make the row whole."""
    cells = in_grid(
        [
            over(0, 1, ("North", 4), columns=3, middle=1.4 * COLUMN),
            over(0, 4, ("South", 4), columns=3, middle=4.4 * COLUMN),
            *(over(1, column, (name, 24)) for column, name in enumerate(NAMES * 2, start=1)),
            *figures(2, 6),
        ],
        3,
        6,
    )
    assert spans(spread_group_headers(cells, ((0, 2),))) == [("North", 1, 3), ("South", 4, 3)]


def test_a_heading_over_headings_stands_over_all_that_they_do() -> None:
    """The lower ones are widened first."""
    cells = in_grid(
        [
            over(0, 3, ("At December 31,", 4), columns=2, middle=4 * COLUMN),
            over(1, 2, ("2022", 24)),
            over(1, 5, ("2021", 24)),
            *(over(2, column, (name, 44)) for column, name in enumerate(NAMES * 2, start=1)),
            *figures(3, 6),
        ],
        4,
        6,
    )
    spread = spread_group_headers(cells, ((0, 3),))
    assert spans(spread) == [("At December 31,", 1, 6)]
    assert spans(spread, 1) == [("2022", 1, 3), ("2021", 4, 3)]


def test_a_heading_on_the_middle_of_several_columns_gets_no_other_beside_them() -> None:
    """Though it would stand near the middle of those, too, and the first column is named below."""
    cells = in_grid(
        [
            over(0, 2, ("Current expenditures", 4), columns=4, middle=3.9 * COLUMN),
            over(1, 2, ("Constant dollars", 24), columns=2),
            over(1, 4, ("Current dollars", 24), columns=2),
            *(over(2, column, (name, 44)) for column, name in enumerate(["Pupils", *["Total", "Each"] * 2], start=1)),
            *figures(3, 5),
        ],
        4,
        5,
    )
    assert spans(spread_group_headers(cells, ((0, 3),))) == [("Current expenditures", 2, 4)]


def test_a_column_named_further_down_has_the_heading_over_it() -> None:
    """Where the row between is empty above its name."""
    cells = in_grid(
        [
            over(0, 2, ("Teachers", 4), middle=2.5 * COLUMN),
            over(1, 2, ("Control", 24), columns=2),
            *(over(2, column, (name, 44)) for column, name in enumerate(["Total", "Public", "Private"], start=1)),
            *figures(3, 3),
        ],
        4,
        3,
    )
    assert spans(spread_group_headers(cells, ((0, 3),))) == [("Teachers", 1, 3)]


def averages(page: pymupdf.Page) -> None:
    """Balances, interest and yields of two years, without ruling lines but under headings."""
    middles = [210, 275, 340, 405, 470, 535]
    text = pymupdf.TextWriter(page.rect)

    def centred(said: str, x: float, y: float, font: str = "hebo") -> None:
        face = pymupdf.Font(font)
        text.append((x - face.text_length(said, 10) / 2, y), said, font=face, fontsize=10)

    centred("The following table shows average balances, interest and yields.", 170, 60, "helv")
    centred("For the Year Ended December 31,", 372, 91)
    for x, year in ((275, "2022"), (470, "2021")):
        centred(year, x, 103.5)
        centred("Interest", x, 116)
        page.draw_line((x - 90, 105.5), (x + 90, 105.5), width=0.6)
    for x, (upper, lower) in zip(
        middles, [("Average", "Balance"), ("Income/", "Cost"), ("Yield", "(5)")] * 2, strict=True
    ):
        centred(upper, x, 127.5)
        centred(lower, x, 139)
    for row, label in enumerate(("Loans", "Taxable", "Exempt", "Funds", "Assets", "Deposits", "Time deposits", "Debt")):
        centred(label, 70, 155 + 12 * row, "helv")
        for column, x in enumerate(middles):
            figure = f"{column + 1}.{row}5%" if column % 3 == 2 else f"{column + 1},{row}42"
            centred(figure, x, 155 + 12 * row, "helv")
    centred("Yields are reported on a basis that is explained in the notes below.", 190, 280, "helv")
    text.write_text(page)


def test_the_second_year_over_three_columns_is_in_their_headers(tmp_path: Path) -> None:
    """Found on a page: `2021` heads its three columns, and the line above both years all of them."""
    (element,) = tables(parse_pdf(write_pdf(tmp_path / "a.pdf", averages), "document", limits=Limits()))
    assert element.table is not None
    headers = {each.column: each.column_headers for each in element.table.cells if each.text and each.column}
    names = ["Average Balance", "Interest Income/ Cost", "Yield (5)"]
    assert headers == {
        column + 1: ("For the Year Ended December 31,", "2022" if column < 3 else "2021", names[column % 3])
        for column in range(6)
    }
