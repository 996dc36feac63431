"""Promise 1: ending the ingest process at any moment is safe. `scripts/prove_kills.py` does the same at length."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.killed_ingest import Proof, Trials, change_documents, write_documents

COUNT = 8


@pytest.fixture(scope="module")
def base(trials: Trials, memory_folder: Path) -> Path:
    """A knowledge base of all documents, undisturbed."""
    write_documents(memory_folder / "in", COUNT)
    done = trials.run("command", memory_folder / "base", folder=str(memory_folder / "in"))
    assert (done["code"], done["states"]) == (0, ["quarantined"] * 2 + ["ready"] * (COUNT - 2))
    return memory_folder / "base"


def proof_of(kind: str, trials: Trials, folder: Path, base: Path) -> Proof:
    """An ingest into nothing, of other bytes under old names, by another pipeline; or a deletion."""
    own = folder / kind
    own.mkdir()
    if kind == "delete":
        command: dict[str, object] = {"names": ["00.txt", "01.txt"]}
    else:
        shutil.copytree(folder / "in", own / "in")
        command = {"folder": str(own / "in")}
    if kind == "reparse":
        command["pipeline"] = "next"
    prepared = own / "base"
    if kind == "replace":  # the base has these very names in it
        trials.run("command", prepared, **command)
        change_documents(own / "in")
    proof = Proof(trials, own, command, {"ingest": None, "replace": prepared}.get(kind, base))
    proof.prepare()
    return proof


def some_points(proof: Proof, count: int, seed: int) -> list[tuple[str, int]]:
    """So many: each failpoint at one of its times, drawn by lot, and then others."""
    lot = random.Random(seed)
    seen: Counter[str] = Counter()
    points = []
    for name in proof.points:
        seen[name] += 1
        points.append((name, seen[name]))
    chosen = [(name, lot.randint(1, times)) for name, times in sorted(seen.items())]
    others = sorted(set(points) - set(chosen))
    lot.shuffle(others)
    return (chosen if count >= len(chosen) else lot.sample(chosen, count)) + others[: max(count - len(chosen), 0)]


@pytest.mark.parametrize(("kind", "count"), [("ingest", 8), ("replace", 5), ("reparse", 3), ("delete", 4)])
def test_an_ingest_killed_at_a_failpoint_loses_nothing(
    trials: Trials, memory_folder: Path, base: Path, kind: str, count: int
) -> None:
    """Nothing is lost, doubled or half visible; a name means the old content or the new; the export is the same."""
    proof = proof_of(kind, trials, memory_folder, base)
    wrong = [each for name, nth in some_points(proof, count, seed=8) for each in proof.kill_at(name, nth)]
    assert wrong == []
