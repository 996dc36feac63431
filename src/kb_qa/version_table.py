"""What the ledger says of versions: their state, how they were made, how much of them is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from kb_qa.caption_table import is_of_pipeline
from kb_qa.database import Database
from kb_qa.errors import NotFoundError
from kb_qa.schema import chunks, elements, pages, versions

# The version of the code between elements and what is searched: chunks, what is embedded of them, index terms. Another
# number means that documents are cut, indexed and embedded again from the stored parse; the old version answers
# meanwhile. `pipeline.PIPELINE` of the write side stands for the code before it.
CHUNKING = "1"


def outdated_told(count: int) -> str:
    """What a reader is told of so many documents whose chunks other code made (`VersionTable.outdated`)."""
    return (
        f"{count} documents were cut into passages by an older version: they can be asked as before; "
        "kb-qa reindex, or kb-qa ingest of the same files, brings them up to date"
    )


@dataclass(frozen=True, slots=True)
class VersionRecord:
    id: int
    document_id: str
    pipeline: str
    state: str
    attempts: int
    code: str
    reason: str
    parser: str
    title: str
    flags: tuple[str, ...]
    chunking: str
    limits: str = ""
    dated: str = ""
    dated_by: str = ""


@dataclass(frozen=True, slots=True)
class VersionCounts:
    pages: int
    elements: int
    chunks: int


class VersionTable:
    def __init__(self, database: Database) -> None:
        self.database = database

    def version(self, version: int) -> VersionRecord:
        with self.database.read() as connection:
            row = connection.execute(select(versions).where(versions.c.id == version)).first()
        if row is None:
            raise NotFoundError(f"no version {version}")
        return VersionRecord(
            id=row.id,
            document_id=row.document_id,
            pipeline=row.pipeline,
            state=row.state,
            attempts=row.attempts,
            code=row.code,
            reason=row.reason,
            parser=row.parser,
            title=row.title,
            flags=tuple(row.flags),
            limits=row.limits,
            dated=row.dated,
            dated_by=row.dated_by,
            chunking=row.chunking,
        )

    def counts(self, version: int) -> VersionCounts:
        """How much of the version is stored."""
        with self.database.read() as connection:
            tables = (pages, elements, chunks)
            statements = [select(func.count()).where(rows.c.version_id == version) for rows in tables]
            return VersionCounts(*(connection.execute(statement).scalar_one() for statement in statements))

    def ready_version(self, document_id: str, pipeline: str) -> int | None:
        """The visible version of this content, if this pipeline made it."""
        statement = select(versions.c.id).where(
            versions.c.document_id == document_id, is_of_pipeline(pipeline), versions.c.state == "ready"
        )
        with self.database.read() as connection:
            return connection.execute(statement).scalar()

    def outdated(self) -> Sequence[int]:
        """Ids of the ready versions whose chunks other code made, oldest first."""
        statement = select(versions.c.id).where(versions.c.state == "ready", versions.c.chunking != CHUNKING)
        with self.database.read() as connection:
            return connection.execute(statement.order_by(versions.c.id)).scalars().all()
