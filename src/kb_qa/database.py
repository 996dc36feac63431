"""The SQLite file of the ledger: connections, transactions, and what a failing disk is called."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from kb_qa.errors import EnvironmentProblemError, MissingIndexError, disk_error
from kb_qa.failpoints import failpoint
from kb_qa.schema import SCHEMA_VERSION, bring_up_to_date

FILE_NAME = "ledger.sqlite3"
BUSY_SECONDS = 30
MOMENT = "moment"  # in a connection's `info`: what its transaction read already, and others need as well


def wal_is_safe(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite has the fix of the WAL-reset corruption: 3.51.3, or 3.50.7 and 3.44.6 of the older lines."""
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)


class Database:
    """The ledger's file. Connections come from a pool; any thread may read or write.

    `fence` is asked first in every write transaction, and raises where this writer may write no more.
    """

    def __init__(self, engine: Engine, fence: Callable[[Connection], None] | None = None) -> None:
        self.engine = engine
        self._fence = fence
        self._here = threading.local()

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

    def fenced(self, fence: Callable[[Connection], None] | None) -> Database:
        """The same file and connections for a writer of its own; None is for what must be written in any case."""
        return Database(self.engine, fence)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One moment of the ledger: all statements see the same rows.

        Within another read of the same thread it is that one's moment, and costs nothing.
        """
        outer: Connection | None = getattr(self._here, "connection", None)
        if outer is not None:
            yield outer
            return
        with _clear_errors(), self.engine.connect() as connection, connection.begin():
            self._here.connection = connection
            try:
                yield connection
            finally:
                self._here.connection = None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that holds the write lock from its start, so that it never fails for having read first."""
        with _clear_errors(), self.engine.connect() as connection:
            connection = connection.execution_options(kb_qa_write=True)
            with connection.begin():
                if self._fence is not None:
                    self._fence(connection)
                yield connection
                failpoint("commit.before")
            failpoint("commit.after")

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
            bring_up_to_date(connection, found)


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
        connection.info[MOMENT] = {}
        write = connection.get_execution_options().get("kb_qa_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise _storage_error(error) from error
    except OSError as error:
        raise disk_error(error, "the ledger") from error


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
