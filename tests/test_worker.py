"""The ingest worker and those who give it work, with real ledgers and a parser and a model that take no time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ingest.limits import Limits
from ingest.worker import Progress, Worker
from ingest.writer import Parts, Writer
from kb_qa.blobs import UPLOADS
from kb_qa.embedding_cache import FILE_NAME, CachedEmbedder
from kb_qa.errors import EnvironmentProblemError, LostLeaseError, NotFoundError
from kb_qa.guardrails.labels import DEFAULT_ALIASES
from kb_qa.jobs import Job
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock
from kb_qa.publish import catch_up
from kb_qa.scratch import PREFIX, Scratch
from kb_qa.settings import Settings
from kb_qa.testing import InMemoryVectorStore
from kb_qa.wiring import CACHE, PICTURES
from tests.test_pipeline import CountingEmbedder, InlinePool
from tests.test_publish import MemoryIndex


@dataclass(slots=True)
class Bench:
    """A knowledge base, a worker over cheap parts, and an index owner that publishes what it did."""

    settings: Settings
    ledger: Ledger
    pool: InlinePool = field(default_factory=InlinePool)
    embedder: CountingEmbedder = field(default_factory=CountingEmbedder)
    told: list[str] = field(default_factory=list)
    index: MemoryIndex = field(default_factory=lambda: MemoryIndex(InMemoryVectorStore()))

    @property
    def worker(self) -> Worker:
        kept = CachedEmbedder(self.embedder, self.settings.kb / CACHE / FILE_NAME)
        parts = Parts(kept, self.pool, Limits(), DEFAULT_ALIASES)
        return Worker(self.ledger, Writer(self.settings, parts), pause_seconds=0.05)

    def write(self, name: str, text: str) -> Path:
        path = self.settings.kb.parent / "in" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def add(self, *paths: Path) -> int:
        return self.ledger.jobs.add("ingest", {"paths": [str(path) for path in paths]})

    def claimed(self) -> Job:
        job = self.ledger.jobs.claim(60)
        assert job is not None
        return job

    def watched(self) -> Progress:
        return Progress(
            settle=lambda line: self.told.append(f"{line['state']} {line['path']}"),
            pause=lambda reason: self.told.append(f"paused: {reason}"),
        )

    def work(self) -> bool:
        done = self.worker.work_on(self.claimed(), self.watched())
        catch_up(self.ledger, self.index)
        return done


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.chdir(tmp_path)  # where a parser links its language model
    kb = tmp_path / "kb"
    with Ledger.open(kb, create=True) as ledger, DirectoryLock(kb, "index").acquire("http://127.0.0.1:1"):
        yield Bench(Settings(kb=kb), ledger)


def test_a_job_is_done_and_tells_what_became_of_its_files(bench: Bench) -> None:
    """Report, outcomes as `kb-qa ingest --json` prints them, and the state at the end."""
    bench.write("a.txt", "Parking costs 37 dollars.")
    bench.write("b.txt", "")
    job_id = bench.add(bench.settings.kb.parent / "in")
    assert bench.work()
    job = bench.ledger.jobs.get(job_id)
    assert (job.state, dict(job.report)) == ("done", {"total": 2, "done": 2, "paused": ""})
    lines = bench.ledger.jobs.outcomes(job_id)
    assert {(line["path"], line["state"]) for line in lines} == {("a.txt", "ready"), ("b.txt", "quarantined")}
    assert "key" not in lines[0]
    assert [record.state for record in bench.ledger.documents()] == ["ready"]


@pytest.mark.parametrize(
    ("kind", "arguments", "code", "words"),
    [
        ("ingest", {"paths": ["/nowhere/at/all"]}, "invalid_input", "cannot be opened"),
        ("ingest", {"uploads": [{"file": "../ledger.sqlite3", "name": "a.txt"}]}, "not_found", "no upload"),
        ("bake", {}, "invalid_input", "no job of the kind 'bake'"),
    ],
    ids=["no such path", "a file outside", "no such kind"],
)
def test_a_job_that_cannot_be_done_fails_with_its_reason(
    bench: Bench, kind: str, arguments: dict[str, object], code: str, words: str
) -> None:
    """The worker goes on with the next one."""
    job_id = bench.ledger.jobs.add(kind, arguments)
    assert bench.work()
    job = bench.ledger.jobs.get(job_id)
    assert job.state == "failed"
    assert job.report["error"]["code"] == code
    assert words in job.report["error"]["message"]


def test_the_words_of_an_unknown_error_stay_in_the_log(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job's report goes to readers: it names the kind of error, and nothing of what it failed on."""

    def fail(*_: object) -> None:
        raise ValueError("kaboom secret=/etc/x")

    monkeypatch.setattr("ingest.writer.KINDS", {"ingest": fail})
    job_id = bench.ledger.jobs.add("ingest", {})
    assert bench.work()
    message = bench.ledger.jobs.get(job_id).report["error"]["message"]
    assert "ValueError" in message
    assert "secret" not in message


def test_what_a_killed_process_left_is_removed_at_the_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scratch of parsers, and the copy of a backup; not what a living process works in."""
    temporary = bench.settings.kb.parent / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for left in (temporary / f"{PREFIX}x", bench.settings.kb / ".backup-x"):
        left.mkdir()
        (left / "copy.pdf").write_text("of a document")
    with Scratch() as held:
        bench.worker.tidy()
        assert list(temporary.iterdir()) == [held]
    assert not list(bench.settings.kb.glob(".backup-*"))


def test_an_upload_is_ingested_under_its_name_and_taken_away(bench: Bench) -> None:
    """The name is shown, and is no path; the same bytes five times are one version, parsed and embedded once."""
    folder = bench.settings.kb / UPLOADS
    folder.mkdir()
    for n in range(5):
        token = f"{n:032x}"
        (folder / token).write_text("Parking costs 37 dollars.", encoding="utf-8")
        bench.ledger.jobs.add("ingest", {"uploads": [{"file": token, "name": f"../../{'报告' if n % 2 else 'a'}.txt"}]})
    for _ in range(5):
        assert bench.work()
    (record,) = bench.ledger.documents()
    assert (record.names, record.state, record.chunks) == (("a.txt", "报告.txt"), "ready", 1)
    assert list(folder.iterdir()) == []
    assert (len(bench.pool.parsed), bench.embedder.count) == (1, 1)


@pytest.mark.parametrize("name", ["..", "/", "", ".", "a/.."])
def test_an_upload_without_a_name_of_its_own_is_called_a_document(bench: Bench, name: str) -> None:
    """No name leads out of a folder."""
    folder = bench.settings.kb / UPLOADS
    folder.mkdir()
    (folder / ("a" * 32)).write_text("<html><p>Parking costs 37 dollars.</p></html>", encoding="utf-8")
    job_id = bench.ledger.jobs.add("ingest", {"uploads": [{"file": "a" * 32, "name": name}]})
    assert bench.work()
    assert [line["state"] for line in bench.ledger.jobs.outcomes(job_id)] == ["ready"]
    assert bench.ledger.documents()[0].names == ("document",)


def test_a_worker_that_is_stopped_gives_its_job_back(bench: Bench) -> None:
    """The next one goes on, and tells each file once."""
    for n in range(5):
        bench.write(f"{n}.txt", f"Item {n} costs 37 dollars.")
    job_id = bench.add(bench.settings.kb.parent / "in")
    worker = bench.worker
    watched = Progress(settle=lambda line: worker.stopped.set())
    assert not worker.work_on(bench.claimed(), watched)
    assert bench.ledger.jobs.get(job_id).state == "queued"
    settled = len(bench.ledger.jobs.outcomes(job_id))
    assert 1 <= settled < 5
    assert bench.work()
    assert len(bench.told) == 5 - settled
    lines = bench.ledger.jobs.outcomes(job_id)
    assert sorted((line["path"], line["reason"]) for line in lines) == [(f"{n}.txt", "") for n in range(5)]


def test_a_worker_whose_lease_ran_out_stops_at_its_next_write(bench: Bench) -> None:
    """And whoever has the job now does it whole."""
    for n in range(5):
        bench.write(f"{n}.txt", f"Item {n} costs 37 dollars.")
    job_id = bench.add(bench.settings.kb.parent / "in")
    job = bench.claimed()

    def lose(line: Mapping[str, Any]) -> None:
        bench.ledger.jobs.extend(job, -1)

    assert not bench.worker.work_on(job, Progress(settle=lose))
    assert len(bench.ledger.jobs.outcomes(job_id)) == 1
    with pytest.raises(LostLeaseError):
        bench.ledger.jobs.finish(job, "done", {})
    assert bench.work()
    assert len(bench.ledger.jobs.outcomes(job_id)) == 5


def test_a_full_disk_pauses_the_work_and_says_why(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on by itself when there is room again, and no file is told twice."""
    for n in range(3):
        bench.write(f"{n}.txt", f"Item {n} costs 37 dollars.")
    job_id = bench.add(bench.settings.kb.parent / "in")
    full = iter([False, True, True])
    store = Ledger.store_blob

    def store_blob(ledger: Ledger, path: Path) -> str:
        if next(full, False):
            error = EnvironmentProblemError("the disk is full; make room and try again")
            error.retryable = True
            raise error
        return store(ledger, path)

    monkeypatch.setattr(Ledger, "store_blob", store_blob)
    assert bench.work()
    assert bench.told.count("paused: the disk is full; make room and try again") == 1
    assert sorted(line for line in bench.told if line.startswith("ready")) == [f"ready {n}.txt" for n in range(3)]
    assert bench.ledger.jobs.get(job_id).report == {"total": 3, "done": 3, "paused": ""}


def test_a_deleted_document_leaves_nothing(bench: Bench) -> None:
    """Ledger, original, pictures, and the embeddings that no other document uses."""
    shared = "This sentence stands in both of them."
    bench.write("a.txt", f"{shared}\n")
    bench.write("b.txt", f"{shared}\n\n\nSomething else costs 41 dollars.\n")
    bench.write("c.txt", "Parking costs 37 dollars.")
    bench.add(bench.settings.kb.parent / "in")
    assert bench.work()
    records = {record.names[0]: record.document_id for record in bench.ledger.documents()}
    picture = bench.settings.kb / PICTURES
    from kb_qa.elements import content_id

    for document_id in records.values():
        (picture / content_id(document_id)).mkdir(parents=True)
        (picture / content_id(document_id) / "x.png").write_bytes(b"x")
    job_id = bench.ledger.jobs.add("delete", {"documents": [records["c.txt"], "f" * 64]})
    assert bench.work()
    assert [line["state"] for line in bench.ledger.jobs.outcomes(job_id)] == ["deleted", "skipped"]
    assert sorted(record.names[0] for record in bench.ledger.documents()) == ["a.txt", "b.txt"]
    assert not (picture / content_id(records["c.txt"])).exists()
    assert (picture / content_id(records["a.txt"])).exists()
    with pytest.raises(NotFoundError):
        bench.ledger.blob_path(records["c.txt"])
    with bench.ledger.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM documents").scalar() == 2
        assert connection.exec_driver_sql("SELECT count(*) FROM versions").scalar() == 2
    embedded = bench.embedder.count
    bench.write("c.txt", "Parking costs 37 dollars.")
    bench.add(bench.settings.kb.parent / "in")
    assert bench.work()
    assert bench.embedder.count == embedded + 1, "its embedding was forgotten"
