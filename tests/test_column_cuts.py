"""Columns of a grid that hold several columns of figures are parted; figures that only look like two are not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ingest.column_cuts import cut_columns
from ingest.drafts import DraftCell
from tests.table_drafts import cell, grid, line, texts_of


def mixed(rows: Sequence[Sequence[str]], *, wide: float = 30.0, header: str = "Amounts") -> list[DraftCell]:
    """A grid with a column of labels and one in which each row holds all of its figures, `wide` points apart."""
    cells = grid([["Item", header]])
    for row, figures in enumerate(rows, start=1):
        right = 0.0
        lines = []
        for figure in figures:  # right edges under one another
            right += 30.0 + wide
            lines.append(line(figure, 120 + right - 5 * len(figure), 20 * row + 4))
        cells += [cell(row, 0, f"Row {row}"), cell(row, 1, *lines)]
    return cells


def test_columns_of_figures_are_parted() -> None:
    """White down through all rows parts a column."""
    parted, headers = cut_columns(mixed([["10", "20"], ["11", "21"], ["12", "22"]]), 1)
    assert texts_of(parted)[1:] == [["Row 1", "10", "20"], ["Row 2", "11", "21"], ["Row 3", "12", "22"]]
    assert headers == 1


def test_figures_set_close_are_parted_where_every_row_has_both() -> None:
    """Beside less white than a type size, whole figures on either side in nearly all rows part a column too."""
    rows = [["1,087", "22,490"], ["2,586", "68,738"], ["13,340", "32,118"]]
    parted, _ = cut_columns(mixed(rows, wide=3.0), 1)
    assert texts_of(parted)[1:] == [[f"Row {row}", *figures] for row, figures in enumerate(rows, start=1)]


@pytest.mark.parametrize(
    "rows",
    [
        [["12", "345"], ["10", "221"], ["98", "407"]],
        [["12.3", "(0.4)"], ["10.1", "(0.2)"], ["9.8", "(0.3)"]],
        [["5", "1/2"], ["6", "3/4"], ["7", "1/8"]],
    ],
    ids=["digit groups", "standard errors", "fractions"],
)
def test_one_figure_in_two_words_stays_whole(rows: list[list[str]]) -> None:
    """What stands close behind a figure and belongs to it is no column of its own."""
    cells = mixed(rows, wide=-10.0)
    assert texts_of(cut_columns(cells, 1)[0]) == texts_of(cells)


def test_ranges_stay_whole() -> None:
    """A dash between two figures is no white."""
    cells = [
        *grid([["Item", "Range"]]),
        *(cell(row, 1, line(f"{row}0 – {row}9", 124, 20 * row + 4)) for row in range(1, 5)),
    ]
    assert texts_of(cut_columns(cells, 1)[0]) == texts_of(cells)


def test_words_are_not_parted() -> None:
    """Only figures make columns: text with white in it stays."""
    cells = mixed([["red", "cat"], ["big", "dog"], ["old", "cow"]])
    assert texts_of(cut_columns(cells, 1)[0]) == texts_of(cells)


def test_a_heading_over_the_parts_spans_them() -> None:
    """`Amounts` over two lines of headings: the phrase spans, the years head their columns in a row of their own."""
    cells = mixed([["10", "20"], ["11", "21"], ["12", "22"]])
    heading = [line("Amounts in euros", 150, 2), line("2024", 156, 14), line("2023", 216, 14)]
    cells[1] = cell(0, 1, *heading)
    parted, headers = cut_columns(cells, 1)
    assert texts_of(parted)[:2] == [["Item", "Amounts in euros"], ["2024", "2023"]]
    assert headers == 2
    assert [each.column_span for each in parted if each.row == 0] == [1, 2]


def test_a_joined_heading_over_two_columns_is_parted_below() -> None:
    """A phrase over two columns with a heading for each below it, all in one cell, becomes two rows."""
    both = cell(0, 1, line("Mexican American", 200, 2), line("Male", 150, 14), line("Female", 280, 14), columns=2)
    cells = [cell(0, 0, "Age"), both, *(cell(row, column, str(row)) for row in (1, 2, 3) for column in (0, 1, 2))]
    parted, headers = cut_columns(cells, 1)
    assert texts_of(parted)[:2] == [["Age", "Mexican American"], ["Male", "Female"]]
    assert headers == 2
