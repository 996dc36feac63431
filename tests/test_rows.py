"""Table rows: the columns that are asked for."""

from __future__ import annotations

import pytest

from kb_qa.extraction.request import request_of
from kb_qa.extraction.rows import asked_pairs, said_row

YEARS = [("", "Net sales"), ("Years ended December 31 / 2024", "8,412"), ("2023", "7,650")]
PARTS = [
    ("", "Net sales"),
    ("Three months ended / 2024", "2,100"),
    ("Year ended / 2024", "8,412"),
    ("Year ended / 2023", "7"),
]
SHARES = [("Region", "Europe"), ("2024 / Amount", "2,625"), ("2024 / %", "31.2%")]


@pytest.mark.parametrize(
    ("question", "row", "cells"),
    [
        ("What were net sales in 2023?", YEARS, ["7,650"]),
        ("What were net sales?", YEARS, ["8,412"]),
        ("What were net sales in 2022 and 2023?", YEARS, ["7,650"]),
        ("What were net sales in 2023 and 2024?", YEARS, ["8,412", "7,650"]),
        ("How much did net sales grow?", YEARS, ["8,412", "7,650"]),
        ("What were net sales?", PARTS, ["8,412"]),
        ("What were sales in Europe?", SHARES, ["2,625"]),
        ("What share of sales came from Europe?", SHARES, ["31.2%"]),
    ],
)
def test_the_columns_that_are_asked_for(question: str, row: list[tuple[str, str]], cells: list[str]) -> None:
    """The named period, else the latest whole one; amounts, or shares where those are asked for."""
    said = asked_pairs(row, request_of(question))
    assert said is not None
    assert [cell for _, cell in said[1:]] == cells


def test_a_period_that_no_column_has() -> None:
    """A row of other years says nothing of this one."""
    assert asked_pairs(YEARS, request_of("What were net sales in 2021?")) is None


def test_the_unit_line_counts_no_shares() -> None:
    """It ends the row where it counts one of the cells that are said."""
    assert said_row(YEARS[:2], "(in millions)", chinese=False).endswith("2024: 8,412 (in millions)")
    assert said_row([SHARES[0], SHARES[2]], "(in millions)", chinese=False) == "Region: Europe; 2024 / %: 31.2%"
    per_share = [("", "Earnings per share"), ("2024", "3.41")]
    assert said_row(per_share, "(in millions)", chinese=False) == "Earnings per share; 2024: 3.41"
    assert said_row(YEARS[:1], "单位：万元", chinese=True) == "Net sales"
