"""What tests of documents without geometry share: reading a file, and looking at what came out."""

from __future__ import annotations

from pathlib import Path

from ingest.kinds import kind_of
from ingest.limits import Limits
from ingest.partition import partition
from kb_qa.elements import Cell, Element, ParsedDocument


def read(path: Path, limits: Limits | None = None) -> ParsedDocument:
    return partition(path, "d" * 64, kind_of(path), limits=limits or Limits())


def wrote(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def outline(parsed: ParsedDocument) -> list[tuple[str, tuple[str, ...], str]]:
    return [(element.category, element.section, element.text) for element in parsed.elements]


def texts(parsed: ParsedDocument) -> list[str]:
    return [element.text for element in parsed.elements]


def tables(parsed: ParsedDocument) -> list[Element]:
    return [element for element in parsed.elements if element.table]


def cell(element: Element, text: str) -> Cell:
    assert element.table is not None
    return next(cell for cell in element.table.cells if cell.text == text)


def headers(element: Element, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The row and column headers of the cell with that text."""
    found = cell(element, text)
    return found.row_headers, found.column_headers
