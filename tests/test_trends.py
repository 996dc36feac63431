"""Levels that are said to have been reached upwards or downwards, and averages that are none."""

from __future__ import annotations

import pytest

from tests.figure_cases import INCOME, PROFIT, passes, statuses

CHURN = "| Metric | FY2024 | FY2023 |\n|---|---|---|\n| Churn | 2.1% | 2.6% |\n| Margin | 41.2% | 39.8% |"


@pytest.mark.parametrize(
    ("right", "wrong", "text"),
    [
        ("Churn fell to 2.1% in FY2024.", "Churn rose to 2.1% in FY2024.", CHURN),
        ("Churn fell to 2.1% from 2.6%.", "Churn fell to 2.6% from 2.1%.", CHURN),
        ("Margin rose from 39.8% to 41.2%.", "Margin rose from 41.2% to 39.8%.", CHURN),
        ("Revenue grew from $3,541 million to $4,132 million.", "Revenue fell from $3,541 to $4,132 million.", INCOME),
        ("营业收入从35.41亿元增加到41.32亿元。", "营业收入从41.32亿元增加到35.41亿元。", PROFIT),
        ("2024年净利润增长至5.12亿元。", "2024年净利润下降至5.12亿元。", PROFIT),
    ],
)
def test_the_way_to_a_level_must_be_the_sources(right: str, wrong: str, text: str) -> None:
    """A level risen to is above the one it is said to come from, or the earlier one of its row."""
    assert passes(right, text)
    assert not passes(wrong, text)


def test_the_reason_names_the_earlier_level() -> None:
    """The status is `contradicted`, like a change in the other direction."""
    assert statuses("Churn rose to 2.1% in FY2024.", CHURN)["2.1%"] == "contradicted"


def test_without_an_earlier_level_nothing_is_said_against_it() -> None:
    """A text that only gives the level supports it."""
    assert passes("Churn rose to 2.1% in FY2024.", "Churn was 2.1% in FY2024.")


def test_improvement_is_a_difference() -> None:
    """`improved by` asks for the difference of two levels."""
    assert passes("Margin improved by 1.4 percentage points from FY2023 to FY2024.", CHURN)
    assert not passes("Margin improved by 1.5 percentage points from FY2023 to FY2024.", CHURN)
