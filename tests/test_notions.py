"""Notions: the same thing by its other names, and nothing that only shares a word."""

from __future__ import annotations

import pytest

from kb_qa.extraction.notions import Notion, excess, notions_of, reading


def named(notion: Notion, text: str) -> bool:
    return notion.name_in(reading(text)) is not None


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("cash flow from operations", "Net cash provided by (used in) operating activities"),
        ("net revenue", "Total net sales"),
        ("net profit", "Net income"),
        ("营收", "营业收入（元）"),
        ("净销售额", "Net sales"),
        ("revenue", "公司实现营业收入48.6亿元"),
        ("non-performing loan ratio", "Non-performing loans/total loans"),
        ("share buyback", "The repurchase program was completed"),
        ("headcount", "Employees at year-end"),
        ("base salary", "基本工资"),
    ],
)
def test_a_thing_is_named_by_its_other_names(said: str, text: str) -> None:
    """In either language, in the plural, and with a few words between."""
    (notion,) = notions_of(said)
    assert named(notion, text)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("毛利", "毛利率"),
        ("净利润", "归属于上市公司股东的净利润"),
        ("产假", "陪产假17天"),
        ("gross margin", "Gross profit"),
        (
            "cash flow from operations",
            "Cash was spent on a meter which shows how quickly water can flow, in daily operations",
        ),
        ("total deposits", "Total assets"),
    ],
)
def test_a_longer_or_looser_name_is_another_thing(said: str, text: str) -> None:
    """A part of another thing's name, and words far apart, name nothing."""
    (notion,) = notions_of(said)
    assert not named(notion, text)


def test_words_without_other_names_are_notions_of_their_own() -> None:
    """What the table does not know is each of its words, those left out excepted."""
    assert [each.said for each in notions_of("order intake in Europe", without={"europ"})] == ["order", "intak"]


@pytest.mark.parametrize(
    ("label", "count"),
    [
        ("Revenue", 0),
        ("Total revenues (note 3)", 0),
        ("Cost of revenue", 1),
        ("Gain on sale of loans", 3),
        ("一、营业收入（元）", 0),
        ("营业收入成本", 1),
    ],
)
def test_excess_counts_what_a_label_says_besides(label: str, count: int) -> None:
    """Totals, numbers and what stands in brackets are no other thing."""
    assert excess(label, notions_of("revenue")) == count


def test_words_of_the_question_are_no_excess() -> None:
    """`Other operating income` is asked for as such."""
    asked = "What was the other operating income?"
    assert excess("Other operating income", notions_of("operating income"), reading(asked)) == 0


def test_a_label_of_ages_or_grades_that_are_not_asked_for_is_another() -> None:
    """Its numerals are no words, and yet tell it from the others; years tell nothing."""
    asked = reading("How many owners aged 45 to 54 were there?")
    assert excess("Owners, 45–54", notions_of("owners"), asked) == 0
    assert excess("Owners, 55–64", notions_of("owners"), asked) == 1
    assert excess("Owners, 2019–20", notions_of("owners"), asked) == 0
