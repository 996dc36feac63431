"""Text that is in the file but not to be seen: six kinds, each kept apart, and what only looks like one of them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image

from ingest.chunk import Origin, chunk
from ingest.limits import Limits
from ingest.pdf import parse_pdf
from kb_qa.elements import ParsedDocument
from kb_qa.listing import element_line
from tests.pdf_pages import Draw, draw_grid, write_pdf

SEEN = "The annual revenue of the company was 4,812 million in the year 2024."
UNSEEN = "Profit was 9,999 million"


def invisible(page: pymupdf.Page) -> None:
    page.insert_text((72, 200), UNSEEN, render_mode=3)


def transparent(page: pymupdf.Page) -> None:
    page.insert_text((72, 200), UNSEEN, fill_opacity=0)


def white_on_white(page: pymupdf.Page) -> None:
    page.insert_text((72, 200), UNSEEN, color=(1, 1, 1))


def tiny(page: pymupdf.Page) -> None:
    page.insert_text((72, 200), UNSEEN, fontsize=0.5)


def covered(page: pymupdf.Page) -> None:
    page.insert_text((72, 200), UNSEEN)
    page.draw_rect(pymupdf.Rect(60, 180, 300, 210), fill=(1, 0.9, 0.6), color=None)


def off_the_page(page: pymupdf.Page) -> None:
    page.insert_text((-400, 200), UNSEEN)
    page.insert_text((72, 900), UNSEEN)


def parsed(path: Path, *draws: Draw) -> ParsedDocument:
    return parse_pdf(write_pdf(path / "a.pdf", *draws), "document", limits=Limits())


@pytest.mark.parametrize("draw", [invisible, transparent, white_on_white, tiny, covered])
def test_text_that_no_reader_sees_is_marked_and_supports_nothing(tmp_path: Path, draw: Draw) -> None:
    """Each kind is an element of its own that says why, and none of it is in a chunk, the material of answers."""

    def page(page: pymupdf.Page) -> None:
        for row in range(3):
            page.insert_text((72, 300 + 15 * row), SEEN, fontsize=11)
        draw(page)

    document = parsed(tmp_path, page)
    lines = [element_line(element) for element in document.elements]
    (hidden,) = [line for line in lines if line["hidden"]]
    assert hidden["text"] == UNSEEN
    assert [line["text"] for line in lines if line["hidden"] is None] == [" ".join([SEEN] * 3)]
    chunks = chunk(document.elements, Origin("document", 1, "a.pdf", "1"))
    assert chunks
    assert not any("9,999" in part.embedded_text for part in chunks)


def test_text_off_the_page_is_not_read_at_all(tmp_path: Path) -> None:
    """What lies beyond the edges of the page is no text of it."""

    def page(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), SEEN, fontsize=11)
        off_the_page(page)

    assert [element.text for element in parsed(tmp_path, page).elements] == [SEEN]


def test_hidden_text_in_a_cell_is_no_part_of_the_table(tmp_path: Path) -> None:
    """A white figure behind the visible ones of a table does not become a cell's text."""

    def page(page: pymupdf.Page) -> None:
        draw_grid(page, [["", "2023", "2024"], ["Revenue", "4,500", "4,812"], ["Profit", "310", ""]])
        page.insert_text((316, 164), "9,999", fontsize=10, color=(1, 1, 1))

    document = parsed(tmp_path, page)
    (table,) = [element for element in document.elements if element.table is not None]
    assert "9,999" not in table.text
    assert not any("9,999" in part.embedded_text for part in chunk(document.elements, Origin("document", 1, "a", "1")))
    (hidden,) = [element for element in document.elements if element.hidden]
    assert hidden.text == "9,999"


def on_colour(page: pymupdf.Page) -> None:
    page.draw_rect(pymupdf.Rect(60, 80, 540, 120), fill=(1, 0.95, 0.8), color=None)
    page.insert_text((72, 100), SEEN, fontsize=11)


def white_on_dark(page: pymupdf.Page) -> None:
    page.draw_rect(pymupdf.Rect(60, 80, 540, 120), fill=(0.1, 0.1, 0.3), color=None)
    page.insert_text((72, 100), SEEN, fontsize=11, color=(1, 1, 1))


def pale(page: pymupdf.Page) -> None:
    page.insert_text((72, 100), SEEN, fontsize=11, color=(0.8, 0.8, 0.8))


def half_transparent(page: pymupdf.Page) -> None:
    page.insert_text((72, 100), SEEN, fontsize=11, fill_opacity=0.4)


def small_print(page: pymupdf.Page) -> None:
    page.insert_text((72, 100), SEEN, fontsize=4)


@pytest.mark.parametrize("draw", [on_colour, white_on_dark, pale, half_transparent, small_print])
def test_text_that_can_be_seen_is_not_hidden(tmp_path: Path, draw: Draw) -> None:
    """Colour, a dark ground, pale or small print hide nothing."""
    assert [(element.text, element.hidden) for element in parsed(tmp_path, draw).elements] == [(SEEN, "")]


def test_the_layer_of_a_searchable_scan_is_not_hidden(tmp_path: Path) -> None:
    """Invisible text over a picture of the same words is what the picture says, and is cited as read by OCR."""
    printed = pymupdf.open().new_page(width=595, height=842)
    said = [SEEN, "The margin rose to 12.5 percent, and the board proposes a dividend of 1.25 a share."]
    for row, line in enumerate(said):
        printed.insert_text((72, 100 + row * 20), line, fontsize=11)
    picture = printed.get_pixmap(dpi=150).tobytes("png")

    def page(page: pymupdf.Page) -> None:
        page.insert_image(page.rect, stream=picture)
        for row, line in enumerate(said):
            page.insert_text((72, 100 + row * 20), line, fontsize=11, render_mode=3)

    document = parsed(tmp_path, page)
    assert {(element.hidden, element.origin) for element in document.elements} == {("", "ocr")}
    assert SEEN in " ".join(element.text for element in document.elements)


def test_an_invisible_layer_that_the_picture_does_not_show_stays_hidden(tmp_path: Path) -> None:
    """Text laid invisibly over a photograph is no OCR layer: nothing on the page says it."""
    noise = np.random.default_rng(7).integers(0, 255, (24, 18), dtype=np.uint8)
    photograph = io.BytesIO()
    Image.fromarray(noise).resize((600, 800), Image.Resampling.BICUBIC).save(photograph, "PNG")

    def page(page: pymupdf.Page) -> None:
        page.insert_image(page.rect, stream=photograph.getvalue())
        for row in range(4):
            page.insert_text((72, 300 + row * 20), f"{UNSEEN} in the year of the annual report", render_mode=3)

    document = parsed(tmp_path, page)
    said = [element for element in document.elements if "9,999" in element.text]
    assert said
    assert all(element.hidden for element in said)
    assert not chunk(document.elements, Origin("document", 1, "a.pdf", "1"))
