"""The index is looked at in a process of its own, which damaged files may end, and which changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_qa import index_probe
from kb_qa.errors import DamagedIndexError
from kb_qa.index_probe import look, probed
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock
from kb_qa.publish import catch_up
from kb_qa.vectors import fingerprint_of, open_store
from tests.test_publish import EMBEDDER, add

FOLDER = "index"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[Path]:
    """A knowledge base with one document and its index."""
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.set_embedder(EMBEDDER.id, EMBEDDER.dimension)
        add(ledger, "net revenue", name="a.pdf")
        store = open_store(tmp_path / FOLDER, EMBEDDER.dimension, ledger.index_seal())
        catch_up(ledger, store)
        store.close()
    yield tmp_path


def test_a_whole_index_is_told_and_left_as_it_is(kb: Path) -> None:
    """In a child; its files are the same afterwards."""
    before = fingerprint_of(kb / FOLDER)
    assert probed(kb, FOLDER) == "holds its 3 chunks, byte for byte as sealed"
    assert fingerprint_of(kb / FOLDER) == before


def test_an_index_that_was_changed_is_not_opened(kb: Path) -> None:
    """One byte more: it would be rebuilt, which is its owner's work."""
    file = next(path for path in (kb / FOLDER).rglob("*") if path.is_file())
    with file.open("ab") as opened:
        opened.write(b"x")
    before = fingerprint_of(kb / FOLDER)
    assert "the next question rebuilds it" in look(kb, FOLDER)
    assert fingerprint_of(kb / FOLDER) == before


def test_an_index_in_use_is_not_looked_at(kb: Path) -> None:
    """Its owner is named."""
    with DirectoryLock(kb, "index"):
        assert "not looked at: process" in probed(kb, FOLDER)


def test_a_child_that_dies_is_told(kb: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With what to do, and doctor lives on."""
    died = tmp_path / "dies"
    died.write_text(f"#!{sys.executable}\nimport os\nos.kill(os.getpid(), 11)\n")
    died.chmod(0o755)
    monkeypatch.setattr(index_probe.sys, "executable", str(died))
    with pytest.raises(DamagedIndexError, match="ended with -11; delete 'index'"):
        probed(kb, FOLDER)
