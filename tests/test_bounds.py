"""What a question names and bounds itself, a company of a list, a month, `after five years`, must be what is quoted."""

from __future__ import annotations

import pytest

from kb_qa.extraction.request import request_of
from tests.quoted_blocks import REVENUE, chosen, row


def notice(date: str, company: str, city: str, employees: str) -> str:
    return f"Notice Date：{date} | Company：{company} | City：{city} | Employees affected：{employees}"


NOTICES = (
    notice("07/15/2025", "Norwood Golf Company", "Carlsbad", "64"),
    notice("07/17/2025", "Brackwell Services LLC", "Monterey", "56"),
    notice("07/20/2025", "Norwood Golf Company", "Irvine", "9"),
)


def test_where_rows_name_companies_those_of_another_do_not_answer() -> None:
    """Neither another company's row nor the sum of a month is what was asked for, wherever in its row a name stands."""
    month = "Month：July 2025 | Notices：71 | Employees affected：8,574"
    question = "How many employees are affected at Brackwell Services LLC?"
    assert chosen(question, month, *NOTICES) == [NOTICES[1]]
    assert chosen("How many employees are affected at Dunmere Services LLC?", month, *NOTICES) == []


def test_a_named_row_that_lacks_what_is_asked_leaves_the_question_open() -> None:
    """The row of the company has no such column, and a column of another table has: nothing is answered."""
    bare = "Notice Date：07/17/2025 | Company：Brackwell Services LLC | City：Monterey"
    month = "Month：July 2025 | Notices：71 | Employees affected：8,574"
    assert chosen("How many employees are affected at Brackwell Services LLC?", month, bare) == []


def test_all_rows_of_what_is_named_are_told() -> None:
    """Two notices of one company: the figure of one alone would pass for all of it."""
    assert chosen("How many employees are affected at Norwood Golf Company?", *NOTICES) == [NOTICES[0], NOTICES[2]]


def test_the_company_of_a_report_need_not_stand_in_its_rows() -> None:
    """A row of the report's figures does not say again whose they are, also where a table of holdings does."""
    holding = "Holder：Norwood Golf Company | Shares：1,000"
    question = "What were net sales of Norwood Golf Company in 2024?"
    assert chosen(question, REVENUE, holding, called="Norwood Golf Company") == [REVENUE]


PARKING = "A parking place costs 40 euros a month."
LATER = "After three years of service it costs 25 euros."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much does a parking place cost after three years?", [LATER]),
        ("How much does a parking place cost?", [PARKING]),
        ("How much does a parking place cost after nine years?", []),
        ("How much does a parking place for 3.5 t cost?", [PARKING]),
    ],
)
def test_what_a_question_bounds_itself_must_be_stated(question: str, expected: list[str]) -> None:
    """`After three years` is answered by the sentence that says so of `it`, and by none where no sentence does."""
    assert chosen(question, PARKING, LATER, prose=True) == expected


@pytest.mark.parametrize("age", ["people 80 years and older", "3-year-olds", "the 3-year-old cohort"])
def test_an_age_is_no_bound(age: str) -> None:
    """It is printed in many ways: `those aged 80 and older`."""
    assert request_of(f"What share of {age} needed assistance?").conditions == ()


@pytest.mark.parametrize(
    ("label", "right"), [("Director and above", True), ("总监及以上", True), ("Directors' drivers", False)]
)
def test_a_row_from_a_grade_on_is_of_that_grade(label: str, right: bool) -> None:
    """`Director and above` is the row of a director; another thing of his is not."""
    question = "总监的住宿标准是多少？" if label[0] == "总" else "What is the hotel limit of a director?"
    limit = f"Grade：{label} | {'住宿标准' if label[0] == '总' else 'Hotel limit'}：800"
    assert chosen(question, limit) == [limit] * right


def test_net_profit_under_a_narrower_name() -> None:
    """It answers, under its own name, where nothing stands under the one that was asked; never for a margin."""
    owners = row("归属于上市公司股东的净利润", "15,678.90", "13,204.55")
    whole = row("净利润", "16,002.11", "13,400.00")
    assert chosen("2024年的净利润是多少？", REVENUE, owners) == [owners]
    assert chosen("2024年的净利润是多少？", owners, whole) == [whole]
    assert chosen("2024年的净利润率是多少？", owners, whole) == []


def test_when_it_starts_is_asked_in_other_words() -> None:
    """`什么时候开始` asks for a date, and names nothing that the sentence would have to say."""
    sentence = "本制度自2025年3月1日起施行，适用于全体正式员工。"
    assert chosen("差旅制度什么时候开始施行？", sentence, prefix="差旅管理制度", prose=True) == [sentence]


MONTHS = tuple(
    f"Month：{month} | Rainfall (mm)：{rain} | Losses (%)：{lost}"
    for month, rain, lost in (("March", "71", "10.9"), ("April", "55", "10.1"), ("June", "12", "9.8"))
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was the rainfall in April?", [MONTHS[1]]),
        ("What was the rainfall in May?", []),
        ("How much rainfall was there from April to May?", [MONTHS[1]]),
        ("What was the rainfall in March and June?", [MONTHS[0], MONTHS[2]]),
    ],
)
def test_a_month_that_is_named_must_be_that_of_the_row(question: str, expected: list[str]) -> None:
    """Neither another month's row nor another thing of that month answers."""
    bill = "Item：Paper | Due：14 May 2025 | Amount：258.00"
    assert chosen(question, bill, *MONTHS) == expected


def test_a_fee_may_be_a_share() -> None:
    """An amount goes before a share; where only a share is said, it is the fee."""
    share, amount = "A late fee of 2% per month applies.", "The late fee is 15 euros for each reminder."
    assert chosen("What is the late fee?", share, prose=True) == [share]
    assert chosen("What is the late fee?", share, amount, prose=True) == [amount]


def test_who_one_is_has_one_answer() -> None:
    """Other sentences that name the seller do not say who it is."""
    first, second = "Seller: Larkfield Supplies Ltd.", "Seller delivers by 31 August 2025."
    assert chosen("Who is the seller?", first, second, prose=True) == [first]


def test_what_is_compared_with_is_not_what_is_told_of() -> None:
    """The figures of a sentence are those of its own ship, and none of the ship that it outdoes."""
    sentence = "The new ferry Celeste carries 600 passengers and uses less fuel than the Aurelia."
    assert chosen("How many passengers does the Celeste carry?", sentence, prose=True) == [sentence]
    assert chosen("How many passengers does the Aurelia carry?", sentence, prose=True) == []


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("李明持有多少股？", "李明持有27,955,752股。"),
        ("净增职工多少人？", "新开户职工4.12万人，净增职工2.05万人。"),
        ("全年缴存额是多少？", "全年缴存额96.48亿元，实缴单位11,530家。"),
        ("缴存额比上年增长多少？", "提取额占当年缴存额的73.5%，比上年增加2.8个百分点。"),
    ],
)
def test_words_of_asking_are_cut_before_chinese_is_told_apart(question: str, sentence: str) -> None:
    """`缴存额是多少` names 缴存额: no word is made of its end and the verb that follows."""
    other = "公积金热线全年接听来电12.6万通。"
    assert chosen(question, other, sentence, prefix="海川市住房公积金2024年度报告", prose=True) == [sentence]
