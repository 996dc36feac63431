"""Whether a block answers a question: the right thing, currency, time and teller."""

from __future__ import annotations

import pytest

from kb_qa.answers import Context, Hit, Material, Question
from kb_qa.elements import Block, Chunk
from kb_qa.models.extractive import ExtractiveModel

PREFIX = "Acme Ltd annual report"
UNIT = "(in millions)"


def row(label: str, *cells: str, years: tuple[str, ...] = ("2024", "2023"), unit: str = UNIT) -> str:
    return " | ".join(
        [label, *(f"{year}：{cell}" for year, cell in zip(years, cells, strict=False)), *filter(None, (unit,))]
    )


def chosen(question: str, *said: str, prefix: str = PREFIX, called: str = "", prose: bool = False) -> list[str]:
    """The blocks that are quoted, of one document with these blocks: rows, labelled, or sentences."""
    blocks = []
    for index, text in enumerate(said):
        printed = " | ".join(part.rpartition("：")[2] for part in text.split(" | ") if part != UNIT)
        blocks.append(Block(f"b{index}", "e", printed, 0, len(printed), labelled=text))
    kind = "text" if prose else "table"
    chunk = Chunk("c", "d", 1, "a.pdf", 0, tuple(blocks), kind, kind, prefix=f"{prefix}\n{UNIT}")
    material = Material(1, Hit(chunk, {"fused": 1.0}), "a.pdf")
    context = Context((material,), "", "", called={"d": (called,)} if called else {})
    return [each.block.labelled for each in ExtractiveModel().choose(Question(question, "en"), context)]


REVENUE = row("Net sales", "$ 8,412", "$ 7,650")


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What was net revenue in 2024?", "Net sales"),
        ("What was the net profit in 2024?", "Net income"),
        ("What is the Cash flow from operations?", "Net cash provided by (used in) operating activities"),
    ],
)
def test_a_row_under_another_name_of_the_same_thing(question: str, label: str) -> None:
    """A report says net sales where it is asked for revenue."""
    right = row(label, "853", "651")
    assert chosen(question, row("Gross profit", "3,365", "2,907"), right) == [right]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What was revenue in 2024?", "Cost of revenue"),
        ("What was revenue?", "Deferred revenue"),
        ("What were total deposits at year-end?", "Total assets"),
        ("What was the gross margin (%)?", "Gross profit"),
        ("What was the number of patents?", "Patent costs"),
    ],
)
def test_a_row_of_another_thing_is_no_answer(question: str, label: str) -> None:
    """A label says a thing in full, and nothing besides."""
    assert chosen(question, row(label, "853", "651")) == []


@pytest.mark.parametrize(
    ("currency", "figures", "answered"),
    [
        ("USD", "$ 8,412", True),
        ("AUD", "$ 8,412", False),
        ("AUD", "A$ 8,412", True),
        ("USD", "A$ 8,412", False),
        ("USD", "€ 8,412", False),
        ("EUR", "€ 8,412", True),
        ("USD", "8,412", False),
    ],
)
def test_the_currency_that_is_asked_for(currency: str, figures: str, answered: bool) -> None:
    """A sign that others share is a US dollar where nothing else is named; it is no other."""
    assert bool(chosen(f"What was net revenue in {currency}?", row("Net sales", figures, "1"))) is answered


def test_a_sale_is_no_sales() -> None:
    """What has the stem of another name of the thing is not that thing."""
    said = "On March 9, 2023, there were 180 holders of record at the last reported sale of our common stock."
    assert chosen("What was the revenue?", said) == []
    assert chosen("What was the revenue?", "Sales were $180 million.") == ["Sales were $180 million."]


def test_a_parents_own_statements_are_passed_by() -> None:
    """Their rows are those of the group only where nothing says whose they are."""
    rows = (row("Net income", "853", "651"), row("Equity in undistributed income of subsidiary", "5", "6"))
    assert chosen("What was net income?", *rows) == []
    assert chosen("What was net income?", rows[0], prefix="Parent company only") == []
    assert chosen("What was net income?", rows[0]) == [rows[0]]


def test_rows_of_earlier_periods_than_the_report() -> None:
    """Without a period in the question, the last one is meant."""
    old = row("Net income", "853", years=("Year ended December 31, 2021",))
    new = row("Staff", "853", "651", years=("Year ended December 31, 2023", "Year ended December 31, 2022"))
    assert chosen("What was net income?", old, new, new) == []
    assert chosen("What was net income in 2021?", old, new, new) == [old]


def test_a_sentence_of_another_year() -> None:
    """The report's own year is not what a sentence tells of that names another."""
    said = "We expect capital expenditure of $310 million in 2025."
    assert chosen("What was capital expenditure in 2024?", said, prefix="Annual Report 2024") == []
    assert chosen("What was capital expenditure in 2025?", said, prefix="Annual Report 2024") == [said]


@pytest.mark.parametrize(
    ("question", "said", "answered"),
    [
        ("Did Acme Ltd announce a share buyback?", "The board approved a share repurchase program.", True),
        ("Did Acme Ltd announce a share buyback?", "We may repurchase shares under a program.", False),
        ("Did Acme Ltd announce a share buyback?", "No share repurchase program was approved.", False),
        ("Did Acme Ltd mention any acquisitions?", "In 2022 we completed the acquisition of Globex.", True),
        ("Did Acme Ltd mention any acquisitions?", "A joint venture closed on the acquisition of a house.", False),
        ("Did Acme Ltd mention any acquisitions?", row("Acquisitions", "48", "22"), False),
    ],
)
def test_whether_something_happened(question: str, said: str, answered: bool) -> None:
    """Only a sentence that says it did, of the one who reports."""
    assert bool(chosen(question, said)) is answered


def test_a_superlative_is_said_by_the_document() -> None:
    """Nothing shows that a figure is the largest but a text that says so."""
    question = "What was the largest spending on executive compensation?"
    assert chosen(question, row("Executive compensation spending", "5", "4")) == []


def test_a_price_is_no_number_of_days() -> None:
    """A question for an amount is not answered by other figures."""
    assert (
        chosen("What is the price of a yearly plan?", "You can return a yearly plan within 14 days at its price.") == []
    )


def test_the_name_may_stand_on_the_cover_alone() -> None:
    """What the document is called names its company."""
    sales = row("Net sales", "8,412", "7,650")
    assert chosen("What were net sales of Globex?", sales) == []
    assert chosen("What were net sales of Globex?", sales, called="Globex annual report") == [sales]


ENDED = "Acme Ltd, year ended 30 June 2022\nBalance as at 30 June 2022"


@pytest.mark.parametrize(
    ("question", "cells", "told"),
    [
        ("Which leadership positions changed at Acme Ltd?", ("Director", "Jane Doe (Appointed on 1 July 2022)"), True),
        ("Which leadership positions changed at Acme Ltd?", ("Director", "Jane Doe (Appointed on 1 July 2012)"), False),
        ("Which leadership positions changed at Acme Ltd?", ("Director", "Jane Doe"), False),
        ("Which leadership positions changed at Acme Ltd in 2021?", ("CFO", "Jane Doe (Appointed May 2021)"), True),
        ("Which leadership positions changed at Acme Ltd in 2021?", ("CFO", "Jane Doe (Appointed May 2022)"), False),
        ("Acme Ltd在2021年有哪些管理层变动？", ("董事", "王明（2021年5月任命）"), True),
        ("Acme Ltd在2021年有哪些管理层变动？", ("董事", "王明（2015年5月任命）"), False),
    ],
)
def test_a_row_tells_who_was_appointed_in_the_year_asked_for(question: str, cells: tuple[str, str], told: bool) -> None:
    """A list of directors answers with those that came in the reported year, or in the one that is named."""
    said = f"Position：{cells[0]} | Name：{cells[1]}"
    assert chosen(question, said, prefix=ENDED) == ([said] if told else [])


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
        ("净增职工多少人？", "新开户职工4.12万人，净增职工2.05万人。"),
        ("全年缴存额是多少？", "全年缴存额96.48亿元，实缴单位11,530家。"),
        ("缴存额比上年增长多少？", "提取额占当年缴存额的73.5%，比上年增加2.8个百分点。"),
    ],
)
def test_words_of_asking_are_cut_before_chinese_is_told_apart(question: str, sentence: str) -> None:
    """`缴存额是多少` names 缴存额: no word is made of its end and the verb that follows."""
    other = "公积金热线全年接听来电12.6万通。"
    assert chosen(question, other, sentence, prefix="海川市住房公积金2024年度报告", prose=True) == [sentence]
