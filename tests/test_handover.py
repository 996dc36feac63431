"""A command's job: here, or by the worker that writes already; the same output either way."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ingest import handover
from ingest.handover import delete_from, done_job, ingest_into
from ingest.pipeline import Outcome
from ingest.progress import IngestProgress
from ingest.worker import Worker
from kb_qa.errors import InputError, LockHeldError, NoDocumentsError, NotFoundError
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock
from kb_qa.publish import catch_up
from kb_qa.settings import Settings
from tests.test_worker import Bench, bench

__all__ = ["bench"]


@pytest.fixture(autouse=True)
def cheap_parts(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command does itself, it does with the bench's parts, and publishes as the service would."""

    @contextmanager
    def open_worker(settings: Settings, ledger: Ledger) -> Iterator[Worker]:
        worker = bench.worker
        worker.tidy()
        yield worker

    def wait_until_visible(settings: Settings, ledger: Ledger) -> None:
        catch_up(ledger, bench.index)

    monkeypatch.setattr(handover, "open_worker", open_worker)
    monkeypatch.setattr(handover, "wait_until_visible", wait_until_visible)
    monkeypatch.setattr(handover, "PATIENCE_SECONDS", 0.5)


@contextmanager
def living_worker(bench: Bench) -> Iterator[None]:
    """A worker at work in another thread, under the lock."""
    stopped = threading.Event()

    def live() -> None:
        worker = bench.worker  # in its own thread, as its cache wants it
        worker.stopped = stopped
        worker.run()

    with DirectoryLock(bench.settings.kb, "ingest").acquire(takes_jobs=True):
        thread = threading.Thread(target=live)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()


def told(outcomes: tuple[Outcome, ...]) -> list[tuple[str, str, int]]:
    return sorted((outcome.path, outcome.state, outcome.chunks) for outcome in outcomes)


@pytest.mark.parametrize("beside", [True, False], ids=["beside a worker", "alone"])
def test_a_command_tells_the_same_wherever_its_job_is_done(bench: Bench, beside: bool) -> None:
    """Each file once, to the progress and as the result."""
    bench.write("a.txt", "Parking costs 37 dollars.")
    bench.write("b.txt", "")
    echoed: list[Outcome] = []
    progress = IngestProgress(echoed.append)
    folder = bench.settings.kb.parent / "in"
    if beside:
        with living_worker(bench):
            outcomes = ingest_into(bench.settings, [folder], progress)
    else:
        outcomes = ingest_into(bench.settings, [folder], progress)
    assert told(outcomes) == told(tuple(echoed)) == [("a.txt", "ready", 1), ("b.txt", "quarantined", 0)]
    assert [record.state for record in bench.ledger.documents()] == ["ready"]
    assert bench.ledger.jobs.waiting() == 0


def test_beside_an_ingest_that_takes_no_jobs_a_command_is_told_at_once(bench: Bench) -> None:
    """The message names the process; nothing was left in the table."""
    path = bench.write("a.txt", "Parking costs 37 dollars.")
    began = time.monotonic()
    with DirectoryLock(bench.settings.kb, "ingest"), pytest.raises(LockHeldError, match=r"process [0-9]+ ingests into"):
        ingest_into(bench.settings, [path], IngestProgress())
    assert time.monotonic() - began < 2
    assert bench.ledger.jobs.waiting() == 0


def test_a_job_whose_worker_is_gone_for_good_is_done_by_the_command(bench: Bench) -> None:
    """Handed over, taken up, and left: the command waits a moment for another worker, and then does it."""
    path = bench.write("a.txt", "Parking costs 37 dollars.")

    def leave() -> None:
        with DirectoryLock(bench.settings.kb, "ingest").acquire(takes_jobs=True):
            held.set()
            while bench.ledger.jobs.claim(60) is None:
                time.sleep(0.01)

    held = threading.Event()
    thread = threading.Thread(target=leave)
    thread.start()
    held.wait()
    outcomes = ingest_into(bench.settings, [path], IngestProgress())
    thread.join()
    assert told(outcomes) == [("a.txt", "ready", 1)]
    assert bench.ledger.jobs.get(1).attempts == 2


@pytest.mark.parametrize("beside", [True, False], ids=["beside a worker", "alone"])
def test_what_a_job_met_is_what_the_command_raises(bench: Bench, beside: bool) -> None:
    """Of the same type, with the same words, so that the exit code is the same."""
    (bench.settings.kb.parent / "empty").mkdir()
    with pytest.raises(NoDocumentsError, match="no document found"):
        if beside:
            with living_worker(bench):
                ingest_into(bench.settings, [bench.settings.kb.parent / "empty"], IngestProgress())
        else:
            ingest_into(bench.settings, [bench.settings.kb.parent / "empty"], IngestProgress())


def test_a_command_that_is_interrupted_leaves_no_job(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C means that it is not wanted any more; a kill leaves it to the next worker."""

    def interrupt(outcome: Outcome) -> None:
        raise KeyboardInterrupt

    path = bench.write("a.txt", "Parking costs 37 dollars.")
    with pytest.raises(KeyboardInterrupt):
        ingest_into(bench.settings, [path], IngestProgress(interrupt))
    assert bench.ledger.jobs.get(1).state == "failed"


def test_documents_are_deleted_by_name_or_id(bench: Bench) -> None:
    """Also quarantined ones; an unknown name, or one that two documents have, deletes nothing."""
    for year in ("2023", "2024"):
        (bench.settings.kb.parent / "in" / year).mkdir(parents=True)
        bench.write(f"{year}/report.txt", f"Parking cost {year[-2:]} dollars.")
    bench.write("blank.txt", " \n")
    ingest_into(bench.settings, [bench.settings.kb.parent / "in"], IngestProgress())
    with pytest.raises(InputError, match="2 documents are called"):
        delete_from(bench.settings, ["blank.txt", "report.txt"], IngestProgress())
    with pytest.raises(NotFoundError, match="no document 'x"):
        delete_from(bench.settings, ["blank.txt", "x.txt"], IngestProgress())
    assert len(bench.ledger.documents()) == 3
    later = bench.ledger.resolve(["2024/report.txt"])[0]
    gone = delete_from(bench.settings, ["blank.txt", "2023/report.txt", later], IngestProgress())
    assert {outcome.state for outcome in gone} == {"deleted"}
    assert bench.ledger.documents() == []


def test_a_job_of_another_kind_goes_the_same_way(bench: Bench) -> None:
    """What nobody knows is refused by whoever does it."""
    with pytest.raises(InputError, match="no job of the kind"):
        done_job(bench.settings, "bake", {}, IngestProgress())
