"""The ledger: arrows, the flip, names, the lexical index, and what a killed process leaves."""

from __future__ import annotations

import hashlib
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from kb_qa.answers import Scope
from kb_qa.arrows import IllegalArrowError
from kb_qa.database import FILE_NAME, wal_is_safe
from kb_qa.elements import Block, Cell, Chunk, Element, ParsedDocument, Table, Word
from kb_qa.errors import EnvironmentProblemError, InputError, MissingIndexError, NotFoundError, ReindexNeededError
from kb_qa.folder_table import FolderTable
from kb_qa.geometry import BBox, Page, Region
from kb_qa.ledger import Ledger, ParsedFacts
from kb_qa.protocols import StoredFacts
from kb_qa.publish import catch_up
from kb_qa.vectors import ChromaStore

PIPELINE = "1"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "kb", create=True) as opened:
        opened.set_embedder("fake", 4)
        yield opened


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def element(document_id: str, order: int, text: str) -> Element:
    box = BBox(72, 100 + order, 300.125, 112 + order)
    return Element(
        id=f"{document_id[:8]}-e{order}",
        document_id=document_id,
        order=order,
        element_type="text",
        category="NarrativeText",
        text=text,
        regions=(Region(1, box),),
        section=("手册", "假期"),
        words=(Word(1, box, text, 0, len(text)),),
    )


def chunk(document_id: str, version: int, ordinal: int, text: str, *, pipeline: str = PIPELINE) -> Chunk:
    block = Block(f"b{ordinal}", f"{document_id[:8]}-e{ordinal}", text, 0, len(text), (Region(1, BBox(72, 1, 300, 9)),))
    return Chunk(
        id=f"{document_id[:8]}-{pipeline}-{ordinal}",
        document_id=document_id,
        version=version,
        source="report.pdf",
        ordinal=ordinal,
        blocks=(block,),
        element_type="text",
        category="NarrativeText",
    )


def receive(ledger: Ledger, content: str, name: str = "report.pdf", folder: str = "", pipeline: str = PIPELINE) -> int:
    return ledger.receive(sha(content), name, folder, size=len(content), kind="pdf", pipeline=pipeline)


def bring(
    ledger: Ledger, content: str, *, until: str = "indexing", parts: int = 2, dated: str = "", **named: str
) -> int:
    """Takes the content of `parts` chunks as far as `until`; the version."""
    version = receive(ledger, content, **named)
    document_id, pipeline = sha(content), named.get("pipeline", PIPELINE)
    texts = [f"{content} {ordinal}" for ordinal in range(parts)]
    chunks = [chunk(document_id, version, ordinal, text, pipeline=pipeline) for ordinal, text in enumerate(texts)]
    parsed = ParsedDocument(
        (Page(1, 595, 842),),
        tuple(element(document_id, i, t) for i, t in enumerate(texts)),
        "fake",
        dated=dated,
        dated_by="created" if dated else "",
    )
    steps = {
        "stored": lambda: ledger.mark(version, "stored"),
        "parsing": lambda: ledger.mark(version, "parsing"),
        "parsed": lambda: ledger.store_parse(version, parsed),
        "embedding": lambda: ledger.store_chunks(version, chunks, [text.split() for text in texts]),
        "indexing": lambda: (ledger.store_vectors(version, [c.id for c in chunks], np.eye(parts, 4, dtype=np.float32)),
                             ledger.mark(version, "indexing")),
        "ready": lambda: ledger.publish(version),
    }  # fmt: skip
    for state, step in steps.items():
        step()
        if state == until:
            break
    assert ledger.version(version).state == until
    return version


def found(ledger: Ledger, *terms: str) -> set[str]:
    return {match.id for match in ledger.lexical(terms, 100)}


def test_a_directory_without_ledger_says_what_to_do(tmp_path: Path) -> None:
    """Opening for reading never makes a ledger; the message names the directory and the command."""
    with pytest.raises(MissingIndexError, match="run kb-qa ingest"):
        Ledger.open(tmp_path / "nothing", create=False)
    assert not (tmp_path / "nothing").exists()


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """A ledger of a newer version is neither read nor changed."""
    Ledger.open(tmp_path, create=True).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(EnvironmentProblemError, match="newer kb-qa"):
        Ledger.open(tmp_path, create=True)


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_an_older_schema_is_brought_up_to_date_in_place(tmp_path: Path, schema: int) -> None:
    """What was stored stays; elements from before have no facts yet, and a new parse stores them."""
    with Ledger.open(tmp_path, create=True) as made:
        made.set_embedder("fake", 4)
        bring(made, "old", until="ready")
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("DROP INDEX chunks_by_digest")
        for number, table, column in (
            *((2, "versions", "locale"), (2, "versions", "facts_reading"), (2, "elements", "facts")),
            *((3, "elements", "described_by"), (3, "chunks", "described_by")),
            *((4, "versions", "limits"), (4, "chunks", "digest")),
            *((4, "versions", "dated"), (4, "versions", "dated_by"), (4, "chunks", "last_page")),
            *((4, "versions", "chunking"), (4, "chunks", "context")),
            *((4, "versions", "called"), (4, "chunks", "sketch")),
        ):
            if number > schema:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.executescript("DROP TABLE job_outcomes; DROP TABLE roots; DROP TABLE seen_files")
        connection.executescript("DROP TABLE decisions; DROP TABLE turns; DROP TABLE captions")
        connection.execute(f"PRAGMA user_version = {schema}")
        connection.executescript(
            "CREATE VIRTUAL TABLE old USING fts5(terms);"
            "INSERT INTO old (rowid, terms) SELECT rowid, body FROM lexical;"
            "DROP TABLE lexical; ALTER TABLE old RENAME TO lexical"
        )
    for _ in range(2):  # and once more finds nothing to do
        with Ledger.open(tmp_path, create=False) as opened:
            element_id = f"{sha('old')[:8]}-e0"
            assert opened.facts([element_id, "unknown"]) == {element_id: StoredFacts(None)}
            assert opened.element(element_id) == element(sha("old"), 0, "old 0")
            assert {match.id for match in opened.lexical(["old"], 9, Scope(pages=(1,)))} == found(opened, "old")
            assert [each.called for each in opened.identities().values()] == [()]
            assert opened.decisions() == []
            assert opened.jobs.outcomes(1) == []
            assert FolderTable(opened.database).seen_under("/") == []
            assert opened.turns("s", 6) == []
            assert opened.caption(b"", model="m", instruction="1") is None
            assert found(opened, "old", "1") == {f"{sha('old')[:8]}-1-0", f"{sha('old')[:8]}-1-1"}
            version = opened.ready_version(sha("old"), PIPELINE)
            assert version is not None and opened.version(version).chunking == ""


def test_facts_stand_beside_their_element(ledger: Ledger) -> None:
    """With the document's locale, and the name of how they were read."""
    version = receive(ledger, "alpha")
    ledger.mark(version, "stored")
    ledger.mark(version, "parsing")
    texts = (element(sha("alpha"), 0, "alpha 0"), element(sha("alpha"), 1, "alpha 1"))
    facts = ParsedFacts("de", "r1", {texts[0].id: b"packed"})
    ledger.store_parse(version, ParsedDocument((Page(1, 1, 1),), texts, "fake"), facts)
    assert ledger.facts([texts[0].id]) == {}, "a version that is not ready is not seen"
    ledger.store_chunks(version, [chunk(sha("alpha"), version, 0, "alpha 0")], [["alpha"]])
    ledger.store_vectors(version, [chunk(sha("alpha"), version, 0, "").id], np.eye(1, 4, dtype=np.float32))
    ledger.mark(version, "indexing")
    ledger.publish(version)
    found = ledger.facts([each.id for each in texts])
    assert found == {texts[0].id: StoredFacts(b"packed", "de", "r1"), texts[1].id: StoredFacts(None, "de", "r1")}


def test_a_file_that_is_no_database_is_an_environment_problem(tmp_path: Path) -> None:
    """Damage is told in a reader's words, not as an exception of the database driver."""
    (tmp_path / FILE_NAME).write_bytes(b"not a database " * 500)
    with pytest.raises(EnvironmentProblemError, match="backup"):
        Ledger.open(tmp_path, create=False)


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
    ],
)
def test_the_journal_mode_follows_the_sqlite_version(version: tuple[int, int, int], safe: bool) -> None:
    """WAL is used only where its reset corruption is fixed."""
    assert wal_is_safe(version) is safe


def test_every_connection_keeps_foreign_keys_and_full_sync(ledger: Ledger) -> None:
    """The pragmas hold for pooled connections, in the mode that this SQLite allows."""
    expected = "wal" if wal_is_safe(sqlite3.sqlite_version_info) else "truncate"
    with ledger.database.read() as connection:
        pragmas = ["journal_mode", "synchronous", "foreign_keys", "cache_spill"]
        values = [connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() for pragma in pragmas]
    assert values == [expected, 2, 1, 0]


def test_a_version_is_invisible_until_it_is_published(ledger: Ledger) -> None:
    """At no state before ready does any method of the read side see anything of it."""
    version = bring(ledger, "alpha")
    document_id = sha("alpha")
    chunk_id, element_id = f"{document_id[:8]}-1-0", f"{document_id[:8]}-e0"
    assert found(ledger, "alpha") == set()
    assert ledger.chunks([chunk_id]) == {}
    assert ledger.element(element_id) is None
    assert ledger.words([element_id]) == {}
    assert ledger.page(document_id, 1) is None
    assert ledger.resolve(["report.pdf"]) == []
    assert ledger.publish(version)
    assert found(ledger, "alpha") == {chunk_id, f"{document_id[:8]}-1-1"}
    assert ledger.chunks([chunk_id])[chunk_id] == chunk(document_id, version, 0, "alpha 0")
    assert ledger.element(element_id) == element(document_id, 0, "alpha 0")
    assert ledger.words([element_id])[element_id] == element(document_id, 0, "alpha 0").words
    assert ledger.page(document_id, 1) == Page(1, 595, 842)
    assert ledger.resolve(["REPORT.PDF"]) == [document_id]


def test_a_page_has_all_that_was_read_of_it(ledger: Ledger) -> None:
    """In reading order, of a version that is ready and no other."""
    version = bring(ledger, "alpha")
    assert ledger.page_texts(sha("alpha")) == {}
    ledger.publish(version)
    assert ledger.page_texts(sha("alpha")) == {1: "alpha 0\nalpha 1"}
    assert ledger.page_texts(sha("beta")) == {}


def test_what_was_parsed_comes_back_with_tables_and_odd_text(ledger: Ledger) -> None:
    """Tables, hidden text, NUL and lone surrogates are stored; only the surrogate is replaced, one for one."""
    version = receive(ledger, "x")
    ledger.mark(version, "stored")
    ledger.mark(version, "parsing")
    cells = (Cell(0, 0, 1, 1, "4,812.5", 1, BBox(1, 2, 3, 4), column_headers=("营业收入",)),)
    odd = Element("e", sha("x"), 0, "table", "Table", "a\x00b\ud800净", table=Table(cells, scale=4), hidden="white")
    parsed = ParsedDocument((Page(1, 100, 200, 90, "iv"),), (odd,), "pymupdf", "标题", ("repaired",))
    ledger.store_parse(version, parsed)
    stored = ledger.load_parse(version)
    assert stored.elements[0].text == "a\x00b\ufffd净"
    assert stored.elements[0].table == odd.table
    assert (stored.pages, stored.parser, stored.title, stored.flags) == (parsed.pages, "pymupdf", "标题", ("repaired",))


@pytest.mark.parametrize("state", ["received", "stored", "parsing", "parsed", "embedding", "ready"])
def test_no_arrow_skips_a_state(ledger: Ledger, state: str) -> None:
    """Only a version whose chunks all have vectors can be published."""
    version = receive(ledger, "a") if state == "received" else bring(ledger, "a", until=state)
    with pytest.raises(IllegalArrowError):
        ledger.publish(version)
    assert ledger.version(version).state == state


def test_indexing_needs_a_vector_for_every_chunk(ledger: Ledger) -> None:
    """A version with one vector missing stays in embedding, and says which chunks are left."""
    version = bring(ledger, "a", until="embedding")
    first, second = ledger.chunks_to_embed(version)
    ledger.store_vectors(version, [first.id], np.ones((1, 4), np.float32))
    with pytest.raises(IllegalArrowError, match="1 chunks without a vector"):
        ledger.mark(version, "indexing")
    assert [left.id for left in ledger.chunks_to_embed(version)] == [second.id]


def test_a_ready_version_loses_no_row_to_a_second_parse(ledger: Ledger) -> None:
    """Asking to parse a visible version again is refused before anything is removed."""
    version = bring(ledger, "a", until="ready")
    with pytest.raises(IllegalArrowError):
        ledger.mark(version, "parsing")
    assert len(found(ledger, "a")) == 2


def test_a_new_pipeline_replaces_the_old_version_in_one_moment(ledger: Ledger) -> None:
    """A reader that polls while versions are replaced always sees exactly one of them whole."""
    bring(ledger, "same", until="ready")
    seen: list[frozenset[str]] = []
    stop = threading.Event()

    def poll() -> None:
        with Ledger.open(ledger.kb_dir, create=False) as reader:
            while not stop.is_set():
                seen.append(frozenset(found(reader, "same")))

    thread = threading.Thread(target=poll)
    thread.start()
    for pipeline in ("2", "3", "4"):
        bring(ledger, "same", until="ready", pipeline=pipeline)
        ledger.purge()
    stop.set()
    thread.join()
    prefix = sha("same")[:8]
    whole = {frozenset({f"{prefix}-{pipeline}-0", f"{prefix}-{pipeline}-1"}) for pipeline in "1234"}
    assert set(seen) <= whole
    assert len(set(seen)) > 1, "the reader saw a change"


def test_new_bytes_under_a_name_replace_the_old_document_in_one_moment(ledger: Ledger) -> None:
    """The old content answers until the new one is ready; then its name, rows and document are gone."""
    bring(ledger, "old", until="ready")
    new = bring(ledger, "new")
    assert found(ledger, "old") and not found(ledger, "new")
    assert ledger.resolve(["report.pdf"]) == [sha("old")]
    ledger.publish(new)
    assert not found(ledger, "old") and found(ledger, "new")
    assert ledger.resolve(["report.pdf"]) == [sha("new")]
    assert sorted(ledger.tombstones()) == [f"{sha('old')[:8]}-1-0", f"{sha('old')[:8]}-1-1"]
    assert ledger.purge() == 1
    assert [record.document_id for record in ledger.documents()] == [sha("new")]


def test_a_replaced_document_stays_under_its_other_name(ledger: Ledger) -> None:
    """Only a document that has lost its last name goes."""
    bring(ledger, "old", until="ready")
    assert receive(ledger, "old", "copy.pdf") == receive(ledger, "old")
    bring(ledger, "new", until="ready")
    assert ledger.resolve(["copy.pdf"]) == [sha("old")]
    assert ledger.resolve(["report.pdf"]) == [sha("new")]


def test_known_content_under_a_name_takes_the_name_at_once(ledger: Ledger) -> None:
    """When a file is overwritten with content that is already ready there is nothing to wait for."""
    bring(ledger, "one", until="ready", name="one.pdf")
    bring(ledger, "two", until="ready", name="two.pdf")
    receive(ledger, "one", "two.pdf")
    assert ledger.resolve(["two.pdf"]) == [sha("one")]
    assert not found(ledger, "two")


def test_a_document_that_was_overwritten_while_it_was_parsed_never_appears(ledger: Ledger) -> None:
    """Three contents in a row under one name: only the last becomes visible, whichever is finished first."""
    bring(ledger, "first", until="ready")
    second = bring(ledger, "second")
    third = bring(ledger, "third")
    assert not ledger.publish(second)
    assert ledger.publish(third)
    assert not found(ledger, "first", "second")
    assert found(ledger, "third")


def test_content_that_went_back_drops_what_waited(ledger: Ledger) -> None:
    """A file that is restored while its change was being parsed keeps its document."""
    bring(ledger, "first", until="ready")
    second = bring(ledger, "second")
    receive(ledger, "first")
    assert not ledger.publish(second)
    assert found(ledger, "first") and not found(ledger, "second")


def test_twenty_uploads_at_once_are_one_version(ledger: Ledger) -> None:
    """Concurrent receipts of the same content agree on one version."""
    with ThreadPoolExecutor(20) as pool:
        ids = set(pool.map(lambda _: receive(ledger, "same"), range(20)))
    assert len(ids) == 1


def test_a_rename_changes_what_a_chunk_says_it_comes_from(ledger: Ledger) -> None:
    """Names are rows: after a rename, hits carry the new name without a second parse."""
    bring(ledger, "a", until="ready")
    version = receive(ledger, "a", "renamed.pdf", "2024")
    assert ledger.ready_version(sha("a"), PIPELINE) == version
    assert ledger.drop_name("report.pdf") == []
    chunk_id = f"{sha('a')[:8]}-1-0"
    assert ledger.chunks([chunk_id])[chunk_id].source == "renamed.pdf"
    assert ledger.documents()[0].names == ("renamed.pdf",)
    assert ledger.drop_name("renamed.pdf", "2024") == [sha("a")]


def test_documents_are_resolved_by_id_name_path_or_folder(ledger: Ledger) -> None:
    """Letter case and Unicode composition do not matter; a folder holds its subfolders and not its namesakes."""
    bring(ledger, "a", until="ready", name="Bericht-\u00fc.pdf", folder="2024/Q1")
    bring(ledger, "b", until="ready", name="年度报告.pdf", folder="2024x")
    assert ledger.resolve([sha("b")]) == [sha("b")]
    assert ledger.resolve(["bericht-u\u0308.PDF"]) == [sha("a")]
    assert ledger.resolve(["2024x/年度报告.pdf"]) == [sha("b")]
    assert ledger.resolve([], "2024") == [sha("a")]
    assert ledger.resolve(["nothing.pdf"]) == []


def test_deletion_removes_rows_blob_and_names_and_leaves_tombstones(ledger: Ledger, tmp_path: Path) -> None:
    """After delete nothing is found, the original is gone, and the index owner knows which vectors to remove."""
    source = tmp_path / "file.pdf"
    source.write_text("a")
    assert ledger.store_blob(source) == sha("a")
    bring(ledger, "a", until="ready")
    ledger.delete(sha("a"))
    assert not found(ledger, "a")
    assert ledger.documents() == []
    assert len(ledger.tombstones()) == 2
    with pytest.raises(NotFoundError):
        ledger.blob_path(sha("a"))
    with pytest.raises(NotFoundError):
        ledger.delete(sha("a"))
    with ledger.database.read() as connection:
        for rows in ("elements", "chunks", "vectors", "lexical", "pages", "versions", "names", "documents"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {rows}").scalar() == 0


def test_a_deleted_document_can_be_ingested_again(ledger: Ledger) -> None:
    """The same content and pipeline, hence the same chunk ids, are a new version."""
    old = bring(ledger, "a", until="ready")
    ledger.delete(sha("a"))
    new = bring(ledger, "a", until="ready")
    assert new != old
    assert len(found(ledger, "a")) == 2


def test_deletion_during_a_parse_stops_its_writer(ledger: Ledger) -> None:
    """The writer of a deleted version is told, and nothing of it stays."""
    version = bring(ledger, "a", until="parsing")
    ledger.withdraw(sha("a"))
    ledger.purge()
    with pytest.raises(IllegalArrowError):
        ledger.store_parse(version, ParsedDocument((Page(1, 1, 1),), (), "fake"))
    assert ledger.version(version).state == "deleted"


def test_a_quarantined_version_keeps_its_reason_and_can_start_over(ledger: Ledger) -> None:
    """Reason, code and attempts are listed; a retry clears the reason."""
    version = bring(ledger, "a", until="parsing")
    assert [ledger.count_attempt(version), ledger.count_attempt(version)] == [1, 2]
    ledger.quarantine(version, "limit_exceeded", "took longer than 900 s")
    assert ledger.documents()[0].reason == "took longer than 900 s"
    assert (ledger.version(version).state, ledger.version(version).code) == ("quarantined", "limit_exceeded")
    ledger.mark(version, "stored")
    assert (ledger.version(version).reason, ledger.version(version).attempts) == ("", 2)


def test_a_changed_file_that_cannot_be_parsed_leaves_the_old_one(ledger: Ledger) -> None:
    """Quarantine of new bytes does not take the old document away; both are listed under the name."""
    bring(ledger, "old", until="ready")
    new = bring(ledger, "new", until="parsing")
    ledger.quarantine(new, "damaged_file", "truncated")
    assert found(ledger, "old")
    assert [(r.state, r.names) for r in ledger.documents()] in (
        [("ready", ("report.pdf",)), ("quarantined", ("report.pdf",))],
        [("quarantined", ("report.pdf",)), ("ready", ("report.pdf",))],
    )


@pytest.mark.parametrize(
    "term",
    [
        "4,812.5",
        "净利润",
        "c++",
        "12.5%",
        'say"so',
        "it's",
        "sku-48213",
        "NOT",
        "a*",
        "(x)",
        "-",
        "３２",
        "𰻞",
        "é",
        "terms:x",
    ],
)
def test_a_term_is_found_exactly_as_it_was_prepared(ledger: Ledger, term: str) -> None:
    """Punctuation, CJK and FTS operators are parts of a token: it matches itself and no part of itself."""
    version = bring(ledger, "a", until="parsed")
    one, other = chunk(sha("a"), version, 0, "x"), chunk(sha("a"), version, 1, "y")
    ledger.store_chunks(
        version, [one, other], [["x", term, "z"], ["4", "812", "5", "净", "利润", "c", "sku", "so", "e"]]
    )
    ledger.store_vectors(version, [one.id, other.id], np.eye(2, 4, dtype=np.float32))
    ledger.mark(version, "indexing")
    ledger.publish(version)
    assert found(ledger, term) == {one.id}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4))
def test_any_text_is_a_safe_term(ledger: Ledger, terms: list[str]) -> None:
    """No string breaks the query syntax, and an empty ledger has no match for any."""
    assert not ledger.lexical(terms, 5)


def test_lexical_search_ranks_and_filters(ledger: Ledger) -> None:
    """More of the terms rank higher, scores fall, only the asked documents are searched, thousands of terms work."""
    bring(ledger, "apple", until="ready", name="a.pdf")
    bring(ledger, "pear", until="ready", name="b.pdf")
    matches = ledger.lexical(["apple", "0", *map(str, range(5, 3000))], 10)
    assert matches[0].id == f"{sha('apple')[:8]}-1-0"
    assert [m.score for m in matches] == sorted((m.score for m in matches), reverse=True)
    assert {m.id[:8] for m in ledger.lexical(["0"], 10, Scope((sha("pear"),)))} == {sha("pear")[:8]}
    assert ledger.lexical(["0", "1"], 1) and len(ledger.lexical(["0", "1"], 1)) == 1
    assert ledger.lexical([], 10) == ledger.lexical([" "], 10) == ()


def test_lexical_search_within_pages_and_types(ledger: Ledger) -> None:
    """A passage over two pages is on both; pages it is not on, and other types, are left out."""
    version = bring(ledger, "apple", until="parsed")
    places = ((1,), (2, 3), (4,))
    parts = [
        replace(
            part := chunk(sha("apple"), version, ordinal, "apple"),
            blocks=(replace(part.blocks[0], regions=tuple(Region(page, None) for page in pages)),),
            element_type="table" if ordinal == 2 else "text",
        )
        for ordinal, pages in enumerate(places)
    ]
    ledger.store_chunks(version, parts, [["apple"]] * 3)
    ledger.store_vectors(version, [part.id for part in parts], np.eye(3, 4))
    ledger.mark(version, "indexing")
    ledger.publish(version)

    def on(scope: Scope) -> list[int]:
        return [parts.index(next(p for p in parts if p.id == m.id)) for m in ledger.lexical(["apple"], 9, scope)]

    assert on(Scope(pages=(3,))) == [1]
    assert on(Scope(pages=(1, 2))) == [0, 1]
    assert on(Scope(pages=(5,))) == []
    assert on(Scope(element_types=("table",))) == [2]
    assert on(Scope((sha("apple"), *map(str, range(40_000))), (4,))) == [2]


def test_documents_are_resolved_by_their_dates(ledger: Ledger) -> None:
    """Both ends belong to the span; names and dates are met together; what has no date is in no span."""
    for content, dated in (("a", "2023-12-31"), ("b", "2024-06-01"), ("c", "")):
        bring(ledger, content, name=f"{content}.pdf", dated=dated)
        ledger.publish(max(ledger.versions_in("indexing")))
    assert ledger.resolve([], since="2023-12-31", until="2024-06-01") == sorted([sha("a"), sha("b")])
    assert ledger.resolve([], until="2024-05-31") == [sha("a")]
    assert ledger.resolve([], since="2024-01-01") == [sha("b")]
    assert ledger.resolve(["a.pdf"], since="2024-01-01") == []
    assert {(each.names[0], each.dated, each.dated_by) for each in ledger.documents()} == {
        ("a.pdf", "2023-12-31", "created"),
        ("b.pdf", "2024-06-01", "created"),
        ("c.pdf", "", ""),
    }


def test_titles_and_labels_are_found_with_the_body(ledger: Ledger) -> None:
    """A term is found in whichever column it stands, and only in its own chunk."""
    version = bring(ledger, "a", until="parsed")
    parts = [chunk(sha("a"), version, ordinal, "x") for ordinal in range(3)]
    columns = {"titles": [["acme"], [], []], "labels": [[], ["revenue"], []]}
    ledger.store_chunks(version, parts, [["one"], ["two"], ["three"]], chunking="7", **columns)
    with pytest.raises(ValueError, match="3, 3, 1 lists"):
        ledger.store_chunks(version, parts, [[]] * 3, labels=[[]])
    ledger.store_vectors(version, [part.id for part in parts], np.eye(3, 4, dtype=np.float32))
    ledger.mark(version, "indexing")
    ledger.publish(version)
    assert ledger.version(version).chunking == "7"
    assert [found(ledger, term) for term in ("acme", "revenue", "three")] == [{part.id} for part in parts]


def test_a_phrase_stands_side_by_side(ledger: Ledger) -> None:
    """Its terms apart, in another order or in two columns are no match; other terms then only rank."""
    version = bring(ledger, "a", until="parsed")
    parts = [chunk(sha("a"), version, ordinal, "x") for ordinal in range(4)]
    terms = [["total", "revenue", "rose"], ["revenue", "total"], ["total", "net", "revenue"], ["total"]]
    ledger.store_chunks(version, parts, terms, labels=[[], [], [], ["revenue"]])
    ledger.store_vectors(version, [part.id for part in parts], np.eye(4, dtype=np.float32))
    ledger.mark(version, "indexing")
    ledger.publish(version)
    assert [match.id for match in ledger.lexical(["net"], 9, phrases=[["total", "revenue"]])] == [parts[0].id]
    assert ledger.lexical([], 9, phrases=[["total", "revenue"], ["net"]]) == ()


def test_many_ids_are_one_question(ledger: Ledger) -> None:
    """More ids than one statement takes, unknown ones among them, and each at most once."""
    bring(ledger, "a", until="ready")
    wanted = [f"{sha('a')[:8]}-1-{i}" for i in range(2000)]
    assert list(ledger.chunks(wanted)) == wanted[:2]


def test_an_original_is_stored_once_under_its_hash(ledger: Ledger, tmp_path: Path) -> None:
    """The copy is whole, under its digest, and goes where no document is of it; what is no digest names no file."""
    source = tmp_path / "x.pdf"
    source.write_bytes(b"%PDF-1.7 " * 400_000)
    document_id = ledger.store_blob(source)
    assert document_id == ledger.store_blob(source) == hashlib.sha256(source.read_bytes()).hexdigest()
    content = source.read_bytes()
    ledger.receive(document_id, "x.pdf", size=source.stat().st_size, kind="pdf", pipeline=PIPELINE)
    (ledger.kb_dir / "blobs" / ".incoming-dead").write_bytes(b"half")
    source.write_bytes(b"never received")
    ledger.store_blob(source)
    ledger.remove_leftovers()
    assert ledger.blob_path(document_id).read_bytes() == content
    assert [p for p in (ledger.kb_dir / "blobs").rglob("*") if p.is_file()] == [ledger.blob_path(document_id)]
    for wrong in ("../../etc/passwd", "", "f" * 63, document_id.upper(), "\x00" * 64):
        with pytest.raises(NotFoundError):
            ledger.blob_path(wrong)


def test_the_export_is_sorted_and_the_same_after_another_order(tmp_path: Path) -> None:
    """Two ledgers that saw the same documents in another order, with a detour, export the same lines."""
    lines = []
    for order, detour in (("ab", False), ("ba", True)):
        with Ledger.open(tmp_path / order, create=True) as ledger:
            ledger.set_embedder("fake", 4)
            if detour:
                bring(ledger, "a", until="ready", name="a.pdf", pipeline="0")
            for content in order:
                bring(ledger, content, until="ready", name=f"{content}.pdf")
            lines.append(list(ledger.export()))
    assert lines[0] == lines[1]
    assert [(line["document_id"], line["ordinal"]) for line in lines[0]] == sorted(
        (sha(content), ordinal) for content in "ab" for ordinal in (0, 1)
    )
    assert set(lines[0][0]) == {"document_id", "page", "ordinal", "text_sha256", "vector_sha256", "regions"}


def test_another_model_needs_a_reindex_and_flips_at_once(ledger: Ledger) -> None:
    """Vectors of a new model wait beside the old ones until every visible chunk has one."""
    version = bring(ledger, "a", until="ready")
    with pytest.raises(ReindexNeededError, match=r"'fake'.*'other'"):
        ledger.set_embedder("other", 3)
    with pytest.raises(IllegalArrowError, match="2 chunks"):
        ledger.adopt_embedder("other", 3)
    ids = [waiting.id for waiting in ledger.chunks_to_embed(version, "other")]
    ledger.store_vectors(version, ids, np.full((2, 3), 0.5, np.float32), "other")
    assert next(ledger.index_rows(version)).vectors.shape == (2, 4)
    ledger.adopt_embedder("other", 3)
    assert ledger.embedder() == ("other", 3)
    assert next(ledger.index_rows(version)).vectors.shape == (2, 3)


@pytest.mark.parametrize("matrix", [np.full((1, 4), np.nan), np.ones((2, 4)), np.ones(4)], ids=["nan", "rows", "flat"])
def test_vectors_that_cannot_be_right_are_refused(ledger: Ledger, matrix: np.ndarray) -> None:
    """NaN and shapes that do not fit never reach the ledger."""
    version = bring(ledger, "a", until="embedding")
    with pytest.raises(ValueError, match="vectors"):
        ledger.store_vectors(version, [f"{sha('a')[:8]}-1-0"], matrix.astype(np.float32))


def test_case_c5_vectors_of_another_size_need_a_reindex(ledger: Ledger) -> None:
    """C5: a model of another dimension is told, not mixed in."""
    version = bring(ledger, "a", until="embedding")
    with pytest.raises(ReindexNeededError):
        ledger.store_vectors(version, [f"{sha('a')[:8]}-1-0"], np.ones((1, 3), np.float32))


def test_case_c3_a_document_without_chunks_becomes_ready(ledger: Ledger) -> None:
    """C3: nothing to embed is not an error."""
    version = bring(ledger, "blank", parts=0, until="ready")
    assert ledger.version(version).state == "ready"
    assert list(ledger.index_rows(version)) == []


KILLED = """
import sys
from pathlib import Path
from kb_qa.elements import Block, Chunk
from kb_qa.ledger import Ledger

class Terms(list):
    def __getitem__(self, key):
        if isinstance(key, slice) and key.start >= 2000:
            print("in the middle", flush=True)
            sys.stdin.read()
        return super().__getitem__(key)

ledger = Ledger.open(Path(sys.argv[1]), create=False)
version, document_id = int(sys.argv[2]), sys.argv[3]
chunks = [Chunk(f"c{i}", document_id, version, "a.pdf", i, (Block(f"b{i}", "e", "x", 0, 1),), "text", "T")
          for i in range(5000)]
ledger.store_chunks(version, chunks, Terms([["killed"]] * 5000))
"""


def test_a_writer_killed_between_its_chunks_leaves_nothing_visible(ledger: Ledger) -> None:
    """kill -9 inside a transaction of store_chunks: the ledger works, the version is invisible, and it starts over."""
    ready = bring(ledger, "ready", until="ready", name="r.pdf")
    version = bring(ledger, "killed", until="parsed", name="k.pdf")
    command = [sys.executable, "-c", KILLED, str(ledger.kb_dir), str(version), sha("killed")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"in the middle\n"
        child.send_signal(signal.SIGKILL)
        child.wait()
    with ledger.database.read() as connection:
        left = connection.exec_driver_sql(f"SELECT count(*) FROM chunks WHERE version_id = {version}").scalar_one()
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    assert left == 2000, "whole batches only"
    assert ledger.version(version).state == "parsed"
    assert found(ledger, "killed") == set()
    assert ledger.version(ready).state == "ready" and found(ledger, "ready")
    part = chunk(sha("killed"), version, 0, "killed")
    ledger.store_chunks(version, [part], [["killed"]])
    ledger.store_vectors(version, [part.id], np.ones((1, 4), np.float32))
    ledger.mark(version, "indexing")
    ledger.publish(version)
    assert found(ledger, "killed") == {part.id}


NAMES = ("年度报告", "季度报告", "ab", "Report 2024", "a..b", "1.2.3.4", "_x", "x" * 600)


def test_case_c10_a_knowledge_base_has_any_name_and_its_own_documents(tmp_path: Path) -> None:
    """C10: a display name is kept as it is and names no collection; two bases never see each other's documents."""
    for number, name in enumerate(NAMES):
        with Ledger.open(tmp_path / str(number), create=True) as made:
            assert made.name() == str(number)
            made.set_name(name)
            made.set_embedder("fake", 4)
            bring(made, name, until="indexing")
            with closing(ChromaStore(tmp_path / str(number) / "index", 4, "fake")) as store:
                assert catch_up(made, store) == 1
                assert store.count() == 2
    for number, name in enumerate(NAMES):
        with Ledger.open(tmp_path / str(number), create=False) as opened:
            assert opened.name() == name
            assert [record.document_id for record in opened.documents()] == [sha(name)]


@pytest.mark.parametrize("name", ["", " \n", "a\x00b", "\u202ea", "x" * 1001], ids=repr)
def test_what_cannot_be_shown_is_no_name(ledger: Ledger, name: str) -> None:
    """Control and direction characters would end up on a page; the name before stays."""
    with pytest.raises(InputError, match="cannot name a knowledge base"):
        ledger.set_name(name)
    assert ledger.name() == "kb"


def test_chunks_are_found_by_their_ids_and_not_by_a_scan(ledger: Ledger) -> None:
    """However many are visible: SQLite starts at the ids, never at the state that nearly every version has."""
    bring(ledger, "a", until="ready")
    plans: list[str] = []
    listened: Any = ledger.database.engine

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            plans.extend(row[3] for row in connection.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters))

    event.listen(listened, "before_cursor_execute", explain)
    chunk_id = f"{sha('a')[:8]}-{PIPELINE}-0"
    assert set(ledger.chunks([chunk_id])) == set(ledger.sketches([chunk_id])) == {chunk_id}
    assert len(ledger.lexical(["a"], 9)) == 2
    assert len(ledger.document_chunks(sha("a"))) == 2
    event.remove(listened, "before_cursor_execute", explain)
    searched = [plan for plan in plans if " chunks" in plan]
    assert len(searched) >= 4
    assert not any("SCAN chunks" in plan or "versions_in_state" in plan for plan in searched)
    # What is kept in memory of the lexical index, and of the visible chunks, asks once each.
    assert sum("versions_in_state" in plan for plan in plans) <= 2
