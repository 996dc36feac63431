"""Pictures inside Office files: their text is read where there is room for any, and what is not read is told."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pptx
import pymupdf
import pytest
from docx.shared import Inches
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image

from ingest.embedded_pictures import EmbeddedPictures
from ingest.kinds import kind_of
from ingest.limits import Limits
from ingest.partition import partition
from kb_qa.elements import ParsedDocument

PRINTED = "Net revenue 4,812"


def png(*lines: str, width: int = 300, height: int = 120) -> bytes:
    """Lines of print at 150 dots to the inch."""
    with pymupdf.open() as document:
        page = document.new_page(width=width, height=height)
        for row, line in enumerate(lines):
            page.insert_text((20, 40 + 30 * row), line, fontsize=16)
        data: bytes = page.get_pixmap(dpi=150).tobytes("png")
    return data


def icon() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (24, 24), "red").save(stream, "PNG")
    return stream.getvalue()


def word(path: Path, *pictures: bytes) -> None:
    document = docx.Document()
    document.add_heading("Results", 1)
    document.add_paragraph("The figures of the year stand below.")
    for picture in pictures:
        document.add_picture(io.BytesIO(picture), width=Inches(3))
    document.add_paragraph("They were audited in March.")
    document.save(str(path))


def slides(path: Path, *pictures: bytes) -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Results"
    slide.shapes.add_textbox(Inches(1), Inches(6), Inches(5), Inches(1)).text_frame.text = "They were audited."
    for row, picture in enumerate(pictures):
        slide.shapes.add_picture(io.BytesIO(picture), Inches(1), Inches(2 + 2 * row))
    presentation.save(str(path))


def workbook(path: Path, *pictures: bytes) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Results"
    book.active["A1"] = "The figures of the year stand below."
    for row, picture in enumerate(pictures):
        book.active.add_image(SheetImage(io.BytesIO(picture)), f"B{5 + 20 * row}")
    book.save(path)


Write = Callable[..., None]
FORMATS = [
    pytest.param(word, "docx", id="docx"),
    pytest.param(slides, "pptx", id="pptx"),
    pytest.param(workbook, "xlsx", id="xlsx"),
]


def parsed(path: Path) -> ParsedDocument:
    return partition(path, "d", kind_of(path), limits=Limits())


@pytest.mark.parametrize(("write", "suffix"), FORMATS)
def test_the_text_inside_a_picture_is_an_element(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write, suffix: str
) -> None:
    """An image, by OCR, with its confidence, under its heading, line by line; an icon holds none, and is no flag."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / f"a.{suffix}", png(PRINTED, "Net income 1,204"), icon())
    document = parsed(tmp_path / f"a.{suffix}")
    (found,) = [element for element in document.elements if element.origin == "ocr"]
    assert (found.element_type, found.category, found.section) == ("image", "Image", ("Results",))
    assert found.text == f"{PRINTED}\nNet income 1,204"
    assert found.confidence is not None
    assert found.confidence > 0.8
    assert document.flags == ()


@pytest.mark.parametrize(("write", "suffix"), FORMATS)
def test_a_picture_that_cannot_be_read_is_flagged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write, suffix: str
) -> None:
    """Its pixels are damaged; the document is read."""
    monkeypatch.chdir(tmp_path)
    sound = png(PRINTED)
    middle = len(sound) // 2
    write(tmp_path / f"a.{suffix}", sound[: middle - 300] + bytes(600) + sound[middle + 300 :])
    document = parsed(tmp_path / f"a.{suffix}")
    assert document.flags == ("1 pictures not read",)
    assert all(element.origin == "parser" for element in document.elements)


@pytest.mark.parametrize(
    ("limits", "left", "data"),
    [
        (Limits(), 0.1, png(PRINTED)),
        (Limits(max_megapixels=1), 80.0, png(PRINTED, width=2600, height=1000)),
        (Limits(), 80.0, b"\xd7\xcd\xc6\x9a" + bytes(200)),
    ],
    ids=["the budget is spent", "too many pixels", "a drawing"],
)
def test_pictures_past_the_limits_are_not_read(limits: Limits, left: float, data: bytes) -> None:
    """Nothing is decoded before its size is known; each counts once, however often it is shown."""
    pictures = EmbeddedPictures(limits, left=left)
    assert [pictures.passages(data), pictures.passages(data)] == [[], []]
    assert pictures.flags == ("1 pictures not read",)


def test_an_even_picture_holds_no_text() -> None:
    """It is read in a way: no flag says that something was missed."""
    pictures = EmbeddedPictures(Limits())
    assert pictures.passages(png()) == []
    assert pictures.flags == ()
