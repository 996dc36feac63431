"""The ledger's view for ranking: chunks as sketches, documents by what they are called. Only what is ready is seen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from sqlalchemy import text

from kb_qa.elements import ElementType
from kb_qa.protocols import ChunkSketch, Identity
from kb_qa.records import well_formed
from kb_qa.schema import Database

# Built once: a question asks for hundreds of chunks, and building the statement takes longer than running it. The plus
# is what the empty text is in `library._ready`.
_SKETCHES = text(
    "SELECT chunks.id, chunks.document_id, ordinal, element_type, page, sketch FROM chunks"
    " JOIN versions ON versions.id = chunks.version_id AND +versions.state = 'ready'"
    " WHERE chunks.id IN (SELECT value FROM json_each(:ids))"
)
_EDITION = text(
    "SELECT (SELECT count(*) || '/' || coalesce(max(updated), 0) || '/' || count(called) FROM versions"
    " WHERE state = 'ready') || '/' || (SELECT count(*) || '/' || coalesce(max(rowid), 0) FROM names WHERE current)"
)
_IDENTITIES = text("SELECT document_id, title, called FROM versions WHERE state = 'ready' ORDER BY document_id")
_NAMES = text("SELECT document_id, name FROM names WHERE current ORDER BY folder, name")


class SketchTable:
    """The part of `Ledger` that ranking works with. `database` is the ledger's."""

    database: Database

    def sketches(self, ids: Sequence[str]) -> Mapping[str, ChunkSketch]:
        """By id; an id that is not visible is left out."""
        wanted = json.dumps([*map(well_formed, ids)])
        with self.database.read() as connection:
            rows = connection.execute(_SKETCHES, {"ids": wanted}).all()
        return {row[0]: ChunkSketch(row[0], row[1], row[2], cast(ElementType, row[3]), row[4], row[5]) for row in rows}

    def edition(self) -> str:
        """Changes whenever a document becomes visible, goes, or is called otherwise. Cheap."""
        with self.database.read() as connection:
            return str(connection.execute(_EDITION).scalar_one())

    def identities(self) -> Mapping[str, Identity]:
        """By document id."""
        with self.database.read() as connection:
            rows = connection.execute(_IDENTITIES).all()
            names: dict[str, list[str]] = {}
            for row in connection.execute(_NAMES):
                names.setdefault(row.document_id, []).append(row.name)
        return {
            row.document_id: Identity(
                row.document_id, tuple(names.get(row.document_id, ())), row.title, tuple(json.loads(row.called or "[]"))
            )
            for row in rows
        }
