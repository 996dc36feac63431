"""Which of the two nets answers for a page, and that they are asked as PyMuPDF asks them."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from ingest.layout_model import read_layout
from tests.pdf_pages import Draw, write_pdf

PROSE = "The board has approved the annual budget for the coming year and will review it again in the autumn. " * 3


def report(page: pymupdf.Page) -> None:
    """A heading, prose and a borderless table."""
    page.insert_text((72, 90), "Net revenue by segment", fontsize=14, fontname="hebo")
    page.insert_textbox((72, 110, 520, 260), PROSE * 2, fontsize=10)
    for row, texts in enumerate([("", "2023", "2024"), ("Cloud", "1,204", "1,391"), ("Devices", "870", "902")] * 3):
        for column, text in enumerate(texts):
            page.insert_text((80 + 150 * column, 300 + 16 * row), text, fontsize=10)


def scattered(page: pymupdf.Page) -> None:
    """Words without an order that says what they are."""
    for index, word in enumerate("Growth 12 % Team One Two Plan A B Risk Now Later Done".split()):
        page.insert_text((60 + 170 * (index * 7 % 3), 80 + 97 * (index * 5 % 7)), word, fontsize=8 + index % 4 * 5)


def summary(groups: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [(group["class_name"], group["group_bbox"], repr(group.get("table_grid"))) for group in groups]


@pytest.mark.parametrize("draw", [report, scattered], ids=lambda draw: draw.__name__)
def test_a_look_is_pymupdfs_own(tmp_path: Path, draw: Draw) -> None:
    """The features that are made once for both nets change nothing of what the one that looks says."""
    with pymupdf.open(write_pdf(tmp_path / "page.pdf", draw)) as document:
        looked = read_layout(document[0], look=True)
        page = document[0]
        page.get_layout(return_raw=True)
        assert summary(looked) == summary(page.layout_information)


def test_a_sure_page_is_not_looked_at(tmp_path: Path) -> None:
    """Both nets say the same of it, and its table has a grid."""
    with pymupdf.open(write_pdf(tmp_path / "page.pdf", report)) as document:
        read, looked = (read_layout(document[0], look=look) for look in (False, True))
    assert [group["class_name"] for group in read] == [group["class_name"] for group in looked]
    assert [group["table_grid"].v_lines for group in read if group["class_name"] == "table"]
