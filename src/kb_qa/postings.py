"""What the lexical index (FTS5) knows of a term: in which chunks it stands, how often, and how long each chunk is.

FTS5's own `bm25()` takes some 4 µs a posting, most of it for looking up the chunk's length. Here a term's postings are
one row of an aggregate, made in C without the interpreter's lock: a third of a microsecond each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from kb_qa.records import well_formed
from kb_qa.schema import LEXICAL_COLUMNS

Rows = NDArray[np.int32]
Scores = NDArray[np.float32]

# As FTS5 cuts a text into tokens, and in the letter case in which it keeps them.
_NOT_A_TOKEN = re.compile(r"[\x00-\x20\x7f]+")
_EDGES = "".join(map(chr, range(33))) + "\x7f"
_BETWEEN = re.compile(rb"[\x00-\x20\x7f]+")
_MOST_BYTES = 5  # of a number in SQLite's variable length
_COLUMN = " ".join(f"WHEN '{name}' THEN {place}" for place, name in enumerate(LEXICAL_COLUMNS))
_STEP = len(LEXICAL_COLUMNS)
_PLACES = f"SELECT group_concat(doc * {_STEP} + CASE col {_COLUMN} END) FROM lexical_places WHERE term = ?"
_FREQUENT = "SELECT term FROM lexical_terms WHERE doc >= ? ORDER BY doc DESC LIMIT ?"
_SIZES = "SELECT group_concat(id), group_concat(hex(sz), '') FROM lexical_docsize WHERE id BETWEEN ? AND ?"
_FOUND = "SELECT group_concat(rowid) FROM lexical WHERE lexical MATCH ?"
_TEXTS = f"SELECT rowid, {', '.join(LEXICAL_COLUMNS)} FROM lexical WHERE rowid BETWEEN ? AND ?"


@dataclass(frozen=True, slots=True)
class Postings:
    """`hits` says how often a chunk holds the term, weighted by where it stands."""

    rows: Rows  # ascending
    hits: Scores


def postings_of(connection: Connection, term: str, weights: Mapping[str, float]) -> Postings:
    """Of every chunk in the ledger, visible or not. `term` is as FTS5 keeps it (`kept_as`)."""
    _see(connection, "lexical_places", "instance")
    told = connection.exec_driver_sql(_PLACES, (term,)).scalar()
    places = _numbers(told or "")
    rows = places // _STEP
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    by_place = np.array([weights[name] for name in LEXICAL_COLUMNS], np.float32)
    hits = np.add.reduceat(by_place[places % _STEP], starts) if len(starts) else np.zeros(0, np.float32)
    return Postings(rows[starts].astype(np.int32), hits.astype(np.float32))


def rows_with(connection: Connection, query: str) -> Rows:
    """The chunks that an FTS5 query finds."""
    told = connection.exec_driver_sql(_FOUND, (query,)).scalar()
    return np.sort(_numbers(told or "")).astype(np.int32)


def postings_by_term(
    connection: Connection, spans: Iterable[tuple[int, int]], weights: Mapping[str, float]
) -> dict[str, Postings]:
    """Of every term of the chunks in these spans of rows, read from their prepared text: faster for few chunks."""
    found: dict[bytes, tuple[list[int], list[float]]] = {}
    for span in spans:
        for row, *texts in connection.exec_driver_sql(_TEXTS, span).all():
            for term, hits in _counted(texts, weights).items():
                rows, counts = found.setdefault(term, ([], []))
                rows.append(row)
                counts.append(hits)
    made = {}
    for term, (rows, counts) in found.items():
        order = np.argsort(rows)
        made[term.decode("utf-8", "replace")] = Postings(
            np.array(rows, np.int32)[order], np.array(counts, np.float32)[order]
        )
    return made


def sizes_of(connection: Connection, first: int, last: int) -> tuple[Rows, Scores]:
    """The rows from first to last, and how many tokens each has."""
    ids, packed = connection.exec_driver_sql(_SIZES, (first, last)).one()
    rows = _numbers(ids or "").astype(np.int32)
    counts = _unpacked(bytes.fromhex(packed or "")).reshape(-1, _STEP).sum(axis=1)
    return rows, counts.astype(np.float32)


def frequent_terms(connection: Connection, least: int, most: int) -> Sequence[str]:
    """At most so many terms that stand in so many chunks at least, the most frequent first."""
    _see(connection, "lexical_terms", "row")
    return connection.exec_driver_sql(_FREQUENT, (least, most)).scalars().all()


def phrase_query(terms: Sequence[str]) -> str:
    """An FTS5 query for the terms side by side, quoted, so that nothing in them is an operator; empty for none."""
    tokens = [token for term in terms if (token := index_token(term))]
    return '"' + " ".join(tokens).replace('"', '""') + '"' if tokens else ""


def index_token(term: str) -> str:
    """A term as one token of the lexical index; empty for one of spaces and controls alone."""
    return _NOT_A_TOKEN.sub("\u2028", well_formed(term).strip(_EDGES))


def kept_as(term: str) -> str:
    """A term as FTS5 keeps it: ASCII letters in lower case."""
    return term.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _counted(texts: Sequence[str], weights: Mapping[str, float]) -> Mapping[bytes, float]:
    counted: dict[bytes, float] = {}
    for name, text in zip(LEXICAL_COLUMNS, texts, strict=True):
        for term in _BETWEEN.split((text or "").encode("utf-8", "replace").lower()):
            if term:
                counted[term] = counted.get(term, 0.0) + weights[name]
    return counted


def _see(connection: Connection, name: str, kind: str) -> None:
    """A view of the index's terms; each connection has its own."""
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{name} USING fts5vocab('main', 'lexical', '{kind}')"
    )


def _numbers(told: str) -> NDArray[np.int64]:
    return np.fromstring(told, np.int64, sep=",") if told else np.zeros(0, np.int64)


def _unpacked(packed: bytes) -> NDArray[np.int64]:
    """Numbers in SQLite's variable length, seven bits a byte, the highest first."""
    raw = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(raw < 128)
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    values = np.zeros(len(ends), np.int64)
    for offset in range(_MOST_BYTES):
        here = starts + offset
        more = here <= ends
        values[more] = values[more] * 128 + (raw[here[more]] & 127)
    return values
