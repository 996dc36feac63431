"""The ledger's view for ranking: chunks as sketches, documents by what they are called. Only what is ready is seen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import select, text
from sqlalchemy.dialects.sqlite import insert as upsert

from kb_qa.database import Database
from kb_qa.protocols import ChunkSketch, Identity, Unrelated
from kb_qa.records import from_data, to_data
from kb_qa.schema import meta
from kb_qa.visible_chunks import VisibleChunks

_EDITION = text(
    "SELECT (SELECT count(*) || '/' || coalesce(max(updated), 0) || '/' || count(called) FROM versions"
    " WHERE state = 'ready') || '/' || (SELECT count(*) || '/' || coalesce(max(rowid), 0) FROM names WHERE current)"
)
_IDENTITIES = text("SELECT document_id, title, called FROM versions WHERE state = 'ready' ORDER BY document_id")
_NAMES = text("SELECT document_id, name FROM names WHERE current ORDER BY folder, name")

_UNRELATED = "unrelated"


class SketchTable:
    """The part of `Ledger` that ranking works with. `database` is the ledger's."""

    database: Database
    visible: VisibleChunks

    def sketches(self, ids: Sequence[str]) -> Mapping[str, ChunkSketch]:
        """By id; an id that is not visible is left out."""
        with self.database.read() as connection:
            return self.visible.sketches(connection, ids)

    def chunk_ids_at(self, places: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        """By document id and ordinal; a place where nothing visible stands is left out."""
        with self.database.read() as connection:
            visible = self.visible.at(connection)
        return {place: chunk_id for place in places if (chunk_id := visible.id_at(*place)) is not None}

    def unrelated(self) -> Unrelated | None:
        """None before it was measured."""
        with self.database.read() as connection:
            value = connection.execute(select(meta.c.value).where(meta.c.key == _UNRELATED)).scalar()
        return None if value is None else from_data(Unrelated, value)

    def store_unrelated(self, measured: Unrelated) -> None:
        with self.database.write() as connection:
            statement = upsert(meta).values(key=_UNRELATED, value=to_data(measured))
            update = {"value": statement.excluded.value}
            connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_=update))

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
