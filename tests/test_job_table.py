"""The job table: leases, fencing tokens, and outcomes that are told once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_qa.errors import LostLeaseError, NotFoundError
from kb_qa.job_table import JobTable
from kb_qa.jobs import Job, JobQueue
from kb_qa.ledger import Ledger
from kb_qa.testing import InMemoryJobs


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "kb", create=True) as opened:
        yield opened


def claimed(table: JobTable, seconds: float = 60) -> Job:
    job = table.claim(seconds)
    assert job is not None
    return job


def test_a_job_is_handed_out_once_and_again_when_its_worker_died(ledger: Ledger) -> None:
    """Leases: a second worker gets nothing until the lease has run out; what is done stays done."""
    job_id = ledger.jobs.add("ingest", {"paths": ["报告"]})
    first = claimed(ledger.jobs)
    assert (first.id, first.state, first.attempts, first.arguments) == (job_id, "running", 1, {"paths": ["报告"]})
    assert ledger.jobs.claim(60) is None
    ledger.jobs.extend(first, -1)  # the lease ran out a second ago
    again = claimed(ledger.jobs)
    assert again.attempts == 2
    ledger.jobs.extend(again, 60, {"done": 1})
    ledger.jobs.finish(again, "done", {"done": 2})
    assert ledger.jobs.claim(60) is None
    assert (ledger.jobs.get(job_id).state, ledger.jobs.get(job_id).report) == ("done", {"done": 2})


def test_jobs_are_handed_out_in_their_order_or_by_their_id(ledger: Ledger) -> None:
    """The oldest first, unless a command works its own."""
    ids = [ledger.jobs.add("ingest", {"paths": [str(n)]}) for n in range(3)]
    mine = ledger.jobs.claim(60, ids[2])
    assert mine is not None and mine.id == ids[2]
    assert [claimed(ledger.jobs).id for _ in range(2)] == ids[:2]
    assert ledger.jobs.claim(60, ids[2]) is None
    assert ledger.jobs.waiting() == 3


@pytest.mark.parametrize("how", ["the lease ran out", "handed out again", "given back", "finished"])
def test_who_lost_its_job_writes_nothing_any_more(ledger: Ledger, how: str) -> None:
    """Fencing: no state of a version, no report, no outcome; whatever else the ledger takes goes on."""
    ledger.jobs.add("ingest", {})
    job = claimed(ledger.jobs)
    fenced = ledger.held_by(job)
    version = fenced.receive("d" * 64, "a.pdf", size=1, kind="pdf", pipeline="1")
    if how == "finished":
        ledger.jobs.finish(job, "done", {})
    elif how == "given back":
        assert ledger.jobs.take_back() == 1
    else:
        ledger.jobs.extend(job, -1)
    if how == "handed out again":
        claimed(ledger.jobs)
    for write in (
        lambda: fenced.mark(version, "stored"),
        lambda: fenced.receive("e" * 64, "b.pdf", size=1, kind="pdf", pipeline="1"),
        lambda: fenced.delete("d" * 64),
        lambda: fenced.jobs.extend(job, 60),
        lambda: ledger.jobs.extend(job, 60),
        lambda: ledger.jobs.settle(job, "a", {}, {}),
        lambda: ledger.jobs.finish(job, "failed", {}),
    ):
        with pytest.raises(LostLeaseError):
            write()
    assert ledger.version(version).state == "received"
    assert ledger.jobs.outcomes(job.id) == []
    ledger.mark(version, "stored")


def test_a_new_holder_of_the_lock_takes_back_what_ran(ledger: Ledger) -> None:
    """No lease is waited for after a crash: the lock tells that its holder is gone."""
    job_id = ledger.jobs.add("ingest", {})
    claimed(ledger.jobs, 3600)
    assert ledger.jobs.take_back() == 1
    again = claimed(ledger.jobs)
    assert (again.id, again.attempts) == (job_id, 2)


def test_each_outcome_is_told_once(ledger: Ledger) -> None:
    """A job that is taken up again settles the same files: the first outcome stands, and numbers go on."""
    ledger.jobs.add("ingest", {})
    job = claimed(ledger.jobs)
    told: list[bool] = []
    for key, state in (("/in/a", "ready"), ("/in/b", "quarantined"), ("/in/a", "ready again"), ("/in/c", "skipped")):
        told.append(ledger.jobs.settle(job, key, {"state": state}, {"done": len(told)}))
    assert told == [True, True, False, True]
    assert ledger.jobs.get(job.id).report == {"done": 3}
    assert [each["state"] for each in ledger.jobs.outcomes(job.id)] == ["ready", "quarantined", "skipped"]
    assert [each["state"] for each in ledger.jobs.outcomes(job.id, after=2)] == ["skipped"]


def test_old_jobs_are_forgotten(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their outcomes, a month after they were added; what still waits stays."""
    old, waiting = (ledger.jobs.add("ingest", {}) for _ in range(2))
    job = claimed(ledger.jobs)
    ledger.jobs.settle(job, "a", {"state": "ready"}, {})
    ledger.jobs.finish(job, "done", {})
    monkeypatch.setattr("kb_qa.job_table.KEPT_DAYS", -1.0)
    ledger.jobs.forget_old()
    with pytest.raises(NotFoundError):
        ledger.jobs.get(old)
    assert ledger.jobs.outcomes(old) == []
    assert [each.id for each in ledger.jobs.unfinished()] == [waiting]


def test_the_fake_is_a_queue_as_the_table_is(ledger: Ledger) -> None:
    """Both fit the protocol, and say the same of a new job."""
    queues: list[JobQueue] = [ledger.jobs, InMemoryJobs()]
    told = []
    for queue in queues:
        job = queue.get(queue.add("delete", {"documents": ["d"]}))
        told.append((job, job.is_over, queue.outcomes(job.id), queue.waiting()))
        with pytest.raises(NotFoundError):
            queue.get(99)
    assert told[0] == told[1]


def test_the_fake_says_what_a_worker_would() -> None:
    """Reports and outcomes by hand."""
    queue = InMemoryJobs()
    job_id = queue.add("ingest", {"paths": ["/in"]})
    queue.say(job_id, "running", [{"state": "ready"}], total=2, done=1)
    queue.say(job_id, "done", [{"state": "skipped"}], total=2, done=2)
    assert queue.get(job_id).is_over
    assert queue.get(job_id).report == {"total": 2, "done": 2}
    assert queue.outcomes(job_id, after=1) == [{"state": "skipped"}]
