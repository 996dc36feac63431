"""BM25 over the ledger's prepared terms: FTS5 says each term's scores once, and questions add them up.

FTS5's own `bm25()` adds up over terms too, but pays for every posting at every question: 110 ms for one of common words
over 100,000 chunks. The scores of a term do not depend on the question, so they are kept, the least used forgotten.
What is kept is for one state of what is visible; a version that comes or goes starts it afresh.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from kb_qa.answers import EVERYTHING, Scope
from kb_qa.arrows import visible_changes
from kb_qa.records import well_formed
from kb_qa.schema import LEXICAL_COLUMNS, chunks, versions

# How much a term weighs by where it stands. `scripts/bench_chunks.py --lexical`, tatqa, n = 834: hit@1 .586 for the
# body alone, .661 with all alike, .679 with labels twice (hit@5 .811, .860, .868; intervals ± .03).
WEIGHTS: Mapping[str, float] = {"body": 1.0, "titles": 1.0, "labels": 2.0}
MOST_POSTINGS = 4_000_000  # kept, 8 bytes each
MOST_TERMS = 200_000
MOST_PLACES = 32  # scopes whose rows are kept

_NOT_A_TOKEN = re.compile(r"[\x00-\x20\x7f]+")
_EDGES = "".join(map(chr, range(33))) + "\x7f"

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Postings:
    rows: NDArray[np.int32]  # ascending
    scores: Scores


@dataclass(slots=True)
class _Kept:
    """What holds for one state of the ledger; `spans` are the first and last rows of the ready versions.

    `ready` says by row whether its version is; `places` are the rows of some pages and types, asked for before.
    """

    changes: int
    spans: Mapping[str, tuple[int, int]]
    ready: NDArray[np.bool_]
    places: OrderedDict[Scope, NDArray[np.bool_]] = field(default_factory=OrderedDict)
    postings: OrderedDict[str, _Postings] = field(default_factory=OrderedDict)
    count: int = 0


class LexicalIndex:
    """From any thread, each with a connection of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = _Kept(-1, {}, np.zeros(1, np.bool_))

    def best(
        self,
        connection: Connection,
        terms: Iterable[str],
        k: int,
        scope: Scope = EVERYTHING,
        phrases: Iterable[Sequence[str]] = (),
    ) -> Sequence[tuple[int, float]]:
        """Rows of at most k chunks of the scope with their BM25, the best first; all of them hold each of the phrases.

        Of a scope's pages, chunks stored before their last page was are taken too where only that may be on them.
        """
        kept = self._at(connection)
        phrase_queries = [query for phrase in phrases if (query := phrase_query(phrase))]
        words = dict.fromkeys(query for term in terms if (query := phrase_query([term])))
        found = [self._postings(connection, kept, query) for query in (*words, *phrase_queries)]
        rows, scores = _summed(found)
        known = int(np.searchsorted(rows, len(kept.ready)))  # those behind are not visible yet
        rows, scores = rows[:known], scores[:known]
        allowed = kept.ready[rows]
        if scope.document_ids:
            allowed &= _in_spans(rows, [kept.spans[each] for each in scope.document_ids if each in kept.spans])
        if scope.pages or scope.element_types:
            allowed &= self._places(connection, kept, scope)[rows]
        for query in phrase_queries:
            allowed &= np.isin(rows, self._postings(connection, kept, query).rows)
        rows, scores = rows[allowed], scores[allowed]
        order = np.lexsort((rows, -scores))[:k]
        return [(int(rows[place]), float(scores[place])) for place in order]

    def _at(self, connection: Connection) -> _Kept:
        """What is kept for the ledger as this connection sees it."""
        changes = visible_changes(connection)
        kept = self._kept
        if kept.changes != changes:
            spans = _spans(connection)
            self._kept = kept = _Kept(changes, spans, _mask(connection, spans.values()))
        return kept

    def _places(self, connection: Connection, kept: _Kept, scope: Scope) -> NDArray[np.bool_]:
        """By row, whether a chunk is of the scope's types and on its pages."""
        wanted = Scope((), scope.pages, scope.element_types)
        with self._lock:
            known = kept.places.get(wanted)
        if known is None:
            rows = connection.execute(select(chunks.c.row).where(*_placed(wanted))).scalars().all()
            known = np.zeros(len(kept.ready), np.bool_)
            known[[row for row in rows if row < len(known)]] = True
            with self._lock:
                kept.places[wanted] = known
                while len(kept.places) > MOST_PLACES:
                    kept.places.popitem(last=False)
        return known

    def _postings(self, connection: Connection, kept: _Kept, query: str) -> _Postings:
        with self._lock:
            known = kept.postings.get(query)
            if known is not None:
                kept.postings.move_to_end(query)
                return known
        made = _read(connection, query)
        with self._lock:
            kept.count += 0 if query in kept.postings else len(made.rows)
            kept.postings[query] = made
            while kept.count > MOST_POSTINGS or len(kept.postings) > MOST_TERMS:
                _, dropped = kept.postings.popitem(last=False)
                kept.count -= len(dropped.rows)
        return made


def phrase_query(terms: Sequence[str]) -> str:
    """An FTS5 query for the terms side by side, quoted, so that nothing in them is an operator; empty for none."""
    tokens = [token for term in terms if (token := index_token(term))]
    return '"' + " ".join(tokens).replace('"', '""') + '"' if tokens else ""


def index_token(term: str) -> str:
    """A term as one token of the lexical index; empty for one of spaces and controls alone."""
    return _NOT_A_TOKEN.sub("\u2028", well_formed(term).strip(_EDGES))


def _read(connection: Connection, query: str) -> _Postings:
    weights = ", ".join(str(WEIGHTS[name]) for name in LEXICAL_COLUMNS)
    statement = f"SELECT rowid, -bm25(lexical, {weights}) FROM lexical WHERE lexical MATCH ?"
    rows = connection.exec_driver_sql(statement, (query,)).all()
    values = np.array([tuple(row) for row in rows], dtype=np.float64).reshape(-1, 2)
    return _Postings(values[:, 0].astype(np.int32), values[:, 1].astype(np.float32))


def _spans(connection: Connection) -> dict[str, tuple[int, int]]:
    """By document. Rows of a version are written by one writer, one after the other."""
    statement = (
        select(versions.c.document_id, func.min(chunks.c.row), func.max(chunks.c.row))
        .join(chunks, chunks.c.version_id == versions.c.id)
        .where(versions.c.state == "ready")
        .group_by(versions.c.id)
    )
    return {document_id: (first, last) for document_id, first, last in connection.execute(statement)}


def _mask(connection: Connection, spans: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """By row, whether it lies in one of the spans."""
    last = connection.execute(select(func.max(chunks.c.row))).scalar() or 0
    mask = np.zeros(last + 1, np.bool_)
    for first, stop in spans:
        mask[first : stop + 1] = True
    return mask


def _placed(scope: Scope) -> Iterator[ColumnElement[bool]]:
    if scope.element_types:
        yield chunks.c.element_type.in_(scope.element_types)
    if scope.pages:
        last_page = func.coalesce(chunks.c.last_page, 1 << 30)
        yield or_(*(and_(chunks.c.page <= last, last_page >= first) for first, last in scope.page_runs))


def _summed(found: Sequence[_Postings]) -> tuple[Rows, Scores]:
    """Every row that any of them holds, ascending, with the sum of its scores."""
    rows = np.concatenate([np.zeros(0, np.int32), *(each.rows for each in found)])
    if not len(rows):
        return rows.astype(np.int64), np.zeros(0, np.float32)
    sums = np.bincount(rows, weights=np.concatenate([each.scores for each in found]))
    held = np.flatnonzero(sums)
    return held, sums[held].astype(np.float32)


def _in_spans(rows: Rows, spans: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which of the ascending rows lie in any of the spans."""
    inside = np.zeros(len(rows), dtype=np.bool_)
    for first, last in spans:
        start, stop = np.searchsorted(rows, [first, last + 1])
        inside[start:stop] = True
    return inside
