"""Deletes documents for good: ledger, original, pictures, and the embeddings that nothing else uses.

The index follows by itself: `Ledger.withdraw` notes what its owner has to take out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import exists, not_, select

from kb_qa.arrows import has_versions
from kb_qa.ledger import Ledger
from kb_qa.library import chunk_of
from kb_qa.records import text_digest
from kb_qa.schema import GONE, chunks, documents, names, versions


@dataclass(frozen=True, slots=True)
class Removal:
    """Over its parts, for the one ingest writer. Ended anywhere, a document is whole or not seen, and the next sweep
    removes what is left of it.
    """

    ledger: Ledger
    forget_texts: Callable[[Collection[bytes]], None]
    forget_pictures: Callable[[str], None]

    def delete(self, document_id: str) -> None:
        """Raises NotFoundError where there is no such document."""
        self.withdraw(document_id)
        self.sweep()

    def withdraw(self, document_id: str) -> None:
        """`delete` without the sweep, for several at once. Raises NotFoundError where there is no such document."""
        self.forget_texts(own_digests(self.ledger, document_id))  # first: afterwards nothing knows its texts any more
        self.ledger.withdraw(document_id)

    def sweep(self) -> int:
        """Removes every document that was deleted or replaced; how many."""
        gone = unwanted(self.ledger)
        for document_id in gone:
            self.forget_pictures(document_id)
            self.ledger.remove(document_id)
        return len(gone)


def unwanted(ledger: Ledger) -> Sequence[str]:
    """Ids of documents that no name means and no version shows, but of which something is left."""
    named = exists().where(names.c.document_id == documents.c.id)
    alive = has_versions(versions.c.state.not_in(GONE))
    with ledger.database.read() as connection:
        return connection.execute(select(documents.c.id).where(not_(named), not_(alive))).scalars().all()


def own_digests(ledger: Ledger, document_id: str) -> set[bytes]:
    """Of the texts that were embedded for this document and stand in no other."""
    other = chunks.alias()
    shared = exists().where(other.c.digest == chunks.c.digest, other.c.document_id != document_id)
    own = chunks.c.document_id == document_id
    with ledger.database.read() as connection:
        found = set(connection.execute(select(chunks.c.digest).where(own, not_(shared))).scalars())
        older = connection.execute(select(chunks).where(own, chunks.c.digest.is_(None))).mappings()
        return (found - {None}) | {text_digest(chunk_of(row).embedded_text) for row in older}
