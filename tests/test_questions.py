"""Anchors: what a question names, and whether the materials name it."""

from __future__ import annotations

import pytest

from kb_qa.guardrails.questions import anchors, missing_anchors

BOILERPLATE = " If data is not available, return 'N/A'."


@pytest.mark.parametrize(
    "question",
    [
        "What is the refund period?",
        "How many days of annual leave do I get?",
        "Is the PDF in USD? Q&A",
        "Total revenue in May?",
        "What is the Gross margin (%) of the company?" + BOILERPLATE,
        "What was the value of Number of hybrid models and Non-performing loan ratio (NPL) in USD?",
        "Did it announce any ESG initiatives? If there is no mention, return False.",
        "When does the office open on Monday?",
        "公司的营业收入是多少？",
        "归属于上市公司股东的净利润是多少？",
        "哪家银行？",
        "子公司有几家？",
        "医疗保险缴费比例是多少",
        "如果没有，请回答'无'。",
        "",
    ],
)
def test_questions_without_anchors(question: str) -> None:
    """Question words, months, currencies, acronyms of the trade, title-case metrics and instructions name nothing."""
    assert anchors(question) == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Acme's revenue in 2019?", {("period", "2019"), ("name", "Acme")}),
        ("P9 的基本工资是多少？", {("code", "P9")}),
        ("What does SKU-48213 cost?", {("code", "SKU-48213")}),
        ("How much did Tesla spend in Q3 2024?", {("period", "Q3 2024"), ("name", "Tesla")}),
        ("Who is John Smith?", {("name", "John Smith")}),
        ("What did NATO say in FY24?", {("name", "NATO"), ("period", "FY24")}),
        ("Did Downer EDI Limited grow?", {("name", "Downer EDI Limited")}),
        ("For FNCB Bancorp, Inc., what was the value?", {("name", "FNCB Bancorp, Inc.")}),
        ("招商银行2023年净利润是多少？", {("name", "招商银行"), ("period", "2023年")}),
        ("请问华为公司的收入", {("name", "华为公司")}),
        ("《员工手册》里年假几天？", {("quote", "员工手册")}),
        ("“星河计划”是什么", {("quote", "星河计划")}),
        ('What does "force majeure" cover?', {("quote", "force majeure")}),
        ("Acme 2019年的收入是多少", {("name", "Acme"), ("period", "2019年")}),
    ],
)
def test_anchors(question: str, expected: set[tuple[str, str]]) -> None:
    """Codes, periods, quoted phrases and names, in both languages."""
    assert {(anchor.kind, anchor.text) for anchor in anchors(question)} == expected


@pytest.mark.parametrize("text", ["2024年", "FY2024", "FY24", "March 2024", "2024Q3", "2023–2025", "31.12.2024"])
def test_a_finer_or_other_form_names_a_year(text: str) -> None:
    """2024 is named by everything that lies in it."""
    assert missing_anchors("Revenue in 2024?", [text]) == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Revenue in 2024?", "2023 and 2,024 units"),
        ("How many Hispanics moved?", "Hispaniola and others"),
        ("Revenue in Q3 2024?", "2024 in all"),
        ("What does P9 earn?", "P90 and P8"),
        ("What was Acme's revenue?", "Acmeon Ltd"),
        ("招商银行的利润？", "工商银行的利润"),
        ("《员工手册》里年假几天？", "员工守则"),
    ],
)
def test_near_misses_do_not_name(question: str, text: str) -> None:
    """Another year, a longer code, a longer word, another bank."""
    assert len(missing_anchors(question, [text])) == 1


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does P9 earn?", "职级ｐ９"),
        ("What was Acme Inc.'s profit?", "ACME: profit"),
        ("Did Ritchie Bros. Auctioneers Incorporated grow?", "Ritchie Bros. grew"),
        ("华为公司的收入？", "华为技术有限公司"),
        ("What does SKU-48213 cost?", "sku 48213"),
    ],
)
def test_other_spellings_name(question: str, text: str) -> None:
    """Width, case, hyphens and legal forms do not matter."""
    assert missing_anchors(question, ["other", text]) == ()


def test_one_material_names_what_another_does_not() -> None:
    """Anchors are looked for in all materials together, each missing one is reported."""
    question = "What did Acme and Globex earn in 2019?"
    assert missing_anchors(question, ["Acme 2019", "about Globex"]) == ()
    assert [anchor.text for anchor in missing_anchors(question, ["Acme 2018"])] == ["2019", "Globex"]
