"""What the first bytes of a file say that it is."""

from __future__ import annotations

import re

HEAD_BYTES = 4096
TAIL_BYTES = 2048
_PDF_HEADER_BYTES = 1024  # readers accept the header anywhere in here

_IMAGES: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image", "image/png"),
    (b"\xff\xd8\xff", "a JPEG image", "image/jpeg"),
    (b"II*\x00", "a TIFF image", "image/tiff"),
    (b"MM\x00*", "a TIFF image", "image/tiff"),
    (b"BM", "a BMP image", "image/bmp"),
    (b"RIFF", "a WebP image", "image/webp"),
)
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|script)\b",
    re.IGNORECASE | re.DOTALL,
)


def is_html(head: bytes) -> bool:
    return bool(_HTML_START.match(head))


def is_pdf(head: bytes) -> bool:
    return b"%PDF-" in head[:_PDF_HEADER_BYTES] and not is_html(head)


def is_headless_pdf(head: bytes, tail: bytes) -> bool:
    """A PDF whose first bytes were cut off can be repaired: it still has objects in front and a trailer at the end."""
    return bool(re.search(rb"\d+ \d+ obj\b", head[:_PDF_HEADER_BYTES])) and b"startxref" in tail


def image_words(head: bytes) -> str:
    """`a PNG image`; empty where it is no picture that can be read."""
    return _image(head)[0]


def media_type(head: bytes) -> str:
    """By content, never by name."""
    return "application/pdf" if is_pdf(head) else _image(head)[1] or "application/octet-stream"


def _image(head: bytes) -> tuple[str, str]:
    for magic, words, kind in _IMAGES:
        if head.startswith(magic):
            is_right = {b"BM": _is_bitmap(head), b"RIFF": head[8:12] == b"WEBP"}.get(magic, True)
            return (words, kind) if is_right else ("", "")
    return "", ""


def _is_bitmap(head: bytes) -> bool:
    """`BM` alone begins many a text; a bitmap's header has a known length at byte 14."""
    return len(head) >= 18 and int.from_bytes(head[14:18], "little") in {12, 40, 52, 56, 64, 108, 124}
