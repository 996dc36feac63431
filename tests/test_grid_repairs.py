"""Corrections of a table's grid by what is printed in it, on cells made without a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ingest.grid_repairs import repaired, with_bullets
from ingest.header_rows import part_header_rows, part_stacked_labels
from tests.table_drafts import cell, grid, line, lowered, texts_of


def test_a_numbered_title_in_the_grid_is_taken_out() -> None:
    """`Table 3` in the first row is the table's title, and no row of it."""
    cells = [
        cell(0, 0, "Table 3: Sales", columns=2),
        *lowered(grid([["Item", "2024"], ["Sales", "4"], ["Tax", "1"]]), 1),
    ]
    inside, outside, headers = repaired(cells, 2)
    assert texts_of(inside) == [["Item", "2024"], ["Sales", "4"], ["Tax", "1"]]
    assert [each.text for each in outside] == ["Table 3: Sales"]
    assert headers == 1


@pytest.mark.parametrize(
    "note", ["Source: annual accounts", "See notes at end of table.", "* Estimate", "注：未经审计", "资料来源：年报"]
)
def test_notes_in_the_last_row_are_taken_out(note: str) -> None:
    """A row that holds nothing but a note belongs below the table."""
    rows = [["Item", "2024"], ["Sales", "4"], ["Tax", "1"]]
    inside, outside, _ = repaired([*grid(rows), cell(3, 0, note, columns=2)], 1)
    assert texts_of(inside) == rows
    assert [each.text for each in outside] == [note]


def test_a_note_that_the_grid_cut_is_whole_again() -> None:
    """The pieces in its columns are one line."""
    rows = [["Item", "2024"], ["Sales", "4"], ["Tax", "1"]]
    cut = [cell(3, 0, "SOURCE: Annual accounts of"), cell(3, 1, "the company")]
    inside, outside, _ = repaired([*grid(rows), *cut], 1)
    assert texts_of(inside) == rows
    assert [each.text for each in outside] == ["SOURCE: Annual accounts of the company"]


def test_a_last_row_of_figures_stays() -> None:
    """`Source` as a label of figures is no note."""
    rows = [["Item", "2024"], ["Sales", "4"], ["Sources of income", "1"]]
    assert texts_of(repaired(grid(rows), 1)[0]) == rows


def test_a_cell_beside_many_rows_becomes_as_many() -> None:
    """Labels that share one tall cell go each to its row."""
    labels = [line(text, 4, 4 + 20 * row) for row, text in enumerate(["Coal", "Gas", "Oil", "Wind"], start=1)]
    tall = cell(1, 0, *labels, rows=4)
    values = [cell(row, 1, str(row)) for row in range(1, 5)]
    inside, _, _ = repaired([cell(0, 0, "Source"), cell(0, 1, "TWh"), tall, *values], 1)
    assert texts_of(inside) == [["Source", "TWh"], ["Coal", "1"], ["Gas", "2"], ["Oil", "3"], ["Wind", "4"]]


def test_a_label_that_wraps_beside_several_rows_stays_one() -> None:
    """Fewer rows than make a list: the cell spans them."""
    tall = cell(1, 0, line("Segment", 4, 24), line("results", 4, 44), rows=2)
    inside, _, _ = repaired([*grid([["Item", "2024"]]), tall, cell(1, 1, "5"), cell(2, 1, "6")], 1)
    assert texts_of(inside) == [["Item", "2024"], ["Segment results", "5"], ["6"]]


def test_headings_far_apart_in_a_spanning_cell_are_parted() -> None:
    """`2024` and `2023` in one cell over two columns head a column each."""
    both = cell(0, 1, line("2024", 130, 4), line("2023", 250, 4), columns=2)
    inside, _, _ = repaired([cell(0, 0, "Item"), both, cell(1, 0, "Sales"), cell(1, 1, "4"), cell(1, 2, "5")], 1)
    assert texts_of(inside) == [["Item", "2024", "2023"], ["Sales", "4", "5"]]


def test_a_heading_cut_between_its_lines_is_one() -> None:
    """`Under-` over `graduate`, and `Weight` over its unit, are one heading each; the row goes."""
    cells = [
        cell(0, 0, ""),
        cell(0, 1, line("Under-", 124, 10)),
        cell(0, 2, line("Weight", 244, 10)),
        cell(1, 0, "Item"),
        cell(1, 1, line("graduate", 124, 21)),
        cell(1, 2, line("(kg)", 244, 21)),
        *lowered(grid([["Sales", "4", "5"]]), 2),
        *lowered(grid([["Tax", "1", "2"]]), 3),
    ]
    inside, _, headers = repaired(cells, 2)
    assert texts_of(inside) == [["Item", "Under- graduate", "Weight (kg)"], ["Sales", "4", "5"], ["Tax", "1", "2"]]
    assert headers == 1


def test_a_row_of_units_below_the_header_belongs_to_it() -> None:
    """The units end the headings although the grid takes them for a first row."""
    cells = [
        *[cell(0, column, line(text, 120 * column + 4, 10)) for column, text in enumerate(["Dose", "Weight"])],
        *[cell(1, column, line(text, 120 * column + 4, 21)) for column, text in enumerate(["(ppm)", "(g)"])],
        *lowered(grid([["250", "5.9"]]), 2),
        *lowered(grid([["500", "6.0"]]), 3),
    ]
    inside, _, headers = repaired(cells, 1)
    assert texts_of(inside) == [["Dose (ppm)", "Weight (g)"], ["250", "5.9"], ["500", "6.0"]]
    assert headers == 1


def test_a_first_row_below_an_open_heading_stays_a_row() -> None:
    """A row with a label of its own is no end of the headings, whatever their last word is."""
    cells = [
        cell(0, 0, "Exhibit"),
        cell(0, 1, line("Description of", 124, 10)),
        cell(1, 0, ""),
        cell(1, 1, line("(incorporated by reference to", 124, 21)),
        cell(2, 0, line("4.61", 4, 32)),
        cell(2, 1, line("English translation", 124, 32)),
        *lowered(grid([["4.62", "Lease"]]), 3),
    ]
    inside, _, headers = repaired(cells, 1)
    assert [text for row in texts_of(inside)[headers:] for text in row][:2] == ["4.61", "English translation"]


def test_rows_between_which_a_label_wraps_are_one() -> None:
    """A long label that goes on in small letters below is one row with its figures."""
    cells = [
        *grid([["Item", "2024"]]),
        cell(1, 0, line("Net cash provided by", 4, 27)),
        cell(1, 1, ""),
        cell(2, 0, line("operating activities", 4, 41)),
        cell(2, 1, "123"),
        *lowered(grid([["Tax", "1"]]), 3),
    ]
    inside, _, _ = repaired(cells, 1)
    assert texts_of(inside) == [["Item", "2024"], ["Net cash provided by operating activities", "123"], ["Tax", "1"]]


def test_a_heading_over_rows_stays_a_row() -> None:
    """A label that ends with a colon does not wrap into the next."""
    rows = [["Item", "2024"], ["Current assets of the group:", ""], ["cash at bank", "4"]]
    assert texts_of(repaired(grid(rows), 1)[0]) == rows


def test_headings_at_two_heights_are_two_rows() -> None:
    """A year over its columns shares a cell with the heading below: they part, and others go to their height."""
    cells = [
        cell(0, 0, line("Item", 4, 30)),
        cell(0, 1, line("2024", 124, 4), line("Units", 124, 30)),
        cell(0, 2, line("Share", 244, 30)),
        *(replace(each, row=1) for each in lowered(grid([["Sales", "4", "5"]]), 2)),
    ]
    parted, headers = part_header_rows(cells, 1)
    assert texts_of(parted) == [["", "2024", ""], ["Item", "Units", "Share"], ["Sales", "4", "5"]]
    assert headers == 2


def test_lines_of_one_heading_stay_together() -> None:
    """Lines as close as those of a paragraph are one heading."""
    cells = [cell(0, 0, "Item"), cell(0, 1, line("Net", 124, 2), line("sales", 124, 13))]
    assert part_header_rows(cells, 1) == (cells, 1)


def test_a_section_heading_below_a_label_gets_a_row() -> None:
    """A line set further left than the label above it heads the next rows."""
    label = cell(1, 0, line("American Indian", 14, 22), line("Female", 4, 32))
    cells = [*grid([["Item", "2024"]]), label, cell(1, 1, "348"), cell(2, 0, "White")]
    parted = part_stacked_labels(cells, 1)
    assert texts_of(parted) == [["Item", "2024"], ["American Indian", "348"], ["Female", ""], ["White"]]


def test_two_headings_in_one_cell_are_two_rows() -> None:
    """`Sex, by race:` over `Male`, with no figures beside them."""
    label = cell(1, 0, line("Sex, by race:", 4, 22), line("Male", 4, 32))
    parted = part_stacked_labels([*grid([["Item", "2024"]]), label, cell(1, 1, "")], 1)
    assert texts_of(parted) == [["Item", "2024"], ["Sex, by race:", ""], ["Male", ""]]


def test_a_hanging_label_stays_one() -> None:
    """Lines that are set in below the first go on with it."""
    label = cell(1, 0, line("American Indian", 4, 22), line("and others", 10, 32))
    cells = [*grid([["Item", "2024"]]), label, cell(1, 1, "348")]
    assert part_stacked_labels(cells, 1) == cells


def test_a_bullet_goes_before_the_line_on_its_baseline() -> None:
    """A bullet that stands alone is put before its text."""
    bullet, text, other = line("•", 4, 20), line("First point", 14, 20), line("Second", 14, 40)
    assert [each.text for each in with_bullets([bullet, text, other])] == ["• First point", "Second"]
