"""A line that says what figures are counted in stands above them, also where a grid ends with it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ingest import tables
from ingest.table_scale import read_scale
from ingest.unit_rows import is_right_below, unit_row
from kb_qa.geometry import BBox
from tests.table_drafts import grid

ABOVE = [["", "Land", "Total"], ["As of March 31, 2021", "(369)", "(987)"], ["", "Thousands of U.S. dollars", ""]]
BELOW = [["", "Land", "Total"], ["As of March 31, 2021", "(3,021)", "(8,073)"]]


def boxes_of(texts: Sequence[Sequence[str]], top: float = 0.0) -> tuple[BBox, ...]:
    return tuple(each.bbox for each in grid(texts, top=top))


def lines_of(texts: Sequence[Sequence[str]], top: float = 0.0) -> list[tables.PrintedLine]:
    return [line for each in grid(texts, top=top) for line in each.lines]


@pytest.mark.parametrize(
    ("last", "found"),
    [
        (["", "Thousands of U.S. dollars", ""], True),
        (["", "(in millions)", ""], True),
        (["Total", "", ""], False),
        (["", "Thousands of U.S. dollars", "7"], False),
        (["As of March 31, 2022", "(3)", "(8)"], False),
    ],
)
def test_a_last_row_is_a_unit_row_where_all_it_says_is_a_scale(last: Sequence[str], found: bool) -> None:
    texts = [*ABOVE[:2], last]
    row = unit_row(boxes_of(texts), lines_of(texts))
    assert row == (boxes_of(texts)[-3:] if found else ())


def test_a_unit_row_alone_is_a_table_of_its_own() -> None:
    texts = ABOVE[2:]
    assert unit_row(boxes_of(texts), lines_of(texts)) == ()


def test_the_row_goes_to_the_table_right_below() -> None:
    """Both tables hold the rest of what they held, and the lower one begins with the row."""
    top = 20.0 * len(ABOVE)
    lines = [*lines_of(ABOVE), *lines_of(BELOW, top)]
    upper, lower = tables._Grid(boxes_of(ABOVE), 1), tables._Grid(boxes_of(BELOW, top), 1)
    above, below = tables._with_their_units([upper, lower], lines)
    assert above.boxes == boxes_of(ABOVE)[:6] and above.header_rows == 1
    assert below.boxes == (*boxes_of(ABOVE)[6:], *boxes_of(BELOW, top)) and below.header_rows == 2
    table, _ = tables._filled(below, lines)
    assert table is not None and table.cells[0].text == "" and table.headers == ((0, 2),)
    assert "Thousands of U.S. dollars" in [each.text for each in table.cells if each.row == 0]


def test_a_table_farther_down_gets_nothing() -> None:
    top = 20.0 * len(ABOVE) + 40
    assert not is_right_below(boxes_of(ABOVE), boxes_of(BELOW, top))
    grids = [tables._Grid(boxes_of(ABOVE), 1), tables._Grid(boxes_of(BELOW, top), 1)]
    assert tables._with_their_units(grids, [*lines_of(ABOVE), *lines_of(BELOW, top)]) == grids


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("Thousands of U.S. dollars", (3, "USD")),
        ("Millions of US dollars", (6, "USD")),
        ("(in thousands of Canadian dollars)", (3, "CAD")),
        ("Millions of Australian dollars", (6, "AUD")),
        ("in millions of Hong Kong dollars", (6, "HKD")),
        ("(dollars in thousands)", (3, "USD")),
    ],
)
def test_dollars_are_those_of_their_country(text: str, scale: tuple[int, str]) -> None:
    assert read_scale(text) == scale
