"""A sum, average or extreme over all quarters or halves of a year is of the year; anything less, or mixed, is not."""

from __future__ import annotations

import pytest

from tests.figure_cases import checked, statuses

PRICES = """Stock price (USD)
| | High | Low |
|---|---|---|
| Q1 2018 | 9.75 | 5.99 |
| Q2 2018 | 7.10 | 4.79 |
| Q3 2018 | 5.50 | 2.66 |
| Q4 2018 | 3.90 | 1.88 |
| Q1 2017 | 8.75 | 6.99 |
| Q2 2017 | 7.00 | 5.79 |
| Q3 2017 | 5.40 | 3.66 |
| Q4 2017 | 3.80 | 2.88 |"""
INCOME_ZH = """季度数据（单位：万元）
| 项目 | 2024年一季度 | 2024年二季度 | 2024年三季度 | 2024年四季度 | 2023年四季度 |
|---|---|---|---|---|---|
| 营业收入 | 100 | 120 | 130 | 150 | 140 |
| 营业成本 | 80 | 90 | 95 | 105 | 99 |"""
HALVES = """Sales (USD in millions)
| | H1 2024 | H2 2024 | H1 2023 | H2 2023 |
|---|---|---|---|---|
| Sales | 410 | 530 | 390 | 500 |"""
LOW = "The {} quarterly low price in 2018 was ${}⟦={}⟧."


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param(LOW.format("average", "3.83", "(5.99+4.79+2.66+1.88)/4"), PRICES, id="a-sum-over-four"),
        pytest.param(LOW.format("average", "3.83", "avg(5.99, 4.79, 2.66, 1.88)"), PRICES, id="avg"),
        pytest.param(LOW.format("smallest", "1.88", "min(5.99, 4.79, 2.66, 1.88)"), PRICES, id="min"),
        pytest.param(LOW.format("largest", "5.99", "max(5.99, 4.79, 2.66, 1.88)"), PRICES, id="max"),
        pytest.param("2024年营业收入合计500万元⟦=100+120+130+150⟧。", INCOME_ZH, id="sum-zh"),
        pytest.param("2024年平均每季度营业收入为125万元⟦=avg(100, 120, 130, 150)⟧。", INCOME_ZH, id="avg-zh"),
        pytest.param("Sales were $940 million⟦=sum(410, 530)⟧ in 2024.", HALVES, id="halves"),
        pytest.param("Sales grew 5.6%⟦=((410+530)-(390+500))/(390+500)⟧ from 2023 to 2024.", HALVES, id="two-years"),
        pytest.param("Sales were $940 million⟦=F1+F2⟧ in 2024.", HALVES, id="by-name"),
    ],
)
def test_all_parts_of_a_year_are_the_year(answer: str, text: str) -> None:
    """Sum, average, smallest and largest alike, in either language, whatever way the operands are named."""
    assert "derived" in statuses(answer, text).values()
    assert checked(answer, text).verdict == "derived"


def test_a_bare_answer_over_the_quarters_of_the_year_asked_for() -> None:
    """The question names the year, the answer only the arithmetic."""
    asked = "What is the average quarterly low price in 2018?"
    assert statuses("3.83⟦=(5.99+4.79+2.66+1.88)/4⟧", PRICES, question=asked) == {"3.83": "derived"}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param(LOW.format("average", "4.08", "(6.99+4.79+2.66+1.88)/4"), PRICES, id="a-mix-of-years"),
        pytest.param(LOW.format("average", "4.83", "(6.99+5.79+3.66+2.88)/4"), PRICES, id="the-other-year"),
        pytest.param(LOW.format("average", "4.48", "(5.99+4.79+2.66)/3"), PRICES, id="three-quarters"),
        pytest.param(LOW.format("average", "4.86", "(5.99+5.99+4.79+2.66)/4"), PRICES, id="one-twice"),
        pytest.param(LOW.format("average", "4.26", "(5.99+4.79+2.66+1.88+5.99)/5"), PRICES, id="five"),
        pytest.param(LOW.format("average", "4.33", "(5.99+4.79+2.66+3.90)/4"), PRICES, id="another-column"),
        pytest.param(LOW.format("average", "1.98", "5.99-4.79+2.66-1.88"), PRICES, id="no-sum"),
        pytest.param(LOW.format("average", "5.99", "5.99"), PRICES, id="one-quarter"),
        pytest.param("2024年营业收入合计490万元⟦=100+120+130+140⟧。", INCOME_ZH, id="a-mix-zh"),
        pytest.param("Sales were $910 million⟦=410+500⟧ in 2024.", HALVES, id="a-mix-of-halves"),
        pytest.param("Sales were $1,330 million⟦=(410+530)+390⟧ in 2024.", HALVES, id="one-more-of-another-year"),
    ],
)
def test_less_more_or_a_mix_is_not_the_year(answer: str, text: str) -> None:
    """A quarter of another year, a quarter left out or taken twice, and what is no sum, average or extreme."""
    assert checked(answer, text).verdict == "refuse"
