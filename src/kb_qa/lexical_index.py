"""BM25 over the ledger's prepared terms: a term's postings are read once from FTS5, and questions add them up.

FTS5's own `bm25()` pays for every posting at every question: 110 ms for one of common words over 100,000 chunks. Here
what each chunk gains by a term is kept, the least used forgotten; how rare the term is comes in when it is asked for.
A version that comes or goes is a step that kept postings take when they are next asked for: nothing is read again.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from kb_qa.answers import EVERYTHING, Scope
from kb_qa.postings import (
    Postings,
    Rows,
    Scores,
    frequent_terms,
    index_token,
    kept_as,
    phrase_query,
    postings_by_term,
    postings_of,
    rows_with,
    sizes_of,
)
from kb_qa.schema import chunks
from kb_qa.visible_chunks import Visible

# How much a term weighs by where it stands. `scripts/bench_chunks.py --lexical`, tatqa, n = 834: hit@1 .586 for the
# body alone, .661 with all alike, .679 with labels twice (hit@5 .811, .860, .868; intervals ± .03).
WEIGHTS: Mapping[str, float] = {"body": 1.0, "titles": 1.0, "labels": 2.0}
SATURATION, LENGTH = 1.2, 0.75  # BM25's k1 and b, as FTS5 has them
MOST_POSTINGS = 12_000_000  # kept, 8 bytes each; 100,000 chunks have some 7 million
MOST_TERMS = 200_000
MOST_PLACES = 32  # scopes whose rows are kept
MOST_STEPS = 256  # what was not asked for during so many is read again
# Chunks that come at once: beyond it (and a tenth of all) terms are read anew, each when it is asked for.
MOST_NEW = 2000
# The mean length of a chunk counts in steps of 5 %, so that what was made with it holds while documents come and go.
_LENGTH_STEP = math.log(1.05)

Span = tuple[int, int]  # the first and the last row of a version


@dataclass(frozen=True, slots=True)
class _Kept:
    """What each row gains by a term; a row that was not visible after `step` steps is none of them."""

    rows: Rows
    gains: Scores
    step: int

    def within(self, edges: NDArray[np.int32]) -> _Kept:
        """What lies between each even edge and the next one."""
        places = np.searchsorted(self.rows, edges).tolist()
        parts = [slice(first, last) for first, last in zip(places[::2], places[1::2], strict=True) if first < last]
        rows = np.concatenate([np.zeros(0, np.int32), *(self.rows[part] for part in parts)])
        return _Kept(rows, np.concatenate([np.zeros(0, np.float32), *(self.gains[part] for part in parts)]), self.step)


@dataclass(frozen=True, slots=True)
class _Step:
    gone: Sequence[Span]
    come: Mapping[str, Postings]


@dataclass(slots=True)
class _State:
    """What holds for one state of the ledger. By row: `ready` says whether its version is, `dampers` by how much its
    length dampens what it gains; `places` are the rows of some pages and types, asked for before.
    """

    changes: int
    spans: Mapping[int, Span]  # by version
    ready: NDArray[np.bool_]
    sizes: Scores
    dampers: Scores
    mean: int  # length of a chunk, in steps
    total: int  # chunks
    step: int = 0  # the number of the last of the steps
    steps: Mapping[int, _Step] = field(default_factory=dict)
    places: OrderedDict[Scope, NDArray[np.bool_]] = field(default_factory=OrderedDict)
    kept: OrderedDict[str, _Kept] = field(default_factory=OrderedDict)
    count: int = 0

    def rarity(self, term: _Kept) -> float:
        """FTS5's weight of a term; the least where most chunks hold it."""
        total, held = self.total, len(term.rows)
        return max(math.log((total - held + 0.5) / (held + 0.5)) if total > held else 0.0, 1e-6)

    def gained(self, postings: Postings) -> Scores:
        gains: Scores = postings.hits * np.float32(SATURATION + 1) / (postings.hits + self.dampers[postings.rows])
        return gains


class LexicalIndex:
    """From any thread, each with a connection of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stepping = threading.Lock()
        self._state = _nothing()

    def best(
        self,
        connection: Connection,
        visible: Visible,
        terms: Iterable[str],
        k: int,
        scope: Scope = EVERYTHING,
        phrases: Iterable[Sequence[str]] = (),
    ) -> Sequence[tuple[int, float]]:
        """Rows of at most k chunks of the scope with their BM25, the best first; all of them hold each of the phrases.

        `visible` is what the connection sees. Of a scope's pages, chunks stored before their last page was are taken
        too where only that may be on them.
        """
        state = self.at(connection, visible)
        parts = [visible.by_document[each] for each in scope.document_ids if each in visible.by_document]
        edges = np.array([edge for part in parts for edge in _edges(part.rows)], np.int32)
        words = dict.fromkeys(kept_as(token) for term in terms if (token := index_token(term)))
        found = [
            (term, state.rarity(term)) for word in words if len((term := self._term(connection, state, word)).rows)
        ]
        wanted = [rows_with(connection, query) for phrase in phrases if (query := phrase_query(phrase))]
        found += [(_phrase(state, each), 1.0) for each in wanted]
        if scope.document_ids:
            found = [(term.within(edges), rarity) for term, rarity in found]
        rows, scores = _summed(found, len(state.ready))
        if scope.pages or scope.element_types:
            here = self._places(connection, state, scope)[rows]
            rows, scores = rows[here], scores[here]
        for each in wanted:
            here = np.isin(rows, each)
            rows, scores = rows[here], scores[here]
        return _best(rows, scores, k)

    def at(self, connection: Connection, visible: Visible) -> _State:
        """What holds for this moment; made here where something came or went since it was last asked for."""
        state = self._state
        if state.changes == visible.changes:
            return state
        with self._stepping:  # one of those that wait for it makes it
            state = self._state
            if state.changes == visible.changes:
                return state
            made = _next(connection, state, visible)
            if made.changes > state.changes:  # a reader of an older moment keeps its own to itself
                self._state = made
            return made

    def frequent(self, connection: Connection, visible: Visible, least: int) -> Sequence[str]:
        """The terms that so many chunks hold, as far as there is room for them: what takes long to read."""
        self.at(connection, visible)
        return frequent_terms(connection, least, MOST_TERMS // 2)

    def read_ahead(self, connection: Connection, visible: Visible, term: str) -> bool:
        """Reads one term; False where there is no more room."""
        state = self.at(connection, visible)
        self._term(connection, state, term)
        return state.count < MOST_POSTINGS * 0.9

    def _places(self, connection: Connection, state: _State, scope: Scope) -> NDArray[np.bool_]:
        """By row, whether a chunk is of the scope's types and on its pages."""
        wanted = Scope((), scope.pages, scope.element_types)
        with self._lock:
            known = state.places.get(wanted)
        if known is None:
            rows = connection.execute(select(chunks.c.row).where(*_placed(wanted))).scalars().all()
            known = np.zeros(len(state.ready), np.bool_)
            known[[row for row in rows if row < len(known)]] = True
            with self._lock:
                state.places[wanted] = known
                while len(state.places) > MOST_PLACES:
                    state.places.popitem(last=False)
        return known

    def _term(self, connection: Connection, state: _State, term: str) -> _Kept:
        with self._lock:
            known = state.kept.get(term)
            if known is not None:
                state.kept.move_to_end(term)
        if known is not None and known.step == state.step:
            return known
        made = None if known is None else _stepped(state, term, known)
        if made is None:
            made = _visible_only(state, postings_of(connection, term, WEIGHTS))
        with self._lock:
            before = state.kept.get(term)
            state.count += len(made.rows) - (0 if before is None else len(before.rows))
            state.kept[term] = made
            while state.count > MOST_POSTINGS or len(state.kept) > MOST_TERMS:
                _, dropped = state.kept.popitem(last=False)
                state.count -= len(dropped.rows)
        return made


def in_spans(rows: Rows, spans: Iterable[Span]) -> NDArray[np.bool_]:
    """Which of the ascending rows lie in any of the spans."""
    inside = np.zeros(len(rows), dtype=np.bool_)
    for first, last in spans:
        start, stop = np.searchsorted(rows, [first, last + 1])
        inside[start:stop] = True
    return inside


def _nothing() -> _State:
    none = np.zeros(1, np.float32)
    return _State(-1, {}, np.zeros(1, np.bool_), none, none, 0, 0)


def _next(connection: Connection, state: _State, visible: Visible) -> _State:
    """The state after this one: what was kept goes on, unless so much came that reading it anew is faster."""
    spans = {version: _span(part.rows) for version, part in visible.parts.items() if len(part.rows)}
    come = [span for version, span in spans.items() if state.spans.get(version) != span]
    gone = [span for version, span in state.spans.items() if spans.get(version) != span]
    ready = _mask(spans.values())
    sizes = _grown(connection, state.sizes, come, len(ready))
    total = int(np.count_nonzero(ready))
    mean = _steps_of(float(sizes[ready].mean())) if total else 0
    dampers = SATURATION * (1 - LENGTH + LENGTH * sizes / np.float32(math.exp(mean * _LENGTH_STEP)))
    made = _State(visible.changes, spans, ready, sizes, dampers.astype(np.float32), mean, total, state.step + 1)
    new = sum(last - first + 1 for first, last in come)
    if visible.changes > state.changes and mean == state.mean and new <= max(MOST_NEW, total // 10):
        step = _Step(gone, postings_by_term(connection, come, WEIGHTS))
        made.steps = {number: each for number, each in state.steps.items() if number > made.step - MOST_STEPS}
        made.steps = {**made.steps, made.step: step}
        made.kept, made.count = OrderedDict(state.kept), state.count
    return made


def _grown(connection: Connection, sizes: Scores, come: Sequence[Span], length: int) -> Scores:
    """The lengths of chunks by row, with those of the versions that came."""
    grown = np.zeros(length, np.float32)
    grown[: len(sizes)] = sizes[:length]
    for first, last in _joined(come):
        rows, counts = sizes_of(connection, first, last)
        grown[rows] = counts
    return grown


def _joined(spans: Iterable[Span]) -> Sequence[Span]:
    """Neighbours in one: whole ledgers are read in a few statements."""
    joined: list[Span] = []
    for first, last in sorted(spans):
        if joined and first == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


def _steps_of(mean: float) -> int:
    return round(math.log(max(mean, 1.0)) / _LENGTH_STEP)


def _stepped(state: _State, term: str, known: _Kept) -> _Kept | None:
    """What was kept, brought to this state; None where too much happened since."""
    if known.step < state.step - MOST_STEPS:
        return None
    rows, gains = known.rows, known.gains
    for number in range(known.step + 1, state.step + 1):
        step = state.steps.get(number)
        if step is None:
            return None
        if step.gone and len(rows):
            stays = ~in_spans(rows, step.gone)
            rows, gains = rows[stays], gains[stays]
        if (come := step.come.get(term)) is not None:
            rows, gains = _merged(rows, gains, come.rows, state.gained(come))
    return _Kept(rows, gains, state.step)


def _merged(rows: Rows, gains: Scores, more: Rows, gained: Scores) -> tuple[Rows, Scores]:
    rows, gains = np.concatenate([rows, more]), np.concatenate([gains, gained])
    if len(rows) > len(more) and rows[len(rows) - len(more) - 1] > more[0]:
        order = np.argsort(rows, kind="stable")
        rows, gains = rows[order], gains[order]
    return rows, gains


def _visible_only(state: _State, found: Postings) -> _Kept:
    known = int(np.searchsorted(found.rows, len(state.ready)))
    shown = np.flatnonzero(state.ready[found.rows[:known]])
    found = Postings(found.rows[shown], found.hits[shown])
    return _Kept(found.rows, state.gained(found), state.step)


def _phrase(state: _State, rows: Rows) -> _Kept:
    """A phrase gains what a word does that stands once in each of its chunks."""
    found = _visible_only(state, Postings(rows, np.ones(len(rows), np.float32)))
    return replace(found, gains=found.gains * np.float32(state.rarity(found)))


def _span(rows: Sequence[int]) -> Span:
    """Rows of a version are written by one writer, one after the other."""
    return rows[0], rows[-1]


def _edges(rows: Sequence[int]) -> tuple[int, int]:
    """The first row and the one after the last; equal where there is none."""
    return (rows[0], rows[-1] + 1) if len(rows) else (0, 0)


def _mask(spans: Iterable[Span]) -> NDArray[np.bool_]:
    """By row, whether it lies in one of the spans."""
    mask = np.zeros(max((last for _, last in spans), default=0) + 1, np.bool_)
    for first, stop in spans:
        mask[first : stop + 1] = True
    return mask


def _placed(scope: Scope) -> Iterator[ColumnElement[bool]]:
    if scope.element_types:
        yield chunks.c.element_type.in_(scope.element_types)
    if scope.pages:
        last_page = func.coalesce(chunks.c.last_page, 1 << 30)
        yield or_(*(and_(chunks.c.page <= last, last_page >= first) for first, last in scope.page_runs))


def _summed(found: Sequence[tuple[_Kept, float]], length: int) -> tuple[Rows, Scores]:
    """Every row that any of them holds, ascending, with the sum of what it gains, rare terms the more. All rows are
    below `length`; those of a term stand in the order of the documents they are of.
    """
    sums = np.zeros(length)
    for term, rarity in found:
        sums[term.rows] += term.gains * np.float32(rarity)  # of one term no row stands twice
    held = np.flatnonzero(sums > 0)
    return held.astype(np.int32), sums[held].astype(np.float32)


def _best(rows: Rows, scores: Scores, k: int) -> Sequence[tuple[int, float]]:
    if len(rows) > k:  # sorting all of them takes longer than all the rest
        best = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        rows, scores = rows[best], scores[best]
    order = np.lexsort((rows, -scores))[:k]
    return [(int(rows[place]), float(scores[place])) for place in order]
