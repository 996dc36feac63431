"""Headings over groups of rows are in the paths of their rows, one in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.table_drafts import built, draft_table, grid


def paths(rows: Sequence[tuple[float, str, str]], bold: Mapping[int, bool] | None = None) -> dict[str, tuple[str, ...]]:
    """The path of each row with a value, by its label; rows are (indent, label, value)."""
    texts = [["Item", "2024"], *([label, value] for _, label, value in rows)]
    table = built(draft_table(grid(texts, {row: indent for row, (indent, _, _) in enumerate(rows, start=1)})))
    return {
        cell.row_headers[-1]: cell.row_headers[:-1]
        for cell in table.cells
        if cell.column == 1 and not cell.header and cell.text
    }


def test_rows_set_in_under_a_heading_are_its_group() -> None:
    """The group ends with the first row that is not set in."""
    found = paths([(0, "Assets:", ""), (8, "Cash", "4"), (8, "Debtors", "5"), (0, "Net assets", "9")])
    assert found == {"Cash": ("Assets:",), "Debtors": ("Assets:",), "Net assets": ()}


def test_groups_stand_in_groups() -> None:
    """`ASSETS` over `Current assets` over the rows, until a heading or a row further left."""
    found = paths(
        [
            (0, "ASSETS", ""),
            (0, "Current assets:", ""),
            (8, "Cash", "4"),
            (8, "Total current assets", "4"),
            (0, "Non-current assets:", ""),
            (8, "Land", "5"),
            (0, "LIABILITIES", ""),
            (8, "Loans", "2"),
        ]
    )
    assert found == {
        "Cash": ("ASSETS", "Current assets:"),
        "Total current assets": ("ASSETS", "Current assets:"),
        "Land": ("ASSETS", "Non-current assets:"),
        "Loans": ("LIABILITIES",),
    }


def test_without_indents_a_group_goes_on_to_the_next_heading() -> None:
    """Labels of one left edge: each heading ends the group before."""
    found = paths([(0, "流动资产：", ""), (0, "货币资金", "4"), (0, "流动负债：", ""), (0, "短期借款", "5")])
    assert found == {"货币资金": ("流动资产：",), "短期借款": ("流动负债：",)}


def test_indents_of_three_levels() -> None:
    """A row further left ends all groups that are set in farther."""
    found = paths(
        [
            (0, "Europe", ""),
            (8, "France", ""),
            (16, "Paris", "1"),
            (8, "Total France", "1"),
            (8, "Spain", ""),
            (16, "Madrid", "2"),
            (0, "Total Europe", "3"),
        ]
    )
    assert found == {
        "Paris": ("Europe", "France"),
        "Total France": ("Europe",),
        "Madrid": ("Europe", "Spain"),
        "Total Europe": (),
    }
