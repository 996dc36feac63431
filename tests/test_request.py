"""What a question asks for, without its instructions and frames."""

from __future__ import annotations

import pytest

from kb_qa.extraction.request import request_of

LONG = "If data is not available, return 'N/A'."


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        (
            "According to the annual report, what is the Cash flow from operations (in USD) for Acme, Inc.  "
            f"(within the last period or at the end of the last period)? {LONG}",
            ["cash flow oper"],
        ),
        (
            "For Acme, Inc., what was the value of Number of hybrid models available at the end of the period "
            f"listed in annual report? {LONG}",
            ["hybrid", "model", "avail"],
        ),
        ("What was Acme's net revenue in 2024?", ["net revenu"]),
        (f"What was the value of Total deposits at year-end of Acme Corporation? {LONG}", ["total deposit"]),
        ("How much did net sales grow in 2024?", ["net sale"]),
        ("营业收入同比增长多少？", ["营业收入"]),
        ("公司的存款总额是多少？", ["存款总额", "公司"]),
    ],
)
def test_the_topic_is_what_must_be_named(question: str, topic: list[str]) -> None:
    """Names, periods, units, instructions, and what every report says are no part of it."""
    assert [notion.said for notion in request_of(question).topic] == topic


@pytest.mark.parametrize(
    ("question", "field", "value"),
    [
        ("What is the net income in AUD?", "currency", "AUD"),
        ("What is the net income (in USD)?", "currency", "USD"),
        ("What is the net income?", "currency", ""),
        ("净利润是多少美元？", "currency", "USD"),
        ("What is the total of the receipt?", "kinds", ("receipt", "invoice", "cash", "收据", "小票", "发票")),
        ("What is the average tax expense for 2018 and 2019?", "arithmetic", "average"),
        ("What was the percentage change in revenue?", "arithmetic", "relative"),
        ("Why did revenue fall?", "explains", True),
        ("How is revenue recognised?", "explains", True),
        ("How many employees are there?", "explains", False),
        ("Did Acme announce a buyback?", "yes_no", True),
        ("公司提供班车吗？", "yes_no", True),
        ("What was the largest expense?", "superlative", "largest"),
        ("How many days of leave cost nothing?", "wants_amount", False),
        ("What was the gross profit?", "wants_amount", True),
        ("What was the gross margin?", "wants_amount", False),
        ("In which year was revenue highest?", "which_period", True),
    ],
)
def test_the_kind_of_answer(question: str, field: str, value: object) -> None:
    """Unit, kind of document, arithmetic and form are read from the wording."""
    assert getattr(request_of(question), field) == value


def test_a_company_labels_no_row() -> None:
    """A region or product may; a name with a legal form is whose report it is."""
    assert request_of("What was revenue in Europe?").labels == {"europ"}
    assert request_of("What was revenue of Medallion Financial Corp.?").labels == frozenset()
