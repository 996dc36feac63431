"""Parses a PDF file into elements. Runs in a child process that can be killed; single-threaded, no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymupdf

from ingest.document_reader import Progress, Source, read_document, silence_mupdf
from ingest.image import parse_image
from ingest.inflated import check_inflated
from ingest.limits import Limits, check_pages, check_size
from ingest.upright import bake_rotated_annotations
from kb_qa.elements import ParsedDocument
from kb_qa.errors import DamagedFileError, EmptyFileError, MisnamedFileError, PasswordRequiredError

__all__ = ["parse_image", "parse_pdf"]

HEAD = 1024  # bytes within which a PDF must call itself one


def parse_pdf(path: Path, document_id: str, *, limits: Limits, progress: Progress | None = None) -> ParsedDocument:
    """Pages and elements of a PDF, boxes in display space; `progress(done, pages)` is called after each page.

    Raises EmptyFileError, MisnamedFileError, PasswordRequiredError, DamagedFileError or LimitExceededError. A page that
    cannot be read does not lose the others: it is listed with quality "poor", and a flag names it.
    """
    with opened_pdf(path, document_id, limits=limits) as source:
        return read_document(source, limits, progress)


@contextmanager
def opened_pdf(path: Path, document_id: str, *, limits: Limits) -> Iterator[Source]:
    """The open file, ready to be read. Raises what `parse_pdf` raises of a whole file."""
    check_size(path, limits)
    _check_signature(path)
    silence_mupdf()
    with _opened(path) as document:
        count = _page_count(document, path)
        check_pages(path, count, limits)
        check_inflated(document, path.name, limits)
        flags = ("repaired",) if document.is_repaired else ()
        bake_rotated_annotations(document)
        yield Source(document, path.name, document_id, flags=flags)


def _check_signature(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(HEAD)
    if b"%PDF-" in head:
        return
    # A PDF that lost its first bytes can still be repaired; it begins in the middle of its objects.
    markup = re.search(rb"<(?:!doctype|html|script|\?xml|svg|body)", head, re.IGNORECASE)
    if markup or not re.search(rb"\b(?:\d+ \d+ obj\b|endobj\b)", head):
        raise MisnamedFileError(f"{path.name!r} is not a PDF file, whatever its name says; give it its right extension")


@contextmanager
def _opened(path: Path) -> Iterator[pymupdf.Document]:
    try:
        document = pymupdf.open(path, filetype="pdf")
    except pymupdf.EmptyFileError as error:
        raise EmptyFileError(f"{path.name!r} has no bytes; upload the file again") from error
    except (RuntimeError, ValueError) as error:  # FileDataError is a RuntimeError
        raise DamagedFileError(f"{path.name!r} is damaged beyond repair; get a complete copy of the file") from error
    try:
        if not document.is_pdf:
            raise MisnamedFileError(f"{path.name!r} is not a PDF file, whatever its name says")
        if document.needs_pass:
            raise PasswordRequiredError(f"{path.name!r} is encrypted; save a copy without its password and add that")
        yield document
    finally:
        document.close()


def _page_count(document: pymupdf.Document, path: Path) -> int:
    try:
        count = int(document.page_count)
    except (RuntimeError, ValueError) as error:
        raise DamagedFileError(f"{path.name!r} is damaged: its pages cannot be counted; get a complete copy") from error
    if count < 1:
        raise EmptyFileError(f"{path.name!r} has no pages")
    return count
