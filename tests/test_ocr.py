"""Scans: what OCR reads, where it stands, and how far it is to be trusted."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from ingest.layer_check import DISAGREES, agreement, looks_misspelled, unreadable_lines, unreadable_share
from ingest.limits import Limits
from ingest.ocr import read_page
from ingest.page_reader import UNREADABLE
from ingest.page_text import read_lines
from ingest.pdf import parse_image, parse_pdf
from ingest.printed import PrintedWord, line_of
from kb_qa.elements import ParsedDocument
from kb_qa.errors import DamagedFileError, LimitExceededError, MisnamedFileError
from kb_qa.geometry import BBox, union_of
from tests.pdf_pages import ink, write_pdf

LINES = ["Annual revenue was 4,812 million", "and the margin was 12.5% in 2024."]


def picture_of_text(lines: list[str] = LINES, *, dpi: int = 150, size: tuple[float, float] = (320, 120)) -> bytes:
    """A PNG of a small page with the lines on it."""
    document = pymupdf.open()
    page = document.new_page(width=size[0], height=size[1])
    for row, line in enumerate(lines):
        font = "helv" if line.isascii() else "china-s"
        page.insert_text((20, 40 + row * 22), line, fontsize=15, fontname=font)
    return bytes(page.get_pixmap(dpi=dpi).tobytes("png"))


def scan(path: Path, picture: bytes, *, rotation: int = 0, layer: Callable[[pymupdf.Page], None] | None = None) -> Path:
    document = pymupdf.open()
    page = document.new_page(width=320, height=120)
    page.insert_image(page.rect, stream=picture)
    if layer is not None:
        layer(page)
    page.set_rotation(rotation)
    document.save(path)
    return path


def everything(document: ParsedDocument) -> str:
    return " ".join(element.text for element in document.elements if not element.hidden)


def test_a_scan_is_read_with_origin_confidence_and_quality(tmp_path: Path) -> None:
    """A page without a text layer yields text of origin "ocr", a confidence, and a page quality that says so."""
    path = scan(tmp_path / "a.pdf", picture_of_text())
    document = parse_pdf(path, "document", limits=Limits())
    assert "Annual revenue was 4,812 million and the margin was 12.5% in 2024." in everything(document)
    assert {element.origin for element in document.elements} == {"ocr"}
    words = [word for element in document.elements for word in element.words]
    assert all(word.confidence is not None and 0 < word.confidence <= 1 for word in words)
    assert all(element.confidence is not None and element.confidence > 0.8 for element in document.elements)
    (figure,) = [word for word in words if word.text == "4,812"]
    assert ink(path, 1, figure.bbox) > 0.05
    (reason,) = document.pages[0].quality.reasons
    assert reason.startswith(("read by OCR, confidence 0.9", "read by OCR, confidence 1.0"))


@pytest.mark.parametrize("rotation", [90, 180])
def test_a_scan_that_is_displayed_turned_is_read_and_found_where_it_is_displayed(tmp_path: Path, rotation: int) -> None:
    """A scan that lies on its side or head is turned to be read, and its boxes lie on the displayed page."""
    path = scan(tmp_path / "a.pdf", picture_of_text(), rotation=rotation)
    document = parse_pdf(path, "document", limits=Limits())
    assert "Annual revenue was 4,812 million and the margin was 12.5% in 2024." in everything(document)
    for element in document.elements:
        box = union_of(word.bbox for word in element.words)
        assert box is not None
        assert ink(path, 1, box) > 0.05
        assert (box.width > box.height) == (rotation == 180)


def test_chinese_is_read_and_each_character_has_its_box(tmp_path: Path) -> None:
    """In Chinese a word is one character, in OCR too."""
    path = scan(tmp_path / "a.pdf", picture_of_text(["营业收入为三亿二千万元"]))
    document = parse_pdf(path, "document", limits=Limits())
    assert everything(document) == "营业收入为三亿二千万元"
    words = [word for element in document.elements for word in element.words]
    assert [word.text for word in words] == list("营业收入为三亿二千万元")
    assert all(left.bbox.x0 < right.bbox.x0 for left, right in itertools.pairwise(words))


def test_an_invisible_text_layer_over_a_scan_is_its_text(tmp_path: Path) -> None:
    """A searchable scan keeps its layer: it is not hidden text, and no second OCR is run."""

    def layer(page: pymupdf.Page) -> None:
        for row, line in enumerate(["Annual revenue was 4,813 million of euros", "and the margin was 12.5% in 2024."]):
            page.insert_text((20, 40 + row * 22), line, fontsize=15, render_mode=3)

    document = parse_pdf(scan(tmp_path / "a.pdf", picture_of_text(), layer=layer), "document", limits=Limits())
    assert "4,813" in everything(document)  # the layer's reading, not the picture's
    assert {element.origin for element in document.elements} == {"ocr"}
    assert "made by OCR" in document.pages[0].quality.reasons[0]


def test_a_stamp_on_a_scan_is_kept_beside_what_ocr_reads(tmp_path: Path) -> None:
    """A page number set over a scan does not pass for the page's text layer."""

    def layer(page: pymupdf.Page) -> None:
        page.insert_text((290, 112), "17", fontsize=8)

    document = parse_pdf(scan(tmp_path / "a.pdf", picture_of_text(), layer=layer), "document", limits=Limits())
    words = [word.text for element in document.elements for word in element.words]
    assert words.count("17") == 1
    assert "4,812" in words


def test_a_huge_page_is_read_within_the_pixel_budget(tmp_path: Path) -> None:
    """A page of 200 inches is rendered at a lower resolution instead of filling the memory."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_image(page.rect, stream=picture_of_text())

    path = write_pdf(tmp_path / "a.pdf", draw, width=14400, height=5400)
    document = parse_pdf(path, "document", limits=Limits(max_megapixels=1))
    assert "4,812" in everything(document)


def test_a_line_on_a_huge_sheet_is_looked_at_closely(tmp_path: Path) -> None:
    """A line too small for the detector on the whole sheet is found by its ink, and read there."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_image(pymupdf.Rect(300, 700, 1500, 1150), stream=picture_of_text())

    path = write_pdf(tmp_path / "a.pdf", draw, width=14400, height=14400)
    with pymupdf.open(path) as document:
        reading = read_page(document[0], megapixels=4)
    words = {word.text: word.bbox for line in reading.lines for word in line.words}
    assert words["4,812"].overlap(BBox(300, 700, 1500, 1150)) == 1
    assert ink(path, 1, words["4,812"]) > 0.05


# Picture files


@pytest.mark.parametrize(("suffix", "form"), [("png", "PNG"), ("jpg", "JPEG"), ("webp", "WEBP"), ("bmp", "BMP")])
def test_picture_files_are_pages(tmp_path: Path, suffix: str, form: str) -> None:
    """Each kind of picture is one page, in points by the resolution it states, and its text is read."""
    source = tmp_path / "source.png"
    source.write_bytes(picture_of_text())
    path = tmp_path / f"a.{suffix}"
    with Image.open(source) as picture:
        picture.convert("RGB").save(path, form, dpi=(150, 150))
    document = parse_image(path, "document", limits=Limits())
    (page,) = document.pages
    # BMP and WebP keep no, or a rounded, resolution: 96 dpi stands in where none is stated.
    assert page.width == pytest.approx(320, abs=1) or page.width == pytest.approx(667 * 72 / 96, abs=1)
    assert "4,812 million" in everything(document)
    assert all(region.bbox is not None for element in document.elements for region in element.regions)


def test_a_picture_whose_first_frame_cannot_be_decoded_is_damaged(tmp_path: Path) -> None:
    """Also where its header is whole: a strip of more bytes than there are."""
    Image.new("L", (200, 150)).save(tmp_path / "a.tiff")
    data = bytearray((tmp_path / "a.tiff").read_bytes())
    strip_byte_counts = data.index(struct.pack("<HHI", 279, 4, 1))  # tag, type, number; its value follows
    data[strip_byte_counts + 8 : strip_byte_counts + 12] = struct.pack("<I", 2**31 - 1)
    (tmp_path / "a.tiff").write_bytes(data)
    with pytest.raises(DamagedFileError, match="complete copy"):
        parse_image(tmp_path / "a.tiff", "d", limits=Limits())


def test_each_frame_of_a_tiff_is_a_page(tmp_path: Path) -> None:
    """Frames are numbered from 1, each with its own text."""
    path = tmp_path / "a.tif"
    frames = []
    for number in (1, 2):
        source = tmp_path / f"{number}.png"
        source.write_bytes(picture_of_text([f"This is frame {number} of the file"]))
        frames.append(Image.open(source).convert("L"))
    frames[0].save(path, "TIFF", save_all=True, append_images=frames[1:], dpi=(150, 150))
    document = parse_image(path, "document", limits=Limits())
    assert [page.number for page in document.pages] == [1, 2]
    for number in (1, 2):
        found = " ".join(element.text for element in document.elements if element.regions[0].page == number)
        assert f"frame {number}" in found
    with pytest.raises(LimitExceededError, match="2 pages"):
        parse_image(path, "document", limits=Limits(max_pages=1))


def test_other_content_under_a_picture_name_is_refused(tmp_path: Path) -> None:
    """A text file named .png is refused by its content."""
    path = tmp_path / "a.png"
    path.write_bytes(b"hello world")
    with pytest.raises(MisnamedFileError):
        parse_image(path, "document", limits=Limits())


def test_a_picture_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    """A tiny file with a great many pixels is refused by its header."""
    path = tmp_path / "a.png"
    Image.new("1", (20_000, 11_000)).save(path)
    with pytest.raises(LimitExceededError, match="pixels"):
        parse_image(path, "document", limits=Limits())


# Text layers that are not what the page shows


def test_a_hidden_layer_that_says_something_else_is_not_the_text(tmp_path: Path) -> None:
    """An OCR layer is held against the picture on a sample of lines; one that says something else is set aside."""

    def layer(page: pymupdf.Page) -> None:
        for row, line in enumerate(
            ["Nothing of this was ever on the page at hand", "it belongs to some other document"]
        ):
            page.insert_text((20, 40 + row * 22), line, fontsize=13, render_mode=3)

    document = parse_pdf(scan(tmp_path / "a.pdf", picture_of_text(), layer=layer), "document", limits=Limits())
    assert "4,812 million" in everything(document)
    assert "other document" not in everything(document)


def test_letters_that_stand_for_others_are_found_out(tmp_path: Path) -> None:
    """A wrong letter map leaves plausible characters: their vowels raise the suspicion, the picture settles it."""
    said = ["the annual revenue of the company was", "4,812 million and the margin rose again"]
    said.append("to twelve percent of it in that year")
    document = pymupdf.open()
    page = document.new_page(width=320, height=120)
    for row, line in enumerate(said):
        page.insert_text((20, 40 + row * 22), line, fontsize=13)
    right = read_lines(page)
    letters = str.maketrans("aeioutnsr", "xqzkwhjvy")
    wrong = [
        replace(line, words=tuple(replace(word, text=word.text.translate(letters)) for word in line.words))
        for line in right
    ]
    assert (looks_misspelled(right), looks_misspelled(wrong)) == (False, True)
    sure, doubtful = agreement(page, right), agreement(page, wrong)
    assert sure is not None
    assert doubtful is not None
    assert sure > 0.95
    assert doubtful < DISAGREES


@pytest.mark.parametrize("has_map", [True, False])
def test_a_font_that_does_not_say_its_characters_is_read_by_ocr(tmp_path: Path, has_map: bool) -> None:
    """Without a ToUnicode map glyph numbers pass for letters; the picture gives them away, line by line."""
    document = pymupdf.open()
    page = document.new_page(width=360, height=120)
    page.insert_text((20, 30), "This line is set in a font that every reader knows", fontsize=12)
    page.insert_font(fontname="F9", fontbuffer=pymupdf.Font("tiro").buffer)
    page.insert_text((20, 70), "Revenue was 4,812 million", fontname="F9", fontsize=15)
    for xref, _, kind, *_ in page.get_fonts():
        if kind == "Type0" and not has_map:
            document.xref_set_key(xref, "ToUnicode", "null")
    path = tmp_path / "a.pdf"
    document.save(path)
    read = parse_pdf(path, "document", limits=Limits())
    origins = {element.text.split()[0]: element.origin for element in read.elements}
    assert "Revenue was 4,812 million" in everything(read)
    assert origins == {"This": "text-layer", "Revenue": "text-layer" if has_map else "ocr"}
    grade, reasons = read.pages[0].quality.grade, read.pages[0].quality.reasons
    assert (grade == "good") == has_map
    assert (UNREADABLE in reasons) != has_map
    (figure,) = [word for element in read.elements for word in element.words if word.text == "4,812"]
    assert ink(path, 1, figure.bbox) > 0.05


@pytest.mark.parametrize("sign", ["\ue001", "\ufffd", "(cid:7)"], ids=["private use", "replacement", "cid"])
def test_characters_that_stand_for_nothing_make_a_line_unreadable(sign: str) -> None:
    """Lines of such characters are known; a bullet from a font of signs before good text is none."""
    page = pymupdf.open().new_page()
    good = line_of([PrintedWord(BBox(0, 20, 90, 30), "Good text of a line that is long enough", 10, 30)])
    bad = line_of([PrintedWord(BBox(0, 40, 90, 50), sign * 12, 10, 50)])
    bullet = line_of([PrintedWord(BBox(0, 60, 5, 70), "\uf0b7", 10, 70)])
    assert unreadable_lines(page, [good, bad, bullet])[:1] == [bad]
    assert unreadable_lines(page, [good, bullet]) == []


def test_a6_a_character_that_is_none_is_a_warning(tmp_path: Path) -> None:
    """A font map without letters for its ligatures leaves a page that says so (A6); MuPDF lets no U+0000 through."""
    document = pymupdf.open()
    page = document.new_page()
    for row in range(3):
        page.insert_text((72, 100 + row * 20), "The scientific office of the works is open.", fontsize=12)
    (font, *_) = page.get_fonts()[0]
    stream = document.get_new_xref()
    document.update_object(stream, "<<>>")
    codes = "\n".join(f"<{code:02x}> <{0xFFFD if chr(code) == 'f' else code:04x}>" for code in range(32, 127))
    head = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff>"
    tail = "endbfchar endcmap end end"
    document.update_stream(stream, f"{head} endcodespacerange 95 beginbfchar {codes} {tail}".encode())
    document.xref_set_key(font, "ToUnicode", f"{stream} 0 R")
    path = tmp_path / "a.pdf"
    document.save(path)
    read = parse_pdf(path, "document", limits=Limits())
    assert "o\ufffd\ufffdice" in everything(read)
    quality = read.pages[0].quality
    assert quality.grade == "fair"
    assert "no readable form" in quality.reasons[0]
    nul = line_of([PrintedWord(BBox(0, 20, 90, 30), "o\0ice", 10, 30)])
    assert unreadable_share([nul]) == pytest.approx(0.2)
