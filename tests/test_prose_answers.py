"""The guard on answers as people write them: several figures a sentence, changes with levels, earlier years."""

from __future__ import annotations

import pytest

from tests.figure_cases import checked

PRODUCTS = """表2 分产品营业收入（单位：亿元）
| 产品 | 2024年 | 2023年 | 同比增减 |
|---|---|---|---|
| 智能手机 | 1,918 | 1,575 | 21.8% |
| 互联网服务 | 341 | 301 | 13.3% |
| 合计 | 2,259 | 1,876 | 20.4% |"""

KEY_FIGURES = """Key figures (EUR million)
| | FY2024 | FY2023 | Change |
|---|---|---|---|
| Net sales | 8,246.3 | 7,904.1 | 4.3% |
| EBIT | 912.0 | 1,004.5 | (9.2)% |
| Net debt | 1,250 | 980 | 27.6% |
| Employees (average) | 41,230 | 40,115 | 2.8% |
| Dividend per share (EUR) | 1.20 | 1.15 | |"""

PROSE = (
    "As of 31 December 2024 the Group employed 41,230 people in 27 countries. EBIT declined by 9.2% to EUR 912.0"
    " million, mainly because of higher input costs of EUR 120 million."
)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("智能手机业务收入同比增长21.8%至1,918亿元[1]。", PRODUCTS),
        ("2024年合计收入为2,259亿元，较2023年的1,876亿元增长20.4%。", PRODUCTS),
        ("2024年互联网服务收入比2023年增加40亿元。", PRODUCTS),
        ("智能手机收入由1,575亿元增至1,918亿元。", PRODUCTS),
        ("Net sales rose 4.3% to €8.2 billion in FY2024.", KEY_FIGURES),
        ("EBIT fell by 9.2% from EUR 1,004.5 million in FY2023 to EUR 912.0 million in FY2024.", KEY_FIGURES),
        ("Net debt increased by EUR 270 million to EUR 1,250 million in 2024.", KEY_FIGURES),
        ("The average number of employees was 41,230 in FY2024, up from 40,115 in FY2023.", KEY_FIGURES),
        ("The FY2024 dividend was EUR 1.20 per share, against EUR 1.15 in the previous year.", KEY_FIGURES),
        ("The Group employed 41,230 people in 27 countries as of 31 December 2024.", PROSE),
        ("EBIT declined 9.2% to EUR 912.0 million because input costs were EUR 120 million higher.", PROSE),
    ],
)
def test_right_answers_pass(answer: str, text: str) -> None:
    """Every figure is supported, printed or computed."""
    assert checked(answer, text).unsupported == ()


@pytest.mark.parametrize(
    ("answer", "text", "status"),
    [
        ("2024年智能手机收入1,575亿元。", PRODUCTS, "misbound"),
        ("互联网服务收入同比增长21.8%。", PRODUCTS, "misbound"),
        ("2024年合计收入为2,259万元。", PRODUCTS, "unsupported"),
        ("智能手机收入同比下降21.8%。", PRODUCTS, "contradicted"),
        ("EBIT rose 9.2% to EUR 912.0 million.", KEY_FIGURES, "contradicted"),
        ("Net debt was EUR 980 million in FY2024.", KEY_FIGURES, "misbound"),
        ("The dividend was EUR 1.20 million.", KEY_FIGURES, "unsupported"),
        ("EBIT was EUR 8,246.3 million in FY2024.", KEY_FIGURES, "misbound"),
        ("The Group employed 40,115 people in FY2024.", KEY_FIGURES, "misbound"),
        ("Input costs were EUR 912.0 million.", PROSE, "misbound"),
    ],
)
def test_wrong_answers_are_refused(answer: str, text: str, status: str) -> None:
    """A wrong row, column, clause, direction or scale, each with its own status."""
    assert status in {figure.status for figure in checked(answer, text).figures}
    assert checked(answer, text).verdict == "refuse"
