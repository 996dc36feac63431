"""The ledger's tables, the states of a version, and the SQLite file they live in."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from sqlalchemy import (
    JSON,
    URL,
    Boolean,
    Column,
    Connection,
    Dialect,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    TypeDecorator,
    UnicodeText,
    create_engine,
    event,
)
from sqlalchemy.exc import DatabaseError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from kb_qa.errors import EnvironmentProblemError, MissingIndexError
from kb_qa.records import well_formed

FILE_NAME = "ledger.sqlite3"
SCHEMA_VERSION = 4
# The ascii tokenizer takes every character past ASCII as part of a token; with all ASCII punctuation added, a token is
# exactly what stands between two spaces: `4,812.5` and `净利润` are found as their caller prepared them.
_PUNCTUATION = "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum())
LEXICAL_COLUMNS = ("body", "titles", "labels")
CREATE_LEXICAL = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS lexical USING fts5({}, tokenize = \"ascii tokenchars '{}'\")".format(
        ", ".join(LEXICAL_COLUMNS), _PUNCTUATION.replace("'", "''").replace('"', '""')
    )
)

# What a ledger of an older schema gets, by the schema that brought it.
_ADDED = MappingProxyType(
    {
        2: (
            "ALTER TABLE versions ADD COLUMN locale TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE versions ADD COLUMN facts_reading TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE elements ADD COLUMN facts BLOB",
        ),
        3: (
            "ALTER TABLE elements ADD COLUMN described_by TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE chunks ADD COLUMN described_by TEXT NOT NULL DEFAULT ''",
        ),
        # The ledger cannot prepare terms: the old ones are found as text of the body until the version is chunked anew.
        4: (
            "ALTER TABLE versions ADD COLUMN chunking TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE chunks ADD COLUMN context TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE lexical RENAME TO lexical_before",
            CREATE_LEXICAL,
            "INSERT INTO lexical (rowid, body) SELECT rowid, terms FROM lexical_before",
            "DROP TABLE lexical_before",
            "ALTER TABLE chunks ADD COLUMN last_page INTEGER",
            "ALTER TABLE versions ADD COLUMN dated TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE versions ADD COLUMN dated_by TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE versions ADD COLUMN called JSON",
            "ALTER TABLE chunks ADD COLUMN sketch BLOB",
        ),
    }
)
BUSY_SECONDS = 30

# Which arrows a version may take. `stored` is where a parse starts over, whatever it was interrupted in.
ARROWS = MappingProxyType(
    {
        "received": frozenset({"stored", "quarantined", "deleting"}),
        "stored": frozenset({"parsing", "quarantined", "deleting"}),
        "parsing": frozenset({"parsed", "stored", "quarantined", "deleting"}),
        "parsed": frozenset({"embedding", "stored", "quarantined", "deleting"}),
        "embedding": frozenset({"indexing", "stored", "quarantined", "deleting"}),
        "indexing": frozenset({"ready", "stored", "quarantined", "deleting"}),
        "ready": frozenset({"deleting"}),
        "quarantined": frozenset({"stored", "deleting"}),
        "deleting": frozenset({"deleted"}),
        "deleted": frozenset(),
    }
)
GONE = ("deleting", "deleted")


class Text(TypeDecorator[str]):
    """Text that documents and file names may hold, lone surrogates included: SQLite stores UTF-8."""

    impl = UnicodeText
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else well_formed(value)


metadata = MetaData()

documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("size", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("created", Float, nullable=False),
)
# A name has at most one current document. A row that is not current waits for its document to become ready.
names = Table(
    "names",
    metadata,
    Column("folder", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("document_id", ForeignKey("documents.id"), primary_key=True),
    Column("current", Boolean, nullable=False),
)
Index("one_current_document", names.c.folder, names.c.name, unique=True, sqlite_where=names.c.current)
Index("names_of_document", names.c.document_id)
versions = Table(
    "versions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", ForeignKey("documents.id"), nullable=False),
    Column("pipeline", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("code", Text, nullable=False, default=""),
    Column("reason", Text, nullable=False, default=""),
    Column("parser", Text, nullable=False, default=""),
    Column("title", Text, nullable=False, default=""),
    Column("flags", JSON, nullable=False, default=list),
    Column("locale", Text, nullable=False, default="", server_default=""),
    Column("facts_reading", Text, nullable=False, default="", server_default=""),
    Column("dated", Text, nullable=False, default="", server_default=""),  # a day, `2024-03-31`
    Column("dated_by", Text, nullable=False, default="", server_default=""),
    Column("chunking", Text, nullable=False, default="", server_default=""),  # what made its chunks and index terms
    Column("called", JSON(none_as_null=True)),  # what the document is called by itself; NULL: not gathered yet
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
    sqlite_autoincrement=True,
)
Index("one_ready_version", versions.c.document_id, unique=True, sqlite_where=versions.c.state == "ready")
Index("versions_of_document", versions.c.document_id)
Index("versions_in_state", versions.c.state)
pages = Table(
    "pages",
    metadata,
    Column("version_id", ForeignKey("versions.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("page", JSON, nullable=False),
)
elements = Table(
    "elements",
    metadata,
    Column("version_id", ForeignKey("versions.id"), primary_key=True),
    Column("id", Text, primary_key=True),
    Column("order", Integer, nullable=False),
    Column("element_type", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("confidence", Float),
    Column("hidden", Text, nullable=False),
    Column("regions", JSON, nullable=False),
    Column("section", JSON, nullable=False),
    Column("table", LargeBinary),
    Column("words", LargeBinary),
    Column("facts", LargeBinary),  # as the guard packs them; NULL: not read yet
    Column("described_by", Text, nullable=False, default="", server_default=""),
)
Index("elements_by_id", elements.c.id)
chunks = Table(
    "chunks",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("version_id", ForeignKey("versions.id"), nullable=False),
    Column("id", Text, nullable=False),
    Column("document_id", ForeignKey("documents.id"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("source", Text, nullable=False),
    Column("page", Integer),
    Column("last_page", Integer),  # NULL where the chunk has no pages, or was stored before there was this column
    Column("element_type", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("section", JSON, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("context", Text, nullable=False, default="", server_default=""),
    Column("origin", Text, nullable=False),
    Column("confidence", Float),
    Column("blocks", LargeBinary, nullable=False),
    Column("sketch", LargeBinary),  # its terms as ranking compares them; NULL: not stored
    Column("described_by", Text, nullable=False, default="", server_default=""),
)
Index("chunks_by_id", chunks.c.id)
Index("chunks_in_order", chunks.c.version_id, chunks.c.ordinal, unique=True)
vectors = Table(
    "vectors",
    metadata,
    Column("chunk_row", ForeignKey("chunks.row"), primary_key=True),
    Column("embedder", Text, primary_key=True),
    Column("vector", LargeBinary, nullable=False),  # float32, little-endian
)
tombstones = Table("tombstones", metadata, Column("chunk_id", Text, primary_key=True))
meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", JSON, nullable=False))
jobs = Table(
    "jobs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("report", JSON, nullable=False, default=dict),
    Column("created", Float, nullable=False),
    sqlite_autoincrement=True,
)
answers = Table(
    "answers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("question", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("events", LargeBinary, nullable=False),
)
# What a reader decided of a figure; the answer's own row may come later: an open answer is not stored yet.
decisions = Table(
    "decisions",
    metadata,
    Column("answer_id", Text, primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("decided", Float, nullable=False),
    Column("decision", JSON, nullable=False),
)
turns = Table(
    "turns",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("question", Text, nullable=False),
    Column("standalone", Text, nullable=False),
    Column("answer_id", Text, nullable=False),
    Column("documents", JSON, nullable=False),
    Column("filters", JSON, nullable=False),
    Column("time", Float, nullable=False),
)
Index("turns_by_time", turns.c.time)
# What models wrote of pictures, by what was asked: paid for once, whatever becomes of the documents.
captions = Table(
    "captions",
    metadata,
    Column("picture", Text, primary_key=True),  # SHA-256 of the PNG
    Column("model", Text, primary_key=True),
    Column("instruction", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("time", Float, nullable=False),
)


def wal_is_safe(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite has the fix of the WAL-reset corruption: 3.51.3, or 3.50.7 and 3.44.6 of the older lines."""
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)


class Database:
    """The ledger's file. Connections come from a pool; any thread may read or write."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def open(cls, kb_dir: Path, *, create: bool) -> Database:
        path = kb_dir / FILE_NAME
        if not create and not path.is_file():
            raise MissingIndexError(f"nothing was ingested in {str(kb_dir)!r}; run kb-qa ingest PATH --kb {kb_dir}")
        try:
            kb_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentProblemError(f"{str(kb_dir)!r} cannot be made: {error.strerror}") from error
        database = cls(_engine(path))
        try:
            database._prepare(path)
        except BaseException:
            database.close()
            raise
        return database

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One moment of the ledger: all statements see the same rows."""
        with _clear_errors(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that holds the write lock from its start, so that it never fails for having read first."""
        with _clear_errors(), self.engine.connect() as connection:
            connection = connection.execution_options(kb_qa_write=True)
            with connection.begin():
                yield connection

    def _prepare(self, path: Path) -> None:
        with self.read() as connection:
            found = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if found > SCHEMA_VERSION:
            raise EnvironmentProblemError(
                f"{str(path)!r} was made by a newer kb-qa (schema {found}, this one reads {SCHEMA_VERSION}); "
                "upgrade kb-qa"
            )
        if found == SCHEMA_VERSION:
            return
        with self.write() as connection:
            found = connection.exec_driver_sql(
                "PRAGMA user_version"
            ).scalar_one()  # another process may have been faster
            for number in range(found + 1, SCHEMA_VERSION + 1) if found else ():
                for statement in _ADDED[number]:
                    connection.exec_driver_sql(statement)
            metadata.create_all(connection)
            connection.exec_driver_sql(CREATE_LEXICAL)
            connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _engine(path: Path) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)), connect_args={"timeout": BUSY_SECONDS}, pool_size=8, max_overflow=24
    )

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # BEGIN is ours: the driver's own comes too late for a consistent read
        mode = "WAL" if wal_is_safe(sqlite3.sqlite_version_info) else "TRUNCATE"
        for pragma in (f"journal_mode = {mode}", "synchronous = FULL", "cache_spill = off", "foreign_keys = on"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("kb_qa_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise _storage_error(error) from error


def _storage_error(error: DBAPIError) -> Exception:
    """A full disk, a busy or damaged file in a reader's words; anything else is a defect of ours and stays as it is."""
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    told = {
        sqlite3.SQLITE_FULL: ("the disk is full; make room and try again", True),
        sqlite3.SQLITE_IOERR: ("the disk could not be read or written", True),
        sqlite3.SQLITE_BUSY: (f"another process kept the ledger locked for {BUSY_SECONDS} seconds; try again", True),
        sqlite3.SQLITE_READONLY: ("the ledger cannot be written: it is read-only", False),
        sqlite3.SQLITE_CANTOPEN: ("the ledger cannot be opened; check the directory's permissions", False),
        sqlite3.SQLITE_NOTADB: ("the ledger is not a database; restore it from a backup", False),
        sqlite3.SQLITE_CORRUPT: ("the ledger is damaged; restore it from a backup", False),
    }.get(code)
    if told is None:
        return error
    problem = EnvironmentProblemError(f"{told[0]} ({error.orig})")
    problem.retryable = told[1]
    return problem


def disk_error(error: OSError, what: str) -> EnvironmentProblemError:
    """A failed write of a file as an error for a reader; worth another try where the disk was full."""
    problem = EnvironmentProblemError(f"{what} could not be written: {error.strerror or error}")
    problem.retryable = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return problem
