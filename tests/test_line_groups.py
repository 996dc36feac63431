"""Where paragraphs and list items begin, and what stands in two columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ingest.line_groups import begins_item, group_lines, looks_like_columns, starts_item
from ingest.printed import line_of
from tests.drafts_of import printed


@pytest.mark.parametrize(
    "text",
    [
        "• first",
        "- first",
        "1. first",
        "(a) first",
        "ii) first",
        "①第一",
        "1、优化",
        "一、教育",
        "十一、教育",
        "（一）甲",
        "(2)乙",
        "□ open",
    ],
)
def test_bullets_and_enumerators_start_an_item(text: str) -> None:
    """English and Chinese ones."""
    assert starts_item(printed(text))


@pytest.mark.parametrize(
    "text",
    [
        "first of all",
        "2024 was",
        "一、二线城市",
        "1.5 million",
        "１．５倍",
        "第一章",
        "□ 是 √ 否",
        "•",
        "(1,204) of it",
    ],
)
def test_words_and_figures_start_none(text: str) -> None:
    """Nor do boxes of which one is ticked: they answer the line above."""
    assert not starts_item(printed(text))


def test_a_narrow_gutter_parts_columns() -> None:
    """Ten points between two columns in type of ten points: what stands in one row is not one line."""
    left = [printed("some words of the left column", 72, 100 + 12.5 * row) for row in range(6)]
    start = left[0].bbox.x1 + 10
    right = [printed("and of the right one", start, 100 + 12.5 * row) for row in range(6)]
    groups = group_lines([line for pair in zip(left, right, strict=True) for line in pair])
    assert groups == [left, right]


def test_a_box_over_two_columns_of_which_one_is_short_is_no_paragraph() -> None:
    """The right column ends after a third of the rows; nothing crosses the gutter."""
    left = [printed("some words of the left column", 72, 100 + 12.5 * row) for row in range(15)]
    right = [printed("and of the right one", 310, 100 + 12.5 * row) for row in range(5)]
    assert looks_like_columns([*left, *right])
    crossing = printed("a line that runs on over the gutter and is as long as both of the columns are", 72, 300)
    assert not looks_like_columns([*left, *right, crossing])


def test_a_label_with_its_value_is_a_row_of_its_own() -> None:
    """`Total: $8.20` that OCR read does not run into the row below; in a text layer lines are what a program set."""
    lines = [printed("Total Amount: $8.20"), printed("GST (6%): $0.46", y=112)]
    read = [line_of([replace(word, confidence=0.9) for word in line.words]) for line in lines]
    assert [len(group_lines(rows)) for rows in (lines, read)] == [1, 2]


@pytest.mark.parametrize(
    ("before", "text", "begins"),
    [
        ("In 26 percent (n =", "71) of the incidents, the subject died", False),
        ("In 26 percent (n = 5)", "71) of the incidents", True),
        ("We sell (among others:", "(a) ships", True),
        ("We sell (among others:", "1. ships", True),
        ("We sell", "plain words", False),
    ],
)
def test_the_end_of_a_bracket_is_no_enumerator(before: str, text: str, begins: bool) -> None:
    """A bracket that the line before opened ends here; an enumerator of its own still begins an item."""
    assert begins_item(printed(text), printed(before)) is begins
