"""Which lines are one paragraph, and which only stand under one another."""

from __future__ import annotations

import pytest

from ingest.drafts import Draft, text_draft
from ingest.headings import with_headings
from ingest.paragraphs import fills_column, paragraphs_joined
from tests.drafts_of import categories, draft, page_of, printed

FULL = "2、寒色孤村幕，悲风四野闻。溪深难受雪，山冻不流云。鸥鹭飞难"
LEADING = 27.0  # points between the tops of lines of size 10: more than a line is left open between two


def lines(category: str, *texts: str, y: float) -> Draft:
    """Lines in double leading."""
    return text_draft(category, [printed(text, y=y + LEADING * row) for row, text in enumerate(texts)])


def usual(y: float = 400.0) -> Draft:
    """A paragraph that shows how far lines stand apart."""
    return lines("ListItem", *[FULL] * 3, "旧符。", y=y)


@pytest.mark.parametrize("category", ["NarrativeText", "Title", "ListItem"])
@pytest.mark.parametrize("rest", ["辨，沙汀望莫分。——洪升", "《雪望》"])
def test_a_full_line_without_a_stop_goes_on_in_the_next_whatever_it_was_taken_for(category: str, rest: str) -> None:
    """In the page's own leading, however wide: a numbered line broken for want of room heads nothing."""
    page = paragraphs_joined([lines(category, FULL, y=60), lines("NarrativeText", rest, y=60 + LEADING), usual()])
    assert page[0].text == f"{FULL} {rest}"
    assert {category for category, _ in categories(with_headings([page_of(*page)]))[0]} <= {"ListItem", "NarrativeText"}


@pytest.mark.parametrize(
    ("above", "gap"),
    [("2、主要业务", LEADING), (f"{FULL}。", LEADING), (FULL, 3 * LEADING)],
    ids=["a short line", "a stop", "a gap"],
)
def test_a_short_line_a_stop_and_a_gap_end_a_paragraph(above: str, gap: float) -> None:
    """Then what stands below is another one."""
    page = [
        lines("NarrativeText", above, y=60),
        lines("NarrativeText", "沙汀望莫分，野桥梅几树。", y=60 + gap),
        usual(),
    ]
    assert len(paragraphs_joined(page)) == 3


def test_a_column_is_filled_only_beside_other_text_of_its_width() -> None:
    """A line alone says nothing of the width; a wider line of another column is no measure."""
    alone, shorter = draft("NarrativeText", FULL), draft("NarrativeText", FULL[:20], y=150)
    elsewhere = draft("NarrativeText", FULL, x=400)
    assert not fills_column(alone, [alone, elsewhere])
    assert not fills_column(shorter, [alone, shorter, draft("NarrativeText", FULL, y=200)])
    assert fills_column(alone, [alone, shorter, draft("NarrativeText", FULL, y=200)])


@pytest.mark.parametrize(
    ("last", "parts"),
    [
        ("表1 各区缴存情况（单位：亿元）", 2),
        ("Table 4: Deposits by district", 2),
        ("表1列出了各区缴存情况。", 1),
        ("Table 4 shows deposits by district", 1),
        ("各区缴存情况", 1),
    ],
)
def test_a_caption_that_is_the_last_line_is_none_of_the_paragraph(last: str, parts: int) -> None:
    """The model boxed it with the text above; a sentence about the table stays in it."""
    page = paragraphs_joined([draft("NarrativeText", "提取额70.91亿元，比上年增长11.4%。", last)])
    assert len(page) == parts
    assert page[-1].text == last or parts == 1
