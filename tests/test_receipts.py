"""Boxes that end where the ink does, words spelled as printed, and receipts whose amounts keep their label."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pymupdf
import pytest

from ingest.image import parse_image
from ingest.ink_boxes import PixelBox, tight_line, tight_words
from ingest.limits import Limits
from ingest.printed import PrintedLine, line_of
from ingest.read_words import spelled_words
from ingest.receipts import with_receipt_rows
from kb_qa.geometry import BBox
from tests.drafts_of import printed

ROWS = [("Sub total", "20.50"), ("Rounding", "0.05"), ("TOTAL", "RM 20.55"), ("CASH", "RM 50.00"), ("Change", "29.45")]
LINE = BBox(0, 0, 100, 20)


def quad(x0: float, x1: float) -> list[list[float]]:
    return [[x0, 0], [x1, 0], [x1, 20], [x0, 20]]


@pytest.mark.parametrize(("paper", "left"), [(200, 0), (800, 300)], ids=["till-roll", "wide-paper"])
def test_a_label_and_its_amount_are_one_element(tmp_path: Path, paper: int, left: int) -> None:
    """Each row with an amount far from its label is cited as one text, on a till roll and on whatever it was laid."""
    document = pymupdf.open()
    page = document.new_page(width=paper, height=240)
    page.insert_text((left + 30, 40), "CORNER SHOP RECEIPT", fontsize=9)
    for row, (label, amount) in enumerate(ROWS):
        page.insert_text((left + 12, 80 + row * 22), label, fontsize=9)
        page.insert_text((left + 140, 80 + row * 22), amount, fontsize=9)
    path = tmp_path / "receipt.png"
    page.get_pixmap(dpi=200).save(path)
    texts = [element.text for element in parse_image(path, "document", limits=Limits()).elements]
    assert [text.casefold() for text in texts[1:]] == [f"{label} {amount}".casefold() for label, amount in ROWS]


def recognised(text: str, x: float, y: float) -> PrintedLine:
    """A line as OCR reads one: each word with a confidence."""
    line = printed(text, x, y)
    return line_of([replace(word, confidence=0.98) for word in line.words])


def receipt(left: float = 0) -> list[PrintedLine]:
    rows = enumerate(ROWS)
    return [
        recognised(text, left + x, 40 + 20 * row) for row, pair in rows for x, text in zip((0, 160), pair, strict=True)
    ]


def test_a_receipt_s_column_heads_are_one_row() -> None:
    """Where the rows hold values, what stands side by side above them is one line too, though it is no value."""
    heads = [recognised("Item", 0, 10), recognised("Price", 160, 10)]
    assert [line.text for line in with_receipt_rows([*heads, *receipt()])][:2] == ["Item Price", "Sub total 20.50"]


@pytest.mark.parametrize(
    "around",
    [
        pytest.param(
            [recognised("A letter on A4 in twelve points has lines as wide as this one, or wider than that", 0, 10)],
            id="A4",
        ),
        pytest.param(
            [recognised("A narrow column of ordinary prose lines", 0, 200 + 14 * row) for row in range(9)], id="prose"
        ),
    ],
)
def test_a_table_among_other_print_makes_no_receipt(around: list[PrintedLine]) -> None:
    """Neither in wide print, nor in a narrow column of prose: there the table finder looks for it."""
    lines = [*receipt(), *around]
    assert with_receipt_rows(lines) == lines


def test_a_line_s_box_ends_at_its_ink() -> None:
    """The detector's margin goes, and so does what hangs in from the lines above and below."""
    grey = np.full((60, 120), 255, np.uint8)
    grey[0:4, 10:110] = 0  # descenders of the line above
    grey[20:32, 15:100] = 0
    grey[14:17, 40:44] = 0  # the dot of an i
    assert tight_line(grey, PixelBox(5, 2, 115, 45)) == PixelBox(15, 14, 100, 32)


def test_light_print_on_dark_paper_has_its_box_too() -> None:
    """White on black is read as well as black on white."""
    grey = np.full((40, 120), 30, np.uint8)
    grey[12:24, 20:90] = 240
    assert tight_line(grey, PixelBox(5, 2, 115, 38)) == PixelBox(20, 12, 90, 24)


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_box_without_ink_stays_as_it_is(level: int) -> None:
    """Nothing is cut where nothing stands out."""
    box = PixelBox(5, 2, 115, 38)
    assert tight_line(np.full((40, 120), level, np.uint8), box) == box


def test_words_part_at_the_widest_blank() -> None:
    """The recogniser's coarse word edges move to the blank between the words."""
    grey = np.full((20, 120), 255, np.uint8)
    for start, end in ((10, 18), (20, 40), (55, 63), (66, 100)):
        grey[5:15, start:end] = 0
    assert tight_words(grey, PixelBox(0, 0, 120, 20), [(8, 50), (47, 104)]) == [(10, 40), (55, 100)]


def test_single_characters_without_spaces_between_them_are_one_word() -> None:
    """A full-width bracket that the model saw on a Latin line neither stays nor cuts the words into letters."""
    pieces = [(char, 0.9, quad(index * 10, index * 10 + 9)) for index, char in enumerate("SDN（A）")]
    words = spelled_words("SDN （A）", pieces, LINE, 0.9)
    assert [(word.text, word.spaced) for word in words] == [("SDN", False), ("(A)", True)]
    assert (words[0].bbox.x0, words[0].bbox.x1) == (0, 29)


def test_full_width_stays_among_chinese() -> None:
    """In Chinese the full-width bracket is what is printed, and each character is a word."""
    pieces = [(char, 0.9, quad(index * 10, index * 10 + 9)) for index, char in enumerate("收入（元）")]
    assert [word.text for word in spelled_words("收入（元）", pieces, LINE, 0.9)] == list("收入（元）")
