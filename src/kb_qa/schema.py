"""The ledger's tables and the states of a version."""

from __future__ import annotations

from types import MappingProxyType

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    TypeDecorator,
    UnicodeText,
)

from kb_qa.records import well_formed

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
            "ALTER TABLE versions ADD COLUMN limits TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE chunks ADD COLUMN digest BLOB",
            "CREATE INDEX chunks_by_digest ON chunks (digest)",
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
    Column("limits", Text, nullable=False, default="", server_default=""),  # those under which it was quarantined
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
    Column("digest", LargeBinary),  # of the embedded text, by which vectors are remembered; NULL before schema 4
)
Index("chunks_by_id", chunks.c.id)
Index("chunks_by_digest", chunks.c.digest)
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
# What became of a job's files: each once, however often the job was taken up again.
job_outcomes = Table(
    "job_outcomes",
    metadata,
    Column("job_id", ForeignKey("jobs.id"), primary_key=True),
    Column("n", Integer, primary_key=True),  # from 1, in the order in which they were settled
    Column("key", Text, nullable=False),
    Column("outcome", JSON, nullable=False),
)
Index("one_outcome", job_outcomes.c.job_id, job_outcomes.c.key, unique=True)
# The folders that were given to be read, and the files that a scan of one last saw there. A file that was given singly
# or uploaded is none of them, and no rescan takes it out.
roots = Table("roots", metadata, Column("path", Text, primary_key=True), Column("created", Float, nullable=False))
seen_files = Table(
    "seen_files",
    metadata,
    Column("folder", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("stamp", Text, nullable=False),  # size, times and place on the disk
    Column("looked", Float, nullable=False),  # when the stamp was read
)
Index("seen_files_of_document", seen_files.c.document_id)
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
# Who may ask the service; the key itself is nowhere, only its digest.
access_keys = Table(
    "access_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret
    Column("scopes", JSON, nullable=False),
    Column("knowledge_base", Text, nullable=False),  # empty: any
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
)
key_tokens = Table(
    "key_tokens",
    metadata,
    Column("key_id", ForeignKey("access_keys.id", ondelete="CASCADE"), primary_key=True),
    Column("day", Text, primary_key=True),  # `2026-11-30`, UTC
    Column("tokens", Integer, nullable=False),
)


def bring_up_to_date(connection: Connection, found: int) -> None:
    """From the schema of this number (0: an empty file) to ours, in the caller's transaction."""
    for number in range(found + 1, SCHEMA_VERSION + 1) if found else ():
        for statement in _ADDED[number]:
            connection.exec_driver_sql(statement)
    metadata.create_all(connection)
    connection.exec_driver_sql(CREATE_LEXICAL)
    connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
