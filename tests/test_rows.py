"""Table rows: the columns that are asked for."""

from __future__ import annotations

import pytest

from kb_qa.elements import Block
from kb_qa.extraction.request import request_of
from kb_qa.extraction.rows import asked_pairs, label_of, pairs_of, said_row

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


@pytest.mark.parametrize(
    ("question", "row", "cells"),
    [
        ("Gross margin in the fiscal 2019 second quarter?", ["Fiscal 2019 / Second", "Fiscal 2019 / Fourth"], [0]),
        ("Inventories as of October 31, 2019 and 2018?", ["2019", "2018"], [0, 1]),
        ("What was net income of Acme Engineered Ltd?", ["Acme Engineered", "Total Company"], [1]),
        ("How much did revenue grow?", ["2024", "2023", "Change %"], [2]),
    ],
)
def test_columns_by_their_headers(question: str, row: list[str], cells: list[int]) -> None:
    """Quarters, year-ends, the whole before its parts, a printed rate of growth."""
    pairs = [("", "Label"), *((header, str(place)) for place, header in enumerate(row))]
    said = asked_pairs(pairs, request_of(question))
    assert said is not None
    assert [int(cell) for _, cell in said[1:]] == cells


SURVEY = [
    ("Category", "Renters"),
    ("2020 / Number", "7,572"),
    ("2020 / Margin of error (±)", "320"),
    ("2020 / Percent", "3.1"),
]
TAKEN = [("Group", "Control"), ("Some Use", "17.3%"), ("No Use", "82.7%")]
DEATHS = [("State", "Ohio"), ("Stroke / no.", "5,828"), ("Stroke / Rate", "45.2")]
LOANS = [("Major", "History"), ("Borrowed / Average amount", "28,700"), ("Borrowed / $10,000–14,999", "12.5")]
COSTS = [("Item", "Travel"), ("Total Costs All Funds", "94"), ("Total Direct Costs", "74"), ("Indirect Costs", "20")]
COHORTS = [("Group", "Owners"), ("3-Year-Old Cohort", "37%"), ("4-Year-Old Cohort", "51%")]
LAUNCH = [("", "Sites"), ("Launch: May 21, 2009", "0"), ("FY 2010 Sept. 30, 2011", "29")]
QUARTER = [("", "营业收入"), ("本报告期", "475"), ("上年同期", "569"), ("增减", "-16.55%")]


@pytest.mark.parametrize(
    ("question", "row", "cells"),
    [
        ("How many renters were there in 2020?", SURVEY, ["7,572"]),
        ("What percent were renters in 2020?", SURVEY, ["3.1"]),
        ("What is the margin of error for renters in 2020?", SURVEY, ["320"]),
        ("What percent of the control group had use of it?", TAKEN, ["17.3%"]),
        ("What percent of the control group had no use of it?", TAKEN, ["82.7%"]),
        ("How many died of stroke in Ohio?", DEATHS, ["5,828"]),
        ("What was the rate of stroke in Ohio?", DEATHS, ["45.2"]),
        ("What average amount did history majors borrow?", LOANS, ["28,700"]),
        ("What were the total costs of travel?", COSTS, ["94", "74"]),
        ("What percentage of the 4-year-old cohort were owners?", COHORTS, ["51%"]),
        ("How many sites were there at launch?", LAUNCH, ["0"]),
        ("How many sites were there?", LAUNCH, ["29"]),
        ("2018年第一季度的营业收入是多少？", QUARTER, ["475"]),
    ],
)
def test_columns_that_say_another_thing_are_left_out(
    question: str, row: list[tuple[str, str]], cells: list[str]
) -> None:
    """Errors, denials, rates where a number is asked for; an average that is printed is not computed."""
    said = asked_pairs(row, request_of(question))
    assert said is not None
    assert [cell for _, cell in said[1:]] == cells


def test_dots_that_lead_to_the_figures_are_no_label() -> None:
    """They would end a sentence each."""
    block = Block("b", "e", "Owners . . . . | 12", 0, 19, labelled="Group：Tenure . . / Owners . . . . | 2020：12")
    assert pairs_of(block) == (("Group", "Tenure / Owners"), ("2020", "12"))


def test_a_bare_total_is_of_its_group() -> None:
    """`Assets acquired / Total` is no total of assets."""
    assert label_of([("", "Assets acquired / Total"), ("", "5")]) == "Assets acquired Total"
    assert label_of([("", "Assets / Total assets"), ("", "5")]) == "Total assets"
    assert label_of([]) == ""


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
