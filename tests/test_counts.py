"""Counts: printed, counted from rows and list items, structural, or against a source that counts otherwise (V11)."""

from __future__ import annotations

import pytest

from tests.figure_cases import SEGMENTS, checked, passes, statuses

LIST = "The company has these plants:\n- Lyon\n- Turin\n- Graz\n- Brno"
FEES = """费用标准（单位：元）
| 项目 | 金额 |
|---|---|
| 报名费 | 100 |
| 考试费 | 300 |
| 证书费 | 50 |
| 合计 | 450 |"""


@pytest.mark.parametrize(
    ("answer", "text", "status"),
    [
        ("There are 3 segments.", SEGMENTS, "counted"),
        ("There are three segments.", SEGMENTS, "counted"),
        ("There are 4 segments.", SEGMENTS, "unsupported"),
        ("There are 3 lawsuits.", SEGMENTS, "unsupported"),
        ("There are 4 plants.", LIST, "counted"),
        ("There are 5 plants.", LIST, "unsupported"),
        ("共有3个项目。", FEES, "counted"),
        ("共有4个项目。", FEES, "unsupported"),
    ],
)
def test_rows_and_items_are_counted_where_the_noun_names_them(answer: str, text: str, status: str) -> None:
    """V11: digits need as many rows (totals aside) or items; a noun that names them no wise counts nothing."""
    assert status in statuses(answer, text).values()


def test_a_count_shows_what_was_counted() -> None:
    """I6: the rows are the support, each with its cell."""
    (figure,) = checked("There are 3 segments.", SEGMENTS).figures
    assert [(place.printed, place.cell) for place in figure.support] == [
        ("Cloud", (1, 0)),
        ("Devices", (2, 0)),
        ("Services", (3, 0)),
    ]


def test_a_spelled_count_that_nothing_denies_is_annotated() -> None:
    """V11: "two reasons" structures an answer, and is marked as such."""
    (figure,) = checked("There are two reasons.", "Some text.").figures
    assert (figure.status, figure.annotations) == ("exempt", ("soft",))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("It has four segments.", "The group has three operating segments."),
        ("公司有四个分部。", "公司有三个可报告分部。"),
        ("It has 4 segments.", f"The group has three segments.\n{SEGMENTS}"),
    ],
)
def test_a_source_that_counts_otherwise_refuses(answer: str, text: str) -> None:
    """V11: the same noun with another number contradicts, whatever rows there are."""
    assert not passes(answer, text)


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("Here are 3 points:", True),
        ("有3个原因：", True),
        ("Here are 3 points.", False),
        ("There are 3 lawsuits:", False),
        ("Here are 30 points:", False),
    ],
)
def test_a_small_count_that_leads_the_answers_own_list(answer: str, accepted: bool) -> None:
    """3(d): the answer's own structure, in the line before its list; anything else needs a source."""
    assert passes(answer, "Some text.") is accepted
