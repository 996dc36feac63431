"""Text inside the pictures of a page: charts, figures, pictures of text beside a text layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pymupdf
import pytest

from ingest.chunk import Origin, chunk
from ingest.limits import Limits
from ingest.ocr import GROUND, Picture, read_picture, render_bgr, shows_lines
from ingest.page_text import read_lines
from ingest.pdf import parse_pdf
from ingest.picture_text import PictureReader
from kb_qa.elements import Element, ParsedDocument
from kb_qa.geometry import BBox
from kb_qa.locate import block_rects
from tests.pdf_pages import ink, write_pdf

INTRODUCTION = "The works sold more in every year of the period, as the figure below shows for all."
FRAME = pymupdf.Rect(100, 200, 460, 400)
BARS = (("2021", "1,205"), ("2022", "1,377"), ("2023", "1,469"))


def chart(page: pymupdf.Page, frame: pymupdf.Rect) -> None:
    """Bars with their values above and their years below."""
    page.draw_line((frame.x0 + 20, frame.y1 - 40), (frame.x1 - 20, frame.y1 - 40))
    for index, (year, value) in enumerate(BARS):
        x, top = frame.x0 + 50 + index * 100, frame.y1 - 90 - index * 30
        page.draw_rect(pymupdf.Rect(x, top, x + 40, frame.y1 - 40), fill=(0.2, 0.4, 0.7))
        page.insert_text((x, top - 6), value, fontsize=12)
        page.insert_text((x + 4, frame.y1 - 24), year, fontsize=12)


def picture_of_chart() -> bytes:
    page = pymupdf.open().new_page(width=FRAME.width, height=FRAME.height)
    chart(page, page.rect)
    return bytes(page.get_pixmap(dpi=150).tobytes("png"))


def images(document: ParsedDocument) -> list[Element]:
    return [element for element in document.elements if element.element_type == "image"]


def report(page: pymupdf.Page) -> None:
    for row in range(3):
        page.insert_text((72, 80 + row * 16), INTRODUCTION, fontsize=11)
    page.insert_image(FRAME, stream=picture_of_chart())
    page.insert_text((200, 416), "Figure 3: Sales in tonnes", fontsize=10)


def test_a_chart_in_a_picture_is_an_element_with_its_caption_and_labels(tmp_path: Path) -> None:
    """The figure's numbers are words of the image element, each with a box on its ink and a confidence."""
    path = write_pdf(tmp_path / "a.pdf", report)
    document = parse_pdf(path, "document", limits=Limits())
    (image,) = images(document)
    assert image.text.startswith("Figure 3: Sales in tonnes")
    assert image.origin == "ocr"
    for label in (label for bar in BARS for label in bar):
        (word,) = [word for word in image.words if word.text == label]
        assert word.confidence is not None
        assert word.confidence > 0.8
        assert ink(path, 1, word.bbox) > 0.05
        assert word.bbox.overlap(BBox(*FRAME)) == 1
    (text,) = [element for element in document.elements if element.element_type == "text"]
    assert (text.origin, text.confidence) == ("text-layer", None)
    assert document.pages[0].quality.grade == "good"
    (part,) = [part for part in chunk(document.elements, Origin("document", 1, "a.pdf", "1")) if part.origin == "ocr"]
    (value,) = [block for block in part.blocks if block.text == "1,469"]
    assert block_rects(image, value.start, value.end).regions[0].rects == (
        next(word.bbox for word in image.words if word.text == "1,469"),
    )


def test_the_words_of_a_drawn_chart_belong_to_the_image(tmp_path: Path) -> None:
    """A chart of lines and text has its own words; nothing is read by OCR."""

    def draw(page: pymupdf.Page) -> None:
        for row in range(3):
            page.insert_text((72, 80 + row * 16), INTRODUCTION, fontsize=11)
        source = pymupdf.open()
        chart(source.new_page(width=FRAME.width, height=FRAME.height), pymupdf.Rect(0, 0, FRAME.width, FRAME.height))
        page.show_pdf_page(FRAME, source, 0)
        page.insert_text((200, 416), "Figure 3: Sales in tonnes", fontsize=10)

    document = parse_pdf(write_pdf(tmp_path / "a.pdf", draw), "document", limits=Limits())
    words = [word for element in document.elements for word in element.words]
    assert sum(word.text == "1,469" for word in words) == 1
    assert all(word.confidence is None for word in words)


def test_a_page_that_is_a_picture_of_text_under_a_heading_is_read(tmp_path: Path) -> None:
    """A header in the text layer does not hide that the text is a picture."""
    said = [
        "The annual revenue of the company was 4,812 million in",
        "the year 2024, and its margin rose to 12.5 percent of it.",
    ]
    scanned = pymupdf.open().new_page(width=420, height=300)
    for row in range(8):
        scanned.insert_text((20, 40 + row * 30), said[row % 2], fontsize=14)
    picture = scanned.get_pixmap(dpi=150).tobytes("png")

    def draw(page: pymupdf.Page) -> None:
        heading = "Quarterly bulletin of the works at the river, printed for the members of the board"
        page.insert_text((60, 30), heading, fontsize=9)
        page.insert_image(pymupdf.Rect(60, 60, 480, 360), stream=picture)

    path = write_pdf(tmp_path / "a.pdf", draw, width=540, height=400)
    document = parse_pdf(path, "document", limits=Limits())
    assert sum("4,812" in element.text for element in document.elements) >= 1
    origins = {element.text.split()[0]: element.origin for element in document.elements}
    assert origins["Quarterly"] == "text-layer"
    assert origins["The"] == "ocr"


def test_a_picture_that_comes_again_is_read_once() -> None:
    """A logo on every page costs one reading; past the budget pictures are left out and counted."""
    reader = PictureReader()
    page = pymupdf.open().new_page()
    page.insert_image(FRAME, stream=picture_of_chart())
    first, _ = reader.lines_in(page, [BBox(*FRAME)], [])
    left = reader.left
    second, _ = reader.lines_in(page, [BBox(*FRAME)], [])
    assert first == second
    assert reader.left == left
    assert PictureReader(left=0.0).lines_in(page, [BBox(*FRAME)], []) == ([], 1)


def test_small_plain_and_labelled_pictures_are_not_read() -> None:
    """Icons, plain areas and pictures over which the page prints its own text cost nothing."""
    page = pymupdf.open().new_page()
    page.insert_image(FRAME, stream=picture_of_chart())
    page.insert_text((120, 230), "A label of the text layer", fontsize=11)
    reader = PictureReader()
    own = read_lines(page)
    plain = BBox(100, 500, 300, 600)
    icon = BBox(*FRAME.tl, FRAME.x0 + 20, FRAME.y0 + 20)
    assert reader.lines_in(page, [BBox(*FRAME), plain, icon], own) == ([], 0)
    assert reader.left == PictureReader().left


def shaded(width: int, height: int) -> Picture:
    """Soft light and dark, as in a photograph that is out of focus."""
    rows, columns = np.mgrid[0:height, 0:width]
    grey = 128 + 90 * np.sin(columns / 140) * np.cos(rows / 170)
    return np.repeat(grey.astype(np.uint8)[:, :, None], 3, axis=2)


def test_a_large_picture_is_looked_at_from_afar() -> None:
    """Print of six points at 200 dpi is seen in a large picture at half its size; soft shades are none."""
    picture = shaded(1100, 800)
    assert not shows_lines(picture)
    label = pymupdf.open().new_page(width=300, height=20)
    label.insert_text((10, 14), "Investment to improve productivity", fontsize=6)
    print_of_it = render_bgr(label, 200 / 72)
    picture[600 : 600 + print_of_it.shape[0], 100 : 100 + print_of_it.shape[1]] = print_of_it
    assert shows_lines(picture)


def test_a_small_picture_is_read_as_it_is_and_the_next_page_blown_up() -> None:
    """What the detector is told for a picture does not hold for a page that is read after it."""
    page = pymupdf.open().new_page(width=160, height=60)
    page.insert_text((8, 34), "Paid 12.50 EUR", fontsize=11)
    small = render_bgr(page, 100 / 72)
    before = read_picture(small, 100 / 72)
    read_picture(small, 100 / 72, detected_side=GROUND)
    assert read_picture(small, 100 / 72) == before
    assert [line.text for line in before.lines] == ["Paid 12.50 EUR"]


@pytest.mark.parametrize(("text", "found"), [("D", []), ("D4", ["D4"])], ids=["a sign", "two signs"])
def test_a_single_sign_is_no_print(text: str, found: list[str]) -> None:
    """What is read as one letter is a fold in a photograph; two are a label."""
    page = pymupdf.open().new_page()
    stream = pymupdf.open().new_page(width=120, height=80)
    stream.insert_text((30, 55), text, fontsize=36)
    page.insert_image(pymupdf.Rect(100, 100, 220, 180), stream=stream.get_pixmap(dpi=150).tobytes("png"))
    lines, _ = PictureReader().lines_in(page, [BBox(100, 100, 220, 180)], [])
    assert [line.text for line in lines] == found
