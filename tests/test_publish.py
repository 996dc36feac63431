"""The index owner's catch-up over a real ledger: versions become visible whole, the index can always be rebuilt."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from kb_qa.answers import EVERYTHING, Scope
from kb_qa.elements import Block, Chunk, ParsedDocument
from kb_qa.errors import DamagedIndexError
from kb_qa.geometry import BBox, Page, Region
from kb_qa.ledger import Ledger
from kb_qa.protocols import IndexLedger, Metadata, Neighbour, Vectors
from kb_qa.publish import catch_up, rebuild
from kb_qa.testing import HashEmbedder, InMemoryVectorStore
from kb_qa.vectors import open_store

EMBEDDER = HashEmbedder(dimension=16)


class Stopped(Exception):
    """Stands for the end of the process."""


@dataclass(slots=True)
class MemoryIndex:
    """A VectorIndex in memory that calls `at` before and after every write, and may lose rows."""

    store: InMemoryVectorStore
    at: Callable[[str], None] = lambda step: None
    lose: bool = False
    writes: int = 0

    def upsert(self, ids: Sequence[str], vectors: Vectors, metadatas: Sequence[Metadata]) -> None:
        self.at("before upsert")
        kept = slice(0, -1) if self.lose else slice(None)
        self.store.upsert(ids[kept], vectors[kept], metadatas[kept])
        self.writes += 1
        self.at("after upsert")

    def delete(self, ids: Sequence[str]) -> None:
        self.at("before delete")
        self.store.delete(ids)
        self.at("after delete")

    def query(self, vector: Vectors, k: int, scope: Scope = EVERYTHING) -> Sequence[Neighbour]:
        return self.store.query(vector, k, scope)

    def count(self) -> int:
        return self.store.count()

    def clear(self) -> None:
        self.at("before clear")
        self.store.rows.clear()

    def fingerprint(self) -> str:
        return hashlib.sha256(repr(sorted(self.store.rows)).encode()).hexdigest()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "kb", create=True) as opened:
        opened.set_embedder(EMBEDDER.id, EMBEDDER.dimension)
        yield opened


@pytest.fixture
def index() -> MemoryIndex:
    return MemoryIndex(InMemoryVectorStore())


def add(ledger: Ledger, text: str, *, name: str = "a.pdf", pipeline: str = "1", parts: int = 3) -> str:
    """A document of `parts` chunks, as far as the ingest writer brings it; its id."""
    document_id = hashlib.sha256(text.encode()).hexdigest()
    version = ledger.receive(document_id, name, size=1, kind="pdf", pipeline=pipeline)
    for state in ("stored", "parsing"):
        ledger.mark(version, state)
    ledger.store_parse(version, ParsedDocument((Page(1, 100, 100),), (), "fake"))
    region = (Region(1, BBox(0, 0, 9, 9)),)
    chunks = [
        Chunk(
            id=f"{document_id[:6]}-{pipeline}-{i}",
            document_id=document_id,
            version=version,
            source=name,
            ordinal=i,
            blocks=(Block(f"b{i}", "e", f"{text} {i}", 0, 1, region),),
            element_type="text",
            category="NarrativeText",
        )
        for i in range(parts)
    ]
    ledger.store_chunks(version, chunks, [[text] for _ in chunks])
    ids, texts = [chunk.id for chunk in chunks], [chunk.text for chunk in chunks]
    ledger.store_vectors(version, ids, EMBEDDER.embed_passages(texts))
    ledger.mark(version, "indexing")
    return document_id


def visible(ledger: Ledger, *terms: str) -> list[str]:
    return sorted(match.id for match in ledger.lexical(terms, 100))


def indexed(index: MemoryIndex) -> list[str]:
    return sorted(index.store.rows)


def test_the_ledger_is_what_the_index_owner_asks_for(ledger: Ledger) -> None:
    """The real ledger fits the protocol."""
    owned: IndexLedger = ledger
    assert owned.embedder() == ("hash", 16)


def test_a_version_becomes_visible_when_its_vectors_are_in(ledger: Ledger, index: MemoryIndex) -> None:
    """Catching up indexes with metadata, publishes, and says how many; the second time there is nothing to do."""
    document_id = add(ledger, "alpha")
    assert visible(ledger, "alpha") == []
    assert catch_up(ledger, index) == 1
    assert visible(ledger, "alpha") == indexed(index) != []
    metadata = index.store.rows[f"{document_id[:6]}-1-0"][1]
    assert metadata == {
        "document_id": document_id,
        "version": 1,
        "source": "a.pdf",
        "ordinal": 0,
        "page": 1,
        "last_page": 1,
        "element_type": "text",
        "category": "NarrativeText",
        "origin": "text-layer",
        "x0": 0,
        "y0": 0,
        "x1": 9,
        "y1": 9,
    }
    writes = index.writes
    assert catch_up(ledger, index) == 0
    assert index.writes == writes
    assert ledger.index_seal() == index.fingerprint()


def test_a_replaced_version_leaves_the_index_after_the_flip(ledger: Ledger, index: MemoryIndex) -> None:
    """A new pipeline and new bytes: the old vectors go, the ledger forgets the tombstones and the rows."""
    add(ledger, "alpha")
    catch_up(ledger, index)
    add(ledger, "alpha", pipeline="2")
    add(ledger, "beta", name="b.pdf")
    assert catch_up(ledger, index) == 2
    add(ledger, "gamma", name="b.pdf")
    assert catch_up(ledger, index) == 1
    assert indexed(index) == visible(ledger, "alpha", "beta", "gamma")
    assert len(indexed(index)) == 6
    assert ledger.tombstones() == []
    assert ledger.versions_in("deleting") == []


def test_a_deleted_document_leaves_the_index(ledger: Ledger, index: MemoryIndex) -> None:
    """Also where it is ingested again, with the same chunk ids, before the index owner came by."""
    document_id = add(ledger, "alpha")
    catch_up(ledger, index)
    ledger.delete(document_id)
    add(ledger, "alpha")
    assert catch_up(ledger, index) == 1
    assert indexed(index) == visible(ledger, "alpha") != []
    ledger.delete(document_id)
    assert catch_up(ledger, index) == 0
    assert indexed(index) == []


def test_the_index_comes_back_from_the_ledger(ledger: Ledger, index: MemoryIndex) -> None:
    """Promise 2: an index that is gone, or holds too little, is filled again, without a parser or a model."""
    for name in ("one", "two"):
        add(ledger, name, name=name)
    catch_up(ledger, index)
    whole = {row_id: vector.tobytes() for row_id, (vector, _) in index.store.rows.items()}
    empty = MemoryIndex(InMemoryVectorStore())
    assert catch_up(ledger, empty) == 0
    assert {row_id: vector.tobytes() for row_id, (vector, _) in empty.store.rows.items()} == whole
    empty.store.rows.popitem()
    assert catch_up(ledger, empty) == 0
    assert empty.store.rows.keys() == whole.keys()
    assert rebuild(ledger, empty) == 6


@pytest.mark.parametrize("step", ["before upsert", "after upsert", "before delete", "after delete"])
@pytest.mark.parametrize(("nth", "fresh"), [(1, True), (1, False), (2, True), (2, False)])
def test_ending_anywhere_is_safe(ledger: Ledger, step: str, nth: int, fresh: bool) -> None:
    """Stopped at a write, then caught up with a fresh index, or with the same one by an owner that lived on."""
    add(ledger, "alpha")
    add(ledger, "beta", name="b.pdf")
    catch_up(ledger, MemoryIndex(InMemoryVectorStore()))
    ledger.delete(add(ledger, "omega", name="o.pdf"))
    add(ledger, "alpha", pipeline="2")
    add(ledger, "gamma", name="b.pdf")
    seen = 0

    def stop(at: str) -> None:
        nonlocal seen
        seen += at == step
        assert len(visible(ledger, "alpha")) == 3, "never both, never neither"
        assert len(visible(ledger, "beta", "gamma")) == 3
        if seen == nth:
            raise Stopped

    interrupted = MemoryIndex(InMemoryVectorStore(), stop)
    with pytest.raises(Stopped):
        catch_up(ledger, interrupted)
    assert ledger.index_seal() == "", "an index that was being written is not trusted"
    index = MemoryIndex(InMemoryVectorStore() if fresh else interrupted.store)
    catch_up(ledger, index)
    assert indexed(index) == visible(ledger, "alpha", "gamma")
    assert len(indexed(index)) == 6
    assert not visible(ledger, "beta")


def test_an_index_that_loses_rows_publishes_nothing(ledger: Ledger, index: MemoryIndex) -> None:
    """C4: a version whose chunks are not all counted in the index stays invisible, and the index unsealed."""
    add(ledger, "alpha")
    index.lose = True
    with pytest.raises(DamagedIndexError, match="2 chunks, not 3"):
        catch_up(ledger, index)
    assert visible(ledger, "alpha") == []
    assert ledger.index_seal() == ""
    index.lose = False
    assert catch_up(ledger, index) == 1


def test_a_document_deleted_while_it_is_indexed_never_appears(ledger: Ledger, index: MemoryIndex) -> None:
    """A deletion between the upsert and the flip wins; its vectors go with the tombstones."""
    document_id = add(ledger, "alpha")
    index.at = lambda step: ledger.delete(document_id) if step == "after upsert" else None
    assert catch_up(ledger, index) == 0
    assert visible(ledger, "alpha") == indexed(index) == []


def test_a_real_index_is_rebuilt_after_its_folder_was_deleted(ledger: Ledger) -> None:
    """Chroma's answers before and after deleting its files are equal, and an undamaged index is kept as it is."""
    for name in ("net revenue", "营业收入", "leave policy"):
        add(ledger, name, name=name)
    path = ledger.kb_dir / "index"
    question = EMBEDDER.embed_query("revenue 收入")
    answers = []
    for opening in ("first", "again", "deleted"):
        if opening == "deleted":
            shutil.rmtree(path)
        store = open_store(path, EMBEDDER.dimension, ledger.index_seal())
        if opening == "again":
            assert store.count() == 9, "a sealed index is not rebuilt"
        told: list[str] = []
        catch_up(ledger, store, told.append)
        assert told == (["the index is being rebuilt from the ledger", ""] if opening == "deleted" else [])
        answers.append([(n.id, round(n.similarity, 5)) for n in store.query(question, 9)])
        store.close()
    assert answers[0] == answers[1]
    assert sorted(answers[0]) == sorted(answers[2])
    assert len(answers[0]) == 9


def test_large_versions_are_indexed_in_batches(ledger: Ledger, index: MemoryIndex) -> None:
    """More chunks than one batch reads arrive complete and in order."""
    add(ledger, "long", parts=2500)
    assert catch_up(ledger, index) == 1
    assert index.writes == 3
    assert index.count() == ledger.indexed_count() == 2500
    vector = index.store.rows[f"{hashlib.sha256(b'long').hexdigest()[:6]}-1-2499"][0]
    assert np.allclose(vector, EMBEDDER.embed_passages(["long 2499"])[0])
