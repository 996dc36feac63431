"""The index owner's side of the ledger (`protocols.IndexLedger`): what goes into the index, and the flip to ready."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Table,
    and_,
    column,
    delete,
    exists,
    func,
    literal_column,
    not_,
    null,
    select,
    table,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert

from kb_qa.arrows import (
    IllegalArrowError,
    has_name,
    require_state,
    retire,
    settle_names,
    start_deleting,
    take_arrow,
)
from kb_qa.caption_table import forget_captions
from kb_qa.element_rows import element_of
from kb_qa.elements import Chunk, Element
from kb_qa.errors import NotFoundError, ReindexNeededError
from kb_qa.failpoints import failpoint
from kb_qa.library import BATCH, LedgerLibrary, chunk_of, current_embedder, slices
from kb_qa.protocols import IndexRows
from kb_qa.schema import GONE, LEXICAL_COLUMNS, chunks, elements, meta, pages, tombstones, vectors, versions

LEXICAL = table("lexical", column("rowid"), *map(column, LEXICAL_COLUMNS))


class LedgerIndex(LedgerLibrary):
    """The part of `Ledger` that the holder of the index lock works with."""

    def versions_in(self, state: str) -> Sequence[int]:
        """Ids of the versions in this state, oldest first."""
        with self.database.read() as connection:
            statement = select(versions.c.id).where(versions.c.state == state).order_by(versions.c.id)
            return connection.execute(statement).scalars().all()

    def index_rows(self, version: int) -> Iterator[IndexRows]:
        """The version's chunks with the vectors of the index's own model, in order."""
        after = -1
        while batch := self._rows_after(version, after):
            yield IndexRows(tuple(chunk for chunk, _ in batch), np.stack([vector for _, vector in batch]))
            after = batch[-1][0].ordinal

    def _rows_after(self, version: int, ordinal: int) -> list[tuple[Chunk, np.ndarray]]:
        with self.database.read() as connection:
            own = and_(vectors.c.chunk_row == chunks.c.row, vectors.c.embedder == embedder_id(connection))
            statement = (
                select(chunks, vectors.c.vector)
                .join(vectors, own)
                .where(chunks.c.version_id == version, chunks.c.ordinal > ordinal)
                .order_by(chunks.c.ordinal)
                .limit(BATCH)
            )
            rows = connection.execute(statement).mappings().all()
        return [(chunk_of(row), np.frombuffer(row["vector"], dtype="<f4")) for row in rows]

    def indexed_count(self) -> int:
        """How many chunks all ready versions have."""
        statement = select(func.count()).select_from(chunks.join(versions)).where(versions.c.state == "ready")
        with self.database.read() as connection:
            return int(connection.execute(statement).scalar_one())

    def publish(self, version: int) -> bool:
        """The flip: this version ready, the version it replaces gone, and so what its names stood for, at once.

        False where the version is being deleted, or where all its names went to newer documents meanwhile.
        """
        failpoint("flip.before")
        visible = self._flipped(version)
        failpoint("flip.after")
        return visible

    def _flipped(self, version: int) -> bool:
        with self.database.write() as connection:
            row = connection.execute(select(versions).where(versions.c.id == version)).first()
            if row is None or row.state in GONE:
                return False
            require_state(connection, version, "indexing")
            if not has_name(connection, row.document_id):
                start_deleting(connection, version)
                return False
            retire(connection, row.document_id, versions.c.state == "ready")
            settle_names(connection, row.document_id)
            take_arrow(connection, version, "ready")
            return True

    def tombstones(self) -> Sequence[str]:
        """Ids of chunks that are gone from the ledger and may still stand in the index."""
        with self.database.read() as connection:
            return connection.execute(select(tombstones.c.chunk_id).order_by(tombstones.c.chunk_id)).scalars().all()

    def forget_tombstones(self, ids: Sequence[str]) -> None:
        with self.database.write() as connection:
            for part in slices(ids):
                connection.execute(delete(tombstones).where(tombstones.c.chunk_id.in_(part)))

    def purge(self) -> int:
        """Removes the rows of versions being deleted, in small steps; how many versions."""
        gone = self.versions_in("deleting")
        for version in gone:
            self._purge_version(version)
        return len(gone)

    def index_seal(self) -> str:
        """The index's fingerprint when it was last complete; empty while it is written."""
        with self.database.read() as connection:
            value = connection.execute(select(meta.c.value).where(meta.c.key == "index_seal")).scalar()
        return str(value or "")

    def seal_index(self, seal: str) -> None:
        with self.database.write() as connection:
            put_meta(connection, "index_seal", seal)

    def embedder(self) -> tuple[str, int] | None:
        """Id and dimension of the model that made the vectors; None before the first."""
        with self.database.read() as connection:
            return current_embedder(connection)

    def uncalled(self) -> Sequence[int]:
        """Ids of the ready versions of which it is not stored yet what their documents are called."""
        statement = select(versions.c.id).where(versions.c.state == "ready", versions.c.called.is_(None))
        with self.database.read() as connection:
            return connection.execute(statement.order_by(versions.c.id)).scalars().all()

    def outline(self, version: int) -> Sequence[Element]:
        """The version's elements in order, without words and tables."""
        columns = [column for column in elements.c if column.name not in {"words", "table", "facts"}]
        statement = (
            select(*columns, null().label("words"), null().label("table"), versions.c.document_id)
            .join(versions, versions.c.id == elements.c.version_id)
            .where(elements.c.version_id == version)
            .order_by(elements.c.order)
        )
        with self.database.read() as connection:
            return [element_of(row) for row in connection.execute(statement).mappings()]

    def store_called(self, version: int, called: Sequence[str]) -> None:
        with self.database.write() as connection:
            connection.execute(update(versions).where(versions.c.id == version).values(called=list(called)))

    def set_embedder(self, embedder: str, dimension: int) -> None:
        """The model of the vectors to come. Raises ReindexNeededError where another model's are stored."""
        with self.database.write() as connection:
            known = current_embedder(connection)
            if known == (embedder, dimension):
                return
            if known is not None and connection.execute(select(exists().select_from(vectors))).scalar_one():
                raise ReindexNeededError(reindex_needed(known, (embedder, dimension)))
            put_meta(connection, "embedder", [embedder, dimension])

    def adopt_embedder(self, embedder: str, dimension: int, spec: Sequence[str] = ()) -> None:
        """The flip to another model, once every visible chunk has its vector: `store_vectors(…, embedder=…)`.

        `spec` says how the model is opened (`embedder_spec`). The index is unsealed, so that its owner rebuilds it.
        Raises IllegalArrowError while vectors are missing.
        """
        with self.database.write() as connection:
            visible = versions.c.state.in_(("ready", "indexing"))
            if missing := missing_vectors(connection, embedder, visible):
                raise IllegalArrowError(f"{missing} chunks have no vector of {embedder!r} yet")
            put_meta(connection, "embedder", [embedder, dimension])
            put_meta(connection, "embedder_spec", list(spec))
            put_meta(connection, "index_seal", "")
        while self._drop_vectors_of_others(embedder):
            pass

    def embedder_spec(self) -> tuple[str, ...]:
        """How the model of the last `adopt_embedder` is opened; empty where there was none."""
        with self.database.read() as connection:
            return tuple(connection.execute(select(meta.c.value).where(meta.c.key == "embedder_spec")).scalar() or ())

    def _drop_vectors_of_others(self, embedder: str) -> int:
        rowid = literal_column("rowid", Integer)
        part = select(rowid).select_from(vectors).where(vectors.c.embedder != embedder).limit(BATCH)
        with self.database.write() as connection:
            return connection.execute(delete(vectors).where(rowid.in_(part))).rowcount

    def _purge_version(self, version: int) -> None:
        """Also where another process purges the same one: then that one ends it."""
        with suppress(IllegalArrowError, NotFoundError):
            with self.database.write() as connection:
                require_state(connection, version, "deleting")
                forget_captions(connection, version)
            self._clear_rows(version, "deleting", (chunks, elements, pages))
            with self.database.write() as connection:
                take_arrow(connection, version, "deleted")

    def _clear_rows(self, version: int, state: str, tables: Sequence[Table]) -> None:
        """Removes the version's rows a thousand at a time, as long as it is in this state."""
        for rows in tables:
            while self._clear_some(version, state, rows):
                pass

    def _clear_some(self, version: int, state: str, rows: Table) -> int:
        rowid = literal_column("rowid", Integer)
        part = select(rowid).select_from(rows).where(rows.c.version_id == version).limit(BATCH)
        with self.database.write() as connection:
            require_state(connection, version, state)
            found = connection.execute(part).scalars().all()
            if rows is chunks:
                connection.execute(delete(LEXICAL).where(LEXICAL.c.rowid.in_(found)))
                connection.execute(delete(vectors).where(vectors.c.chunk_row.in_(found)))
            connection.execute(delete(rows).where(rowid.in_(found)))
        return len(found)


def reindex_needed(known: tuple[str, int], wanted: tuple[str, int]) -> str:
    """What a reader is told where the index is another model's."""
    return (
        f"the index was made with the embedding model {known[0]!r} ({known[1]} numbers a vector), and {wanted[0]!r} "
        f"({wanted[1]}) is set; run `kb-qa reindex` to change to it, or set KB_QA_EMBEDDER back"
    )


def put_meta(connection: Connection, key: str, value: object) -> None:
    statement = upsert(meta).values(key=key, value=value)
    connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))


def embedder_id(connection: Connection, dimension: int | None = None) -> str:
    """The index's model; ValueError before `set_embedder`, ReindexNeededError for vectors of another dimension."""
    known = current_embedder(connection)
    if known is None:
        raise ValueError("the ledger knows no embedding model yet; call set_embedder first")
    if dimension is not None and dimension != known[1]:
        raise ReindexNeededError(
            f"the index was made with {known[0]!r} ({known[1]} numbers a vector), not with {dimension}; "
            "run `kb-qa reindex`"
        )
    return known[0]


def has_vector(embedder: str) -> ColumnElement[bool]:
    return exists().where(vectors.c.chunk_row == chunks.c.row, vectors.c.embedder == embedder)


def missing_vectors(connection: Connection, embedder: str, *which: ColumnElement[bool]) -> int:
    statement = select(func.count()).select_from(chunks.join(versions, versions.c.id == chunks.c.version_id))
    return int(connection.execute(statement.where(*which, not_(has_vector(embedder)))).scalar_one())
