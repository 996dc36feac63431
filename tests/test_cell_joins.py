"""Cells that a grid cut through a phrase, and currency signs that it left at the wrong side of a line."""

from __future__ import annotations

from ingest.cell_joins import joined_where_text_runs_on, with_signs_at_their_figures
from tests.table_drafts import cell, line, texts_of


def test_a_phrase_through_two_cells_is_one() -> None:
    """Words with a space between them on either side of a line are one heading over both columns."""
    cells = [cell(0, 0, line("Mexican", 82, 4)), cell(0, 1, line("American", 120, 4))]
    (joined,) = joined_where_text_runs_on(cells, 1)
    assert (joined.text, joined.column_span) == ("Mexican American", 2)


def test_headings_set_flush_with_their_own_lines_stay_apart() -> None:
    """`graduate` and `Graduate` stand a space apart, but each at the right edge of its own `only`."""
    cells = [
        cell(0, 0, line("graduate", 77, 4), line("only", 97, 15)),
        cell(0, 1, line("Graduate", 121, 4), line("only", 141, 15)),
    ]
    assert texts_of(joined_where_text_runs_on(cells, 1)) == [["graduate only", "Graduate only"]]


def test_figures_side_by_side_stay_apart() -> None:
    """A space between two figures is the white between their columns."""
    cells = [cell(1, 0, line("1,234", 92, 24)), cell(1, 1, line("5,678", 120, 24))]
    assert texts_of(joined_where_text_runs_on(cells, 1)) == [["1,234", "5,678"]]


def test_a_heading_over_rows_longer_than_its_column_is_whole() -> None:
    """Where nothing else stands in the row, a phrase with a year in it goes through the line."""
    cells = [cell(1, 0, line("Highest degree", 50, 24)), cell(1, 1, line("by 2003", 121, 24)), cell(1, 2, "")]
    assert texts_of(joined_where_text_runs_on(cells, 1)) == [["Highest degree by 2003", ""]]


def test_a_sign_goes_to_the_figure_after_it() -> None:
    """`$` at the end of a cell belongs to the figure that begins the next."""
    cells = [cell(1, 1, line("16,775  $", 130, 24)), cell(1, 2, line("17,874", 250, 24))]
    assert texts_of(with_signs_at_their_figures(cells)) == [["16,775", "$ 17,874"]]


def test_a_sign_before_its_own_figure_stays() -> None:
    """Of two signs in a cell only the one behind the figure moves, however the file draws them."""
    drawn = [line("$", 124, 24), line("16,775", 140, 24), line("$", 230, 24)]
    cells = [
        cell(1, 1, *drawn),
        cell(1, 2, line("17,874", 250, 24)),
        cell(1, 3, line("$", 364, 24), line("9", 380, 24)),
    ]
    assert texts_of(with_signs_at_their_figures(cells)) == [["$ 16,775", "$ 17,874", "$ 9"]]


def test_a_sign_of_its_own_cell_stays() -> None:
    """A sign alone in its column, or before words, is not moved."""
    alone = [cell(1, 1, "$"), cell(1, 2, "17,874")]
    words = [cell(0, 1, line("Capital  $", 130, 4)), cell(0, 2, "Reserve")]
    assert texts_of(with_signs_at_their_figures(alone)) == [["$", "17,874"]]
    assert texts_of(with_signs_at_their_figures(words)) == [["Capital $", "Reserve"]]
