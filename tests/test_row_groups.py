"""Headings over groups of rows are in the paths of their rows, one in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from ingest.limits import Limits
from ingest.pdf import parse_pdf
from tests.pdf_pages import tables, write_pdf
from tests.table_drafts import built, draft_table, grid, line


def paths(rows: Sequence[tuple[float, str, str]], bold: Mapping[int, bool] | None = None) -> dict[str, tuple[str, ...]]:
    """The path of each row with a value, by its label; rows are (indent, label, value), `bold` those so printed."""
    texts = [["Item", "2024"], *([label, value] for _, label, value in rows)]
    cells = [
        replace(each, lines=(line(each.text, each.lines[0].bbox.x0, each.lines[0].bbox.y0, bold=True),))
        if each.column == 0 and (bold or {}).get(each.row)
        else each
        for each in grid(texts, {row: indent for row, (indent, _, _) in enumerate(rows, start=1)})
    ]
    table = built(draft_table(cells))
    return {
        cell.row_headers[-1]: cell.row_headers[:-1]
        for cell in table.cells
        if cell.column == 1 and not cell.header and cell.text
    }


def test_rows_set_in_under_a_heading_are_its_group() -> None:
    """The group ends with the first row that is not set in."""
    found = paths([(0, "Assets:", ""), (8, "Cash", "4"), (8, "Debtors", "5"), (0, "Net assets", "9")])
    assert found == {"Cash": ("Assets:",), "Debtors": ("Assets:",), "Net assets": ()}


def test_groups_stand_in_groups() -> None:
    """`ASSETS` over `Current assets` over the rows, until a heading or a row further left."""
    found = paths(
        [
            (0, "ASSETS", ""),
            (0, "Current assets:", ""),
            (8, "Cash", "4"),
            (8, "Total current assets", "4"),
            (0, "Non-current assets:", ""),
            (8, "Land", "5"),
            (0, "LIABILITIES", ""),
            (8, "Loans", "2"),
        ]
    )
    assert found == {
        "Cash": ("ASSETS", "Current assets:"),
        "Total current assets": ("ASSETS", "Current assets:"),
        "Land": ("ASSETS", "Non-current assets:"),
        "Loans": ("LIABILITIES",),
    }


def test_without_indents_a_group_goes_on_to_the_next_heading() -> None:
    """Labels of one left edge: each heading ends the group before."""
    found = paths([(0, "流动资产：", ""), (0, "货币资金", "4"), (0, "流动负债：", ""), (0, "短期借款", "5")])
    assert found == {"货币资金": ("流动资产：",), "短期借款": ("流动负债：",)}


def test_indents_of_three_levels() -> None:
    """A row further left ends all groups that are set in farther."""
    found = paths(
        [
            (0, "Europe", ""),
            (8, "France", ""),
            (16, "Paris", "1"),
            (8, "Total France", "1"),
            (8, "Spain", ""),
            (16, "Madrid", "2"),
            (0, "Total Europe", "3"),
        ]
    )
    assert found == {
        "Paris": ("Europe", "France"),
        "Total France": ("Europe",),
        "Madrid": ("Europe", "Spain"),
        "Total Europe": (),
    }


def test_headings_right_below_a_period_are_its_parts() -> None:
    """`Cost` and `Impairment` of a year are in it up to the next year, totals as far left as the headings with them."""
    rows = [
        ("Year ended 30 June 2022", ""),
        ("Cost", ""),
        ("At 1 July 2021", "21"),
        ("Impairment", ""),
        ("Charge of 2022", "18"),
        ("Carrying amount 2022", "3"),
        ("Year ended 30 June 2021", ""),
        ("Cost", ""),
        ("At 1 July 2020", "23"),
        ("Impairment", ""),
        ("Charge of 2021", "20"),
    ]
    bold = {row: not value for row, (_, value) in enumerate(rows, start=1)}
    last, before = "Year ended 30 June 2022", "Year ended 30 June 2021"
    expected = {
        "At 1 July 2021": (last, "Cost"),
        "Charge of 2022": (last, "Impairment"),
        "Carrying amount 2022": (last, "Impairment"),
        "At 1 July 2020": (before, "Cost"),
        "Charge of 2021": (before, "Impairment"),
    }
    assert paths([(0, *row) for row in rows], bold) == expected
    expected["Carrying amount 2022"] = (last,)
    indents = (0, 0, 8, 0, 8, 0, 0, 0, 8, 0, 8)
    assert paths([(indent, *row) for indent, row in zip(indents, rows, strict=True)], bold) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2022", "2021"),
        ("2022年", "2021年"),
        ("Fiscal 2023", "Fiscal 2022"),
        ("As at 31 December 2021", "As at 31 December 2020"),
        ("Three months ended March 31, 2022", "Three months ended March 31, 2021"),
    ],
)
def test_a_period_parts_and_is_parted(first: str, second: str) -> None:
    """Periods right below another heading are its parts; without a heading right below, a period ends at the next."""
    rows = [(0, "Cost", ""), (0, first, ""), (0, "a", "1"), (0, second, ""), (0, "b", "2"), (0, "Land", "")]
    assert paths([*rows, (0, first, ""), (0, "c", "3")]) == {
        "a": ("Cost", first),
        "b": ("Cost", second),
        "c": ("Land", first),
    }
    rows = [(0, first, ""), (0, "a", "1"), (0, "Land", ""), (0, "b", "2"), (0, second, ""), (0, "c", "3")]
    assert paths(rows) == {"a": (first,), "b": ("Land",), "c": (second,)}


def test_a_period_ends_the_one_before_though_it_is_set_otherwise() -> None:
    """A year in plain type after the parts of a bold one is no part of those."""
    rows = [(0, "2022", ""), (0, "Cost", ""), (0, "a", "1"), (0, "2021", ""), (0, "Cost", ""), (0, "b", "2")]
    assert paths(rows, {1: True, 2: True}) == {"a": ("2022", "Cost"), "b": ("2021", "Cost")}


def test_a_year_printed_over_its_parts_is_in_the_labels(tmp_path: Path) -> None:
    """On a page, all headings bold and as far left as the rows."""
    rows = [["Company", "Loans", "Total"]]
    for year in ("2022", "2021"):
        rows += [[f"Year ended 30 June {year}", "", ""], ["Cost", "", ""], ["At 1 July", "21,948", "21,948"]]
        rows += [["Impairment", "", ""], ["Charge", "1,814", "1,814"]]

    def draw(page: pymupdf.Page) -> None:
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                box = pymupdf.Rect(72 + 150 * column, 100 + 20 * row, 222 + 150 * column, 120 + 20 * row)
                page.draw_rect(box)
                page.insert_text((box.x0 + 6, box.y1 - 6), text, fontsize=10, fontname="helv" if texts[1] else "hebo")

    (element,) = tables(parse_pdf(write_pdf(tmp_path / "a.pdf", draw), "document", limits=Limits()))
    assert element.table is not None
    assert [cell.row_headers for cell in element.table.cells if cell.column == 1 and not cell.header and cell.text] == [
        (f"Year ended 30 June {year}", group, label)
        for year in ("2022", "2021")
        for group, label in (("Cost", "At 1 July"), ("Impairment", "Charge"))
    ]
