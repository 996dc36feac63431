"""PDF files in, pages and elements out: what is refused, what is flagged, and where the boxes are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pymupdf
import pytest

from ingest.limits import Limits
from ingest.pdf import parse_pdf
from kb_qa.elements import ParsedDocument, Word
from kb_qa.errors import (
    DamagedFileError,
    EmptyFileError,
    LimitExceededError,
    MisnamedFileError,
    PasswordRequiredError,
    RejectedFileError,
)
from kb_qa.geometry import BBox, union_of
from tests.pdf_pages import Draw, ink, texts, write_pdf

PARAGRAPH = "Net revenue was 4,812 million in 2024 according to the audited statement."


def parsed(path: Path, limits: Limits | None = None) -> ParsedDocument:
    return parse_pdf(path, "document", limits=limits or Limits())


def words_of(document: ParsedDocument) -> list[Word]:
    return [word for element in document.elements for word in element.words]


def one_paragraph(page: pymupdf.Page) -> None:
    page.insert_text((72, 100), PARAGRAPH, fontsize=11)


# What is refused


def test_a_file_without_bytes_is_empty(tmp_path: Path) -> None:
    """A 0-byte file is refused as empty."""
    path = tmp_path / "a.pdf"
    path.write_bytes(b"")
    with pytest.raises(EmptyFileError, match="no bytes"):
        parsed(path)


@pytest.mark.parametrize(
    "content",
    [b"<html><script>alert(1)</script>hi 42</html>", b"hello world", b"<html> 1 0 obj endobj </html>"],
    ids=["html", "text", "html with pdf words"],
)
def test_g8_other_content_under_a_pdf_name_is_refused(tmp_path: Path, content: bytes) -> None:
    """HTML and plain text named .pdf are refused by their content (G8)."""
    path = tmp_path / "report.pdf"
    path.write_bytes(content)
    with pytest.raises(MisnamedFileError, match="not a PDF"):
        parsed(path)


def test_g8_a_picture_under_a_pdf_name_is_refused(tmp_path: Path) -> None:
    """A PNG named .pdf, which MuPDF would open, is refused (G8)."""
    path = tmp_path / "report.pdf"
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 20, 20))
    pixmap.clear_with(200)
    path.write_bytes(pixmap.tobytes("png"))
    with pytest.raises(MisnamedFileError):
        parsed(path)


def encrypted(path: Path, *, user: str) -> Path:
    document = pymupdf.open()
    one_paragraph(document.new_page())
    document.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", user_pw=user, permissions=0)
    return path


def test_b7_an_owner_password_does_not_lock_the_text(tmp_path: Path) -> None:
    """A file that only restricts printing and copying is read like any other (B7)."""
    assert texts(parsed(encrypted(tmp_path / "a.pdf", user=""))) == [PARAGRAPH]


def test_b7_a_user_password_is_asked_for(tmp_path: Path) -> None:
    """A locked file is refused with a sentence that says so, not with a library's text (B7)."""
    with pytest.raises(PasswordRequiredError, match="encrypted"):
        parsed(encrypted(tmp_path / "a.pdf", user="secret"))


def test_b8_a_wrong_startxref_is_repaired_and_flagged(tmp_path: Path) -> None:
    """A broken cross-reference is repaired, the text is whole, and the document says that it was repaired (B8)."""
    path = write_pdf(tmp_path / "a.pdf", one_paragraph)
    data = path.read_bytes()
    at = data.rindex(b"startxref")
    path.write_bytes(data[:at] + b"startxref\n999999\n%%EOF\n")
    document = parsed(path)
    assert document.flags == ("repaired",)
    assert texts(document) == [PARAGRAPH]


def test_b8_a_lost_beginning_is_repaired(tmp_path: Path) -> None:
    """A PDF without its first bytes is still recognised by its objects, and repaired (B8)."""
    path = write_pdf(tmp_path / "a.pdf", one_paragraph)
    path.write_bytes(path.read_bytes()[20:])
    document = parsed(path)
    assert "repaired" in document.flags
    assert texts(document) == [PARAGRAPH]


def test_b8_a_file_that_is_blank_after_repair_is_damaged(tmp_path: Path) -> None:
    """A truncated file whose pages come out blank is refused, not listed as read (B8)."""
    path = write_pdf(tmp_path / "a.pdf", one_paragraph)
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"stream")])
    with pytest.raises(RejectedFileError):
        parsed(path)


def test_b8_a_page_tree_that_points_to_no_page_is_damaged(tmp_path: Path) -> None:
    """Where no page is left, the file is refused as damaged and not as one that its parser cannot read (B8)."""
    path = tmp_path / "a.pdf"
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[<</Type/Page>>]/Count 1>>endobj\ntrailer<</Root 1 0 R>>\n"
    )
    with pytest.raises(DamagedFileError):
        parsed(path)


def test_b8_a_file_with_zero_pages_is_empty(tmp_path: Path) -> None:
    """A well-formed PDF with /Count 0 is refused as empty (B8)."""
    path = tmp_path / "a.pdf"
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"trailer<</Root 1 0 R>>\n"
    )
    with pytest.raises((EmptyFileError, DamagedFileError)):
        parsed(path)


def test_a_file_of_blank_pages_is_empty(tmp_path: Path) -> None:
    """Pages without any ink are no content."""
    with pytest.raises(EmptyFileError, match="blank"):
        parsed(write_pdf(tmp_path / "a.pdf", lambda page: None))


def test_too_many_pages_are_refused(tmp_path: Path) -> None:
    """The page limit is checked before any page is read."""
    path = write_pdf(tmp_path / "a.pdf", one_paragraph, one_paragraph, one_paragraph)
    with pytest.raises(LimitExceededError, match="3 pages"):
        parsed(path, Limits(max_pages=2))


DAMAGES = {
    "content": lambda document, page: document.update_stream(page.get_contents()[0], b"BT /F1 12 Tf (abc [[[ <<"),
    "page object": lambda document, page: document.update_object(page.xref, "null"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_b9_one_bad_page_does_not_lose_the_others(
    tmp_path: Path, damage: Callable[[pymupdf.Document, pymupdf.Page], None]
) -> None:
    """A damaged page is flagged and graded poor, not taken for a blank one; the others keep their numbers (B9)."""
    path = tmp_path / "a.pdf"
    document = pymupdf.open()
    for number in range(1, 6):
        document.new_page().insert_text((72, 100), f"This is the text of MARK-{number} here.")
    damage(document, document[2])
    document.save(path)
    result = parsed(path)
    assert [page.number for page in result.pages] == [1, 2, 3, 4, 5]
    assert [page.quality.grade for page in result.pages] == ["good", "good", "poor", "good", "good"]
    assert result.flags == ("page 3 unreadable: its content is damaged",)
    assert {element.regions[0].page: element.text for element in result.elements} == {
        number: f"This is the text of MARK-{number} here." for number in (1, 2, 4, 5)
    }


def test_progress_is_told_after_each_page(tmp_path: Path) -> None:
    """`progress` sees every page once, in order, with the total."""
    path = write_pdf(tmp_path / "a.pdf", one_paragraph, one_paragraph)
    seen: list[tuple[int, int]] = []
    parse_pdf(path, "document", limits=Limits(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_parsing_twice_gives_the_same(tmp_path: Path) -> None:
    """Nothing in a parse depends on chance: ids, order, boxes and text are equal."""
    path = write_pdf(tmp_path / "a.pdf", one_paragraph)
    assert parsed(path) == parsed(path)


# Where the boxes are


def rotated(path: Path, rotation: int) -> Path:
    document = pymupdf.open()
    page = document.new_page(width=400, height=600)
    page.insert_text((50, 100), "Net revenue 4,812", fontsize=12)
    page.set_rotation(rotation)
    document.save(path)
    return path


A1_BOXES = {
    0: (118.7, 87.1, 148.7, 103.6),
    90: (496.4, 118.7, 512.9, 148.7),
    180: (251.3, 496.4, 281.3, 512.9),
    270: (87.1, 251.3, 103.6, 281.3),
}


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a1_boxes_of_a_rotated_page_are_on_the_displayed_page(tmp_path: Path, rotation: int) -> None:
    """Whatever /Rotate says, the box of a word is where a reader sees it (A1)."""
    path = rotated(tmp_path / "a.pdf", rotation)
    document = parsed(path)
    word = next(word for word in words_of(document) if word.text == "4,812")
    assert word.bbox.as_tuple() == pytest.approx(A1_BOXES[rotation], abs=0.2)
    assert ink(path, 1, word.bbox) > 0.05
    assert document.pages[0].rotation == rotation
    assert (document.pages[0].width, document.pages[0].height) == ((400, 600) if rotation % 180 == 0 else (600, 400))


@pytest.mark.parametrize(
    ("rotation", "unit", "origin"),
    [(0, 1, (0, 0)), (0, 2, (-100, -50)), (90, 2, (0, 0)), (180, 1, (-100, -50)), (270, 2, (-100, -50))],
)
def test_a2_boxes_start_at_the_crop_box(tmp_path: Path, rotation: int, unit: int, origin: tuple[int, int]) -> None:
    """CropBox, MediaBox origin and UserUnit move no box off its glyphs; what is cropped away is not read (A2)."""
    path = tmp_path / "a.pdf"
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.insert_text((130, 200), "marker of the page", fontsize=12)
    page.insert_text((10, 20), "outside", fontsize=12)
    x, y = origin
    if origin != (0, 0):
        document.xref_set_key(page.xref, "MediaBox", f"[{x} {y} 595 842]")
    document.xref_set_key(page.xref, "CropBox", "[100 142 500 692]")
    document.xref_set_key(page.xref, "Rotate", str(rotation))
    if unit != 1:
        document.xref_set_key(page.xref, "UserUnit", str(unit))
    document.save(path)
    result = parsed(path)
    size = (400 * unit, 550 * unit) if rotation % 180 == 0 else (550 * unit, 400 * unit)
    assert (result.pages[0].width, result.pages[0].height) == pytest.approx(size)
    words = words_of(result)
    assert [word.text for word in words] == ["marker", "of", "the", "page"]
    assert all(ink(path, 1, word.bbox) > 0.02 for word in words)


@pytest.mark.parametrize("unit", [0.5, 2])
@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_all_ink_of_a_turned_page_in_other_units_is_in_boxes(tmp_path: Path, rotation: int, unit: float) -> None:
    """UserUnit, which PyMuPDF's matrices leave out, with /Rotate and a CropBox: words and picture lie on their ink."""
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=500)
        page.insert_text((60, 100), "Revenue of the year and of the one before", fontsize=14)
        page.insert_text((60, 120), "was four thousand eight hundred and twelve.", fontsize=14)
        pixmap = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 40, 20))
        pixmap.set_rect(pixmap.irect, (60,))
        page.insert_image((150, 250, 310, 330), pixmap=pixmap)
        for key, value in (("CropBox", "[20 30 380 490]"), ("Rotate", str(rotation)), ("UserUnit", str(unit))):
            document.xref_set_key(page.xref, key, value)
        document.save(path)
    result = parsed(path)
    (picture,) = [element for element in result.elements if element.element_type == "image"]
    boxes = [word.bbox for word in words_of(result)] + [region.bbox for region in picture.regions if region.bbox]
    with pymupdf.open(path) as document:
        scale = 3 / unit
        pixmap = document[0].get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY)
        dark = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width) < 128
    covered = np.zeros_like(dark)
    for box in boxes:
        x0, y0, x1, y1 = (round(value * scale) for value in box.as_tuple())
        covered[max(y0 - 1, 0) : y1 + 1, max(x0 - 1, 0) : x1 + 1] = True
    assert (dark & covered).sum() > 0.99 * dark.sum() > 0
    assert picture.regions[0].bbox is not None
    assert ink(path, 1, picture.regions[0].bbox) > 0.97
    assert all(ink(path, 1, word.bbox) > 0.05 for word in words_of(result))


def test_form_fields_and_annotations_of_a_rotated_page_are_read(tmp_path: Path) -> None:
    """What floats above a rotated page turns with it."""
    path = tmp_path / "a.pdf"
    document = pymupdf.open()
    page = document.new_page(width=400, height=600)
    page.insert_text((50, 100), "The name of the applicant is", fontsize=12)
    widget = pymupdf.Widget()
    widget.field_name, widget.field_type, widget.field_value = "name", pymupdf.PDF_WIDGET_TYPE_TEXT, "Wanderer"
    widget.rect = pymupdf.Rect(50, 200, 200, 220)
    page.add_widget(widget)
    page.set_rotation(90)
    document.save(path)
    word = next(word for word in words_of(parsed(path)) if word.text == "Wanderer")
    assert ink(path, 1, word.bbox) > 0.02


def test_a3_looking_for_tables_moves_no_box(tmp_path: Path) -> None:
    """On a cropped and rotated page with a table the text's boxes are where they are without one (A3)."""

    def page_with(table: bool) -> Path:
        path = tmp_path / f"{table}.pdf"
        document = pymupdf.open()
        page = document.new_page()
        page.insert_text((130, 200), "Revenue of the group is in the table.", fontsize=12)
        for step in range(4 if table else 0):
            page.draw_line((130, 300 + step * 30), (430, 300 + step * 30))
            page.draw_line((130 + step * 100, 300), (130 + step * 100, 390))
            for row in range(3 if step < 3 else 0):
                page.insert_text((140 + step * 100, 320 + row * 30), f"{step}{row}.5")
        page.set_cropbox(pymupdf.Rect(100, 150, 500, 700))
        page.set_rotation(90)
        document.save(path)
        return path

    def boxes(path: Path) -> list[tuple[str, BBox]]:
        return [(word.text, word.bbox) for word in words_of(parsed(path)) if word.text.isalpha()]

    assert boxes(page_with(True)) == boxes(page_with(False))


def test_every_element_holds_its_words(tmp_path: Path) -> None:
    """An element's region is on the page and covers its words; each word's range spells it."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 80), "Annual report", fontsize=22)
        page.insert_textbox(pymupdf.Rect(72, 120, 500, 300), PARAGRAPH * 4, fontsize=11)

    document = parsed(write_pdf(tmp_path / "a.pdf", draw))
    for element in document.elements:
        box = union_of(word.bbox for word in element.words)
        region = element.regions[0].bbox
        assert box is not None and region is not None
        assert region.expanded(0.1).union(box) == region.expanded(0.1)
        assert all(element.text[word.start : word.end] == word.text for word in element.words)


# Reading order, page breaks, furniture


def two_columns(page: pymupdf.Page) -> None:
    left = ["In the first quarter the", "gross margin of the group", "was 41 % of net revenue."]
    right = ["In the second quarter the", "gross margin of the group", "was 29 % of net revenue."]
    for row, (one, other) in enumerate(zip(left, right, strict=True)):
        page.insert_text((72, 100 + row * 14), one, fontsize=11)
        page.insert_text((320, 100 + row * 14), other, fontsize=11)


def test_a10_columns_stay_apart(tmp_path: Path) -> None:
    """Two columns drawn row by row are read one after the other, and no box swallows the other column (A10)."""
    document = parsed(write_pdf(tmp_path / "a.pdf", two_columns))
    joined = " ".join(texts(document))
    assert "In the first quarter the gross margin of the group was 41 % of net revenue." in joined
    assert "In the second quarter the gross margin of the group was 29 % of net revenue." in joined
    assert joined.index("41 %") < joined.index("29 %")
    for element in document.elements:
        box = element.regions[0].bbox
        assert box is not None
        assert box.x0 > 300 or box.x1 < 300


def test_a10_a_watermark_across_the_gutter_does_not_mix_the_columns(tmp_path: Path) -> None:
    """A diagonal watermark over both columns changes nothing in their text (A10, variant)."""

    def draw(page: pymupdf.Page) -> None:
        two_columns(page)
        matrix = pymupdf.Matrix(1, 1).prerotate(45)
        page.insert_text(
            (120, 260), "DRAFT", fontsize=60, color=(0.8, 0.8, 0.8), morph=(pymupdf.Point(120, 260), matrix)
        )

    joined = " ".join(texts(parsed(write_pdf(tmp_path / "a.pdf", draw))))
    assert "the gross margin of the group was 29 % of net revenue." in joined
    assert "DRAFT" in joined


def test_a9_a_sentence_over_the_page_break_is_one_element_with_two_regions(tmp_path: Path) -> None:
    """The running head and foot between its halves are not in it (A9)."""

    def page(number: int, lines: list[str], top: float) -> Draw:
        def draw(target: pymupdf.Page) -> None:
            target.insert_text((72, 40), "ACME annual report 2024", fontsize=8)
            target.insert_text((280, 815), f"Page {number} of 4", fontsize=8)
            for row, line in enumerate(lines):
                target.insert_text((72, top + row * 14), line, fontsize=11)

        return draw

    filler = [f"Paragraph {row} tells of the business of the year and of its people." for row in range(10)]
    path = write_pdf(
        tmp_path / "a.pdf",
        page(1, [*filler, "The impairment charge of USD 41"], 600),
        page(2, ["million was recorded in Q3.", "", *filler], 80),
        page(3, filler, 80),
        page(4, filler, 80),
    )
    document = parsed(path)
    crossing = next(element for element in document.elements if "impairment" in element.text)
    assert "The impairment charge of USD 41 million was recorded in Q3." in crossing.text
    assert [region.page for region in crossing.regions] == [1, 2]
    assert {word.page for word in crossing.words} == {1, 2}
    furniture = {element.category for element in document.elements if element.text.startswith(("ACME", "Page "))}
    assert furniture <= {"Header", "Footer", "PageNumber"}


def test_b15_a_heading_that_stands_once_at_the_top_is_kept(tmp_path: Path) -> None:
    """Running heads are known by repetition, not by place (B15)."""

    def page(number: int) -> Draw:
        def draw(target: pymupdf.Page) -> None:
            target.insert_text((72, 40), f"ACME AR 2024 - Page {number} of 6", fontsize=8)
            if number == 4:
                target.insert_text((72, 70), "Risk management", fontsize=18)
            target.insert_textbox(
                pymupdf.Rect(72, 100, 520, 300), f"Text of page {number}. " + PARAGRAPH * 3, fontsize=11
            )

        return draw

    document = parsed(write_pdf(tmp_path / "a.pdf", *(page(number) for number in range(1, 7))))
    heads = [element for element in document.elements if element.text.startswith("ACME AR")]
    assert len(heads) == 6
    assert {element.category for element in heads} <= {"Header", "PageNumber", "Footer"}
    heading = next(element for element in document.elements if element.text == "Risk management")
    assert heading.category == "Title"
    below = [
        element for element in document.elements if element.regions[0].page == 5 and element.text.startswith("Text")
    ]
    assert all(element.section == ("Risk management",) for element in below)


def test_b14_pages_are_physical_and_labels_stand_beside(tmp_path: Path) -> None:
    """Each element says its physical page, and the printed label is kept apart (B14)."""
    path = tmp_path / "a.pdf"
    document = pymupdf.open()
    for number in range(1, 5):
        document.new_page().insert_text((72, 100), f"The text of this page says MARK-{number}.")
    document.set_page_labels(
        [{"startpage": 0, "style": "r", "firstpagenum": 1}, {"startpage": 2, "style": "D", "firstpagenum": 1}]
    )
    document.save(path)
    result = parsed(path)
    assert [(page.number, page.label) for page in result.pages] == [(1, "i"), (2, "ii"), (3, "1"), (4, "2")]
    for element in result.elements:
        assert f"MARK-{element.regions[0].page}" in element.text


# What is printed, and what is not to be seen


def test_b11_text_drawn_twice_is_read_once(tmp_path: Path) -> None:
    """Fake bold does not double text, drawn whole or glyph by glyph; real repeats survive (B11)."""

    def draw(page: pymupdf.Page) -> None:
        for shift in (0, 0.4):
            page.insert_text((72 + shift, 100), "TOTAL 4812", fontsize=12)
        x = 72.0
        for char in "SUM 12A":
            for shift in (0, 0.4):
                page.insert_text((x + shift, 200), char, fontsize=12)
            x += pymupdf.get_text_length(char, fontsize=12)
        page.insert_text((72, 300), "TOTAL", fontsize=12)
        page.insert_text((152, 300), "TOTAL 11", fontsize=12)

    joined = " ".join(texts(parsed(write_pdf(tmp_path / "a.pdf", draw))))
    assert joined == "TOTAL 4812 SUM 12A TOTAL TOTAL 11"


def test_d10_a_raised_footnote_mark_is_not_a_digit_of_the_figure(tmp_path: Path) -> None:
    """`250` with a raised 9 is 250 and 9, in one line that goes on (D10)."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), "Revenue was 250", fontsize=11)
        x = 72 + pymupdf.get_text_length("Revenue was 250", fontsize=11)
        page.insert_text((x, 95), "9", fontsize=6)
        page.insert_text((x + pymupdf.get_text_length("9", fontsize=6), 100), " million in the year.", fontsize=11)

    document = parsed(write_pdf(tmp_path / "a.pdf", draw))
    assert texts(document) == ["Revenue was 250 9 million in the year."]
    assert "250" in [word.text for word in words_of(document)]


def test_a4_a_word_broken_at_the_line_end_is_whole_and_has_two_boxes(tmp_path: Path) -> None:
    """The text holds the whole word, and both halves stand for it (A4)."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), "emissions of greenhouse gas driving cli-", fontsize=11)
        page.insert_text((72, 114), "mate change by 2030 in the whole world.", fontsize=11)

    document = parsed(write_pdf(tmp_path / "a.pdf", draw))
    (element,) = document.elements
    assert "driving climate change by 2030" in element.text
    halves = [word for word in element.words if word.text in ("cli-", "mate")]
    assert [(word.start, word.end) for word in halves] == [(halves[0].start, halves[0].end)] * 2
    assert element.text[halves[0].start : halves[0].end] == "climate"
    assert halves[0].bbox.y1 <= halves[1].bbox.y0 + 3


def test_a7_chinese_lines_join_without_a_space_and_every_character_has_a_box(tmp_path: Path) -> None:
    """A phrase over the line break is unbroken, and a word is one character (A7)."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), "公司实现营业收入三亿二千万元，同", fontname="china-s", fontsize=12)
        page.insert_text((72, 118), "比增长百分之五。净利润４，８１２万元。", fontname="china-s", fontsize=12)

    document = parsed(write_pdf(tmp_path / "a.pdf", draw))
    (element,) = document.elements
    assert element.text == "公司实现营业收入三亿二千万元，同比增长百分之五。净利润４，８１２万元。"
    assert [word.text for word in element.words] == list(element.text)


def test_hidden_text_is_kept_apart_and_says_why(tmp_path: Path) -> None:
    """Invisible, white on white, tiny and covered text are elements of their own that name the reason."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), PARAGRAPH, fontsize=11)
        page.insert_text((72, 200), "invisible 1", render_mode=3)
        page.insert_text((72, 250), "white 2", color=(1, 1, 1))
        page.insert_text((72, 300), "tiny 3", fontsize=0.5)
        page.insert_text((72, 350), "covered 4")
        page.draw_rect(pymupdf.Rect(60, 330, 200, 360), fill=(0, 0, 0), color=None)

    document = parsed(write_pdf(tmp_path / "a.pdf", draw))
    assert texts(document) == [PARAGRAPH]
    reasons = {element.text.split()[0]: element.hidden for element in document.elements if element.hidden}
    assert set(reasons) == {"invisible", "white", "tiny", "covered"}
    assert all(reasons.values())


def test_white_text_on_a_dark_ground_is_not_hidden(tmp_path: Path) -> None:
    """Visibility is judged by the rendered page, not by the colour alone."""

    def draw(page: pymupdf.Page) -> None:
        page.draw_rect(pymupdf.Rect(60, 80, 500, 110), fill=(0, 0, 0.4), color=None)
        page.insert_text((72, 100), "White on blue is plain to see", color=(1, 1, 1))

    assert texts(parsed(write_pdf(tmp_path / "a.pdf", draw))) == ["White on blue is plain to see"]


def test_nothing_printed_is_lost_or_doubled(tmp_path: Path) -> None:
    """Every visible glyph of a mixed page is in exactly one element."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 60), "Annual report", fontsize=24)
        two_columns(page)
        for row in range(3):
            for column in range(3):
                box = pymupdf.Rect(72 + column * 100, 300 + row * 24, 172 + column * 100, 324 + row * 24)
                page.draw_rect(box)
                page.insert_text((box.x0 + 4, box.y1 - 7), f"cell{row}{column}")
        page.insert_text((72, 480), "* A note about the figures above", fontsize=7)
        page.insert_text((290, 820), "17", fontsize=8)

    path = write_pdf(tmp_path / "a.pdf", draw)
    with pymupdf.open(path) as source:
        printed = sorted("".join(source[0].get_text().split()))
    assert sorted("".join(word.text for word in words_of(parsed(path)))) == printed
