"""Rules B1 to B4: a fact of the right value is, or is not, the one that the claim's words name."""

from __future__ import annotations

import pytest

from tests.figure_cases import INCOME, PROFIT, checked, passes, statuses

QUARTERS = """Sales (USD in millions)
| | Q3 2024 | Q4 2024 | 2024 | Change |
|---|---|---|---|---|
| Europe | 210 | 250 | 940 | 40 |
| Asia | 180 | 190 | 720 | 10 |"""

WARRANTS = """Warrants
| Issuance date | Outstanding as of December 31, 2024 |
|---|---|
| June 2023 | 458,202 |
| August 2024 | 842,000 |
| Total | 1,300,202 |"""


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("Sales in Europe were $940 million in 2024.", True),
        ("Sales in Europe were $250 million in Q4 2024.", True),
        ("Sales in Europe were $250 million in 2024.", False),
        ("Sales in Europe were $940 million in Q4 2024.", False),
        ("Sales in Europe were $210 million in Q4 2024.", False),
    ],
)
def test_b1_another_period(answer: str, accepted: bool) -> None:
    """B1: a year is no quarter, and a quarter no other."""
    assert passes(answer, QUARTERS) is accepted


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [("Sales in Europe changed by $40 million.", True), ("Sales in Europe were $40 million in 2024.", False)],
)
def test_b2_a_column_without_period(answer: str, accepted: bool) -> None:
    """B2: where another cell of the row has the period, a column without one does not answer for it."""
    assert passes(answer, QUARTERS) is accepted


@pytest.mark.parametrize(
    ("answer", "text", "accepted"),
    [
        ("Sales in Asia were $720 million in 2024.", QUARTERS, True),
        ("Sales in Asia were $940 million in 2024.", QUARTERS, False),
        ("2024年净利润为5.12亿元。", PROFIT, True),
        ("2024年净利润为41.32亿元。", PROFIT, False),
        ("Costs were $5 million.", "Sales were $3 million, and costs were $5 million.", True),
        ("Costs were $3 million.", "Sales were $3 million, and costs were $5 million.", False),
    ],
)
def test_b3_a_rival_that_the_words_fit_better(answer: str, text: str, accepted: bool) -> None:
    """B3: in a table by row and column, in text by the words of the figure's own clause."""
    assert passes(answer, text) is accepted


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [("Wireless revenue rose by 3.6% in 2024.", True), ("Wireless revenue rose by 3.4% in 2024.", False)],
)
def test_b3_parallel_sentences(answer: str, accepted: bool) -> None:
    """B3: two sentences that say the same of two subjects compete; the subject decides, across paragraphs too."""
    texts = ("Wireless revenue increased by 3.6% in 2024.", "Media revenue increased by 3.4% in 2024.")
    assert passes(answer, *texts) is accepted


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("Of the total warrants issued in August 2024, 842,000 were outstanding as of December 31, 2024.", True),
        ("Of the total warrants issued in August 2024, 458,202 were outstanding as of December 31, 2024.", False),
        ("Total warrants outstanding as of December 31, 2024 were 1,300,202.", True),
        ("Total warrants outstanding as of December 31, 2024 were 842,000.", False),
    ],
)
def test_a_row_that_is_a_period(answer: str, accepted: bool) -> None:
    """A row of one month under a date has both, and the total of all months is no rival where the month is named."""
    assert passes(answer, WARRANTS) is accepted


@pytest.mark.parametrize(("number", "status"), [(1, "exact"), (2, "wrong_citation")])
def test_b4_the_cited_source(number: int, status: str) -> None:
    """B4: the figure stands in the source that the sentence cites; else the reason says in which."""
    outcome = checked(f"Revenue was $5 million [{number}].", "Revenue was $5 million.", "Costs were $7 million.")
    assert outcome.figures[0].status == status
    assert outcome.figures[0].reason is None or "source 1" in outcome.figures[0].reason.detail


@pytest.mark.parametrize(
    ("question", "accepted"),
    [("What was revenue in 2024?", True), ("How many lions live in the zoo?", False)],
)
def test_words_must_name_something_of_the_fact(question: str, accepted: bool) -> None:
    """Unbound: neither sentence nor question shares a word with the figure's row, column or caption."""
    outcome = checked("It was 4,132 million.", INCOME, question=question)
    assert (outcome.verdict == "pass") is accepted


def test_the_questions_words_bind_a_bare_answer() -> None:
    """A bare figure is bound by what was asked, period and row."""
    asked = "What was net income in 2023?"
    assert statuses("455 million", INCOME, question=asked) == {"455 million": "exact"}
    assert statuses("512 million", INCOME, question=asked) == {"512 million": "misbound"}
    assert statuses("3,541 million", INCOME, question=asked) == {"3,541 million": "misbound"}


OVERTIME = "加班费：工作日1.5倍，休息日2倍，法定节假日3倍。2024年共招聘128名员工，其中研发人员76名。"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("法定节假日加班费为3倍工资。", "法定节假日加班费为2倍工资。"),
        ("休息日加班费为2倍工资。", "休息日加班费为3倍工资。"),
        ("2024年招聘研发人员76名。", "2024年招聘研发人员128名。"),
        ("2024年招聘员工128名。", "2024年招聘员工76名。"),
    ],
)
def test_what_a_colon_announces_and_what_is_part_of_it(right: str, wrong: str) -> None:
    """The words before a colon are of every figure behind it; 其中 takes the words of the figure that it is part of."""
    assert passes(right, OVERTIME)
    assert not passes(wrong, OVERTIME)


def test_of_which_in_english() -> None:
    """`of which` works like 其中."""
    text = "We hired 128 people in 2024, of which 76 engineers."
    assert passes("We hired 76 engineers in 2024.", text)
    assert not passes("We hired 128 engineers in 2024.", text)


GRADES = """| 职级 | 基本工资（元） | 绩效（%） | 年假（天） |
|---|---|---|---|
| P5 | 22000 | 10 | 10 |
| P6 | 30000 | 15 | 12 |
| P7 | 41000 | 20 | 15 |"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("P7的年假为15天。", "P7的年假为12天。"),
        ("P6的基本工资为3万元。", "P6的基本工资为4.1万元。"),
        ("P7的绩效为20%。", "P7的绩效为15%。"),
        ("P6比P5的基本工资高8000元。", "P6比P5的基本工资高9000元。"),
        ("三个职级的平均基本工资为31000元。", "三个职级的平均基本工资为30000元。"),
        ("P5：22000元；P6：30000元。", "P5：30000元；P6：22000元。"),
    ],
)
def test_units_that_only_a_header_names(right: str, wrong: str) -> None:
    """A header's 元, % or 天 makes its plain numbers compete with figures of that unit, and with no others."""
    asked = "各职级的基本工资是多少？" if "：" in right else ""
    assert passes(right, GRADES, question=asked)
    assert not passes(wrong, GRADES, question=asked)


@pytest.mark.parametrize(("answer", "accepted"), [("$412.6 million", True), ("$88.1 million", False)])
def test_a_bare_answer_from_prose(answer: str, accepted: bool) -> None:
    """Where another sentence has what the question names, a figure of none of its words is no answer."""
    text = "At year-end 2024 we had cash of $412.6 million. Capital expenditures were $88.1 million in 2024."
    assert passes(answer, text, question="How much cash was there at year-end 2024?") is accepted


REVENUES = """利润表（单位：万元）
| 项目 | 2024年 | 2023年 |
|---|---|---|
| 营业收入 | 413,200 | 354,100 |
| 营业成本 | 300,000 | 250,000 |"""
PROFITS = """利润分配（单位：万元）
| 项目 | 2024年 | 2023年 |
|---|---|---|
| 净利润 | 51,200 | 45,500 |
| 分红 | 10,000 | 9,000 |"""
SALES = """Income (USD in millions)
| | 2024 | 2023 |
|---|---|---|
| Revenue | 4,132 | 3,541 |
| Costs | 3,000 | 2,500 |"""
INCOMES = """Distribution (USD in millions)
| | 2024 | 2023 |
|---|---|---|
| Net income | 512 | 455 |
| Dividends | 100 | 90 |"""
ZH_RIGHT, ZH_SWAPPED = (
    f"营业收入为{a}万元，净利润为{b}万元。" for a, b in (("413,200", "51,200"), ("51,200", "413,200"))
)
EN_RIGHT, EN_SWAPPED = (
    f"Revenue was ${a} million and net income was ${b} million in 2024."
    for a, b in (("4,132", "512"), ("512", "4,132"))
)


@pytest.mark.parametrize(
    ("right", "swapped", "texts"),
    [
        pytest.param(ZH_RIGHT, ZH_SWAPPED, (REVENUES, PROFITS), id="tables-zh"),
        pytest.param(ZH_RIGHT, ZH_SWAPPED, (f"{REVENUES}\n\n{PROFITS}",), id="tables-one-source-zh"),
        pytest.param(EN_RIGHT, EN_SWAPPED, (SALES, INCOMES), id="tables-en"),
        pytest.param(EN_RIGHT, EN_SWAPPED, (f"{SALES}\n\n{INCOMES}",), id="tables-one-source-en"),
        pytest.param(ZH_RIGHT, ZH_SWAPPED, (REVENUES, "2024年净利润为51,200万元。"), id="table-text-zh"),
        pytest.param(EN_RIGHT, EN_SWAPPED, (SALES, "Net income was $512 million in 2024."), id="table-text-en"),
        pytest.param(
            EN_RIGHT, EN_SWAPPED, (f"{SALES}\n\nNet income was $512 million in 2024.",), id="table-text-one-source-en"
        ),
        pytest.param(
            ZH_RIGHT,
            ZH_SWAPPED,
            ("公司2024年营业收入为413,200万元。", "公司2024年净利润为51,200万元。"),
            id="texts-of-one-subject-zh",
        ),
        pytest.param(
            EN_RIGHT,
            EN_SWAPPED,
            ("The company's revenue was $4,132 million in 2024.", "The company's net income was $512 million in 2024."),
            id="texts-of-one-subject-en",
        ),
    ],
)
def test_b3_across_elements(right: str, swapped: str, texts: tuple[str, ...]) -> None:
    """B3: two rows of two elements compete where the figure's own words name the one, and nothing of the other."""
    assert passes(right, *texts)
    outcome = checked(swapped, *texts)
    wrong = [figure for figure in outcome.figures if not figure.supported]
    assert [figure.status for figure in wrong] == ["misbound", "misbound"]
    assert wrong[0].reason is not None
    assert wrong[0].reason.nearest[0].printed in {"413,200", "413,200万元", "4,132", "$4,132 million"}


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        pytest.param(
            "Europe had 12 offices in 2024, and sales were $940 million.",
            (
                QUARTERS,
                "Europe had 12 offices in 2024.",
                "Income (USD in millions)\n| | 2024 |\n|---|---|\n| Sales | 4,132 |",
            ),
            id="a-caption-is-named",
        ),
        pytest.param(
            "In 2024, Europe had 12 offices and revenue of $4,132 million.",
            (
                "Report (USD in millions)\n| | 2024 |\n|---|---|\n| Europe | 4,132 |",
                "Europe had 12 offices in 2024.",
                "Revenue was $4.1 billion in 2024.",
            ),
            id="the-same-rounded",
        ),
        pytest.param("Revenue was $4,132 million in 2024.", (SALES, "Revenue was 7% of sales in 2024."), id="a-kind"),
        pytest.param(
            "Revenue was $4,132 million in 2024.", (SALES, "Revenue was $3,900 million in 2022."), id="another-period"
        ),
        pytest.param("2024年营业成本为300,000万元。", (REVENUES, "2024年成本为200万元。"), id="part-of-a-name-zh"),
    ],
)
def test_b3_across_elements_keeps_right_answers(answer: str, texts: tuple[str, ...]) -> None:
    """A figure whose row, caption or value the words name is not outdone by another element."""
    assert passes(answer, *texts)
