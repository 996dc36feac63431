"""Other chunks of the same parse: made without the file, while the old ones answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.indexing import document_title
from kb_qa.elements import Element, ParsedDocument
from kb_qa.geometry import Page, Region
from kb_qa.ledger import Ledger
from kb_qa.version_table import CHUNKING
from tests.test_pipeline import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    with Ledger.open(tmp_path / "kb", create=True) as ledger:
        yield Workshop(tmp_path, ledger)


def forget_chunking(ledger: Ledger) -> None:
    """As a ledger is whose chunks were made by other code."""
    with ledger.database.write() as connection:
        connection.exec_driver_sql("UPDATE versions SET chunking = 'older'")


def ready(ledger: Ledger) -> list[str]:
    return [ledger.version(version).chunking for version in ledger.versions_in("ready")]


def test_the_next_ingest_cuts_an_old_document_anew_without_parsing_it(workshop: Workshop) -> None:
    """The file is neither parsed nor called unchanged; what can be asked stays the same; a third run does nothing."""
    workshop.write("a.txt", "Parking costs 37 dollars.")
    workshop.ingest()
    assert ready(workshop.ledger) == [CHUNKING]
    before = workshop.visible()
    forget_chunking(workshop.ledger)
    outcome = workshop.ingest()["a.txt"]
    assert (outcome.state, outcome.reason, outcome.chunks) == ("ready", "", 1)
    assert workshop.pool.parsed == ["a.txt"]
    assert (ready(workshop.ledger), workshop.visible()) == ([CHUNKING], before)
    assert workshop.ingest()["a.txt"].reason == "unchanged"


def test_an_ingest_that_was_cut_goes_on_with_the_copy(workshop: Workshop) -> None:
    """Killed while it embedded: the old version answers, and the next ingest finishes the new one."""
    workshop.write("a.txt", "Parking costs 37 dollars.")
    workshop.ingest()
    before = workshop.visible()
    forget_chunking(workshop.ledger)
    workshop.embedder.most = workshop.embedder.count
    with pytest.raises(KeyboardInterrupt):
        workshop.ingest()
    assert (ready(workshop.ledger), workshop.visible()) == (["older"], before)
    workshop.embedder.most = 10**9
    workshop.ingest()
    assert (ready(workshop.ledger), workshop.pool.parsed) == ([CHUNKING], ["a.txt"])


def test_a_document_is_called_by_its_cover() -> None:
    """The stated title and the headings of the first page with text, each once; later headings are none of it."""

    def heading(order: int, text: str, page: int) -> Element:
        return Element(f"e{order}", "d", order, "text", "Title", text, (Region(page, None),))

    elements = (heading(0, " ", 1), heading(1, "ACME  Corp.", 2), heading(2, "Form 10-K", 2), heading(3, "Risks", 3))
    parsed = ParsedDocument((Page(1, 1, 1),), elements, "fake", title="Form 10-K")
    assert document_title(parsed) == "Form 10-K\nACME Corp."
    assert document_title(ParsedDocument((), (), "fake")) == ""
