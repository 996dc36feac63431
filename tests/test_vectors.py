"""The vector index: what it finds, what it survives, and how damage is noticed before anything is loaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb_qa.answers import Scope
from kb_qa.elements import Block, Chunk
from kb_qa.errors import DamagedIndexError
from kb_qa.geometry import BBox, Region
from kb_qa.protocols import VectorIndex, Vectors
from kb_qa.records import chunk_place, metadata_of
from kb_qa.vectors import ChromaStore, fingerprint_of, open_store

DIMENSION = 8


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChromaStore]:
    opened = ChromaStore(tmp_path / "index", DIMENSION)
    yield opened
    opened.close()


def rows(count: int, seed: int = 0) -> Vectors:
    matrix = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def fill(store: ChromaStore, count: int, seed: int = 0) -> Vectors:
    matrix = rows(count, seed)
    store.upsert([f"c{i}" for i in range(count)], matrix, [{"document_id": f"d{i % 3}"} for i in range(count)])
    return matrix


def test_the_store_is_an_index(store: ChromaStore) -> None:
    """It offers what the index owner asks for."""
    index: VectorIndex = store
    assert index.count() == 0


def test_neighbours_come_nearest_first_with_their_cosine(store: ChromaStore) -> None:
    """The similarity is the cosine, -1 to 1; documents limit the search; k may be larger than what there is."""
    matrix = fill(store, 30)
    found = store.query(matrix[4], 5)
    assert found[0].id == "c4"
    assert [n.similarity for n in found] == pytest.approx(sorted(matrix @ matrix[4], reverse=True)[:5], abs=1e-5)
    assert {n.id for n in store.query(matrix[4], 100, Scope(("d1", "d2")))} == {f"c{i}" for i in range(30) if i % 3}
    assert store.query(matrix[4], 3, Scope(("unknown",))) == []
    assert len(store.query(-matrix[4], 100)) == 30
    assert store.query(matrix[4], 0) == ()


def test_a_scope_that_leaves_few_rows_finds_them_all(store: ChromaStore) -> None:
    """Pages, types and documents limit the search itself: recall under filters is that of an exact search."""
    matrix = rows(3000)
    places: list[dict[str, str | int]] = [
        {
            "document_id": f"d{i % 40}",
            "page": i % 100 + 1,
            "last_page": i % 100 + 1 + (i % 7 == 0),
            "element_type": "table" if i % 50 == 0 else "text",
        }
        for i in range(3000)
    ]
    store.upsert([f"c{i}" for i in range(3000)], matrix, places)
    scopes = (
        Scope(element_types=("table",)),
        Scope(pages=(8,)),
        Scope(pages=(8, 9, 60)),
        Scope(("d3", "d5"), (4, 44), ("text",)),
        Scope(tuple(f"d{i}" for i in range(1, 9))),
    )
    for scope in scopes:
        allowed = [i for i, place in enumerate(places) if _is_in(place, scope)]
        assert allowed
        for question in rows(5, seed=9):
            best = sorted(allowed, key=lambda i: -float(matrix[i] @ question))[:20]
            assert [n.id for n in store.query(question, 20, scope)] == [f"c{i}" for i in best]


def _is_in(place: dict[str, str | int], scope: Scope) -> bool:
    return (
        (not scope.document_ids or place["document_id"] in scope.document_ids)
        and (not scope.element_types or place["element_type"] in scope.element_types)
        and (not scope.pages or bool({place["page"], place["last_page"]} & {*scope.pages}))
    )


def test_a_scope_of_very_many_documents_is_no_error(store: ChromaStore) -> None:
    """A span of dates can leave more documents than one statement of SQLite takes values."""
    matrix = fill(store, 30)
    found = store.query(matrix[4], 5, Scope(("d1", *(f"x{i}" for i in range(40_000)), "d2")))
    exact = store.query(matrix[4], 5, Scope(("d1", "d2")))
    assert [n.id for n in found] == [n.id for n in exact]


def test_an_empty_index_has_no_neighbours(store: ChromaStore) -> None:
    """A question to an empty index is no error."""
    assert store.query(rows(1)[0], 5) == ()


def test_nothing_to_store_or_delete_is_no_error(store: ChromaStore) -> None:
    """C3: a document without chunks; deleting what was never there."""
    store.upsert([], np.zeros((0, DIMENSION), np.float32), [])
    store.delete([])
    store.delete(["never", "never"])
    assert store.count() == 0


def test_a_known_id_is_replaced_also_within_a_batch(store: ChromaStore) -> None:
    """C6: the last vector of an id is the one that answers."""
    matrix = rows(3)
    store.upsert(["a"], matrix[:1], [{"document_id": "d"}])
    store.upsert(["a", "b", "a"], matrix, [{"document_id": "d"}] * 3)
    assert store.count() == 2
    assert store.query(matrix[2], 1)[0].id == "a"
    assert store.query(matrix[2], 1)[0].similarity == pytest.approx(1, abs=1e-5)


def test_more_rows_than_one_batch_takes(store: ChromaStore) -> None:
    """C4: 12,000 chunks are split by the limit of this machine."""
    fill(store, 12_000)
    assert store.count() == 12_000
    store.delete([f"c{i}" for i in range(11_990)])
    assert store.count() == 10


def test_odd_metadata_never_loses_the_batch(store: ChromaStore) -> None:
    """C1: no bbox, a numpy page, NaN, a lone surrogate: all are stored and read back as they were meant."""
    regions: list[tuple[Region, ...]] = [
        (),
        (Region(np.int64(3), None),),  # type: ignore[arg-type]
        (Region(1, BBox(float("nan"), 0, 1, 1)),),
        (Region(1, BBox(0, 0, 1, 1)), Region(2, BBox(0, 0, 1, 1))),
    ]
    chunks = [
        Chunk(f"c{i}", "d", 1, "a\ud800.pdf\x00", i, (Block("b", "e", "", 0, 0, places),), "text", "", ("", "节"))
        for i, places in enumerate(regions)
    ]
    store.upsert([chunk.id for chunk in chunks], rows(4), [metadata_of(chunk) for chunk in chunks])
    stored = store._collection.get(ids=["c0", "c1", "c2", "c3"], include=["metadatas"])
    places = {i: chunk_place(m).regions for i, m in zip(stored["ids"], stored["metadatas"], strict=True)}
    assert places == {
        "c0": (),
        "c1": (Region(3, None),),
        "c2": (Region(1, None),),
        "c3": (Region(1, BBox(0, 0, 1, 1)), Region(2, BBox(0, 0, 1, 1))),
    }


def test_what_was_stored_is_there_after_closing(tmp_path: Path) -> None:
    """Opened again, in the same process, it answers the same."""
    first = ChromaStore(tmp_path / "index", DIMENSION)
    matrix = fill(first, 40)
    before = first.query(matrix[7], 10)
    first.close()
    again = ChromaStore(tmp_path / "index", DIMENSION)
    assert again.query(matrix[7], 10) == before
    again.clear()
    assert again.count() == 0
    again.close()


def test_two_bases_do_not_see_each_other(tmp_path: Path) -> None:
    """C10: names of knowledge bases are folders and never collection names."""
    one, other = ChromaStore(tmp_path / "年度报告", DIMENSION), ChromaStore(tmp_path / "季度报告", DIMENSION)
    fill(one, 3)
    assert (one.count(), other.count()) == (3, 0)
    one.close()
    other.close()


class Failing:
    """A collection whose graph cannot yield more than `limit` neighbours."""

    def __init__(self, collection: Any, limit: int) -> None:
        self._collection = collection
        self._limit = limit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._collection, name)

    def query(self, *, n_results: int, **rest: Any) -> Any:
        if n_results > self._limit:
            raise RuntimeError("Cannot return the results in a contiguous 2D array. Probably ef or M is too small")
        return self._collection.query(n_results=n_results, **rest)


@pytest.mark.parametrize(("limit", "count"), [(3, 2), (0, 10)], ids=["fewer", "scan"])
def test_a_graph_that_fails_is_asked_for_less_and_then_passed_by(store: ChromaStore, limit: int, count: int) -> None:
    """C9: an error of the graph never reads as nothing found."""
    matrix = fill(store, 40)
    exact = store.query(matrix[3], 10)
    store._collection = Failing(store._collection, limit)
    found = store.query(matrix[3], 10)
    assert [n.id for n in found] == [n.id for n in exact[:count]]
    assert [n.similarity for n in found] == pytest.approx([n.similarity for n in exact[:count]], abs=1e-5)


def test_the_fingerprint_changes_with_a_write_and_not_with_a_question(tmp_path: Path) -> None:
    """Sealed after the first opening, the files stay as they are for as long as nothing is written."""
    first = ChromaStore(tmp_path / "index", DIMENSION)
    matrix = fill(first, 1500)
    first.close()
    store = ChromaStore(tmp_path / "index", DIMENSION)
    sealed = store.fingerprint()
    store.query(matrix[3], 10)
    store.query(matrix[3], 10, Scope(("d1",)))
    assert fingerprint_of(tmp_path / "index") == sealed
    store.delete(["c1"])
    assert store.fingerprint() != sealed
    store.close()


@pytest.mark.parametrize("damage", ["untouched", "deleted", "truncated", "flipped", "older", "folder gone", "no seal"])
def test_damage_is_noticed_before_the_index_is_loaded(tmp_path: Path, damage: str) -> None:
    """Every file deleted, truncated, with one bit flipped, or put back from an older copy: the index starts empty."""
    path, older = tmp_path / "index", tmp_path / "older"
    store = ChromaStore(path, DIMENSION)
    fill(store, 1200)
    shutil.copytree(path, older)
    fill(store, 1300, seed=1)
    seal = store.fingerprint()
    store.close()
    whole = tmp_path / "whole"
    shutil.copytree(path, whole)
    names = sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file())
    assert len(names) >= 5
    for name in names:
        shutil.rmtree(path)
        shutil.copytree(whole, path)
        if damage == "folder gone":
            shutil.rmtree(path)
        elif damage == "older":
            shutil.rmtree(path)
            shutil.copytree(older, path)
        else:
            harm(path / name, damage)
        opened = open_store(path, DIMENSION, "" if damage == "no seal" else seal)
        assert opened.count() == (1300 if damage == "untouched" else 0), name
        opened.close()
        if damage in {"untouched", "older", "folder gone", "no seal"}:
            break


def harm(file: Path, damage: str) -> None:
    if damage == "deleted":
        file.unlink()
    elif damage == "truncated":
        file.write_bytes(file.read_bytes()[:-1])
    elif damage == "flipped":
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)


def test_an_index_that_cannot_be_opened_is_a_typed_error(tmp_path: Path) -> None:
    """Without a seal to compare, damage is a DamagedIndexError, which its owner answers with a rebuild."""
    (tmp_path / "chroma.sqlite3").write_bytes(b"not a database " * 300)
    with pytest.raises(DamagedIndexError):
        ChromaStore(tmp_path, DIMENSION)
