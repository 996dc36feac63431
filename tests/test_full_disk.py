"""A disk that is full at one write or another: ingest waits with a reason, goes on, and leaves nothing half done."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.killed_ingest import Proof, Trials, write_documents

WRITES = ("commit.before", "blob.write", "rename.before", "upsert.before")


@pytest.fixture(scope="module")
def proof(trials: Trials, memory_folder: Path) -> Proof:
    write_documents(memory_folder / "in", 4)
    proof = Proof(trials, memory_folder, {"folder": str(memory_folder / "in")})
    proof.prepare()
    return proof


def nth_writes(proof: Proof, every: int) -> list[tuple[str, int]]:
    """Each kind of write, the first time and then every so many times."""
    times = Counter(name for name in proof.points if name in WRITES)
    return [(name, n) for name in WRITES for n in range(1, times[name] + 1, every if name == "commit.before" else 4)]


@pytest.mark.parametrize("every", [17, pytest.param(1, marks=pytest.mark.long)], ids=["some writes", "every write"])
def test_a_disk_that_is_full_for_a_while_delays_an_ingest_and_nothing_else(proof: Proof, every: int) -> None:
    """At the n-th write, and at the two after it: paused with the reason, then whole, and the export is the same."""
    wrong, paused = [], 0
    for name, nth in nth_writes(proof, every):
        problems, waited = proof.fill_at(name, nth, times=3)
        wrong += problems
        paused += waited
    assert wrong == []
    assert paused > 0
