"""Which pages need no layout model: the signs are strict, and what they give is what the model gives."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from ingest.layout import predict_layout
from ingest.page_text import read_lines
from ingest.plain_page import plain_boxes
from ingest.printed import PrintedLine
from kb_qa.geometry import BBox
from tests.pdf_pages import Draw, write_pdf

A4 = BBox(0, 0, 595, 842)
PROSE = "The board has approved the annual budget for the coming year and will review it again in the autumn. " * 3


def prose(page: pymupdf.Page) -> None:
    """Three paragraphs, each under a bold heading, and a page number."""
    for index, heading in enumerate(("Budget and outlook", "Risks and insurance", "Staff and training")):
        page.insert_text((72, 100 + 180 * index), heading, fontsize=10, fontname="hebo")
        page.insert_textbox((72, 112 + 180 * index, 500, 270 + 180 * index), PROSE * 2, fontsize=10)
    page.insert_text((290, 820), "17", fontsize=10)


def second_column(page: pymupdf.Page) -> None:
    prose(page)
    for row in range(4):
        page.insert_text((520, 120 + 13.7 * row), "as of June 2024", fontsize=9)


def enumeration(page: pymupdf.Page) -> None:
    prose(page)
    page.insert_text((72, 700), "(a) the items of this list are for the layout model to judge", fontsize=10)


def loose_words(page: pymupdf.Page) -> None:
    prose(page)
    page.insert_text((72, 700), "Signed by the chair", fontsize=10)


def lines_of(path: Path, draw: Draw) -> list[PrintedLine]:
    with pymupdf.open(write_pdf(path, draw)) as document:
        return read_lines(document[0])


def test_a_page_of_paragraphs_under_bold_headings_is_plain(tmp_path: Path) -> None:
    """Headings, paragraphs and the page number are told apart, and the model says the same of the page."""
    lines = lines_of(tmp_path / "plain.pdf", prose)
    boxes = plain_boxes(lines, A4, drawn=0, pictures=0)
    assert boxes is not None
    labels = [box.label for box in boxes]
    assert labels.count("section-header") == 3
    assert labels.count("text") == 3
    assert labels[-1] == "page-footer"
    with pymupdf.open(tmp_path / "plain.pdf") as document:
        assert sorted(box.label for box in predict_layout(document[0], look=True)) == sorted(labels)


@pytest.mark.parametrize("draw", [second_column, enumeration, loose_words], ids=lambda draw: draw.__name__)
def test_a_page_that_leaves_a_doubt_is_for_the_model(tmp_path: Path, draw: Draw) -> None:
    """A second column, a list or a short line that is not bold: not plain."""
    assert plain_boxes(lines_of(tmp_path / "doubt.pdf", draw), A4, drawn=0, pictures=0) is None


def test_drawings_and_pictures_are_for_the_model(tmp_path: Path) -> None:
    """They may be a table or a figure."""
    lines = lines_of(tmp_path / "plain.pdf", prose)
    assert plain_boxes(lines, A4, drawn=40, pictures=0) is None
    assert plain_boxes(lines, A4, drawn=0, pictures=1) is None
