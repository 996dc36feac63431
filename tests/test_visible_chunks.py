"""What is kept of the visible chunks in memory is what the ledger says, at each of its states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kb_qa import visible_chunks
from kb_qa.ledger import Ledger
from kb_qa.sketch import sketch
from tests.test_ledger import bring, chunk, sha


def sketched(ledger: Ledger, name: str, file: str, *, ready: bool = True) -> list[str]:
    """The ids of a document's three chunks, their sketches stored but the last one's."""
    version = bring(ledger, name, until="parsed", name=file)
    parts = [chunk(sha(name), version, ordinal, f"{name} {ordinal}") for ordinal in range(3)]
    ledger.store_chunks(version, parts, [[name]] * 3, sketches=[*map(sketch, parts[:2])])
    ids = [part.id for part in parts]
    ledger.store_vectors(version, ids, np.eye(3, 4, dtype=np.float32))
    ledger.mark(version, "indexing")
    if ready:
        ledger.publish(version)
    return ids


@pytest.mark.parametrize("room", [10**9, 0], ids=["in memory", "in the ledger"])
def test_sketches_follow_what_becomes_visible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """The same with and without room for them; a version is seen once it is ready, and no more once it is deleted."""
    monkeypatch.setattr(visible_chunks, "MOST_SKETCH_BYTES", room)
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.set_embedder("fake", 4)
        first = sketched(ledger, "alpha", "alpha.pdf")
        assert [*ledger.sketches(first)] == first
        later = sketched(ledger, "beta", "beta.pdf", ready=False)
        assert not ledger.sketches(later)
        last = sketched(ledger, "gamma", "gamma.pdf")
        found = ledger.sketches([*last, *later, *first])
        assert [*found] == [*last, *first]
        with ledger.database.read() as connection:
            stored = {row.id: row.sketch for row in connection.exec_driver_sql("SELECT id, sketch FROM chunks")}
        assert {each.id: each.codes for each in found.values()} == {each: stored[each] for each in found}
        assert {match.id for match in ledger.lexical(["alpha"], 5)} == {*first}
        ledger.withdraw(sha("alpha"))
        assert not ledger.sketches(first)
        assert not ledger.lexical(["alpha"], 5)


def test_chunks_are_decoded_once_and_few_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again they are the same values; the oldest make room, and are read again; deleted ones are gone."""
    monkeypatch.setattr(visible_chunks, "MOST_CHUNKS", 2)
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.set_embedder("fake", 4)
        ids = sketched(ledger, "alpha", "alpha.pdf")
        first = ledger.chunks(ids)
        assert [chunk.text for chunk in first.values()] == ["alpha 0", "alpha 1", "alpha 2"]
        again = ledger.chunks(ids)
        assert again == first
        assert [again[each].blocks is first[each].blocks for each in ids] == [False, True, True]
        ledger.withdraw(sha("alpha"))
        assert not ledger.chunks(ids)
