"""Every answer here passes, and none does with one digit, scale, currency or period changed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.figure_cases import INCOME, PROFIT, SEGMENTS, passes
from tests.mutated import mutations

RESULTS = """Condensed results (HK$ in thousands)
| Item | Q3 2024 | Q2 2024 | Change |
|---|---|---|---|
| Turnover from ferries | 83,415 | 79,206 | 5.3% |
| Fuel | (12,960) | (14,472) | (10.4%) |
| Profit for the period | 9,318 | 7,641 | 21.9% |
| Number of vessels in service | 37 | 35 | 5.7% |"""

SCHOOL = """办学情况（单位：万元，另有注明者除外）
| 项目 | 2024年 | 2023年 | 同比 |
|---|---|---|---|
| 学费收入 | 8,463.2 | 7,915.6 | 6.9% |
| 助学金支出 | 1,207.5 | 1,086.4 | 11.1% |
| 在校学生（人） | 6,318 | 5,947 | 6.2% |
| 生均收入（元） | 13,395 | 13,310 | 0.6% |"""

LEASE = (
    "The lease began on 14 March 2021 and runs for 87 months. Rent is €6,350 per month, and the deposit was €19,050."
    " The tariff rose by 3.75% to €6,590 in 2024."
)
PLANT = "2025年第三季度，水泥厂生产熟料46.8万吨，单位能耗为103.6千克；2025年上半年停产27天，停产损失为385万元。"
BANK = "The ratio was 13.47% at the end of 2024, 62 basis points above 2023. Loans were US$58.3 billion."
RATE = "2024年平均汇率为1美元兑7.12元人民币。"

CASES = [
    ("Turnover from ferries was HK$83,415 thousand in Q3 2024.", RESULTS),
    ("Turnover from ferries was HK$83.4 million in Q3 2024.", RESULTS),
    ("Fuel cost HK$12,960 thousand in Q3 2024.", RESULTS),
    ("Profit for the period was HK$7,641 thousand in Q2 2024 [1].", RESULTS),
    ("Turnover from ferries rose 5.3% in Q3 2024.", RESULTS),
    ("The number of vessels in service was 37 in Q3 2024.", RESULTS),
    ("Revenue was $4,132 million in 2024.", INCOME),
    ("Revenue was $4.13 billion in 2024.", INCOME),
    ("Operating income was $640 million in 2023.", INCOME),
    ("The net loss of associates was $38 million in 2024.", INCOME),
    ("Earnings per share were $1.10 in 2023.", INCOME),
    ("The operating margin was 18.1% in 2023.", INCOME),
    ("Revenue grew 16.7% from 2023 to 2024.", INCOME),
    ("Revenue grew 16.7%⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.", INCOME),
    ("Revenue rose by $591 million from 2023 to 2024.", INCOME),
    ("Net income rose by $57 million⟦512-455⟧ from 2023 to 2024.", INCOME),
    ("Cloud revenue was $1,200 million.", SEGMENTS),
    ("The segments' revenue totalled $2,630 million⟦1,200+950+480⟧.", SEGMENTS),
    ("2024年营业收入为41.32亿元。", PROFIT),
    ("2023年净利润为45,500万元。", PROFIT),
    ("2024年每股收益为1.25元。", PROFIT),
    ("2024年营业收入同比增长16.7%。", PROFIT),
    ("2024年营业收入为41.32亿元，约合5.80亿美元。", f"{PROFIT}\n\n{RATE}"),
    ("2024年学费收入为8,463.2万元。", SCHOOL),
    ("2024年学费收入同比增长6.9%。", SCHOOL),
    ("2023年助学金支出为1,086.4万元。", SCHOOL),
    ("2024年在校学生为6,318人。", SCHOOL),
    ("2024年生均收入为13,395元。", SCHOOL),
    ("The lease began on 14 March 2021.", LEASE),
    ("The lease runs for 87 months.", LEASE),
    ("Rent is €6,350 per month.", LEASE),
    ("The deposit was €19,050.", LEASE),
    ("The tariff rose by 3.75% in 2024.", LEASE),
    ("The tariff rose to €6,590 in 2024.", LEASE),
    ("2025年第三季度生产熟料46.8万吨。", PLANT),
    ("单位能耗为103.6千克。", PLANT),
    ("2025年上半年停产27天。", PLANT),
    ("停产损失为385万元。", PLANT),
    ("The ratio was 13.47% at the end of 2024.", BANK),
    ("The ratio rose 0.62 percentage points in 2024.", BANK),
    ("Loans were US$58.3 billion.", BANK),
]


@pytest.mark.parametrize(("answer", "text"), CASES, ids=[answer for answer, _ in CASES])
def test_one_change_and_nothing_passes(answer: str, text: str) -> None:
    """Mutation: one digit (each of the nine others), scale, currency or period changed: refused, every one."""
    assert passes(answer, text)
    changed = [*mutations(answer)]
    assert {kind for kind, _ in changed} >= {"digit"}
    assert [each for _, each in changed if passes(each, text)] == []


def test_every_kind_of_change_is_made() -> None:
    """The sweep is no empty promise: each kind occurs, and often."""
    kinds = [kind for answer, _ in CASES for kind, _ in mutations(answer)]
    assert len(kinds) > 1500
    assert min(kinds.count(kind) for kind in ("scale", "currency", "period")) >= 15


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(CASES), st.data())
def test_a_digit_more_or_less_is_another_figure(case: tuple[str, str], data: st.DataObject) -> None:
    """A digit put into a number, or the first of a whole number taken out, is refused as well."""
    answer, text = case
    visible = answer.partition("⟦")[0]
    runs = [match.span() for match in re.finditer(r"(?a)(?<![\d.,])\d{2,}", visible)]
    if not runs:
        return
    start, end = data.draw(st.sampled_from(runs))
    place, digit = data.draw(st.integers(start + 1, end - 1)), data.draw(st.sampled_from("123456789"))
    assert not passes(f"{answer[:place]}{digit}{answer[place:]}", text)
    assert not passes(f"{answer[:start]}{answer[start + 1 :]}", text)
