"""What ranking reads of the ledger: sketches, places, names and the measured strength of no evidence."""

from __future__ import annotations

from pathlib import Path

from kb_qa.identity import called
from kb_qa.ledger import Ledger
from kb_qa.protocols import Unrelated
from kb_qa.sketch import sketch
from tests.test_ledger import bring, chunk, receive, sha


def test_sketches_and_places_of_what_is_visible(tmp_path: Path) -> None:
    """A stored sketch comes back byte for byte; what is not ready, or not there, is left out."""
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.set_embedder("fake", 4)
        bring(ledger, "alpha", until="ready")
        bring(ledger, "beta", until="indexing", name="other.pdf")
        shown = chunk(sha("alpha"), 1, 0, "alpha 0").id
        hidden = chunk(sha("beta"), 2, 0, "beta 0").id
        found = ledger.sketches([shown, hidden, "unknown"])
        assert {key: (each.document_id, each.ordinal, each.page, each.codes) for key, each in found.items()} == {
            shown: (sha("alpha"), 0, 1, None)
        }
        places = [(sha("alpha"), 0), (sha("alpha"), 99), (sha("beta"), 0)]
        assert ledger.chunk_ids_at(places) == {(sha("alpha"), 0): shown}


def test_a_sketch_is_stored_beside_its_chunk(tmp_path: Path) -> None:
    """Row for row with the chunks."""
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.set_embedder("fake", 4)
        version = bring(ledger, "alpha", until="parsed")
        parts = [chunk(sha("alpha"), version, ordinal, f"alpha {ordinal}") for ordinal in range(3)]
        ledger.store_chunks(version, parts, [["alpha"]] * 3, sketches=[*map(sketch, parts)])
        with ledger.database.read() as connection:
            stored = connection.exec_driver_sql("SELECT sketch FROM chunks ORDER BY ordinal").scalars().all()
        assert stored == [sketch(part) for part in parts]


def test_what_a_document_is_called_is_stored_once_and_changes_the_edition(tmp_path: Path) -> None:
    """Gathered where it is missing; another name of the file is another edition, too."""
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.set_embedder("fake", 4)
        version = bring(ledger, "alpha", until="ready")
        assert ledger.uncalled() == [version]
        before = ledger.edition()
        ledger.store_called(version, called(ledger.outline(version)))
        assert ledger.uncalled() == []
        assert ledger.edition() != before
        identity = ledger.identities()[sha("alpha")]
        assert (identity.names, identity.called) == (("report.pdf",), ("alpha 0", "alpha 1"))
        before = ledger.edition()
        receive(ledger, "alpha", "again.pdf")
        assert ledger.edition() != before


def test_what_was_measured_is_stored_with_the_index(tmp_path: Path) -> None:
    """One measurement, the last one."""
    with Ledger.open(tmp_path, create=True) as ledger:
        assert ledger.unrelated() is None
        for chunks in (10, 20):
            ledger.store_unrelated(Unrelated("fake", chunks, {"en": 0.8}))
        assert ledger.unrelated() == Unrelated("fake", 20, {"en": 0.8})
