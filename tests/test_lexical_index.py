"""What is kept of the lexical index is what FTS5 says, at each state of the ledger, without reading it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from kb_qa import lexical_index
from kb_qa.answers import EVERYTHING, Scope
from kb_qa.ledger import Ledger
from kb_qa.lexical_index import LexicalIndex
from kb_qa.postings import kept_as, postings_by_term, postings_of
from tests.test_ledger import bring, chunk, sha

WORDS = "cash flow of leases and notes NET Zürich 净利润 4,812.5 50%".split()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path, create=True) as opened:
        opened.set_embedder("fake", 4)
        yield opened


def add(ledger: Ledger, name: str, count: int = 6, *, ready: bool = True) -> int:
    """A document whose chunks hold the first words, more of them the later they come."""
    version = bring(ledger, name, until="parsed", name=f"{name}.pdf")
    parts = [chunk(sha(name), version, ordinal, f"{name} {ordinal}") for ordinal in range(count)]
    body = [[name, *WORDS[: 5 + ordinal], *["cash"] * ordinal] for ordinal in range(count)]
    labels = [["flow"] if ordinal % 2 else [] for ordinal in range(count)]
    ledger.store_chunks(version, parts, body, titles=[["Notes"]] * count, labels=labels)
    ledger.store_vectors(version, [part.id for part in parts], np.eye(count, 4, dtype=np.float32))
    ledger.mark(version, "indexing")
    if ready:
        ledger.publish(version)
    return version


@contextmanager
def statements(ledger: Ledger, about: str) -> Iterator[list[str]]:
    """Those that name a table."""
    seen: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if about in statement:
            seen.append(statement)

    event.listen(ledger.database.engine, "before_cursor_execute", note)
    yield seen
    event.remove(ledger.database.engine, "before_cursor_execute", note)


def found(ledger: Ledger, *terms: str, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
    return [(match.id, round(match.score, 4)) for match in ledger.lexical(terms, 50, scope)]


def found_afresh(ledger: Ledger, *terms: str, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
    kept, ledger.lexical_index = ledger.lexical_index, LexicalIndex()
    again = found(ledger, *terms, scope=scope)
    ledger.lexical_index = kept
    return again


def test_scores_are_those_of_fts5(ledger: Ledger) -> None:
    """Every chunk with a word is found, with FTS5's own BM25 but for the rounded mean length: within 3 %."""
    for name in ("alpha", "beta", "gamma"):
        add(ledger, name)
    weights = ", ".join(map(str, lexical_index.WEIGHTS.values()))
    for term in ("leases", "4,812.5", "净利润", "alpha"):
        own = dict(found(ledger, term))
        with ledger.database.read() as connection:
            rows = connection.exec_driver_sql(
                f"SELECT id, -bm25(lexical, {weights}) FROM lexical JOIN chunks ON row = lexical.rowid "
                "WHERE lexical MATCH ?",
                (f'"{term}"',),
            ).all()
        assert own.keys() == {row[0] for row in rows}
        assert all(own[chunk_id] == pytest.approx(score, rel=0.03, abs=1e-5) for chunk_id, score in rows)


def test_both_ways_to_read_postings_agree(ledger: Ledger) -> None:
    """The terms of some rows, cut by us, are the tokens that FTS5 keeps, also in other letter cases and scripts."""
    add(ledger, "alpha")
    with ledger.database.read() as connection:
        cut = postings_by_term(connection, [(1, 6)], lexical_index.WEIGHTS)
        assert {"notes", "net", "zürich", "净利润", "4,812.5"} <= cut.keys()
        for term, postings in cut.items():
            read = postings_of(connection, kept_as(term), lexical_index.WEIGHTS)
            assert np.array_equal(read.rows, postings.rows)
            assert np.array_equal(read.hits, postings.hits)


def test_kept_terms_follow_what_comes_and_goes_without_being_read_again(ledger: Ledger) -> None:
    """At each state they are what a fresh look finds; a version that is not ready yet is not in them."""
    terms = ("cash", "flow", "notes", "beta")
    add(ledger, "alpha")
    found(ledger, *terms)
    waiting = add(ledger, "beta", ready=False)
    assert found(ledger, *terms) == found_afresh(ledger, *terms)
    with statements(ledger, "lexical_places WHERE") as read:
        ledger.publish(waiting)
        both = found(ledger, *terms)
        add(ledger, "gamma")
        ledger.withdraw(sha("alpha"))
        left = found(ledger, *terms)
        inside = found(ledger, *terms, scope=Scope((sha("beta"),)))
        assert not read
    assert len(both) == len(left) == 12
    assert len(inside) == 6
    assert left == found_afresh(ledger, *terms)
    assert inside == found_afresh(ledger, *terms, scope=Scope((sha("beta"),)))


@pytest.mark.parametrize("name", ["MOST_STEPS", "MOST_POSTINGS", "MOST_NEW"])
def test_what_is_forgotten_is_read_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Nothing is lost where steps, room or patience end."""
    monkeypatch.setattr(lexical_index, name, 0)
    for each in ("alpha", "beta", "gamma"):
        add(ledger, each)
        assert found(ledger, "cash", "beta") == found_afresh(ledger, "cash", "beta")
        assert found(ledger, "cash", "beta") == found_afresh(ledger, "cash", "beta")


def test_what_is_read_ahead_is_not_read_by_questions(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frequent terms and the vectors of the documents are in memory before the first question."""
    monkeypatch.setattr("kb_qa.search_table.FREQUENT", 6)
    add(ledger, "alpha")
    ledger.read_ahead("fake", 60)
    with statements(ledger, "lexical_places WHERE") as terms, statements(ledger, "JOIN vectors") as vectors:
        assert len(found(ledger, "cash", "flow")) == 6
        assert _nearest(ledger, 3)[0] == (f"{sha('alpha')[:8]}-{_pipeline(ledger)}-3", pytest.approx(1.0))
        assert not terms
        assert not vectors


def test_documents_are_searched_in_any_order(ledger: Ledger) -> None:
    """Whichever of the named documents comes first, a search inside all of them finds what one without limits does."""
    for name in ("alpha", "beta"):
        add(ledger, name)
    everywhere = found(ledger, "cash", "flow")
    assert everywhere
    for order in (("alpha", "beta"), ("beta", "alpha")):
        assert found(ledger, "cash", "flow", scope=Scope(tuple(map(sha, order)))) == everywhere


def test_inside_documents_the_nearest_are_found_exactly(ledger: Ledger) -> None:
    """By the ledger's own vectors; none where the model is another, and documents that are gone have none."""
    add(ledger, "alpha", 4)
    add(ledger, "beta", 4)
    vector = np.array([0.1, 0.9, 0.3, 0.2], np.float32)
    near = ledger.nearest(vector, 5, [sha("alpha"), sha("beta")], "fake")
    assert near is not None
    assert [each.id.rpartition("-")[2] for each in near] == ["1", "1", "2", "2", "3"]
    assert [each.similarity for each in near] == pytest.approx([0.9, 0.9, 0.3, 0.3, 0.2], abs=0.005)
    assert ledger.nearest(vector, 5, [sha("alpha")], "another") is None
    ledger.withdraw(sha("alpha"))
    assert ledger.nearest(vector, 5, [sha("alpha")], "fake") == []


def _nearest(ledger: Ledger, axis: int) -> Sequence[tuple[str, float]]:
    near = ledger.nearest(np.eye(4, dtype=np.float32)[axis], 1, [sha("alpha")], "fake")
    assert near is not None
    return [(each.id, each.similarity) for each in near]


def _pipeline(ledger: Ledger) -> str:
    with ledger.database.read() as connection:
        return str(connection.exec_driver_sql("SELECT pipeline FROM versions").scalar())


def test_reads_inside_a_moment_are_of_one_transaction(ledger: Ledger) -> None:
    """However many they are; the next read after it is of another one."""
    add(ledger, "alpha")
    with statements(ledger, "BEGIN") as begun:
        with ledger.moment():
            assert len(found(ledger, "cash")) == 6
            assert len(ledger.sketches([each for each, _ in found(ledger, "cash")])) == 6
        assert begun == ["BEGIN"]
        found(ledger, "cash")
        assert begun == ["BEGIN", "BEGIN"]
