"""The chunks of the ready versions in memory, where each stands and its sketch: read once a version.

A question looks at hundreds of them. SQLite hands the interpreter over at every row that it steps to, so with several
questions at once reading them took longer than all the rest.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, repeat
from typing import cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from kb_qa.arrows import visible_changes
from kb_qa.database import MOMENT
from kb_qa.elements import Chunk, ElementType
from kb_qa.protocols import ChunkSketch

MOST_SKETCH_BYTES = 500_000_000  # of 100,000 chunks about 60 MB; those of further versions stay in the ledger

MOST_CHUNKS = 4000  # kept as they were decoded, some 10 KB each

_READY = text("SELECT id, document_id FROM versions WHERE state = 'ready' ORDER BY id")
_ROWS = text(
    "SELECT row, id, ordinal, element_type, coalesce(page, -1), sketch FROM chunks WHERE version_id = :id ORDER BY row"
)
_SKETCHES = text("SELECT row, sketch FROM chunks WHERE row IN (SELECT value FROM json_each(:rows))")


@dataclass(frozen=True, slots=True)
class Part:
    """The chunks of one version by their rows, ascending. `ends` and `sizes` are of their sketches in `packed`; a size
    of -1 is of none. `packed` is None where the sketches have no room here.
    """

    version: int
    document_id: str
    rows: array[int]
    ids: Sequence[str]
    ordinals: array[int]
    types: Sequence[ElementType]
    pages: array[int]
    ends: array[int]
    sizes: array[int]
    packed: bytes | None

    def sketch(self, place: int) -> ChunkSketch:
        """Without codes where they are not here, or none were stored."""
        page, size, end = self.pages[place], self.sizes[place], self.ends[place]
        codes = None if size < 0 or self.packed is None else self.packed[end - size : end]
        return ChunkSketch(
            self.ids[place],
            self.document_id,
            self.ordinals[place],
            self.types[place],
            None if page < 0 else page,
            codes,
        )


@dataclass(frozen=True, slots=True)
class Visible:
    """All that is ready at one state of the ledger."""

    changes: int = -1
    parts: Mapping[int, Part] = field(default_factory=dict)  # by version
    by_document: Mapping[str, Part] = field(default_factory=dict)
    places: Mapping[str, tuple[Part, int]] = field(default_factory=dict)  # by chunk id
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # all of them, ascending
    ids: Sequence[str] = ()  # of the chunks in these rows

    def ids_at(self, rows: Sequence[int]) -> Sequence[str]:
        """Of the chunks in these rows; nothing for one that is not visible."""
        if not len(self.rows):
            return []
        here = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return [self.ids[place] for place in here[self.rows[here] == rows].tolist()]

    def found(self, ids: Iterable[str]) -> Iterator[tuple[Part, int]]:
        """Part and place of those that are visible, in the order that they are asked for."""
        for each in ids:
            place = self.places.get(each)
            if place is not None:
                yield place

    def id_at(self, document_id: str, ordinal: int) -> str | None:
        """None where nothing visible stands."""
        part = self.by_document.get(document_id)
        if part is None or ordinal not in part.ordinals:
            return None
        return part.ids[part.ordinals.index(ordinal)]


class VisibleChunks:
    """From any thread, each with a connection of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = Visible()
        self._read: OrderedDict[tuple[int, str], Chunk] = OrderedDict()  # by version and chunk id: no text changes

    def at(self, connection: Connection) -> Visible:
        """What is visible to this connection. The versions that are new to it are read, which takes a while."""
        moment = connection.info.get(MOMENT, {})
        if (known := moment.get(MOMENT)) is not None:
            return cast(Visible, known)
        changes = visible_changes(connection)
        moment[MOMENT] = found = self._at(connection, changes)
        return found

    def _at(self, connection: Connection, changes: int) -> Visible:
        kept = self._kept
        if kept.changes == changes:
            return kept
        with self._lock:  # one of those that wait for it reads it
            kept = self._kept
            if kept.changes == changes:
                return kept
            made = _moved(connection, kept, changes)
            if changes > kept.changes:
                self._kept = made
            return made

    def chunks(
        self, connection: Connection, ids: Iterable[str], read: Callable[[Sequence[str]], Iterable[Chunk]]
    ) -> Mapping[str, Chunk]:
        """By id; one that is not visible is left out. `read` decodes those that were not asked for lately."""
        keys = {part.ids[place]: (part.version, part.ids[place]) for part, place in self.at(connection).found(ids)}
        found: dict[str, Chunk] = {}
        with self._lock:
            for each, key in keys.items():
                if key in self._read:
                    self._read.move_to_end(key)
                    found[each] = self._read[key]
        missing = [each for each in keys if each not in found]
        made = {chunk.id: chunk for chunk in read(missing)} if missing else {}
        with self._lock:
            self._read.update({keys[each]: chunk for each, chunk in made.items()})
            while len(self._read) > MOST_CHUNKS:
                self._read.popitem(last=False)
        return {each: chunk for each in keys if (chunk := found.get(each) or made.get(each)) is not None}

    def sketches(self, connection: Connection, ids: Iterable[str]) -> Mapping[str, ChunkSketch]:
        """By id; one that is not visible is left out."""
        visible = self.at(connection)
        found, elsewhere = {}, {}
        for part, place in visible.found(ids):
            each = part.sketch(place)
            found[each.id] = each
            if part.packed is None and part.sizes[place] >= 0:
                elsewhere[part.rows[place]] = each
        if elsewhere:
            for row, codes in connection.execute(_SKETCHES, {"rows": str([*elsewhere])}):
                each = elsewhere[row]
                found[each.id] = ChunkSketch(
                    each.id, each.document_id, each.ordinal, each.element_type, each.page, codes
                )
        return found


def _moved(connection: Connection, kept: Visible, changes: int) -> Visible:
    parts: dict[int, Part] = {}
    room = MOST_SKETCH_BYTES
    for version, document_id in connection.execute(_READY).all():
        part = kept.parts.get(version) or _read(connection, version, document_id, room)
        room -= len(part.packed or b"")
        parts[version] = part
    gone = [part for version, part in kept.parts.items() if version not in parts]
    come = [part for version, part in parts.items() if version not in kept.parts]
    places, rows, ids = dict(kept.places), kept.rows, [*kept.ids]
    if gone:
        stays = ~np.isin(rows, np.concatenate([_numbers(part.rows) for part in gone]))
        rows, ids = rows[stays], [*compress(ids, stays.tolist())]
    for each in (each for part in gone for each in part.ids):
        places.pop(each, None)
    for part in come:
        places.update(zip(part.ids, zip(repeat(part), range(len(part.ids)), strict=False), strict=True))
    rows = np.concatenate([rows, *(_numbers(part.rows) for part in come)])
    ids += chain.from_iterable(part.ids for part in come)
    if np.any(rows[1:] < rows[:-1]):
        order = np.argsort(rows)
        rows, ids = rows[order], [ids[place] for place in order.tolist()]
    return Visible(changes, parts, {part.document_id: part for part in parts.values()}, places, rows, ids)


def _numbers(values: array[int]) -> NDArray[np.int64]:
    return np.frombuffer(values, np.int64) if len(values) else np.zeros(0, np.int64)


def _read(connection: Connection, version: int, document_id: str, room: int) -> Part:
    rows = connection.execute(_ROWS, {"id": version}).all()
    sketches = [cast("bytes | None", row[5]) for row in rows]
    sizes = array("q", (-1 if each is None else len(each) for each in sketches))
    ends, total = array("q"), 0
    for size in sizes:
        total += max(size, 0)
        ends.append(total)
    return Part(
        version,
        document_id,
        array("q", (row[0] for row in rows)),
        tuple(row[1] for row in rows),
        array("q", (row[2] for row in rows)),
        tuple(cast(ElementType, row[3]) for row in rows),
        array("q", (row[4] for row in rows)),
        ends,
        sizes,
        b"".join(each for each in sketches if each is not None) if total <= room else None,
    )
