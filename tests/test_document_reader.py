"""Page after page: one that breaks the parser is flagged, the others are kept."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from ingest import page_reader
from ingest.document_reader import Source, read_document
from ingest.limits import Limits
from ingest.parse import parse_document
from kb_qa.errors import DamagedFileError


class BreakingDocument:
    """A document whose pages with these numbers (from 1) raise when they are loaded."""

    def __init__(self, document: pymupdf.Document, breaking: set[int]) -> None:
        self._document = document
        self._breaking = breaking

    def __getattr__(self, name: str) -> Any:
        return getattr(self._document, name)

    def __getitem__(self, index: int) -> pymupdf.Page:
        if index + 1 in self._breaking:
            raise RuntimeError("code=7: raw text of the library")
        return self._document[index]


def document_of(pages: int) -> pymupdf.Document:
    document = pymupdf.open()
    for number in range(1, pages + 1):
        document.new_page().insert_text((72, 100), f"This is the text of MARK-{number} here.")
    return document


def test_b9_a_page_that_raises_is_flagged_and_the_others_are_read() -> None:
    """The failing page keeps its place, with quality poor and a reason in plain words (B9)."""
    source = Source(BreakingDocument(document_of(4), {3}), "a.pdf", "document")
    result = read_document(source, Limits())
    assert [page.quality.grade for page in result.pages] == ["good", "good", "poor", "good"]
    (flag,) = result.flags
    assert flag.startswith("page 3 unreadable: ")
    assert "code=7" not in flag
    assert [element.regions[0].page for element in result.elements] == [1, 2, 4]


def test_a_document_of_which_no_page_can_be_read_is_damaged() -> None:
    """Nothing readable at all is a refusal, not an empty success."""
    source = Source(BreakingDocument(document_of(2), {1, 2}), "a.pdf", "document")
    with pytest.raises(DamagedFileError, match=r"a\.pdf"):
        read_document(source, Limits())


def broken(*arguments: object, **options: object) -> Any:
    raise RuntimeError("code=7: raw text of the library")


@pytest.mark.parametrize("part", ["predict_layout", "find_tables", "_pictures", "read_content"])
def test_b18_a_text_layer_is_read_whatever_else_fails(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """Without a layout model, tables or pictures the words are kept with their boxes, and a flag says so (B9, B18)."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "Net revenue was 4,812 million in 2024 according to the audited statement.")
    page.draw_line((72, 130), (300, 130))
    page.insert_text((72, 300), "Total: 12.5%", fontsize=20)
    monkeypatch.setattr(page_reader, part, broken)
    monkeypatch.setattr(page_reader, "plain_boxes", lambda *arguments, **options: None)  # each page asks the model
    result = read_document(Source(document, "a.pdf", "document"), Limits())
    assert [element.text for element in result.elements] == [
        "Net revenue was 4,812 million in 2024 according to the audited statement.",
        "Total: 12.5%",
    ]
    assert all(element.words and element.regions[0].bbox for element in result.elements)
    assert result.flags == ("page 1 read without layout and tables: the parser failed on it",)
    assert result.pages[0].quality.grade == "fair"


def test_b13_a_pdf_needs_neither_a_network_nor_unstructured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Layout model and tables come from wheels: with sockets closed and unstructured gone nothing is missing (B13)."""
    monkeypatch.setattr(socket, "socket", broken)
    monkeypatch.setattr(socket, "create_connection", broken)
    monkeypatch.setitem(sys.modules, "unstructured", None)
    document = document_of(1)
    document[0].draw_rect((72, 200, 300, 300))
    document.save(tmp_path / "a.pdf")
    began = time.monotonic()
    result = parse_document(tmp_path / "a.pdf", "document", "pdf", limits=Limits())
    assert [element.text for element in result.elements] == ["This is the text of MARK-1 here."]
    assert result.flags == ()
    assert time.monotonic() - began < 60  # a download that is waited for takes longer
