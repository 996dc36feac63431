"""Picture files as pages: how they are turned, how many pages they have, and where their words are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image

from ingest.image import parse_image
from ingest.limits import Limits
from kb_qa.elements import ParsedDocument
from kb_qa.errors import LimitExceededError
from kb_qa.pages import open_document
from tests.pdf_pages import ink

ORIENTATION = 0x0112
# How a camera that was held so stores the picture; the tag says how to turn it back.
STORED = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}


def picture(text: str) -> Image.Image:
    """A printed line at 150 dots to the inch."""
    page = pymupdf.open().new_page(width=400, height=160)
    page.insert_text((30, 80), text, fontsize=20)
    pixmap = page.get_pixmap(dpi=150)
    return Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)


def parsed(path: Path) -> ParsedDocument:
    return parse_image(path, "d", limits=Limits())


@pytest.mark.parametrize("suffix", ["jpg", "png", "tif", "webp"])
@pytest.mark.parametrize("orientation", STORED)
def test_a_photograph_is_shown_as_its_exif_tag_says(tmp_path: Path, suffix: str, orientation: int) -> None:
    """Whatever the format, the page that is drawn is upright, so that boxes on it are a reader's."""
    upright = picture("Net revenue 4,812")
    turned = upright.transpose(STORED[orientation])
    exif = turned.getexif()
    exif[ORIENTATION] = orientation
    turned.save(tmp_path / f"a.{suffix}", exif=exif, quality=95)
    with open_document(tmp_path / f"a.{suffix}") as document:
        pixmap = document[0].get_pixmap(matrix=pymupdf.Matrix(upright.width / document[0].rect.width, 1))
        assert (document[0].rect.width > document[0].rect.height) == (upright.width > upright.height)
        shown = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples).resize((80, 32)).convert("L")
    expected = upright.resize((80, 32)).convert("L")
    assert np.abs(np.asarray(shown, dtype=int) - np.asarray(expected, dtype=int)).mean() < 8


def test_words_of_a_turned_photograph_are_where_the_ink_is(tmp_path: Path) -> None:
    """OCR reads the page as it is shown."""
    path = tmp_path / "a.jpg"
    turned = picture("Net revenue 4,812").transpose(STORED[6])
    exif = turned.getexif()
    exif[ORIENTATION] = 6
    turned.save(path, exif=exif, quality=95, dpi=(150, 150))
    (element,) = parsed(path).elements
    assert (element.text, element.origin) == ("Net revenue 4,812", "ocr")
    assert all(ink(path, 1, word.bbox) > 0.05 for word in element.words)


@pytest.mark.parametrize("suffix", ["tif", "webp"])
def test_each_frame_is_a_page(tmp_path: Path, suffix: str) -> None:
    """In their order; more than the limit of pages is refused before any is read."""
    path = tmp_path / f"a.{suffix}"
    frames = [picture(f"Page {number} 4,812") for number in (1, 2)]
    frames[0].save(path, save_all=True, append_images=frames[1:], dpi=(150, 150), lossless=True)
    with open_document(path) as document:
        first, second = (page.get_pixmap(dpi=36).samples for page in document)
        assert document[0].rect == document[1].rect
    assert first != second
    assert [element.text for element in parsed(path).elements] == ["Page 1 4,812", "Page 2 4,812"]
    with pytest.raises(LimitExceededError, match="2 pages"):
        parse_image(path, "d", limits=Limits(max_pages=1))


def test_a_webp_with_too_many_pixels_in_all_its_frames_is_refused(tmp_path: Path) -> None:
    """They are decoded together, so they count together."""
    frames = [Image.new("RGB", (2000, 2100), color) for color in ("red", "white", "blue")]
    frames[0].save(tmp_path / "a.webp", save_all=True, append_images=frames[1:])
    with pytest.raises(LimitExceededError, match="3 × 2000 × 2100 pixels; the limit is 8 million"):
        parse_image(tmp_path / "a.webp", "d", limits=Limits(max_megapixels=1))


def test_what_is_transparent_is_paper(tmp_path: Path) -> None:
    """A WebP keeps colours behind its transparent parts; they are not shown."""
    image = picture("Net revenue 4,812").convert("RGBA")
    image.paste((0, 0, 0, 0), (0, 0, image.width, 40))
    image.save(tmp_path / "a.webp", lossless=True, exact=True)
    with open_document(tmp_path / "a.webp") as document:
        assert document[0].get_pixmap().pixel(5, 5) == (255, 255, 255)
