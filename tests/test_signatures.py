"""What the first bytes of a file say that it is."""

from __future__ import annotations

import pytest

from kb_qa.signatures import image_words, is_headless_pdf, is_html, is_pdf, media_type


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        pytest.param(b"%PDF-1.7\n", "application/pdf", id="pdf"),
        pytest.param(b"junk\n%PDF-1.4\n", "application/pdf", id="pdf behind junk"),
        pytest.param(b"<html>%PDF-1.4", "application/octet-stream", id="html that names a pdf"),
        pytest.param(b" " * 1100 + b"%PDF-1.4", "application/octet-stream", id="too late"),
        pytest.param(b"\x89PNG\r\n\x1a\n", "image/png", id="png"),
        pytest.param(b"\xff\xd8\xff\xe0", "image/jpeg", id="jpeg"),
        pytest.param(b"II*\x00", "image/tiff", id="tiff"),
        pytest.param(b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp", id="webp"),
        pytest.param(b"RIFF\x00\x00\x00\x00WAVEfmt ", "application/octet-stream", id="sound"),
        pytest.param(b"BM" + bytes(12) + b"\x28\x00\x00\x00", "image/bmp", id="bmp"),
        pytest.param(b"BMW sold more cars.", "application/octet-stream", id="text that begins alike"),
        pytest.param(b"<svg onload=alert(1)>", "application/octet-stream", id="svg"),
        pytest.param(b"", "application/octet-stream", id="nothing"),
    ],
)
def test_media_types_go_by_content(head: bytes, kind: str) -> None:
    """Only what cannot run anything has a type of its own."""
    assert media_type(head) == kind
    assert bool(image_words(head)) == kind.startswith("image/")
    assert is_pdf(head) == (kind == "application/pdf")


@pytest.mark.parametrize(
    "head", [b"<!DOCTYPE html>", b"\xef\xbb\xbf\n<!-- x --><HTML>", b'<?xml version="1.0"?><html>']
)
def test_html_is_seen_behind_what_may_stand_before_it(head: bytes) -> None:
    """A mark, blanks, a declaration, comments."""
    assert is_html(head)


def test_a_pdf_without_its_first_bytes_is_seen() -> None:
    """It has objects in front and a trailer; text about such files has not both."""
    assert is_headless_pdf(b"1 0 obj\n<<", b"startxref\n9\n%%EOF")
    assert not is_headless_pdf(b"1 0 obj\n<<", b"the end")
    assert not is_headless_pdf(b"see startxref", b"startxref")
