"""Amounts in another currency: the rate is a cited fact that names both currencies, or there is none."""

from __future__ import annotations

import pytest

from tests.figure_cases import PROFIT, checked, passes

RATE = "2024年平均汇率为1美元兑7.10元人民币。"
SALES = "Revenue was RMB 710 million in 2024. The average exchange rate was RMB 7.10 per US$1 in 2024."
TABLE = """Results (RMB in millions)
| | 2024 |
|---|---|
| Revenue | 710 |
| Costs | 355 |
| Average exchange rate, USD/RMB | 7.10 |"""
YEN = "The fee was JPY 5,000 million. At the year-end rate, 100日元兑4.80元。"


@pytest.mark.parametrize(
    ("answer", "texts", "accepted"),
    [
        ("2024年营业收入为41.32亿元，约合5.82亿美元。", (PROFIT, RATE), True),
        ("2024年营业收入为41.32亿元，约合5.92亿美元。", (PROFIT, RATE), False),
        ("2024年营业收入约合5.82亿美元。", (PROFIT,), False),
        ("Revenue was US$100 million in 2024.", (SALES,), True),
        ("Revenue was US$101 million in 2024.", (SALES,), False),
        ("Revenue was US$5,041 million in 2024.", (SALES,), False),
        ("Revenue was €100 million in 2024.", (SALES,), False),
        ("Revenue was US$100 million in 2024.", (TABLE,), True),
        ("Revenue was US$50 million in 2024.", (TABLE,), False),
        ("The fee was RMB 240 million.", (YEN,), True),
        ("The fee was RMB 24,000 million.", (YEN,), False),
    ],
)
def test_implicit(answer: str, texts: tuple[str, ...], accepted: bool) -> None:
    """a×rate and a/rate, by the rate's own direction and units; another value, row or currency is refused."""
    assert passes(answer, *texts) is accepted


@pytest.mark.parametrize(
    ("answer", "texts", "accepted"),
    [
        ("Revenue was US$100 million⟦710/7.10⟧ in 2024.", (TABLE,), True),
        ("Revenue was US$5,041 million⟦710*7.10⟧ in 2024.", (TABLE,), False),
        ("Revenue and costs were US$1,065 million⟦710+355⟧ in total in 2024.", (TABLE,), False),
        ("Revenue and costs were RMB 1,065 million⟦710+355⟧ in total in 2024.", (TABLE,), True),
        ("Total fees were $12 million⟦5+7⟧.", ("Fees were $5 million and €7 million.",), False),
    ],
)
def test_explicit(answer: str, texts: tuple[str, ...], accepted: bool) -> None:
    """A stated expression keeps to one currency, unless an operand is the rate between the two, used the right way."""
    assert passes(answer, *texts) is accepted


def test_the_rate_is_shown_as_an_operand() -> None:
    """The reader sees the amount and the rate, each with its place."""
    figure = next(
        each
        for each in checked("2024年营业收入为41.32亿元，约合5.82亿美元。", PROFIT, RATE).figures
        if each.raw == "5.82亿美元"
    )
    assert figure.derivation is not None
    assert figure.derivation.op == "fx"
    assert [place.element for place in figure.derivation.places] == ["s1", "s2"]
