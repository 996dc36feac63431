"""Labels and values of a form that OCR read, and what only looks like one."""

from __future__ import annotations

import pytest

from ingest.form_rows import with_form_rows
from ingest.printed import PrintedLine
from tests.drafts_of import printed

FORM = [
    ("Invoice number", "BW-70318"),
    ("Invoice date", "March 18, 2025"),
    ("Customer", "Larkfield Public Library"),
    ("Order", "LPL-2291"),
]


def columns(rows: list[tuple[str, str]], *, gap: float = 180.0) -> list[PrintedLine]:
    """As a detector gives them, column by column."""
    left = [printed(row[0], 72, 100 + 24 * place) for place, row in enumerate(rows)]
    right = [printed(row[1], 72 + gap, 100 + 24 * place) for place, row in enumerate(rows)]
    return [*left, *right]


@pytest.mark.parametrize(
    "rows",
    [
        FORM,
        [("Name:", "Ada Wanderer"), ("Place:", "Tidewell"), ("State:", "open")],
        [("发票号码", "BW-70318"), ("开票日期", "2025年3月18日"), ("客户", "湖滨图书馆")],
    ],
    ids=["figures", "colons", "Chinese"],
)
def test_a_label_and_its_value_are_one_line(rows: list[tuple[str, str]]) -> None:
    """Row by row, in the order in which they stand, and other lines stay as they are."""
    title, text = printed("INVOICE", 72, 40), printed("Please pay within 21 days of the invoice date.", 72, 300)
    found = with_form_rows([title, *columns(rows), text])
    assert [line.text for line in found] == ["INVOICE", *(f"{label} {value}" for label, value in rows), text.text]


@pytest.mark.parametrize(
    ("rows", "gap"),
    [
        pytest.param(FORM[:2], 180, id="two rows"),
        pytest.param(FORM, 74, id="no gap"),
        pytest.param(
            [("Bill to", "Ship to"), ("Larkfield Library", "Larkfield Depot"), ("18 Harbour Lane", "5 Mill Road")],
            180,
            id="two addresses",
        ),
        pytest.param(
            [("of the year was", "in 2024 and rose"), ("higher than it", "by 4 % in 2025"), ("had been.", "again.")],
            180,
            id="prose",
        ),
        pytest.param([("Apples", "Pears"), ("Plums", "Figs"), ("Quinces", "Dates")], 180, id="a list in two columns"),
    ],
)
def test_other_columns_are_read_one_after_the_other(rows: list[tuple[str, str]], gap: float) -> None:
    """What has no labels on one side and values on the other is no form."""
    texts = {line.text for line in with_form_rows(columns(rows, gap=gap))}
    assert texts == {text for row in rows for text in row}
