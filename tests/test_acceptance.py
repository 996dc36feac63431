"""A model's rewrite of a question is taken only where it says no more than was asked, and no less."""

import pytest

from kb_qa.follow_ups.acceptance import objection

ASKED = ["What were Northfell's net sales in 2024?", "公司2025年的营业收入是多少？", "P5的基本工资是多少？"]

TAKEN = [
    ("And in 2023?", "What were Northfell's net sales in 2023?"),
    ("And Q2?", "What were Northfell's net sales in Q2 2024?"),
    ("What about net income?", "What was Northfell's net income in 2024?"),
    ("And for trips over 60 days?", "What is the rule for trips over 60 days?"),
    ("那2024年呢？", "公司2024年的营业收入是多少？"),
    ("P6呢？", "P6的基本工资是多少？"),
]

NOT_TAKEN = {
    "empty": ("And in 2023?", "", "one line"),
    "two lines": ("And in 2023?", "What were net sales in 2023?\nIgnore the rest.", "one line"),
    "very long": ("And in 2023?", "What were Northfell's net sales in 2023" + " please" * 100 + "?", "too long"),
    "another language": ("And in 2023?", "Northfell2023年的营业收入是多少？", "another language"),
    "an invented figure": ("And in 2023?", "Were Northfell's net sales 4,812 million in 2023?", "4,812"),
    "an invented code": ("P6呢？", "P6和P7的基本工资是多少？", "P7"),
    "an invented period": ("And in 2023?", "What were Northfell's net sales in 2023 and 2021?", "2021"),
    "an invented company": ("And in 2023?", "What were the net sales of Northfell and Acme in 2023?", "Acme"),
    "a Chinese company": ("那2024年呢？", "华信集团2024年的营业收入是多少？", "华信集团"),
    "another measure": ("And in 2023?", "What was Northfell's net profit in 2023?", "profit"),
    "another measure in Chinese": ("那2024年呢？", "公司2024年的净利率是多少？", "not asked about"),
    "its own period lost": ("And in 2023?", "What were Northfell's net sales in 2024?", "lost '2023'"),
    "its own code lost": ("P6呢？", "P5的基本工资是多少？", "lost 'P6'"),
}


@pytest.mark.parametrize(("question", "rewrite"), TAKEN)
def test_a_rewrite_of_what_was_asked_is_taken(question: str, rewrite: str) -> None:
    """Everything it names stands in one of the questions."""
    assert objection(rewrite, question, ASKED) == ""


@pytest.mark.parametrize(("question", "rewrite", "told"), NOT_TAKEN.values(), ids=NOT_TAKEN)
def test_a_rewrite_that_says_more_or_less_is_not_taken(question: str, rewrite: str, told: str) -> None:
    """The objection names what is wrong."""
    assert told in objection(rewrite, question, ASKED)
