"""Page after page: one that breaks the parser is flagged, the others are kept."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from ingest.document_reader import Source, read_document
from ingest.limits import Limits
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
