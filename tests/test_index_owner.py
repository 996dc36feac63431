"""Several processes on one knowledge base, and an index that fails half-way: nothing torn, nothing half visible."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb_qa.elements import Block, Chunk, ParsedDocument
from kb_qa.errors import DamagedIndexError, LockHeldError
from kb_qa.geometry import Page, Region
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock
from kb_qa.publish import catch_up
from kb_qa.vectors import open_store

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = "d" * 64
WORKERS, WRITES = 4, 60


class FailingBatches:
    """A collection that takes `good` batches and then no more."""

    def __init__(self, collection: Any, good: int) -> None:
        self._collection = collection
        self.good = good

    def __getattr__(self, name: str) -> Any:
        return getattr(self._collection, name)

    def upsert(self, **rows: Any) -> None:
        self.good -= 1
        if self.good < 0:
            raise RuntimeError("Batch size of 6000 is greater than max batch size of 5461")
        self._collection.upsert(**rows)


def bring(ledger: Ledger, count: int) -> None:
    """A document of `count` chunks that waits to be published."""
    ledger.set_embedder("fake", 4)
    version = ledger.receive(DOCUMENT, "a.pdf", size=1, kind="pdf", pipeline="1")
    ledger.mark(version, "stored")
    ledger.mark(version, "parsing")
    ledger.store_parse(version, ParsedDocument((Page(1, 9, 9),), (), "fake"))
    chunks = [
        Chunk(f"c{i}", DOCUMENT, version, "a.pdf", i, (Block("b", "e", "alpha", 0, 5, (Region(1, None),)),), "text", "")
        for i in range(count)
    ]
    ledger.store_chunks(version, chunks, [["alpha"]] * count)
    ledger.store_vectors(version, [chunk.id for chunk in chunks], np.eye(1, 4).repeat(count, axis=0))
    ledger.mark(version, "indexing")


def test_case_c4_a_batch_that_fails_leaves_nothing_half_searchable(tmp_path: Path) -> None:
    """C4: batch 2 of 3 fails: no chunk of the document can be found; the next owner of the index has all of them."""
    with Ledger.open(tmp_path, create=True) as ledger:
        bring(ledger, 2500)
        with closing(open_store(tmp_path / "index", 4, "", "fake")) as store:
            store._collection = FailingBatches(store._collection, good=1)
            with pytest.raises(DamagedIndexError):
                catch_up(ledger, store)
            assert store.count() == 1000
            assert ledger.chunks(["c0", "c2499"]) == {}
            assert ledger.lexical(["alpha"], 9) == ()
        assert ledger.index_seal() == ""
        with closing(open_store(tmp_path / "index", 4, ledger.index_seal(), "fake")) as store:
            assert catch_up(ledger, store) == 1
            assert store.count() == ledger.indexed_count() == 2500


def _work(kb: Path, number: int, results: Any, all_told: Any) -> None:
    """One of several processes: it writes to the ledger, and tries to own the index until every other one has."""
    with Ledger.open(kb, create=True) as ledger:
        for write in range(WRITES):
            ledger.jobs.add("test", {"worker": number, "write": write})
    try:
        with DirectoryLock(kb, "index").acquire(), closing(open_store(kb / "index", 4, "", "fake")) as store:
            store.upsert(["x"], np.eye(1, 4, dtype=np.float32), [{"document_id": "d"}])
            results.put(("owner", store.count()))
            all_told.wait(120)
    except LockHeldError as error:
        results.put(("refused", str(error)))


def test_case_c11_processes_write_at_once_and_one_owns_the_index(tmp_path: Path) -> None:
    """C11: 4 processes × 60 writes are all there; one opens Chroma, the others are told which process has it."""
    context = multiprocessing.get_context("spawn")
    results, all_told = context.Queue(), context.Event()
    workers = [context.Process(target=_work, args=(tmp_path, number, results, all_told)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    told: Sequence[tuple[str, Any]] = [results.get(timeout=120) for _ in range(WORKERS)]
    all_told.set()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert sorted(kind for kind, _ in told) == ["owner", *["refused"] * (WORKERS - 1)]
    assert all(re.match(r"process \d+ owns the index of", text) for kind, text in told if kind == "refused")
    with Ledger.open(tmp_path, create=False) as ledger, ledger.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM jobs").scalar_one() == WORKERS * WRITES


def test_case_c11_nothing_of_ours_opens_chromas_own_database() -> None:
    """C11: its SQLite file is Chroma's alone; a second reader in the process would tear its writes."""
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "ingest").rglob("*.py")]:
        assert "chroma.sqlite3" not in file.read_text(encoding="utf-8"), file
