"""What stands over a table's figures: its header rows, headings over several columns, and the unit line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ingest.header_spans import spread_group_headers
from ingest.table_captions import with_surroundings
from ingest.table_headers import leading_header_rows
from kb_qa.geometry import Region
from tests.drafts_of import draft
from tests.table_drafts import draft_table, grid, line, table_draft


@pytest.mark.parametrize(
    ("rows", "headers"),
    [
        ([["项目", "2024年", "2023年"], ["业务收入", "86,521", "83,040"], ["增值收益率", "1.47%", "1.52%"]], 1),
        ([["区", "缴存额", "提取额"], ["东湖区", "31.20", "23.45"], ["西岭区", "28.66", "-"]], 1),
        ([["Rent", "31.20", "30.10"], ["Power", "12.40", "11.00"], ["Total", "43.60", "41.10"]], 0),
        ([["Name", "City", "Since"], ["Anna", "Leeds", "2019"], ["Ben", "York", "2021"]], 0),
        ([["Sales", "2024"], ["Retail", "12.4"]], 0),
    ],
)
def test_a_row_of_words_over_figures_heads_them(rows: list[list[str]], headers: int) -> None:
    """Also where it names the stub; not where other columns hold words, or one row alone stands below."""
    assert leading_header_rows(grid(rows)) == headers


def test_a_unit_line_is_told_without_the_text_it_was_boxed_with() -> None:
    """What says that figures are in 亿元 is that line, with its place, and not the figures of the paragraph above."""
    text = draft("NarrativeText", "提取额70.91亿元，比上年增长11.4%。", "各区情况（单位：亿元）", y=100)
    table = draft_table(grid([["区", "提取额"], ["东湖区", "23.45"]], top=140))
    (found,) = [each.table for each in with_surroundings([text, table_draft(table)], 1) if each.table is not None]
    measures = found.stated
    assert measures[0].scale == 8
    assert measures[0].source is not None
    assert measures[0].source.text.replace(" ", "") == "（单位：亿元）"
    assert measures[0].source.region == Region(1, text.lines[1].bbox.rounded())


def test_a_heading_ends_where_the_names_of_the_columns_begin_again() -> None:
    """Though it would stand in the middle of one column more, that is the next one's."""
    names = ["No.", "Rate", "Range"]
    texts = [["", "", "North", "", "", "South", ""], ["Age", *names, *names], ["45", "1", "2", "3", "4", "5", "6"]]
    cells = [
        replace(each, lines=(line("North", each.bbox.x0 + 27, each.bbox.y0 + 4),)) if each.text == "North" else each
        for each in grid(texts)
    ]
    spread = spread_group_headers(cells, ((0, 2),))
    assert [(each.text, each.column, each.column_span) for each in spread if each.row == 0 and each.text] == [
        ("North", 1, 3),
        ("South", 4, 3),
    ]
