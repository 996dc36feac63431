"""Parses pictures of pages (PNG, JPEG, TIFF, WebP, BMP): each frame is a page, its text is read by OCR.

A page's size in points follows the resolution that the file states (96 dpi where it states none): the page space of
PyMuPDF, in which regions are rendered too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymupdf
from PIL import Image, UnidentifiedImageError

from ingest.document_reader import Progress, Source, read_document, silence_mupdf
from ingest.limits import Limits, check_pages, check_size
from kb_qa.elements import ParsedDocument
from kb_qa.errors import DamagedFileError, EmptyFileError, LimitExceededError, MisnamedFileError
from kb_qa.pages import IMAGE_DPI, open_document

FORMATS = frozenset({"PNG", "JPEG", "MPO", "TIFF", "WEBP", "BMP"})
STORED_PER_RENDERED = 8  # a scan may hold this many times the pixels of a render before it is refused


def parse_image(path: Path, document_id: str, *, limits: Limits, progress: Progress | None = None) -> ParsedDocument:
    """Pages and elements of a picture file, boxes in points. Raises the same errors as `parse_pdf`."""
    with opened_image(path, document_id, limits=limits) as source:
        return read_document(source, limits, progress)


@contextmanager
def opened_image(path: Path, document_id: str, *, limits: Limits) -> Iterator[Source]:
    """The open file, ready to be read. Raises what `parse_image` raises of a whole file."""
    check_size(path, limits)
    _check_format(path, limits)
    silence_mupdf()
    with _opened(path) as document:
        yield Source(document, path.name, document_id, ocr_dpi=reading_dpi(document))


def reading_dpi(document: pymupdf.Document) -> float:
    """The resolution at which the first frame is read."""
    return min(max(_resolution(document), 120.0), 300.0)


def _check_format(path: Path, limits: Limits) -> None:
    """By content, not by name. Nothing is decoded yet, so a bomb is refused before it can grow."""
    most = limits.max_megapixels * STORED_PER_RENDERED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit follows
            with Image.open(path) as picture:
                form, size, frames = str(picture.format), picture.size, int(getattr(picture, "n_frames", 1))
    except Image.DecompressionBombError as error:
        raise LimitExceededError(f"{path.name!r} has too many pixels; the limit is {most} million") from error
    except UnidentifiedImageError as error:
        raise MisnamedFileError(f"{path.name!r} is not a picture, whatever its name says") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise DamagedFileError(f"{path.name!r} is damaged beyond repair; get a complete copy of the file") from error
    if form not in FORMATS:
        raise MisnamedFileError(f"{path.name!r} is a {form} picture; PNG, JPEG, TIFF, WebP and BMP can be read")
    pixels = size[0] * size[1] * (frames if form == "WEBP" else 1)  # whose frames are all decoded at once
    if pixels > most * 1_000_000:
        shown = f"{frames} × " if pixels > size[0] * size[1] else ""
        raise LimitExceededError(
            f"{path.name!r} has {shown}{size[0]} × {size[1]} pixels; the limit is {most} million"
            f" ({STORED_PER_RENDERED} × KB_QA_MAX_MEGAPIXELS)"
        )
    check_pages(path, frames, limits)


@contextmanager
def _opened(path: Path) -> Iterator[pymupdf.Document]:
    try:
        document = open_document(path)
        if document.page_count < 1:
            raise EmptyFileError(f"{path.name!r} has no pages")
        document[0].get_image_info()  # the first frame is read, whose size all else goes by
    except (RuntimeError, ValueError, OSError, pymupdf.mupdf.FzErrorBase) as error:
        raise DamagedFileError(f"{path.name!r} is damaged beyond repair; get a complete copy of the file") from error
    with document:
        yield document


def _resolution(document: pymupdf.Document) -> float:
    """Pixels to the inch of the first frame."""
    images = document[0].get_image_info()
    width = document[0].rect.width
    return float(images[0]["width"]) * 72 / width if images and width else IMAGE_DPI
