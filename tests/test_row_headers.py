"""A row of an answer's own table is read under its headers, and every place leads back to the row as written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.guardrails.row_headers import NO_TABLE, Inserted, TableSoFar

HEADED = NO_TABLE.after("| Item | 2024 | **2023** |\n").after("|---|:-:|---|\n")


def test_the_row_above_the_rule_is_the_header() -> None:
    """Without a rule there is none; text between ends the table."""
    assert TableSoFar(headers=("Item", "2024", "2023")) == HEADED
    assert NO_TABLE.after("| a | b |\n").headers == ()
    assert HEADED.after("| Revenue | 1 | 2 |\n").after("Some text.\n") == NO_TABLE
    assert HEADED.after("| Revenue | 1 | 2 |\n").after("|---|---|---|\n").headers == ("Item", "2024", "2023")


@pytest.mark.parametrize(
    ("row", "read"),
    [
        ("| Revenue | 4 | 3 |\n", "| Revenue | ; 2024: 4 | ; 2023: 3 |\n"),
        ("| Revenue | 4 |\n", "| Revenue | 4 |\n"),
        ("Revenue 4\n", "Revenue 4\n"),
    ],
    ids=["row", "another number of cells", "text"],
)
def test_each_cell_has_its_header_before_it(row: str, read: str) -> None:
    """The first cell names the row; what is no such row stays as it is."""
    assert HEADED.read(row).text == read


@given(st.text(max_size=20), st.lists(st.tuples(st.integers(0, 20), st.text(min_size=1, max_size=4)), max_size=4))
def test_places_lead_back(text: str, insertions: list[tuple[int, str]]) -> None:
    """Each character is found again where it stood, and what was put in leads nowhere."""
    within = sorted({at: words for at, words in insertions if at <= len(text)}.items())
    parts, position = [], 0
    for at, words in within:
        parts += [text[position:at], words]
        position = at
    inserted = Inserted("".join([*parts, text[position:]]), tuple(within))
    for place in range(1, len(text) + 1):
        moved = inserted.forward(place)
        assert inserted.text[moved - 1] == text[place - 1]
        assert inserted.back(moved - 1, moved) == (place - 1, place)
    shift = 0
    for at, words in within:
        assert inserted.back(at + shift, at + shift + len(words)) is None
        shift += len(words)
