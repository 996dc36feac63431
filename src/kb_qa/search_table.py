"""The ledger's searches: by words (`lexical_index`) and, inside some documents, by vectors (`document_vectors`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kb_qa.answers import EVERYTHING, Scope
from kb_qa.database import Database
from kb_qa.document_vectors import DocumentVectors
from kb_qa.lexical_index import LexicalIndex
from kb_qa.protocols import LexicalMatch, Neighbour, Vectors
from kb_qa.visible_chunks import VisibleChunks

# Chunks that hold a term which is read ahead: those of rarer ones are read in a fraction of a millisecond.
FREQUENT = 200
_AT_ONCE = 10  # read in one transaction


class SearchTable:
    """The part of `Ledger` that searches. `database` is the ledger's."""

    database: Database
    visible: VisibleChunks
    lexical_index: LexicalIndex
    document_vectors: DocumentVectors

    @contextmanager
    def moment(self) -> Iterator[None]:
        """All that this thread reads inside is of one moment, and of one transaction: writers wait for it."""
        with self.database.read():
            yield

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope = EVERYTHING,
        *,
        phrases: Sequence[Sequence[str]] = (),
    ) -> Sequence[LexicalMatch]:
        """The k best chunks of the scope holding any of the terms, best first; the score is BM25.

        With `phrases` only chunks that hold each of them: its terms side by side, in this order.
        """
        if k < 1:
            return ()
        with self.database.read() as connection:
            visible = self.visible.at(connection)
            best = self.lexical_index.best(connection, visible, terms, k, scope, phrases)
        # All are visible: so the ids are in the order of the rows.
        ids = visible.ids_at([row for row, _ in best])
        found = []
        for chunk_id, (_, score) in zip(ids, best, strict=True):
            part, place = visible.places[chunk_id]
            found.append((-score, part.document_id, part.ordinals[place], chunk_id))
        return tuple(LexicalMatch(chunk_id, -score) for score, _, _, chunk_id in sorted(found))

    def nearest(
        self, vector: Vectors, k: int, document_ids: Sequence[str], embedder: str
    ) -> Sequence[Neighbour] | None:
        """The k nearest chunks of these documents, by vectors of this model.

        None where an index is faster, or where the ledger does not hold all of their vectors.
        """
        with self.database.read() as connection:
            visible = self.visible.at(connection)
            return self.document_vectors.nearest(connection, visible, embedder, vector, k, document_ids)

    def read_ahead(self, embedder: str, seconds: float) -> None:
        """Reads what the first questions would wait for: frequent terms, and the vectors of this model.

        For so long at most, in short transactions, so that writers come in between.
        """
        end = time.monotonic() + seconds
        with self.database.read() as connection:
            visible = self.visible.at(connection)
            terms = self.lexical_index.frequent(connection, visible, FREQUENT)
        for start in range(0, len(terms), _AT_ONCE):
            if time.monotonic() > end or not self._terms_ahead(terms[start : start + _AT_ONCE]):
                break
        for part in visible.parts.values():
            with self.database.read() as connection:
                if time.monotonic() > end or not self.document_vectors.read_ahead(connection, part, embedder):
                    break

    def _terms_ahead(self, terms: Sequence[str]) -> bool:
        with self.database.read() as connection:
            visible = self.visible.at(connection)
            return all(self.lexical_index.read_ahead(connection, visible, term) for term in terms)
