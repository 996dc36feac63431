"""Vectors of texts that were embedded before, in a file beside the ledger.

The paragraph of another document, of a new version or of a file ingested again is found by its model and the hash of
its text. Losing the file costs time only.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from kb_qa.protocols import Embedder, Vectors
from kb_qa.records import text_digest

_log = logging.getLogger(__name__)

FILE_NAME = "embeddings.sqlite3"
MOST = 100_000  # vectors kept; 1.5 kB each with the default model
KEPT_DAYS = 30.0  # what was not met for so long goes, and with it what is left of deleted documents
_DAY = 86_400.0
_PART = 500  # keys in one statement
_SCHEMA = """
CREATE TABLE IF NOT EXISTS embeddings (
    embedder TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL, met REAL NOT NULL,
    PRIMARY KEY (embedder, digest)
) WITHOUT ROWID
"""


class CachedEmbedder:
    """An embedder that asks `embedder` only for texts that are not in the file at `path`. Close it, or use `with`.

    For one process and thread at a time. A file that cannot be read or written is reported and done without.
    """

    def __init__(self, embedder: Embedder, path: Path, *, most: int = MOST) -> None:
        self._embedder = embedder
        self.id = embedder.id
        self.dimension = embedder.dimension
        self._most = most
        self._file = _opened(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """As the embedder's own; a text that stands in `texts` twice is embedded once."""
        digests = [text_digest(text) for text in texts]
        known = self._known(set(digests))
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if missing:
            made = dict(zip(missing, self._embedder.embed_passages(list(missing.values())), strict=True))
            self._remember(made)
            known |= made
        return np.stack([known[digest] for digest in digests]) if texts else np.zeros((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self._embedder.embed_query(text)

    def close(self) -> None:
        """Drops what was not met for long, and the longest not met beyond the number kept."""
        now = time.time()
        self._write("DELETE FROM embeddings WHERE met < ?", [(now - KEPT_DAYS * _DAY,)])
        self._write(
            "DELETE FROM embeddings WHERE (embedder, digest) IN "
            "(SELECT embedder, digest FROM embeddings ORDER BY met DESC, digest LIMIT -1 OFFSET ?)",
            [(self._most,)],
        )
        if self._file is not None:
            self._file.close()
            self._file = None

    def _known(self, digests: Iterable[bytes]) -> dict[bytes, Vectors]:
        wanted = sorted(digests)
        known: dict[bytes, Vectors] = {}
        worn: list[bytes] = []
        for start in range(0, len(wanted), _PART):
            for digest, vector, met in self._rows(wanted[start : start + _PART]):
                if len(vector) == 4 * self.dimension:
                    known[digest] = np.frombuffer(vector, "<f4")
                    worn += [digest] if met < time.time() - _DAY else []
        if worn:
            update = "UPDATE embeddings SET met = ? WHERE embedder = ? AND digest = ?"
            self._write(update, [(time.time(), self.id, digest) for digest in worn])
        return known

    def _rows(self, digests: Sequence[bytes]) -> list[tuple[bytes, bytes, float]]:
        if self._file is None:
            return []
        places = ", ".join("?" * len(digests))
        query = f"SELECT digest, vector, met FROM embeddings WHERE embedder = ? AND digest IN ({places})"
        try:
            return self._file.execute(query, (self.id, *digests)).fetchall()
        except sqlite3.Error as error:
            self._give_up(error)
            return []

    def _remember(self, made: Mapping[bytes, Vectors]) -> None:
        now = time.time()
        self._write(
            "INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?, ?)",
            [(self.id, digest, vector.astype("<f4").tobytes(), now) for digest, vector in made.items()],
        )

    def _write(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """One transaction."""
        if self._file is None:
            return
        try:
            with self._file:
                self._file.executemany(statement, rows)
        except sqlite3.Error as error:
            self._give_up(error)

    def _give_up(self, error: sqlite3.Error) -> None:
        _log.warning("embeddings are not remembered from here on: %s", error)
        if self._file is not None:
            self._file.close()
        self._file = None


def forget_texts(path: Path, digests: Collection[bytes]) -> None:
    """Drops the vectors of these texts (`records.text_digest`), whatever model made them."""
    file = _opened(path) if digests and path.is_file() else None
    if file is None:
        return
    wanted = sorted(digests)
    try:
        with closing(file), file:
            for start in range(0, len(wanted), _PART):
                part = wanted[start : start + _PART]
                file.execute(f"DELETE FROM embeddings WHERE digest IN ({', '.join('?' * len(part))})", part)
    except sqlite3.Error as error:
        _log.warning("%d embeddings stay until they are not met for long: %s", len(wanted), error)


def _opened(path: Path) -> sqlite3.Connection | None:
    """The file's database; a file that is damaged is made anew, and None where it cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _prepared(path)
        except sqlite3.OperationalError:  # a full disk or a lock says nothing against the file
            raise
        except sqlite3.DatabaseError as error:
            _log.warning("the remembered embeddings are thrown away: %s", error)
            path.unlink(missing_ok=True)
            return _prepared(path)
    except (OSError, sqlite3.Error) as error:
        _log.warning("embeddings are not remembered: %s", error)
        return None


def _prepared(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    try:
        # A cache may lose its last rows with the power; waiting for the disk at each batch would cost more.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection
