"""What the ledger says of a document's pages: how well they were read, and what was read, a part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event

from kb_qa.elements import ParsedDocument
from kb_qa.geometry import Page, Quality
from kb_qa.ledger import Ledger
from kb_qa.page_table import pages_by_grade
from tests.test_ledger import chunk, element, receive, sha

FAIR, POOR = Quality("fair", ("read by OCR, confidence 0.93",)), Quality("poor", ("unreadable", "tables"))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "kb", create=True) as opened:
        opened.set_embedder("fake", 4)
        yield opened


def ready(ledger: Ledger, content: str, *qualities: Quality) -> str:
    """A visible document with a page of each quality and five elements; its id."""
    version, document_id = receive(ledger, content, name=f"{content}.pdf"), sha(content)
    pages = tuple(Page(number, 595, 842, quality=quality) for number, quality in enumerate(qualities, 1))
    ledger.mark(version, "stored")
    ledger.mark(version, "parsing")
    read = tuple(element(document_id, order, f"line {order}") for order in range(5))
    ledger.store_parse(version, ParsedDocument(pages, read, "fake"))
    made = chunk(document_id, version, 0, content)
    ledger.store_chunks(version, [made], [[content]])
    ledger.store_vectors(version, [made.id], np.eye(1, 4, dtype=np.float32))
    ledger.mark(version, "indexing")
    ledger.publish(version)
    return document_id


def test_a_document_is_listed_with_its_pages_by_grade_and_reason(ledger: Ledger) -> None:
    """Counted in one statement for all documents, however many there are; one document says the same of itself."""
    scan = ready(ledger, "scan", Quality(), FAIR, POOR, FAIR)
    clean = ready(ledger, "clean", Quality(), Quality())
    ready(ledger, "text")
    asked: list[str] = []
    event.listen(ledger.database.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    listed = {record.document_id: record for record in ledger.documents()}
    assert len([statement for statement in asked if "quality" in statement]) == 1
    assert listed[scan].grades == {"good": 1, "fair": 2, "poor": 1}
    assert listed[scan].page_reasons == {"read by OCR, confidence 0.93": 2, "unreadable": 1, "tables": 1}
    assert listed[clean].grades == {"good": 2}
    assert listed[sha("text")].grades == {}
    assert ledger.document(scan) == listed[scan]


def test_pages_without_a_doubt_are_good() -> None:
    """What no page's quality says anything of is of the best grade; a grade of no page is left out."""
    assert pages_by_grade(3, {FAIR: 1}) == ({"good": 2, "fair": 1}, {"read by OCR, confidence 0.93": 1})
    assert pages_by_grade(0, {}) == ({}, {})


def test_elements_come_a_part_at_a_time_in_reading_order(ledger: Ledger) -> None:
    """From any of them on; none where the document is not ready."""
    document_id = ready(ledger, "text")
    assert [each.order for each in ledger.elements_from(document_id, 1, 3)] == [1, 2, 3]
    assert [each.order for each in ledger.elements_from(document_id, 4, 3)] == [4]
    assert ledger.elements_from(sha("nothing"), 0, 3) == []
