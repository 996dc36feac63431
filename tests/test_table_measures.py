"""What a cell's figures are counted in: each scope, in English and in Chinese, and what inherits nothing."""

from __future__ import annotations

import re

import pytest

from ingest.drafts import Draft, DraftTable, PageDraft
from ingest.table_captions import with_document_measures, with_surroundings
from kb_qa.elements import Measure, Table
from kb_qa.geometry import Page, Region
from tests.table_drafts import ROW, built, cell_named, draft_table, grid, paragraph, table_draft

ENGLISH = [["Item", "2024"], ["Revenue", "4,812"], ["Costs", "(3,100)"]]
CHINESE = [["项目", "2024年"], ["营业收入", "4,812"], ["营业成本", "3,100"]]


def moved(table: DraftTable, *others: Draft) -> Table:
    """The finished table of a page on which the other drafts stand around it."""
    drafts = with_surroundings([*others, table_draft(table)], 1)
    return next(built(draft.table) for draft in drafts if draft.table is not None)


def measure_at(table: Table, label: str, header: str) -> Measure | None:
    return table.measure_of(cell_named(table, label, header))


def said(measure: Measure | None) -> tuple[int, str, str, str]:
    assert measure is not None
    return measure.scale, measure.unit, measure.scope, measure.source.text


@pytest.mark.parametrize(
    ("rows", "label", "header", "expected"),
    [
        ([["Item", "Value"], ["Revenue", "4.1 million"]], "Revenue", "Value", (6, "", "cell", "4.1 million")),
        ([["项目", "金额"], ["营业收入", "4.1亿元"]], "营业收入", "金额", (8, "CNY", "cell", "4.1亿元")),
        (
            [["Item", "2024 (US$ million)"], ["Revenue", "4,812"]],
            *("Revenue", "2024 (US$ million)", (6, "USD", "column", "2024 (US$ million)")),
        ),
        (
            [["项目", "金额（万元）"], ["营业收入", "4,812"]],
            "营业收入",
            "金额（万元）",
            (4, "CNY", "column", "金额（万元）"),
        ),
        (
            [["Item", "2024"], ["Revenue (in thousands)", "4,812"]],
            *("Revenue (in thousands)", "2024", (3, "", "row", "Revenue (in thousands)")),
        ),
        (
            [["项目", "2024年"], ["营业收入（亿元）", "4,812"]],
            *("营业收入（亿元）", "2024年", (8, "CNY", "row", "营业收入（亿元）")),
        ),
        (
            [["Item", "2024"], ["Balance sheet (in billions):", ""], ["Cash", "48"]],
            *("Cash", "2024", (9, "", "section", "Balance sheet (in billions):")),
        ),
        (
            [["项目", "2024年"], ["资产负债（千元）：", ""], ["货币资金", "48"]],
            *("货币资金", "2024年", (3, "CNY", "section", "资产负债（千元）：")),
        ),
        ([["(in millions)", "2024"], ["Cash", "48"]], "Cash", "2024", (6, "", "section", "(in millions)")),
        ([["单位：百万元", "2024年"], ["现金", "48"]], "现金", "2024年", (6, "CNY", "section", "单位：百万元")),
    ],
)
def test_words_inside_the_table_state_the_scale(
    rows: list[list[str]], label: str, header: str, expected: tuple[int, str, str, str]
) -> None:
    """The cell, its column's header, its row's label, its section and the head of the stub, each with its words."""
    assert said(measure_at(built(draft_table(grid(rows))), label, header)) == expected


@pytest.mark.parametrize(
    ("rows", "above", "expected"),
    [
        (ENGLISH, "Table 2: Results (in millions of US$)", (6, "USD", "caption")),
        (ENGLISH, "(in thousands, except per share data)", (3, "", "caption")),
        (ENGLISH, "RMB'000", (3, "CNY", "caption")),
        (CHINESE, "表2 主要会计数据（万元）", (4, "CNY", "caption")),
        (CHINESE, "单位：万元", (4, "CNY", "caption")),
        (CHINESE, "单位：千元 币种：美元", (3, "USD", "caption")),
    ],
)
def test_a_caption_or_unit_line_states_the_scale(
    rows: list[list[str]], above: str, expected: tuple[int, str, str]
) -> None:
    """What stands right above the table counts for all of its cells, with its words, in brackets alone where those say
    it, and its place.
    """
    line = paragraph(above, -30, category="Title" if above[:1] in "T表" else "NarrativeText")
    table = moved(draft_table(grid(rows)), line)
    measure = measure_at(table, rows[1][0], rows[0][1])
    bracket = re.search("[(（].*", above)
    assert said(measure) == (*expected, bracket[0] if bracket else above)
    assert measure is not None
    assert measure.source.region == Region(1, line.bbox.rounded())
    assert (table.scale, table.unit, table.scale_source) == (measure.scale, measure.unit, measure.source)


@pytest.mark.parametrize(
    ("rows", "above", "expected"),
    [
        (ENGLISH, "The tables of this chapter are expressed in thousands.", (3, "", "page")),
        (CHINESE, "本节各表金额单位：百万元。", (6, "CNY", "page")),
    ],
)
def test_text_further_up_the_page_states_the_scale(
    rows: list[list[str]], above: str, expected: tuple[int, str, str]
) -> None:
    """The nearest text above on the page that speaks of tables counts where nothing nearer does."""
    others = (paragraph(above, -300), paragraph("Nothing about figures stands here.", -200))
    assert said(measure_at(moved(draft_table(grid(rows)), *others), rows[1][0], rows[0][1])) == (*expected, above)


def test_a_mention_of_millions_states_nothing() -> None:
    """Prose that only uses the word speaks for no table."""
    prose = paragraph("We invested in millions of homes.", -300)
    assert measure_at(moved(draft_table(grid(ENGLISH)), prose), "Revenue", "2024") is None


def test_the_unit_line_of_another_table_is_its_own() -> None:
    """A line right above a first table does not reach past it to the second."""
    first, second = draft_table(grid(ENGLISH)), draft_table(grid(ENGLISH, top=8 * ROW))
    drafts = with_surroundings([paragraph("(in thousands)", -15), table_draft(first), table_draft(second)], 1)
    tables = [built(draft.table) for draft in drafts if draft.table is not None]
    assert [table.scale for table in tables] == [3, 0]
    assert measure_at(tables[1], "Revenue", "2024") is None


@pytest.mark.parametrize(
    ("rows", "statement", "expected"),
    [
        (ENGLISH, "Unless otherwise stated, amounts are in RMB million.", (6, "CNY")),
        (ENGLISH, "All amounts are expressed in thousands of US dollars.", (3, "USD")),
        (CHINESE, "除特别注明外，金额单位为人民币万元。", (4, "CNY")),
    ],
)
def test_a_statement_of_the_document_counts_last(
    rows: list[list[str]], statement: str, expected: tuple[int, str]
) -> None:
    """What is said once for the whole document reaches tables on other pages, where nothing nearer is said."""
    near = draft_table(grid([[rows[0][0], "(亿元)"], rows[1]]))
    first = PageDraft(Page(1, 600, 800), (paragraph(statement, 100),))
    second = PageDraft(Page(2, 600, 800), (table_draft(draft_table(grid(rows))), table_draft(near)))
    _, page = with_document_measures([first, second])
    bare, stating = (built(draft.table, 2) for draft in page.drafts if draft.table is not None)
    measure = measure_at(bare, rows[1][0], rows[0][1])
    assert said(measure) == (*expected, "document", statement)
    assert measure is not None
    assert measure.source.region is not None
    assert measure.source.region.page == 1
    assert said(measure_at(stating, rows[1][0], "(亿元)"))[2] == "column"


def test_the_nearest_words_win() -> None:
    """A column's header beats the caption, and only for that column."""
    rows = [["Item", "2024", "2024 (billions)"], ["Revenue", "4,812", "4.8"]]
    table = moved(draft_table(grid(rows)), paragraph("(in millions)", -15))
    assert said(measure_at(table, "Revenue", "2024"))[:3] == (6, "", "caption")
    assert said(measure_at(table, "Revenue", "2024 (billions)"))[:3] == (9, "", "column")


@pytest.mark.parametrize(
    "rows",
    [
        [["Item", "2024"], ["Earnings per share", "1.22"]],
        [["Item", "2024"], ["Gross margin", "12.5%"]],
        [["Item", "Change, percent"], ["Revenue", "12.5"]],
        [["Item", "2024"], ["Number of employees", "8,200"]],
        [["Item", "2024"], ["Days sales outstanding", "48"]],
        [["Item", "2024"], ["Per share data:", ""], ["Basic", "1.22"]],
        [["项目", "2024年"], ["基本每股收益", "1.22"]],
        [["项目", "2024年"], ["毛利率", "12.5"]],
        [["项目", "2024年"], ["员工人数", "8,200"]],
        [["项目", "2024年"], ["存货周转天数", "48"]],
    ],
)
def test_what_is_no_amount_inherits_no_scale(rows: list[list[str]]) -> None:
    """Percentages, figures per share, heads and days stay as printed under `(in thousands)`."""
    table = moved(draft_table(grid(rows)), paragraph("(in thousands, 单位：千元)", -15))
    assert measure_at(table, rows[-1][0], rows[0][1]) is None


def test_amounts_that_sound_like_heads_or_days_keep_their_scale() -> None:
    """`Employee benefits` are money, and so is what is `30 days past due`."""
    rows = [["Item", "2024"], ["Employee benefits", "48"], ["30 days past due", "12"]]
    table = moved(draft_table(grid(rows)), paragraph("(in thousands)", -15))
    assert [said(measure_at(table, label, "2024"))[0] for label, _ in rows[1:]] == [3, 3]


def test_heads_counted_in_thousands_say_so_themselves() -> None:
    """A label that states a scale is no exemption from it."""
    rows = [["Item", "2024"], ["Number of employees (thousands)", "8.2"]]
    table = moved(draft_table(grid(rows)), paragraph("(in millions)", -15))
    assert said(measure_at(table, "Number of employees (thousands)", "2024"))[:3] == (3, "", "row")


def test_shares_that_the_line_excepts_are_counted_as_printed() -> None:
    """`except share data` exempts rows of shares."""
    rows = [["Item", "2024"], ["Weighted average shares", "120"], ["Revenue", "4,812"]]
    table = moved(draft_table(grid(rows)), paragraph("(in thousands, except share and per share data)", -15))
    assert measure_at(table, "Weighted average shares", "2024") is None
    assert said(measure_at(table, "Revenue", "2024"))[0] == 3


@pytest.mark.parametrize(
    ("caption", "line"), [("Table 1: Results in millions", "(in thousands)"), ("表1 业绩（单位：亿元）", "单位：万元")]
)
def test_two_scales_at_one_level_are_ambiguous(caption: str, line: str) -> None:
    """Where caption and unit line disagree, neither is taken, and the cells know it."""
    others = (paragraph(caption, -40, category="Title"), paragraph(line, -15))
    table = moved(draft_table(grid(ENGLISH)), *others)
    measure = measure_at(table, "Revenue", "2024")
    assert measure is not None
    assert measure.ambiguous
    assert (table.scale, table.scale_source) == (0, None)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["", "2022", "2021 (Dollars in millions)", "2020"], ["Cash", "1", "2", "3"]], [(6, "USD")] * 3),
        (
            [["", "Year Ended June 30, 2022", "Year Ended June 30, 2021 (in thousands)"], ["Cash", "1", "2"]],
            [(3, "")] * 2,
        ),
        ([["项目", "2024年度（万元）", "2023年度"], ["现金", "1", "2"]], [(4, "CNY")] * 2),
        ([["项目", "期末余额", "期初余额（单位：百万元）"], ["现金", "1", "2"]], [(6, "CNY")] * 2),
    ],
)
def test_one_year_brackets_the_scale_of_all_years(rows: list[list[str]], expected: list[tuple[int, str]]) -> None:
    """Columns that differ in their period alone are counted alike, whichever of them the words were read into."""
    table = moved(draft_table(grid(rows)))
    assert [said(measure_at(table, rows[1][0], head))[:2] for head in rows[0][1:]] == expected


@pytest.mark.parametrize(
    ("headers", "bare"),
    [
        (["2022", "Shares (in thousands)"], "2022"),  # of what that column holds
        (["2022 (in millions)", "% change"], "% change"),
        (["2022 (in millions)", "2021 (in thousands)", "2020"], "2020"),  # two of them
        (["2022 (in millions)", "2022"], "2022"),  # the same year, otherwise counted
        (["2022 (in millions)", "2021 (€)"], "2021 (€)"),  # a currency of its own
        (["2022 (in millions)", "Average price"], "Average price"),
        (["2022 US$ (in millions)", "2021 RMB"], "2021 RMB"),
        (["2024年（万元）", "同比增减"], "同比增减"),
        (["股数（万股）", "2023年"], "2023年"),
        (["2024年（万元）", "2023年（亿元）", "2022年"], "2022年"),
        (["2024年（万元）", "人数"], "人数"),
    ],
)
def test_another_kind_of_column_inherits_no_scale(headers: list[str], bare: str) -> None:
    """Nothing comes from a column of shares, to one of percentages or of euros, nor where two scales are said."""
    table = moved(draft_table(grid([["", *headers], ["Sales", *("12" for _ in headers)]])))
    measure = measure_at(table, "Sales", bare)
    assert measure is None or measure.scale == 0


def test_a_row_per_share_inherits_no_scale_of_a_sibling() -> None:
    """What is exempt under a caption is exempt under a bracket over another year."""
    rows = [["", "2022 (in millions)", "2021"], ["Earnings per share", "1.22", "1.18"], ["Sales", "12", "11"]]
    table = moved(draft_table(grid(rows)))
    assert measure_at(table, "Earnings per share", "2021") is None
    assert said(measure_at(table, "Sales", "2021"))[0] == 6


def test_a_caption_counts_before_a_neighbour_and_a_page_behind_it() -> None:
    """Nearer words win: the unit line of the table, then the bracket over a sibling, then the page."""
    rows = [["Item", "2024", "2023 (in billions)"], ["Revenue", "4,812", "4.8"]]
    line, page = paragraph("(in millions)", -15), paragraph("The tables of this chapter are in thousands.", -300)
    assert said(measure_at(moved(draft_table(grid(rows)), line), "Revenue", "2024"))[0] == 6
    assert said(measure_at(moved(draft_table(grid(rows)), page), "Revenue", "2024"))[0] == 9


def test_a_currency_printed_on_any_cell_counts_for_its_column() -> None:
    """`$` stands on the first and the total row only; the words it was read from are kept apart from the scale's."""
    rows = [["Item", "2024", "Share"], ["Revenue", "$ 4,812", "60%"], ["Other", "1,200", "40%"]]
    table = moved(draft_table(grid(rows)), paragraph("(in millions)", -15))
    measure = measure_at(table, "Other", "2024")
    assert said(measure) == (6, "USD", "caption", "(in millions)")
    assert measure is not None
    assert measure.unit_source is not None
    assert measure.unit_source.text == "$ 4,812"
    assert measure_at(table, "Other", "Share") is None
