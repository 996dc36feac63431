"""The folders that were given to be read, and what stood in them when they were last looked at."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, and_, delete, not_, or_, select
from sqlalchemy.dialects.sqlite import insert as upsert

from kb_qa.arrows import drop_names
from kb_qa.database import Database
from kb_qa.records import well_formed
from kb_qa.schema import names, roots, seen_files


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file as a scan saw it. `looked` is when, in seconds since 1970; `stamp` is equal while nobody writes to it."""

    folder: str
    name: str
    document_id: str
    stamp: str = ""
    looked: float = 0.0


class FolderTable:
    def __init__(self, database: Database) -> None:
        self.database = database

    def remember(self, root: str) -> None:
        values = {"path": root, "created": time.time()}
        with self.database.write() as connection:
            connection.execute(upsert(roots).values(values).on_conflict_do_nothing())

    def roots(self) -> Sequence[str]:
        """Absolute paths, sorted."""
        with self.database.read() as connection:
            return connection.execute(select(roots.c.path).order_by(roots.c.path)).scalars().all()

    def seen_under(self, root: str) -> Sequence[SeenFile]:
        """What scans saw in the folder and below it, in order."""
        start = root.rstrip("/") + "/"
        below = and_(seen_files.c.folder >= start, seen_files.c.folder < f"{start[:-1]}0")  # "0" comes after "/"
        statement = select(seen_files).where(or_(seen_files.c.folder == root, below))
        with self.database.read() as connection:
            rows = connection.execute(statement.order_by(seen_files.c.folder, seen_files.c.name)).all()
        return [SeenFile(row.folder, row.name, row.document_id, row.stamp, row.looked) for row in rows]

    def note(self, seen: SeenFile) -> None:
        key = {"folder": seen.folder, "name": seen.name}
        values = {"document_id": seen.document_id, "stamp": seen.stamp, "looked": seen.looked}
        statement = upsert(seen_files).values(key | values)
        with self.database.write() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=[*key], set_=values))

    def documents_called(self, folder: str, name: str) -> Sequence[tuple[str, str]]:
        """Ids of what a file's name means or waits for, each with another name of the same document; "" for none."""
        own = and_(names.c.folder == folder, names.c.name == well_formed(name))
        with self.database.read() as connection:
            ids = connection.execute(select(names.c.document_id).where(own).distinct()).scalars().all()
            return [
                (each, str(connection.execute(_other_name(each, folder, name)).scalar() or "")) for each in sorted(ids)
            ]

    def forget(self, folder: str, name: str) -> None:
        """The file is gone, and so is its name. Documents that have no other name must be withdrawn before."""
        name = well_formed(name)
        with self.database.write() as connection:
            connection.execute(delete(seen_files).where(seen_files.c.folder == folder, seen_files.c.name == name))
            drop_names(connection, and_(names.c.folder == folder, names.c.name == name))


def _other_name(document_id: str, folder: str, name: str) -> Select[tuple[str]]:
    this_name = and_(names.c.folder == folder, names.c.name == well_formed(name))
    statement = select(names.c.name).where(names.c.document_id == document_id, not_(this_name))
    return statement.order_by(names.c.folder, names.c.name).limit(1)
