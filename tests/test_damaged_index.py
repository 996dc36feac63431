"""Promise 2: whatever happened to a file of the index is noticed before a question is answered, and costs no answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.killed_ingest import Trials, change_documents, write_documents

QUESTIONS = ["item 1 costs dollars", "part 3 in the year 2002", "euros"]


@pytest.fixture(scope="module")
def folder(trials: Trials, memory_folder: Path) -> Path:
    """A knowledge base `kb`, and `older`: its index before some documents changed."""
    write_documents(memory_folder / "in", 6)
    command = {"folder": str(memory_folder / "in")}
    assert trials.run("command", memory_folder / "kb", **command)["code"] == 0
    shutil.copytree(memory_folder / "kb" / "index", memory_folder / "older")
    change_documents(memory_folder / "in")
    assert trials.run("command", memory_folder / "kb", **command)["code"] == 0
    return memory_folder


def _flip_a_bit(path: Path, older: Path) -> None:
    data = bytearray(path.read_bytes() or b"\0")
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def _truncate(path: Path, older: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _put_back(path: Path, older: Path) -> None:
    """The older copy of this very file, or of the one that stood for it in the older index."""
    found = [each for each in sorted(older.rglob(path.name)) if each.is_file()]
    shutil.copy(found[0], path) if found else path.unlink()


DAMAGES: dict[str, Callable[[Path, Path], None]] = {
    "deleted": lambda path, older: path.unlink(),
    "truncated": _truncate,
    "bit flipped": _flip_a_bit,
    "older": _put_back,
}


def asked(trials: Trials, kb: Path) -> dict[str, Any]:
    found = trials.run("search", kb, questions=QUESTIONS)
    assert found["code"] == 0
    return {"found": [sorted(hits) for hits in found["found"]], "count": found["count"], "expected": found["expected"]}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_noticed_and_rebuilt(trials: Trials, folder: Path, damage: str) -> None:
    """Each of its files in turn; what is found afterwards is what was found before."""
    wanted = asked(trials, folder / "kb")
    assert wanted["count"] == wanted["expected"] > 0
    files = [path.relative_to(folder / "kb") for path in sorted((folder / "kb" / "index").rglob("*")) if path.is_file()]
    assert len(files) >= 5
    for file in files:
        kb = folder / "damaged"
        shutil.copytree(folder / "kb", kb)
        before = (kb / file).read_bytes()
        DAMAGES[damage](kb / file, folder / "older")
        changed = not (kb / file).exists() or (kb / file).read_bytes() != before
        assert changed or not before or damage == "older", file  # an empty file has no half
        assert asked(trials, kb) == wanted, file
        shutil.rmtree(kb)


def test_an_older_copy_of_the_whole_index_is_noticed(trials: Trials, folder: Path) -> None:
    """Whole, sound, and of yesterday."""
    wanted = asked(trials, folder / "kb")
    kb = folder / "yesterday"
    shutil.copytree(folder / "kb", kb)
    shutil.rmtree(kb / "index")
    shutil.copytree(folder / "older", kb / "index")
    assert asked(trials, kb) == wanted
