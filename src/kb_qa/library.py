"""The ledger's read side (`protocols.Library`): only versions that are ready are seen."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    and_,
    bindparam,
    exists,
    func,
    select,
)

from kb_qa.answer_table import AnswerTable
from kb_qa.database import Database
from kb_qa.document_record import DocumentRecord
from kb_qa.document_vectors import DocumentVectors
from kb_qa.element_rows import element_of
from kb_qa.elements import Chunk, Element, ElementType, Origin, Word
from kb_qa.geometry import Quality
from kb_qa.lexical_index import LexicalIndex
from kb_qa.page_table import PageTable, doubtful_pages, pages_by_grade
from kb_qa.protocols import StoredFacts
from kb_qa.ready_rows import only_ready
from kb_qa.records import (
    pack,
    text_digest,
    to_data,
    unpack_blocks,
    unpack_words,
    well_formed,
)
from kb_qa.schema import GONE, chunks, documents, elements, meta, names, pages, vectors, versions
from kb_qa.search_table import SearchTable
from kb_qa.session_table import SessionTable
from kb_qa.sketch_table import SketchTable
from kb_qa.visible_chunks import VisibleChunks

SLICE = 500  # values of one IN list
BATCH = 1000  # rows of one read or one write


class LedgerLibrary(AnswerTable, SessionTable, SearchTable, SketchTable, PageTable):
    """The reading half of `Ledger`; every method is one moment of the ledger and may be called from any thread."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.visible = VisibleChunks()
        self.lexical_index = LexicalIndex()
        self.document_vectors = DocumentVectors()

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        """By id, those that are ready. `source` is a name the document has now, whatever it was when parsed."""
        with self.database.read() as connection:
            found = self.visible.chunks(connection, ids, partial(_read_chunks, connection))
            sources = _current_names(connection, {chunk.document_id for chunk in found.values()})
        return {chunk_id: _renamed(chunk, sources.get(chunk.document_id, ())) for chunk_id, chunk in found.items()}

    def document_chunks(self, document_id: str) -> Sequence[Chunk]:
        """All of a document, in order, as `chunks` gives them."""
        statement = only_ready(select(chunks.c.id), chunks.c.version_id).where(versions.c.document_id == document_id)
        with self.database.read() as connection:
            ids = connection.execute(statement.order_by(chunks.c.ordinal)).scalars().all()
        found = self.chunks(ids)
        return [found[chunk_id] for chunk_id in ids if chunk_id in found]

    def element(self, element_id: str) -> Element | None:
        statement = only_ready(select(elements, versions.c.document_id), elements.c.version_id)
        with self.database.read() as connection:
            row = connection.execute(statement.where(elements.c.id == element_id)).mappings().first()
        return None if row is None else element_of(row)

    def words(self, element_ids: Sequence[str]) -> Mapping[str, Sequence[Word]]:
        found: dict[str, Sequence[Word]] = {}
        statement = only_ready(select(elements.c.id, elements.c.words), elements.c.version_id)
        with self.database.read() as connection:
            for part in slices(element_ids):
                for row in connection.execute(statement.where(elements.c.id.in_(part))):
                    found[row.id] = unpack_words(row.words) if row.words else ()
        return found

    def facts(self, element_ids: Sequence[str]) -> Mapping[str, StoredFacts]:
        found: dict[str, StoredFacts] = {}
        columns = (elements.c.id, elements.c.facts, versions.c.locale, versions.c.facts_reading)
        statement = only_ready(select(*columns), elements.c.version_id)
        with self.database.read() as connection:
            for part in slices(element_ids):
                for row in connection.execute(statement.where(elements.c.id.in_(part))):
                    found[row.id] = StoredFacts(row.facts, row.locale, row.facts_reading)
        return found

    def flags(self, document_id: str) -> Sequence[str]:
        with self.database.read() as connection:
            found = connection.execute(_FLAGS, {"document_id": document_id}).scalar()
        return tuple(found or ())

    def documents(self) -> Sequence[DocumentRecord]:
        """Every document that has a version, ready or not; its state is that of the ready one, else of the latest."""
        with self.database.read() as connection:
            rows = {row["document_id"]: row for row in connection.execute(_RECORDS).mappings()}  # the last one stays
            known = _all_names(connection)
            doubts = doubtful_pages(connection)
        records = [
            _document_record(row, known.get(document_id, ()), doubts.get(row["id"], {}))
            for document_id, row in rows.items()
        ]
        return sorted(records, key=lambda record: (record.names, record.document_id))

    def document(self, document_id: str) -> DocumentRecord | None:
        """As `documents` lists it; None where there is none of this id."""
        own = names.c.document_id == well_formed(document_id)
        with self.database.read() as connection:
            statement = _RECORDS.where(versions.c.document_id == well_formed(document_id))
            rows = connection.execute(statement).mappings().all()
            known = _all_names(connection, own) if rows else {}
            doubts = doubtful_pages(connection, rows[-1]["id"]) if rows else {}
        if not rows:
            return None
        return _document_record(rows[-1], known.get(document_id, ()), doubts.get(rows[-1]["id"], {}))

    def named(self, name: str, folder: str = "") -> str | None:
        """The id of the document that this name means now."""
        this_name = and_(names.c.folder == folder, names.c.name == well_formed(name), names.c.current)
        with self.database.read() as connection:
            found: str | None = connection.execute(select(names.c.document_id).where(this_name)).scalar()
        return found

    def is_empty(self) -> bool:
        """Whether no document is ready."""
        ready = exists().where(versions.c.state == "ready")
        with self.database.read() as connection:
            return not connection.execute(select(ready)).scalar_one()

    def resolve(
        self, names: Sequence[str], folder: str = "", *, since: str = "", until: str = "", ready: bool = True
    ) -> Sequence[str]:
        """Ids of the ready documents with these ids or names (letter case does not matter), or in the folder.

        A name may be the file's alone or end its path (`2024/report.pdf`), a folder any part of the path. Of them, or
        of all where neither is given, those dated within the days `since` and `until`. Without `ready`, also of those
        on their way or quarantined, and by names that wait for them.
        """
        which = versions.c.state == "ready" if ready else versions.c.state.not_in(GONE)
        wanted = {_name_key(name) for name in names}
        inside = _name_key(folder.strip("/"))
        found = []
        with self.database.read() as connection:
            statement = select(versions.c.document_id).where(which, *_dated(since, until))
            document_ids = connection.execute(statement).scalars().all()
            if not wanted and not inside:
                return sorted(document_ids) if since or until else []
            known = _current_names(connection, document_ids, also_waiting=not ready)
        for document_id in document_ids:
            paths = [_name_key(f"{home}/{name}") for home, name in known.get(document_id, ())]
            is_named = any(f"/{path}".endswith(f"/{name.lstrip('/')}") for path in paths for name in wanted)
            is_inside = bool(inside) and any(f"/{inside}/" in f"/{path}" for path in paths)
            if document_id in wanted or is_named or is_inside:
                found.append(document_id)
        return sorted(set(found))

    def export(self) -> Iterator[dict[str, Any]]:
        """The canonical export: one object per ready chunk, by document and ordinal, nothing random or dated."""
        ready = select(versions.c.document_id).where(versions.c.state == "ready").order_by(versions.c.document_id)
        with self.database.read() as connection:
            document_ids = connection.execute(ready).scalars().all()
        for document_id in document_ids:
            # A document at a time: an open read would hold up every writer.
            with self.database.read() as connection:
                model = current_embedder(connection)
                own = and_(vectors.c.chunk_row == chunks.c.row, vectors.c.embedder == (model[0] if model else ""))
                statement = only_ready(select(chunks, vectors.c.vector), chunks.c.version_id).outerjoin(vectors, own)
                statement = statement.where(versions.c.document_id == document_id).order_by(chunks.c.ordinal)
                rows = connection.execute(statement).mappings().all()
            yield from (_export_line(row) for row in rows)


def _read_chunks(connection: Connection, ids: Sequence[str]) -> Iterator[Chunk]:
    for part in slices(ids):
        yield from map(chunk_of, connection.execute(_CHUNKS, {"ids": part}).mappings())


def _dated(since: str, until: str) -> Iterator[ColumnElement[bool]]:
    if since:
        yield versions.c.dated >= since
    if until:
        yield and_(versions.c.dated <= until, versions.c.dated != "")


def chunk_row(chunk: Chunk, version: int) -> dict[str, Any]:
    return {
        "version_id": version,
        "id": chunk.id,
        "document_id": chunk.document_id,
        "ordinal": chunk.ordinal,
        "source": chunk.source,
        "page": chunk.page,
        "last_page": max((region.page for region in chunk.regions), default=None),
        "element_type": chunk.element_type,
        "category": chunk.category,
        "section": list(chunk.section),
        "prefix": chunk.prefix,
        "context": chunk.context,
        "origin": chunk.origin,
        "confidence": chunk.confidence,
        "blocks": pack(chunk.blocks),
        "described_by": chunk.described_by,
        "digest": text_digest(chunk.embedded_text),
    }


def chunk_of(row: RowMapping) -> Chunk:
    return Chunk(
        id=row["id"],
        document_id=row["document_id"],
        version=row["version_id"],
        source=row["source"],
        ordinal=row["ordinal"],
        blocks=unpack_blocks(row["blocks"]),
        element_type=cast(ElementType, row["element_type"]),
        category=row["category"],
        section=tuple(row["section"]),
        prefix=row["prefix"],
        context=row["context"],
        origin=cast(Origin, row["origin"]),
        confidence=row["confidence"],
        described_by=row["described_by"],
    )


def current_embedder(connection: Connection) -> tuple[str, int] | None:
    value = connection.execute(select(meta.c.value).where(meta.c.key == "embedder")).scalar()
    return None if value is None else (value[0], value[1])


_RECORDS = (
    select(
        versions,
        documents.c.size,
        select(func.count()).where(pages.c.version_id == versions.c.id).scalar_subquery().label("pages"),
        select(func.count()).where(chunks.c.version_id == versions.c.id).scalar_subquery().label("chunks"),
    )
    .join(documents, documents.c.id == versions.c.document_id)
    .where(versions.c.state.not_in(GONE))
    .order_by(versions.c.state == "ready", versions.c.id)
)
# Built once: every question and every picture asks, and building a statement takes longer than running it.
_CHUNKS = only_ready(select(chunks), chunks.c.version_id).where(chunks.c.id.in_(bindparam("ids", expanding=True)))
_NAMES = (
    select(names)
    .where(names.c.document_id.in_(bindparam("ids", expanding=True)))
    .order_by(names.c.folder, names.c.name)
)
_CURRENT_NAMES = _NAMES.where(names.c.current)
_FLAGS = select(versions.c.flags).where(versions.c.document_id == bindparam("document_id"), versions.c.state == "ready")


def slices(values: Iterable[str]) -> Iterator[Sequence[str]]:
    distinct = list(dict.fromkeys(map(well_formed, values)))
    for start in range(0, len(distinct), SLICE):
        yield distinct[start : start + SLICE]


def _current_names(
    connection: Connection, document_ids: Iterable[str], *, also_waiting: bool = False
) -> dict[str, list[tuple[str, str]]]:
    """(folder, name) pairs by document, sorted."""
    found: dict[str, list[tuple[str, str]]] = {}
    statement = _NAMES if also_waiting else _CURRENT_NAMES
    for part in slices(document_ids):
        for row in connection.execute(statement, {"ids": part}):
            found.setdefault(row.document_id, []).append((row.folder, row.name))
    return found


def _all_names(connection: Connection, *which: ColumnElement[bool]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in connection.execute(select(names).where(*which).order_by(names.c.folder, names.c.name)):
        known = found.get(row.document_id, ())
        found[row.document_id] = known if row.name in known else (*known, row.name)
    return found


def _renamed(chunk: Chunk, known: Sequence[tuple[str, str]]) -> Chunk:
    if not known or any(name == chunk.source for _, name in known):
        return chunk
    return replace(chunk, source=known[0][1])


def _name_key(name: str) -> str:
    """Names as their readers compare them: the same letters in either case, composed or not."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", well_formed(name)).casefold())


def _document_record(row: RowMapping, known: tuple[str, ...], doubts: Mapping[Quality, int]) -> DocumentRecord:
    grades, reasons = pages_by_grade(row["pages"], doubts)
    return DocumentRecord(
        document_id=row["document_id"],
        names=known,
        state=row["state"],
        pages=row["pages"],
        chunks=row["chunks"],
        parser=row["parser"],
        flags=tuple(row["flags"]),
        reason=row["reason"],
        code=row["code"],
        size=row["size"],
        dated=row["dated"],
        dated_by=row["dated_by"],
        grades=grades,
        page_reasons=reasons,
    )


def _export_line(row: RowMapping) -> dict[str, Any]:
    chunk = chunk_of(row)
    return {
        "document_id": chunk.document_id,
        "page": chunk.page,
        "ordinal": chunk.ordinal,
        "text_sha256": hashlib.sha256(well_formed(chunk.text).encode()).hexdigest(),
        "vector_sha256": hashlib.sha256(row["vector"]).hexdigest() if row["vector"] else "",
        "regions": [{"page": region.page, "bbox": to_data(region.bbox)} for region in chunk.regions],
    }
