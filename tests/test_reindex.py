"""Another embedding model for what is there: the old index answers until the flip, and nothing is embedded twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from ingest.embedding_progress import reindex_summary, reindex_text
from ingest.handover import ingest_into
from ingest.progress import IngestProgress
from ingest.reindex import Reindexed, Reporting, reindex
from ingest.reindexing import Embedded, arguments_of
from ingest.worker import Progress, Worker
from ingest.writer import Writer
from kb_qa import live_index
from kb_qa.doctor_command import findings
from kb_qa.elements import Element, ParsedDocument
from kb_qa.errors import LockHeldError, MissingIndexError, ReindexNeededError
from kb_qa.geometry import Page, Region
from kb_qa.ledger import Ledger
from kb_qa.live_index import LiveIndex, indexed_embedder
from kb_qa.locks import DirectoryLock
from kb_qa.protocols import Embedder, Vectors
from kb_qa.publish import catch_up
from kb_qa.retrieve import Retriever
from kb_qa.settings import Settings
from kb_qa.terms import terms
from kb_qa.testing import HashEmbedder
from kb_qa.vectors import ChromaStore, open_store
from kb_qa.version_table import CHUNKING
from tests.factories import make_chunk

DOCUMENTS = ("a" * 64, "b" * 64)
PARTS = 40


@dataclass(slots=True)
class Turned:
    """Another model: the same vectors with their numbers in another order. Dies after `most` texts, like a process."""

    dimension: int = 64
    id: str = "turned"
    most: int = 10**9
    count: int = 0

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.count + len(texts) > self.most:
            raise KeyboardInterrupt
        self.count += len(texts)
        turned: Vectors = np.ascontiguousarray(HashEmbedder(self.dimension).embed_passages(texts)[:, ::-1])
        return turned

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A knowledge base of two documents, indexed with HashEmbedder."""
    settings = replace(Settings(), kb=tmp_path / "kb")
    with Ledger.open(settings.kb, create=True) as ledger:
        ledger.set_embedder("hash", 64)
        for document_id in DOCUMENTS:
            bring(ledger, document_id)
        with closing(open_store(settings.kb / "index", 64, "", "hash")) as store:
            catch_up(ledger, store)
    return settings


def bring(ledger: Ledger, document_id: str, *, until: str = "indexing") -> int:
    version = ledger.receive(document_id, f"{document_id[:1]}.pdf", size=1, kind="pdf", pipeline="1")
    ledger.mark(version, "stored")
    ledger.mark(version, "parsing")
    if until == "indexing":
        ledger.store_parse(version, ParsedDocument((Page(1, 595, 842),), (), "fake"))
        finish(ledger, version, document_id)
    return version


def finish(ledger: Ledger, version: int, document_id: str, *, chunking: str = CHUNKING) -> None:
    texts = [f"{document_id[:1]}{number} revenue of region {number}" for number in range(PARTS)]
    chunks = [
        replace(make_chunk(text, document_id=document_id, ordinal=number), version=version)
        for number, text in enumerate(texts)
    ]
    ledger.store_chunks(version, chunks, [terms(text) for text in texts], chunking=chunking)
    known = ledger.embedder()
    assert known is not None
    model = HashEmbedder() if known[0] == "hash" else Turned(known[1])
    ledger.store_vectors(version, [chunk.id for chunk in chunks], model.embed_passages(texts))
    ledger.mark(version, "indexing")


def nearest(settings: Settings, model: HashEmbedder | Turned, text: str) -> str:
    """The text of the chunk that the index finds, opened as its owner opens it."""
    with Ledger.open(settings.kb, create=False) as ledger:
        assert ledger.embedder() == (model.id, model.dimension)
        seal = ledger.index_seal()
        assert seal
        with closing(open_store(settings.kb / "index", model.dimension, seal, model.id)) as store:
            assert store.count() == ledger.indexed_count()
            (found,) = store.query(model.embed_query(text), 1)
            return ledger.chunks([found.id])[found.id].text


@pytest.mark.parametrize("dimension", [64, 96], ids=["of the same dimension", "of another dimension"])
def test_case_c5_the_model_is_changed(settings: Settings, dimension: int) -> None:
    """C5: every chunk gets a vector of the new model, the index is filled from them, and the old vectors go."""
    told: list[Embedded] = []
    model = Turned(dimension)
    done = reindex(settings, Reporting(embedded=told.append), open_model=lambda _: model)
    assert (done.before, done.embedder, done.index) == ("hash", "turned", "command")
    assert [(each.names, each.chunks, each.embedded) for each in told] == [(("a.pdf",), 40, 40), (("b.pdf",), 40, 40)]
    assert nearest(settings, model, "b7 revenue of region 7") == "b7 revenue of region 7"
    again = reindex(settings, open_model=lambda _: model)
    assert [each.embedded for each in again.documents] == [0, 0]
    with Ledger.open(settings.kb, create=False) as ledger, ledger.database.read() as connection:
        assert connection.exec_driver_sql("SELECT DISTINCT embedder FROM vectors").scalars().all() == ["turned"]


def test_a_run_that_was_killed_goes_on_where_it_was(settings: Settings) -> None:
    """What was embedded stays, also without the cache; until the flip the old index is whole and answers."""
    with pytest.raises(KeyboardInterrupt):
        reindex(settings, open_model=lambda _: Turned(most=50))
    assert nearest(settings, HashEmbedder(), "a3 revenue of region 3") == "a3 revenue of region 3"
    (settings.kb / "cache" / "embeddings.sqlite3").unlink()
    rest = Turned()
    done = reindex(settings, open_model=lambda _: rest)
    assert sum(each.embedded for each in done.documents) == rest.count == PARTS
    assert nearest(settings, Turned(), "a3 revenue of region 3") == "a3 revenue of region 3"


def told_of_index(settings: Settings) -> str:
    """What `kb-qa doctor` says of it."""
    return next(finding.detail for finding in findings(settings.kb) if finding.check == "index")


def test_chunks_of_older_code_are_made_anew(settings: Settings) -> None:
    """From the stored parse, with the model that was changed to; the rest stays as it is."""
    with Ledger.open(settings.kb, create=True) as ledger:
        version = bring(ledger, "c" * 64, until="parsing")
        element = Element("e", "c" * 64, 0, "text", "NarrativeText", "Growth of sales.", (Region(1, None),))
        ledger.store_parse(version, ParsedDocument((Page(1, 595, 842),), (element,), "fake"))
        finish(ledger, version, "c" * 64, chunking="0")
        ledger.publish(version)
    assert "1 documents were cut into passages by an older version" in told_of_index(settings)
    done = reindex(settings, open_model=lambda _: Turned())
    assert (done.rechunked, done.index) == (1, "command")
    assert nearest(settings, Turned(), "Growth of sales.") == "Growth of sales."
    assert "older" not in told_of_index(settings)
    assert reindex(settings, open_model=lambda _: Turned()).rechunked == 0


def test_only_the_index_is_filled_anew(settings: Settings) -> None:
    """The model of the ledger stays, whatever the settings name; no model is opened."""
    (settings.kb / "index" / "chroma.sqlite3").write_bytes(b"damaged")

    def never(_: Settings) -> HashEmbedder:
        raise AssertionError

    done = reindex(settings, index_only=True, open_model=never)
    assert done == Reindexed("hash", "hash", (), "command")
    assert nearest(settings, HashEmbedder(), "b7 revenue of region 7") == "b7 revenue of region 7"


def test_an_ingest_that_writes_is_waited_for(settings: Settings) -> None:
    """The writer is one: while another writes, the command says so; where nothing was ingested, too."""
    with DirectoryLock(settings.kb, "ingest"), pytest.raises(LockHeldError):
        reindex(settings, open_model=lambda _: Turned())
    with pytest.raises(MissingIndexError):
        reindex(replace(settings, kb=settings.kb / "none"), open_model=lambda _: Turned())


def test_where_another_process_holds_the_index_it_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that asks keeps the index for a while: whoever opens it next fills it."""
    monkeypatch.setattr("kb_qa.wiring.PATIENCE_SECONDS", 0.1)
    with DirectoryLock(settings.kb, "index"):
        done = reindex(settings, open_model=lambda _: Turned())
    assert done.index == "later"
    with (
        Ledger.open(settings.kb, create=False) as ledger,
        closing(open_store(settings.kb / "index", 64, ledger.index_seal(), "turned")) as store,
    ):
        catch_up(ledger, store)
    assert nearest(settings, Turned(), "b7 revenue of region 7") == "b7 revenue of region 7"


def worker_for(settings: Settings, ledger: Ledger, model: Turned | None = None) -> Worker:
    """A worker that was started with HashEmbedder, and opens `model` for a job that names `turned`."""

    def open_model(wanted: Settings) -> Embedder:
        return (model or Turned()) if wanted.embedder == "turned" else HashEmbedder()

    return Worker(ledger, Writer(settings, open_model=open_model), pause_seconds=0.05)


@contextmanager
def living_worker(settings: Settings) -> Iterator[Worker]:
    """At work in another thread, under the lock."""
    with (
        DirectoryLock(settings.kb, "ingest").acquire(takes_jobs=True),
        Ledger.open(settings.kb, create=False) as ledger,
    ):
        worker = worker_for(settings, ledger)
        thread = threading.Thread(target=worker.run)
        thread.start()
        try:
            yield worker
        finally:
            worker.stopped.set()
            thread.join()


def wanted(settings: Settings) -> Settings:
    """The settings of a command that changes the model."""
    return replace(settings, embedder="turned")


def test_beside_a_worker_the_job_is_handed_over_and_told_alike(settings: Settings) -> None:
    """Lines, summary and counts are those of a command alone; nothing is opened in the command's process."""
    told: list[Embedded] = []
    counted: list[tuple[int, int]] = []

    def never(_: Settings) -> Embedder:
        raise AssertionError

    reporting = Reporting(counted=lambda total, done: counted.append((total, done)), embedded=told.append)
    with living_worker(settings):
        done = reindex(wanted(settings), reporting, open_model=never)
        again = reindex(wanted(settings), open_model=never)
    assert (done.before, done.embedder, done.index, done.rechunked) == ("hash", "turned", "command", 0)
    assert [(each.names, each.chunks, each.embedded) for each in told] == [(("a.pdf",), 40, 40), (("b.pdf",), 40, 40)]
    assert tuple(told) == done.documents
    assert counted[-1] == (2 * PARTS, 2 * PARTS)
    assert [each.embedded for each in again.documents] == [0, 0]
    assert nearest(settings, Turned(), "b7 revenue of region 7") == "b7 revenue of region 7"


def test_the_worker_goes_on_with_the_model_that_the_index_was_changed_to(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """The next ingest beside the service, and whoever starts with the old setting: it says which to set."""
    file = settings.kb.parent / "new.txt"
    with living_worker(settings):
        reindex(wanted(settings))
        file.write_text("Parking costs 37 dollars.", encoding="utf-8")
        outcomes = ingest_into(settings, [file], IngestProgress(lambda outcome: None))
    assert [outcome.state for outcome in outcomes] == ["ready"]
    with Ledger.open(settings.kb, create=False) as ledger:
        caplog.clear()
        assert indexed_embedder(settings, ledger, worker_for(settings, ledger).writer.open_model).id == "turned"
    assert "set KB_QA_EMBEDDER=turned" in caplog.text
    assert nearest(settings, Turned(), "Parking costs 37 dollars.") == "Parking costs 37 dollars."


def test_an_index_that_was_never_changed_is_refused_to_another_model(settings: Settings) -> None:
    """C5: nothing says how its own model is opened; nor does what was said of another one."""
    with Ledger.open(settings.kb, create=False) as ledger:
        with pytest.raises(ReindexNeededError, match="run `kb-qa reindex`"):
            indexed_embedder(settings, ledger, lambda _: Turned())
        reindex(settings, open_model=lambda _: Turned())
        with pytest.raises(ReindexNeededError, match=r"'turned'.*'hash'"):
            indexed_embedder(settings, ledger, lambda _: HashEmbedder())


def test_a_job_whose_worker_was_killed_goes_on(settings: Settings) -> None:
    """The next worker takes it up: each document is told once, none is embedded twice, `before` stays."""
    with Ledger.open(settings.kb, create=False) as ledger:
        job_id = ledger.jobs.add("reindex", arguments_of(wanted(settings), index_only=False))
        job = ledger.jobs.claim(60)
        assert job is not None
        with pytest.raises(KeyboardInterrupt):
            worker_for(settings, ledger, Turned(most=50)).work_on(job)
        assert [line["names"] for line in ledger.jobs.outcomes(job_id)] == [["a.pdf"]]
        assert nearest(settings, HashEmbedder(), "a3 revenue of region 3") == "a3 revenue of region 3"
        (settings.kb / "cache" / "embeddings.sqlite3").unlink()
        rest = Turned()
        worker = worker_for(settings, ledger, rest)
        worker.tidy()
        again = ledger.jobs.claim(60)
        assert again is not None
        assert worker.work_on(again)
        assert [line["names"] for line in ledger.jobs.outcomes(job_id)] == [["a.pdf"], ["b.pdf"]]
        report = ledger.jobs.get(job_id).report
    assert (report["before"], report["embedder"], rest.count) == ("hash", "turned", PARTS)


def test_a_worker_that_lost_the_job_writes_nothing_more(settings: Settings) -> None:
    """Another one has it: the flip is not this one's any more."""
    with Ledger.open(settings.kb, create=False) as ledger:
        ledger.jobs.add("reindex", arguments_of(wanted(settings), index_only=False))
        job = ledger.jobs.claim(60)
        assert job is not None
        worker = worker_for(settings, ledger)
        assert not worker.work_on(job, Progress(settle=lambda line: ledger.jobs.extend(job, -1)))
        assert ledger.embedder() == ("hash", 64)


def test_a_job_that_a_later_one_overtook_is_not_taken_up_again(settings: Settings) -> None:
    """Killed, and asked for with another model since: going on would undo what the reader wanted last."""
    with Ledger.open(settings.kb, create=False) as ledger:
        old = ledger.jobs.add("reindex", arguments_of(wanted(settings), index_only=False))
        assert reindex(settings, open_model=lambda _: HashEmbedder()).embedder == "hash"
        job = ledger.jobs.claim(60)
        assert job is not None
        assert worker_for(settings, ledger).work_on(job)
        assert "took the place" in ledger.jobs.get(old).report["error"]["message"]
        assert ledger.embedder() == ("hash", 64)


class Service:
    """What `serve` does: it owns the index, follows the ledger, and answers meanwhile."""

    def __init__(self, settings: Settings, ledger: Ledger, store: ChromaStore) -> None:
        retriever = Retriever(HashEmbedder(), store, ledger)
        self.live = LiveIndex(settings, ledger, store, retriever, open_model=lambda _: Turned())
        self.found: set[str] = set()
        self.over = threading.Event()
        self.asking = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self.over.is_set():
            hits = self.live.retrieve("b7 revenue of region 7", k=1)
            self.found |= {hit.chunk.text for hit in hits} or {"nothing"}

    def follow(self, until: threading.Thread) -> None:
        deadline = time.monotonic() + 60
        while until.is_alive() and time.monotonic() < deadline:
            self.live.refresh()
            time.sleep(0.02)


@pytest.fixture
def service(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(live_index, "GRACE_SECONDS", 0.3)
    with (
        DirectoryLock(settings.kb, "index").acquire("http://127.0.0.1:1"),
        Ledger.open(settings.kb, create=False) as ledger,
        closing(open_store(settings.kb / "index", 64, ledger.index_seal(), "hash")) as store,
    ):
        yield Service(settings, ledger, store)


def test_a_running_service_changes_with_it(settings: Settings, service: Service) -> None:
    """Each question is answered, before, during and after; the service opens the model that the command ran with."""
    done: list[Reindexed] = []
    command = threading.Thread(target=lambda: done.append(reindex(settings, open_model=lambda _: Turned())))
    service.asking.start()
    command.start()
    service.follow(command)
    service.over.set()
    service.asking.join()
    assert [each.index for each in done] == ["service"]
    assert service.found == {"b7 revenue of region 7"}
    assert service.live.retriever.embedder.id == "turned"
    assert service.live.store.count() == 2 * PARTS
    bring(service.live.ledger, "c" * 64)
    assert service.live.refresh() == 1
    assert service.live.retrieve("c5 revenue of region 5", k=1)[0].chunk.text == "c5 revenue of region 5"


def test_a_service_that_cannot_open_the_model_says_so_once_and_goes_on(service: Service) -> None:
    """It answers with what it has, and publishes nothing that its index could not hold."""
    ledger = service.live.ledger
    service.live.open_model = lambda _: HashEmbedder()
    for version in ledger.versions_in("ready"):
        chunks = ledger.chunks_to_embed(version, "turned")
        matrix = Turned().embed_passages([chunk.embedded_text for chunk in chunks])
        ledger.store_vectors(version, [chunk.id for chunk in chunks], matrix, "turned")
    ledger.adopt_embedder("turned", 64, ("turned", "torch", "auto"))
    with pytest.raises(ReindexNeededError, match="kb-qa reindex"):
        service.live.refresh()
    bring(ledger, "c" * 64)
    assert service.live.refresh() == 0
    assert service.live.retrieve("b7 revenue of region 7", k=1)[0].chunk.text == "b7 revenue of region 7"


def test_what_was_done_in_words() -> None:
    """For the terminal and as the last JSON line."""
    done = Reindexed("old", "new", (Embedded("a" * 64, ("a.pdf",), 9, 4, 1.0),), "service")
    assert reindex_summary(done, 1.234) == {
        "before": "old",
        "embedder": "new",
        "documents": 1,
        "chunks": 9,
        "embedded": 4,
        "rechunked": 0,
        "index": "service",
        "seconds": 1.23,
    }
    assert reindex_text(done, 2) == (
        "the model is new, it was old; 4 chunks embedded; the service that owns the index filled it (2 s)"
    )
