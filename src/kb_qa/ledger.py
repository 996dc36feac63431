"""The ledger: the truth about documents, versions, elements, chunks and vectors. Everything else comes back from it.

A version takes the arrows of `schema.ARROWS`, one transaction each, and is invisible until `publish`. Rows of a large
document are written in small transactions before the arrow is taken, so a process killed anywhere leaves a version that
is not ready, and whose rows go when its parse starts over.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from sqlalchemy import Connection, Table, and_, delete, func, insert, not_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from kb_qa.arrows import (
    IllegalArrowError,
    drop_names,
    has_versions,
    point_name,
    require_state,
    retire,
    settle_names,
    take_arrow,
)
from kb_qa.blobs import blob_place, keep_rendering, remove_leftovers, rendering_place, store_blob
from kb_qa.caption_table import CaptionTable, is_of_pipeline
from kb_qa.database import Database
from kb_qa.element_rows import element_of, element_row
from kb_qa.elements import Chunk, ParsedDocument
from kb_qa.errors import FULL, InputError, NotFoundError, disk_error
from kb_qa.failpoints import failpoint
from kb_qa.geometry import Page
from kb_qa.index_ledger import LEXICAL, LedgerIndex, embedder_id, has_vector, missing_vectors, put_meta
from kb_qa.job_table import JobTable, fence_of, inserted_id
from kb_qa.jobs import Job
from kb_qa.library import BATCH, chunk_of, chunk_row, slices
from kb_qa.postings import index_token
from kb_qa.protocols import Vectors
from kb_qa.records import from_data, to_data
from kb_qa.schema import (
    GONE,
    LEXICAL_COLUMNS,
    chunks,
    documents,
    elements,
    meta,
    names,
    pages,
    seen_files,
    vectors,
    versions,
)
from kb_qa.version_table import VersionTable

MOST_NAME = 1000
_NOT_PARSED = frozenset({"received", "stored", "parsing", "quarantined"})
_PLAIN_ARROWS = frozenset({"stored", "parsing", "indexing"})


@dataclass(frozen=True, slots=True)
class ParsedFacts:
    """What the guard read of a document: its locale, and the packed facts of its elements by their ids."""

    locale: str = ""
    reading: str = ""
    packed: Mapping[str, bytes] = field(default_factory=dict)


class Ledger(LedgerIndex, CaptionTable, VersionTable):
    """Open once, close once. Reads and writes from any thread; one ingest writer at a time by `locks`."""

    def __init__(self, kb_dir: Path, database: Database) -> None:
        super().__init__(database)
        self.kb_dir = kb_dir
        self.jobs = JobTable(database)

    @classmethod
    def open(cls, kb_dir: Path, *, create: bool) -> Ledger:
        """Raises MissingIndexError where there is no ledger and none is to be made."""
        return cls(kb_dir, Database.open(kb_dir, create=create))

    def held_by(self, job: Job) -> Ledger:
        """This ledger for the worker that has the job: its writes raise LostLeaseError once it has it no more."""
        return Ledger(self.kb_dir, self.database.fenced(fence_of(job)))

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def name(self) -> str:
        """What the knowledge base is called, in any script; as its directory is where nobody named it."""
        with self.database.read() as connection:
            return str(
                connection.execute(select(meta.c.value).where(meta.c.key == "name")).scalar()
                or self.kb_dir.absolute().name
            )

    def set_name(self, name: str) -> None:
        """Raises InputError for a name of nothing, with control characters, or of more than 1,000 characters."""
        name = " ".join(name.split())
        if not name or len(name) > MOST_NAME or not name.isprintable():
            raise InputError(f"{name!r:.60} cannot name a knowledge base; give 1 to {MOST_NAME:,} printable characters")
        with self.database.write() as connection:
            put_meta(connection, "name", name)

    # Originals

    def store_blob(self, path: Path) -> str:
        """The document id. A full disk is an EnvironmentProblemError with `retryable` set."""
        try:
            return store_blob(self._blobs, path)
        except OSError as error:
            if error.errno in FULL:
                raise disk_error(error, f"the copy of {path.name!r}") from error
            raise

    def blob_path(self, document_id: str) -> Path:
        """The original's file. Raises NotFoundError where there is none."""
        path = blob_place(self._blobs, document_id)
        if not path.is_file():
            raise NotFoundError(f"no document {document_id!r}")
        return path

    def remove_leftovers(self) -> None:
        """Deletes half-copied originals of a killed process, and those it knew nothing more of; only under the ingest
        lock.
        """
        with self.database.read() as connection:
            known = set(connection.execute(select(documents.c.id)).scalars())
        remove_leftovers(self._blobs, known)

    @property
    def _blobs(self) -> Path:
        return self.kb_dir / "blobs"

    # A version's way, arrow by arrow

    def receive(self, document_id: str, name: str, folder: str = "", *, size: int, kind: str, pipeline: str) -> int:
        """The version that this content has or gets under this pipeline; its state says whether there is work to do.

        The name is remembered, and waits for its new document where it stands for another one until now.
        """
        self._purge_document(document_id)
        now = time.time()
        with self.database.write() as connection:
            values = {"id": document_id, "size": size, "kind": kind, "created": now}
            connection.execute(upsert(documents).values(values).on_conflict_do_nothing())
            point_name(connection, folder=folder, name=name, document_id=document_id)
            found = connection.execute(
                select(versions)
                .where(
                    versions.c.document_id == document_id,
                    is_of_pipeline(pipeline),
                    versions.c.state.not_in(GONE),
                )
                .order_by(versions.c.state == "ready", versions.c.id.desc())  # an unfinished one goes on
            ).all()
            known = found[0] if found else None
            if known is not None and found[-1].state == "ready" and known.state in _NOT_PARSED:
                # A copy of the ready one's parse that was cut: it is copied again, the file is not parsed.
                retire(connection, document_id, versions.c.id == known.id)
                known = found[-1]
            if known is not None:
                if known.state == "ready":
                    settle_names(connection, document_id)
                return int(known.id)
            retire(connection, document_id, versions.c.state != "ready")
            row = {"document_id": document_id, "pipeline": pipeline, "state": "received", "created": now}
            made = connection.execute(insert(versions).values(row | {"updated": now, "flags": []}))
            return inserted_id(made)

    def mark(self, version: int, state: str) -> None:
        """The plain arrows: to stored, to parsing (an interrupted parse is cleared), to indexing (all embedded)."""
        if state not in _PLAIN_ARROWS:
            raise ValueError(f"mark() does not lead to {state!r}; it has a method of its own")
        if state == "parsing":
            self._clear_rows(version, "stored", (chunks, elements, pages))
        with self.database.write() as connection:
            if state == "indexing":
                _require_vectors(connection, version)
            take_arrow(connection, version, state, code="", reason="")

    def count_attempt(self, version: int, by: int = 1) -> int:
        """One more time that the version was taken up, or one less; how many there were."""
        with self.database.write() as connection:
            connection.execute(
                update(versions).where(versions.c.id == version).values(attempts=versions.c.attempts + by)
            )
            return int(connection.execute(select(versions.c.attempts).where(versions.c.id == version)).scalar_one())

    def store_parse(self, version: int, parsed: ParsedDocument, facts: ParsedFacts = ParsedFacts()) -> None:
        """parsing → parsed, with all pages and elements, their facts, and the pages that were printed to be read."""
        keep_rendering(self._blobs, self.version(version).document_id, parsed.rendering)
        page_rows = [{"version_id": version, "number": page.number, "page": to_data(page)} for page in parsed.pages]
        self._insert_in(version, "parsing", pages, page_rows)
        for start in range(0, len(parsed.elements), BATCH):
            part = parsed.elements[start : start + BATCH]
            rows = [element_row(element, version, facts.packed.get(element.id)) for element in part]
            self._insert_in(version, "parsing", elements, rows)
        with self.database.write() as connection:
            told = {"parser": parsed.parser, "title": parsed.title, "flags": list(parsed.flags)}
            read = {"locale": facts.locale, "facts_reading": facts.reading}
            dated = {"dated": parsed.dated, "dated_by": parsed.dated_by}
            take_arrow(connection, version, "parsed", **told, **read, **dated)

    def load_parse(self, version: int) -> ParsedDocument:
        """What `store_parse` stored, ready or not: chunking starts over without a second parse."""
        record = self.version(version)
        ordered = select(pages.c.page).where(pages.c.version_id == version).order_by(pages.c.number)
        with self.database.read() as connection:
            page_values = tuple(from_data(Page, data) for data in connection.execute(ordered).scalars())
            statement = (
                select(elements, versions.c.document_id)
                .join(versions, versions.c.id == elements.c.version_id)
                .where(elements.c.version_id == version)
                .order_by(elements.c.order, elements.c.origin == "caption", elements.c.id)
            )
            found = tuple(element_of(row) for row in connection.execute(statement).mappings())
        return ParsedDocument(
            page_values,
            found,
            record.parser,
            record.title,
            record.flags,
            dated=record.dated,
            dated_by=record.dated_by,
        )

    def store_chunks(  # noqa: PLR0913  (an argument a column)
        self,
        version: int,
        parts: Sequence[Chunk],
        terms: Sequence[Sequence[str]],
        *,
        titles: Sequence[Sequence[str]] = (),
        labels: Sequence[Sequence[str]] = (),
        sketches: Sequence[bytes] = (),
        chunking: str = "",
    ) -> None:
        """parsed → embedding, with all chunks and their index terms, row for row.

        `titles` are the terms of what stands above a chunk, `labels` those of a table's headers and row labels; no
        lists at all for none. `sketches` are theirs where given; `chunking` names the code that made them.
        """
        columns = (terms, titles or [()] * len(parts), labels or [()] * len(parts))
        if any(len(column) != len(parts) for column in columns):
            raise ValueError(f"{len(parts)} chunks and {', '.join(str(len(each)) for each in columns)} lists of terms")
        self._clear_rows(version, "parsed", (chunks,))
        for start in range(0, len(parts), BATCH):
            stop = start + BATCH
            with self.database.write() as connection:
                require_state(connection, version, "parsed")
                first = connection.execute(select(func.coalesce(func.max(chunks.c.row), 0) + 1)).scalar_one()
                rows = [chunk_row(chunk, version) | {"row": first + i} for i, chunk in enumerate(parts[start:stop])]
                for row, packed in zip_longest(rows, sketches[start:stop]):
                    row["sketch"] = packed
                connection.execute(insert(chunks), rows)
                lines = zip(rows, *(column[start:stop] for column in columns), strict=True)
                connection.execute(insert(LEXICAL), [_index_row(row["row"], line) for row, *line in lines])
        with self.database.write() as connection:
            take_arrow(connection, version, "embedding", chunking=chunking)

    def chunks_to_embed(self, version: int, embedder: str = "") -> Sequence[Chunk]:
        """The version's chunks without a vector of this model (the index's own unless named), in order."""
        with self.database.read() as connection:
            wanted = embedder or embedder_id(connection)
            statement = select(chunks).where(chunks.c.version_id == version, not_(has_vector(wanted)))
            rows = connection.execute(statement.order_by(chunks.c.ordinal)).mappings()
            return [chunk_of(row) for row in rows]

    def store_vectors(self, version: int, chunk_ids: Sequence[str], matrix: Vectors, embedder: str = "") -> None:
        """Vectors of some chunks, row for row; call it once a batch, so that embedding resumes where it was cut.

        With `embedder` the vectors wait for `adopt_embedder`; a ready version takes only such.
        """
        values = np.ascontiguousarray(matrix, dtype="<f4")
        if values.ndim != 2 or len(values) != len(chunk_ids):
            raise ValueError(f"{len(chunk_ids)} chunks and vectors of shape {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError(f"vectors of version {version} are not finite")
        with self.database.write() as connection:
            require_state(connection, version, *(("embedding", "indexing", "ready") if embedder else ("embedding",)))
            wanted = embedder or embedder_id(connection, values.shape[1] if len(chunk_ids) else None)
            rows = _rows_of(connection, version, chunk_ids)
            made = [
                {"chunk_row": rows[chunk_id], "embedder": wanted, "vector": value.tobytes()}
                for chunk_id, value in zip(chunk_ids, values, strict=True)
            ]
            if made:
                connection.execute(insert(vectors).prefix_with("OR REPLACE"), made)

    def quarantine(self, version: int, code: str, reason: str, limits: str = "") -> None:
        """`limits` names those that held: under others the file may be worth another try."""
        with self.database.write() as connection:
            take_arrow(connection, version, "quarantined", code=code, reason=reason, limits=limits)

    def release(self, version: int) -> None:
        """quarantined → stored, with all its attempts before it."""
        with self.database.write() as connection:
            require_state(connection, version, "quarantined")
            take_arrow(connection, version, "stored", code="", reason="", attempts=0)

    def drop_name(self, name: str, folder: str = "") -> Sequence[str]:
        """Forgets a name (its file is gone). The ids of documents that have no name left, for the caller to delete."""
        with self.database.write() as connection:
            return drop_names(connection, and_(names.c.folder == folder, names.c.name == name))

    def withdraw(self, document_id: str) -> None:
        """All versions of the document and its names, in one moment: it is not seen any more, and `remove` may come.

        Raises NotFoundError where there is nothing.
        """
        with self.database.write() as connection:
            live = retire(connection, document_id)
            connection.execute(delete(names).where(names.c.document_id == document_id))
            connection.execute(delete(seen_files).where(seen_files.c.document_id == document_id))
        if not live and not blob_place(self._blobs, document_id).is_file():
            raise NotFoundError(f"no document {document_id!r}")

    def remove(self, document_id: str) -> None:
        """What is left of a document that no name means any more: its rows, its original, and at last itself.

        In small steps, each of which may be the last one of this process: `unwanted` lists it until all is gone.
        """
        self._purge_document(document_id)
        place = blob_place(self._blobs, document_id)
        failpoint("delete.before")
        rendering_place(place).unlink(missing_ok=True)
        place.unlink(missing_ok=True)
        failpoint("delete.after")
        with self.database.write() as connection:
            gone = versions.c.document_id == document_id, versions.c.state == "deleted"
            connection.execute(delete(versions).where(*gone))
            connection.execute(delete(documents).where(documents.c.id == document_id, not_(has_versions())))

    def delete(self, document_id: str) -> None:
        """`withdraw` and `remove`. Raises NotFoundError where there is nothing."""
        self.withdraw(document_id)
        self.remove(document_id)

    def _insert_in(self, version: int, state: str, rows: Table, values: Sequence[dict[str, Any]]) -> None:
        for start in range(0, len(values), BATCH):
            with self.database.write() as connection:
                require_state(connection, version, state)
                connection.execute(insert(rows), values[start : start + BATCH])

    def _purge_document(self, document_id: str) -> None:
        statement = select(versions.c.id).where(versions.c.document_id == document_id, versions.c.state == "deleting")
        with self.database.read() as connection:
            gone = connection.execute(statement).scalars().all()
        for version in gone:
            self._purge_version(version)


def _index_row(row: int, columns: Sequence[Sequence[str]]) -> dict[str, Any]:
    texts = (" ".join(filter(None, map(index_token, terms))) for terms in columns)
    return {"rowid": row, **dict(zip(LEXICAL_COLUMNS, texts, strict=True))}


def _require_vectors(connection: Connection, version: int) -> None:
    """Every chunk has its vector; a version without chunks needs no model."""
    count = select(func.count()).select_from(chunks).where(chunks.c.version_id == version)
    if not connection.execute(count).scalar_one():
        return
    if missing := missing_vectors(connection, embedder_id(connection), versions.c.id == version):
        raise IllegalArrowError(f"version {version} has {missing} chunks without a vector")


def _rows_of(connection: Connection, version: int, chunk_ids: Sequence[str]) -> dict[str, int]:
    """Row numbers by chunk id. Raises NotFoundError for an id that the version does not have."""
    found: dict[str, int] = {}
    for part in slices(chunk_ids):
        statement = select(chunks.c.id, chunks.c.row).where(chunks.c.version_id == version, chunks.c.id.in_(part))
        found |= {row.id: row.row for row in connection.execute(statement)}
    if missing := set(chunk_ids) - set(found):
        raise NotFoundError(f"version {version} has no chunk {min(missing)!r}")
    return found
