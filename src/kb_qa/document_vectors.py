"""The vectors of some documents in memory, in eight bits: exact search inside them, where an index over all is slow.

A question that names a company is asked inside its documents too. A graph that is searched with a filter looks at most
of what it then leaves out; comparing 1,000 chunks takes a third of a millisecond. Of the vectors of a report, the ten
nearest are those of exact search in .986 of cases (n = 200, ± .005).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from kb_qa.protocols import Neighbour, Vectors
from kb_qa.visible_chunks import Part, Visible

MOST_BYTES = 100_000_000  # of 250,000 chunks with the default model
MOST_CHUNKS = 25_000  # searched at once: of more, an index is faster

_VECTORS = text(
    "SELECT row, vector FROM chunks JOIN vectors ON chunk_row = row AND embedder = :embedder"
    " WHERE version_id = :version ORDER BY row"
)


@dataclass(frozen=True, slots=True)
class _Eighths:
    """Row for row those of a part; `values * scales` are the vectors, to half a percent of their largest number."""

    values: NDArray[np.int8]
    scales: Vectors

    def similarities(self, vector: Vectors) -> Vectors:
        # No BLAS: its threads would wait for one another beside other questions.
        found: Vectors = np.einsum("ij,j->i", self.values.astype(np.float32), vector) * self.scales
        return found


class DocumentVectors:
    """From any thread, each with a connection of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, str], _Eighths] = OrderedDict()  # by version and model
        self._bytes = 0

    def nearest(
        self, connection: Connection, visible: Visible, embedder: str, vector: Vectors, k: int, ids: Sequence[str]
    ) -> Sequence[Neighbour] | None:
        """The k nearest chunks of these documents; None where they are too many, or have no vectors of this model."""
        parts = [part for each in ids if (part := visible.by_document.get(each)) is not None and len(part.rows)]
        if sum(len(part.rows) for part in parts) > MOST_CHUNKS:
            return None
        found = []
        for part in parts:
            known = self._of(connection, part, embedder)
            if known is None:
                return None
            found.append(known.similarities(vector))
        similarities = np.concatenate([np.zeros(0, np.float32), *found])
        starts = np.cumsum([0, *(len(part.rows) for part in parts)])
        best = _best(similarities, k)
        owners = np.searchsorted(starts, best, side="right") - 1
        return [
            Neighbour(parts[owner].ids[place - starts[owner]], float(similarities[place]))
            for place, owner in zip(best.tolist(), owners.tolist(), strict=True)
        ]

    def read_ahead(self, connection: Connection, part: Part, embedder: str) -> bool:
        """Keeps a part's vectors; False where there is no more room."""
        self._of(connection, part, embedder)
        return self._bytes < MOST_BYTES * 0.9

    def _of(self, connection: Connection, part: Part, embedder: str) -> _Eighths | None:
        key = (part.version, embedder)
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                return known
        made = _read(connection, part, embedder)
        if made is not None:
            with self._lock:
                self._bytes += 0 if key in self._kept else made.values.nbytes
                self._kept[key] = made
                while self._bytes > MOST_BYTES and len(self._kept) > 1:
                    self._bytes -= self._kept.popitem(last=False)[1].values.nbytes
        return made


def _read(connection: Connection, part: Part, embedder: str) -> _Eighths | None:
    rows = connection.execute(_VECTORS, {"embedder": embedder, "version": part.version}).all()
    if not rows or [row[0] for row in rows] != [*part.rows]:
        return None
    whole = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), -1)
    scales = np.maximum(np.abs(whole).max(axis=1, initial=0.0), 1e-12) / 127
    return _Eighths(np.rint(whole / scales[:, None]).astype(np.int8), scales.astype(np.float32))


def _best(similarities: Vectors, k: int) -> NDArray[np.int64]:
    """Places of the k highest, the highest first."""
    some = k < len(similarities)
    chosen = np.argpartition(-similarities, k)[:k] if some else np.arange(len(similarities))
    return chosen[np.argsort(-similarities[chosen], kind="stable")]
