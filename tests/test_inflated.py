"""Small PDF files that grow (G2): refused by what their streams hold, before a page is drawn."""

from __future__ import annotations

import zlib
from pathlib import Path

import pymupdf
import pytest

from ingest.inflated import check_inflated
from ingest.limits import Limits
from ingest.pdf import parse_pdf
from kb_qa.errors import LimitExceededError
from tests.pdf_pages import write_pdf

MB = 1024 * 1024


def pdf_of(path: Path, content: bytes, filters: str = "/FlateDecode") -> Path:
    """A page whose content is stored as it is given, under the named filters."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "Net revenue was 4,812 million.")
    xref = page.get_contents()[0]
    document.update_stream(xref, content, compress=False)
    document.xref_set_key(xref, "Filter", filters)
    document.save(path)
    return path


@pytest.mark.parametrize(
    ("content", "filters"),
    [
        pytest.param(zlib.compress(bytes(9 * MB)), "/FlateDecode", id="once"),
        pytest.param(zlib.compress(zlib.compress(bytes(9 * MB))), "[/FlateDecode/FlateDecode]", id="twice"),
        pytest.param(zlib.compress(zlib.compress(bytes(9 * MB))), "[/Fl/Fl]", id="short names"),
    ],
)
def test_g2_a_stream_that_inflates_past_the_limit_is_refused(tmp_path: Path, content: bytes, filters: str) -> None:
    """A few kilobytes of zeros, compressed once or twice over, with a message that names the setting (G2)."""
    path = pdf_of(tmp_path / "a.pdf", content, filters)
    assert path.stat().st_size < 20_000
    with pytest.raises(LimitExceededError, match=r"more than 8 MB; the limit is KB_QA_MAX_INFLATED_MB"):
        parse_pdf(path, "d", limits=Limits(max_inflated_mb=8))


def test_streams_up_to_the_limit_are_read(tmp_path: Path) -> None:
    """The limit itself is allowed; a damaged stream counts up to where it breaks."""
    whole = zlib.compress(b" " * MB)
    for content in (whole, whole[: len(whole) // 2]):
        with pymupdf.open(pdf_of(tmp_path / "a.pdf", content)) as document:
            check_inflated(document, "a.pdf", Limits(max_inflated_mb=2))


def test_pictures_are_bounded_by_their_pixels_and_not_counted(tmp_path: Path) -> None:
    """A long scan holds more pixels than any text, and is no bomb."""
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 1000, 1000))
    pixmap.clear_with(200)

    def draw(page: pymupdf.Page) -> None:
        page.insert_image(page.rect, pixmap=pixmap)

    with pymupdf.open(write_pdf(tmp_path / "a.pdf", draw)) as document:
        check_inflated(document, "a.pdf", Limits(max_inflated_mb=1))


def test_g2_a_page_of_200_inches_is_read_within_the_pixel_budget(tmp_path: Path) -> None:
    """The largest page there is, 14,400 points a side, costs no more pixels than any other (G2)."""
    document = pymupdf.open()
    document.new_page(width=14400, height=14400).insert_text((5000, 5000), "Net revenue was 4,812.", fontsize=300)
    document.save(tmp_path / "a.pdf")
    parsed = parse_pdf(tmp_path / "a.pdf", "d", limits=Limits())
    assert [element.text for element in parsed.elements] == ["Net revenue was 4,812."]


def test_g2_thousands_of_tiny_pictures_hide_no_text(tmp_path: Path) -> None:
    """Inline pictures of one pixel are ink, not content (G2)."""
    dots = b"".join(b"q 1 0 0 1 %d 700 cm BI /W 1 /H 1 /BPC 8 /CS /G ID A EI Q\n" % (n % 500) for n in range(3000))
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 400), "Net revenue was 4,812 million in 2024 according to the audited statement.")
    xref = page.get_contents()[0]
    document.update_stream(xref, document.xref_stream(xref) + b"\n" + dots)
    document.save(tmp_path / "a.pdf")
    assert "4,812" in parse_pdf(tmp_path / "a.pdf", "d", limits=Limits()).elements[-1].text
