"""The vector index in Chroma, opened by one process at a time: the holder of the index lock.

It can be thrown away. `open_store` throws away what is not byte for byte what its last owner sealed in the ledger,
since loading damaged index files can end the process; `publish.catch_up` then fills it again from the ledger.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kb_qa.answers import EVERYTHING, Scope
from kb_qa.errors import DamagedIndexError
from kb_qa.failpoints import failpoint
from kb_qa.protocols import Metadata, Neighbour, Vectors

# What stands in the index and how its graph is made; another one means that the index is filled anew.
LAYOUT = b"2"
MOST_DOCUMENTS = 5000  # in one condition: SQLite refuses more than 32,766 values


class ChromaStore:
    """`protocols.VectorIndex` over a folder that no other process has open. `path` is made where it is missing.

    `model` is the id of the embedding model whose vectors stand in it.
    """

    def __init__(self, path: Path, dimension: int, model: str = "") -> None:
        with _damage(path):
            self._open(_open_client(path), path, dimension, _collection_name(model, dimension))

    def _open(self, client: Any, path: Path, dimension: int, name: str) -> None:
        self.path = path
        self.dimension = dimension
        self._name = name
        self._fingerprint = ""  # until the next write: queries leave the files alone, and hashing them all takes time
        with _damage(path):
            self._client = client
            self._collection = self._get_collection()
            # The first query loads the graph and may touch its files; the fingerprint is stable from here on.
            if self.count():
                self._collection.query(query_embeddings=[self._any_vector()], n_results=1, include=[])

    def close(self) -> None:
        self._client.close()

    def upsert(self, ids: Sequence[str], vectors: Vectors, metadatas: Sequence[Metadata]) -> None:
        if not len(ids) == len(vectors) == len(metadatas):
            raise ValueError(f"{len(ids)} ids, {len(vectors)} vectors, {len(metadatas)} metadatas")
        rows = {
            row_id: row for row, row_id in enumerate(ids)
        }  # Chroma refuses an id twice in a batch: the last one stays
        with self._writing():
            for part in self._batches(list(rows)):
                chosen = [rows[row_id] for row_id in part]
                failpoint("upsert.before")
                self._collection.upsert(
                    ids=part,
                    embeddings=np.asarray(vectors, dtype=np.float32)[chosen],
                    metadatas=[dict(metadatas[row]) for row in chosen],
                )
                failpoint("upsert.after")

    def delete(self, ids: Sequence[str]) -> None:
        with self._writing():
            for part in self._batches(list(dict.fromkeys(ids))):
                failpoint("unindex.before")
                self._collection.delete(ids=part)
                failpoint("unindex.after")

    def query(self, vector: Vectors, k: int, scope: Scope = EVERYTHING) -> Sequence[Neighbour]:
        """At most k neighbours, nearest first. Raises DamagedIndexError: a failed search is never an empty one."""
        if len(scope.document_ids) <= MOST_DOCUMENTS:
            return self._query(vector, k, _where(scope))
        ids = scope.document_ids
        parts = [ids[start : start + MOST_DOCUMENTS] for start in range(0, len(ids), MOST_DOCUMENTS)]
        found = [
            neighbour
            for part in parts
            for neighbour in self._query(vector, k, _where(replace(scope, document_ids=part)))
        ]
        return sorted(found, key=lambda neighbour: -neighbour.similarity)[: max(k, 0)]

    def _query(self, vector: Vectors, k: int, where: Any) -> Sequence[Neighbour]:
        wanted = min(k, self.count())
        while wanted > 0:
            try:
                return self._search(vector, wanted, where)
            except _chroma_errors():
                # The graph cannot yield so many (case C9): fewer, and at last a look at every vector.
                wanted //= 2
        return self._scan(vector, k, where) if k > 0 and self.count() else ()

    def count(self) -> int:
        with _damage(self.path):
            return int(self._collection.count())

    def clear(self) -> None:
        with self._writing():
            self._client.delete_collection(self._name)
            self._collection = self._get_collection()

    def successor(self, dimension: int) -> ChromaStore:
        """An empty index beside this one, for this or another model. Both answer until one takes the place."""
        made = object.__new__(ChromaStore)
        made._open(self._client, self.path, dimension, "successor")
        made.clear()
        return made

    def take_place(self, before: ChromaStore, model: str) -> None:
        """The index before this one is gone; nobody may ask it any more."""
        with self._writing():
            self._client.delete_collection(before._name)
            self._name = _collection_name(model, self.dimension)
            self._collection.modify(name=self._name)

    def fingerprint(self) -> str:
        self._fingerprint = self._fingerprint or fingerprint_of(self.path)
        return self._fingerprint

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._fingerprint = ""
        with _damage(self.path):
            yield

    def _get_collection(self) -> Any:
        space = {"hnsw": {"space": "cosine"}}
        return self._client.get_or_create_collection(self._name, embedding_function=None, configuration=space)

    def _any_vector(self) -> Vectors:
        vector = np.zeros(self.dimension, dtype=np.float32)
        vector[0] = 1
        return vector

    def _batches(self, ids: list[str]) -> Iterator[list[str]]:
        size = self._client.get_max_batch_size()
        for start in range(0, len(ids), size):
            yield ids[start : start + size]

    def _search(self, vector: Vectors, k: int, where: Any) -> Sequence[Neighbour]:
        query = [np.asarray(vector, dtype=np.float32)]
        found = self._collection.query(query_embeddings=query, n_results=k, where=where, include=["distances"])
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [Neighbour(row_id, 1.0 - float(distance)) for row_id, distance in pairs]

    def _scan(self, vector: Vectors, k: int, where: Any) -> Sequence[Neighbour]:
        """Exact search without the graph."""
        with _damage(self.path):
            found = self._collection.get(where=where, include=["embeddings"])
        if not found["ids"]:
            return ()
        matrix = np.asarray(found["embeddings"], dtype=np.float32)
        lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
        similarities = matrix @ vector / np.maximum(lengths, 1e-12)
        return [
            Neighbour(found["ids"][i], float(similarities[i])) for i in np.argsort(-similarities, kind="stable")[:k]
        ]


def _where(scope: Scope) -> dict[str, Any] | None:
    """The scope in Chroma's words: a chunk is on every page from `page` to `last_page`."""
    conditions: list[dict[str, Any]] = []
    if scope.document_ids:
        conditions.append({"document_id": {"$in": list(scope.document_ids)}})
    if scope.element_types:
        conditions.append({"element_type": {"$in": list(scope.element_types)}})
    if runs := [
        {"$and": [{"page": {"$lte": last}}, {"last_page": {"$gte": first}}]} for first, last in scope.page_runs
    ]:
        conditions.append({"$or": runs} if len(runs) > 1 else runs[0])
    if not conditions:
        return None
    return {"$and": conditions} if len(conditions) > 1 else conditions[0]


def _collection_name(model: str, dimension: int) -> str:
    """From a hash: neither what a knowledge base nor what a model is called becomes a collection's name."""
    return f"chunks-{hashlib.sha256(f'{dimension} {model}'.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def open_store(path: Path, dimension: int, seal: str, model: str = "") -> ChromaStore:
    """The index at `path`, emptied first where its files are not those that were sealed (`Ledger.index_seal`)."""
    if not seal or fingerprint_of(path) != seal:
        shutil.rmtree(path, ignore_errors=True)
    return ChromaStore(path, dimension, model)


def fingerprint_of(path: Path) -> str:
    """A digest of every file below `path`, names and bytes, and of the layout; empty where there is no file."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    digest = hashlib.sha256(LAYOUT)
    for file in files:
        with file.open("rb") as opened:
            content = hashlib.file_digest(opened, "sha256").hexdigest()
        digest.update(f"{file.relative_to(path).as_posix()}\n{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest() if files else ""


def _open_client(path: Path) -> Any:
    # Imported where it is used: it takes seconds, and most commands never open the index.
    import chromadb
    from chromadb.config import Settings

    path.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))


def _chroma_errors() -> tuple[type[Exception], ...]:
    from chromadb.errors import ChromaError

    return (ChromaError, RuntimeError, ValueError, TypeError, OSError)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except _chroma_errors() as error:
        raise DamagedIndexError(
            f"the vector index {str(path)!r} failed ({error}); it is rebuilt at the next start"
        ) from error
