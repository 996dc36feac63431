"""The steps a version and a name can take, each inside a caller's transaction."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, exists, insert, not_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from kb_qa.errors import NotFoundError
from kb_qa.schema import ARROWS, GONE, chunks, documents, meta, names, tombstones, versions

_VISIBLE_CHANGES = "visible_changes"
_CHANGES = select(meta.c.value).where(meta.c.key == _VISIBLE_CHANGES)


class IllegalArrowError(ValueError):
    """A version was asked to go where its state does not lead: it was deleted meanwhile, or the caller is wrong."""


def require_state(connection: Connection, version: int, *allowed: str) -> None:
    state = connection.execute(select(versions.c.state).where(versions.c.id == version)).scalar()
    if state is None:
        raise NotFoundError(f"no version {version}")
    if state not in allowed:
        raise IllegalArrowError(f"version {version} is {state}, not {' or '.join(allowed)}")


def take_arrow(connection: Connection, version: int, state: str, **values: object) -> None:
    """Moves the version to `state`. Raises IllegalArrowError where no arrow leads there."""
    require_state(connection, version, *(start for start, ends in ARROWS.items() if state in ends))
    changes = {"state": state, "updated": time.time(), **values}
    connection.execute(update(versions).where(versions.c.id == version).values(changes))
    if state in {"ready", "deleting"}:
        value = visible_changes(connection) + 1
        statement = upsert(meta).values(key=_VISIBLE_CHANGES, value=value)
        connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))


def visible_changes(connection: Connection) -> int:
    """How often a version became visible or was taken away: what was read of the ready ones holds while it is equal."""
    return int(connection.execute(_CHANGES).scalar() or 0)


def start_deleting(connection: Connection, version: int) -> None:
    """The version is invisible from this transaction on; what the index may hold of it is noted."""
    take_arrow(connection, version, "deleting")
    ids = select(chunks.c.id).where(chunks.c.version_id == version).distinct()
    connection.execute(upsert(tombstones).from_select(["chunk_id"], ids).prefix_with("OR IGNORE"))


def retire(connection: Connection, document_id: str, *conditions: ColumnElement[bool]) -> int:
    """Starts deleting the document's versions (those that meet the conditions); how many."""
    live = select(versions.c.id).where(versions.c.document_id == document_id, versions.c.state.not_in(GONE))
    found = connection.execute(live.where(*conditions)).scalars().all()
    for version in found:
        start_deleting(connection, version)
    return len(found)


def point_name(connection: Connection, *, folder: str, name: str, document_id: str) -> None:
    """The name means this document: at once where it meant nothing yet, else as soon as the document is ready.

    A document that waited for the same name is superseded, and deleted where that was its only name.
    """
    rows = connection.execute(select(names).where(names.c.folder == folder, names.c.name == name)).all()
    this_name = and_(names.c.folder == folder, names.c.name == name)
    if not any(row.document_id == document_id for row in rows):
        values = {"folder": folder, "name": name, "document_id": document_id}
        connection.execute(insert(names).values(values | {"current": not any(row.current for row in rows)}))
    waiting = and_(this_name, not_(names.c.current), names.c.document_id != document_id)
    _delete_nameless(connection, drop_names(connection, waiting))


def settle_names(connection: Connection, document_id: str) -> None:
    """The document is ready: names that waited for it now mean it, and documents without a name left are deleted."""
    waiting = select(names).where(names.c.document_id == document_id, not_(names.c.current))
    for row in connection.execute(waiting).all():
        _take_over(connection, row)


def drop_names(connection: Connection, condition: ColumnElement[bool]) -> Sequence[str]:
    """Deletes these names; the ids of documents that have none left, sorted."""
    owners = connection.execute(select(names.c.document_id).where(condition).distinct()).scalars().all()
    connection.execute(delete(names).where(condition))
    return sorted(owner for owner in owners if not has_name(connection, owner))


def has_versions(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """Of a statement on documents: whether one has versions (that meet the conditions)."""
    return exists().where(versions.c.document_id == documents.c.id, *conditions)


def has_name(connection: Connection, document_id: str) -> bool:
    return bool(connection.execute(select(exists().where(names.c.document_id == document_id))).scalar_one())


def _take_over(connection: Connection, row: Row[tuple[str, str, str, bool]]) -> None:
    this_name = and_(names.c.folder == row.folder, names.c.name == row.name)
    nameless = drop_names(connection, and_(this_name, names.c.document_id != row.document_id))
    connection.execute(update(names).where(this_name).values(current=True))
    _delete_nameless(connection, nameless)


def _delete_nameless(connection: Connection, document_ids: Iterable[str]) -> None:
    for document_id in document_ids:
        retire(connection, document_id)
