"""Work that one process leaves in the ledger for another: the service for its ingest worker (`protocols.JobQueue`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, Row, delete, func, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from kb_qa.database import Database
from kb_qa.errors import EnvironmentProblemError, LostLeaseError, NotFoundError
from kb_qa.jobs import Job
from kb_qa.schema import job_outcomes, jobs

KEPT_DAYS = 30.0  # what became of a job can be asked for so long
_OVER = ("done", "failed")


class JobTable:
    """A queue with leases and fencing tokens.

    A job whose worker died is handed out again when its lease has run out, or when the one writer's lock has a new
    holder. Whoever had it before can then neither report nor, through `fence_of`, write anything else of it.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, kind: str, arguments: Mapping[str, Any]) -> int:
        values = {"kind": kind, "arguments": dict(arguments), "state": "queued", "report": {}, "created": time.time()}
        with self.database.write() as connection:
            return inserted_id(connection.execute(insert(jobs).values(values)))

    def claim(self, seconds: float, job_id: int | None = None) -> Job | None:
        """The oldest job that nobody works on, or this one, running from now with a lease of so many seconds."""
        now = time.time()
        free = or_(jobs.c.state == "queued", (jobs.c.state == "running") & (jobs.c.lease_until < now))
        wanted = free if job_id is None else free & (jobs.c.id == job_id)
        with self.database.read() as connection:  # asked often: without it, each time would take the write lock
            if connection.execute(select(jobs.c.id).where(wanted).limit(1)).first() is None:
                return None
        with self.database.write() as connection:
            row = connection.execute(select(jobs).where(wanted).order_by(jobs.c.id).limit(1)).first()
            if row is None:
                return None
            changes = {"state": "running", "attempts": row.attempts + 1, "lease_until": now + seconds}
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(changes))
            return _job(connection.execute(select(jobs).where(jobs.c.id == row.id)).one())

    def take_back(self) -> int:
        """Queues again what runs: for a new holder of the ingest lock, since whoever ran it is gone. How many."""
        with self.database.write() as connection:
            running = update(jobs).where(jobs.c.state == "running")
            return connection.execute(running.values(state="queued", lease_until=0.0)).rowcount

    def extend(self, job: Job, seconds: float, report: Mapping[str, Any] | None = None) -> None:
        """The worker lives: a new lease, and where it stands. Raises LostLeaseError where the job is not its own."""
        changes: dict[str, Any] = {"lease_until": time.time() + seconds}
        if report is not None:
            changes["report"] = dict(report)
        with self.database.write() as connection:
            _change_own(connection, job, changes)

    def settle(self, job: Job, key: str, outcome: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
        """What became of one file; `key` tells the job's files apart. False where it was told before, which stands."""
        own = job_outcomes.c.job_id == job.id
        with self.database.write() as connection:
            _change_own(connection, job, {"report": dict(report)})
            n = connection.execute(select(func.coalesce(func.max(job_outcomes.c.n), 0) + 1).where(own)).scalar_one()
            values = {"job_id": job.id, "n": n, "key": key, "outcome": dict(outcome)}
            return bool(connection.execute(upsert(job_outcomes).values(values).on_conflict_do_nothing()).rowcount)

    def finish(self, job: Job, state: str, report: Mapping[str, Any]) -> None:
        """`state` is done, failed, or queued to give the job back. Raises LostLeaseError."""
        if state not in {"done", "failed", "queued"}:
            raise ValueError(f"a job cannot end {state!r}")
        with self.database.write() as connection:
            _change_own(connection, job, {"state": state, "report": dict(report), "lease_until": 0.0})

    def get(self, job_id: int) -> Job:
        with self.database.read() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == job_id)).first()
        if row is None:
            raise NotFoundError(f"no job {job_id}")
        return _job(row)

    def outcomes(self, job_id: int, after: int = 0) -> Sequence[Mapping[str, Any]]:
        statement = select(job_outcomes.c.outcome).where(job_outcomes.c.job_id == job_id, job_outcomes.c.n > after)
        with self.database.read() as connection:
            return connection.execute(statement.order_by(job_outcomes.c.n)).scalars().all()

    def waiting(self) -> int:
        statement = select(func.count()).select_from(jobs).where(jobs.c.state.not_in(_OVER))
        with self.database.read() as connection:
            return int(connection.execute(statement).scalar_one())

    def unfinished(self) -> Sequence[Job]:
        """The jobs that are queued or running, oldest first."""
        with self.database.read() as connection:
            return [_job(row) for row in connection.execute(select(jobs).where(jobs.c.state.not_in(_OVER)))]

    def later(self, job: Job) -> Sequence[Job]:
        """The jobs of its kind that were added after it, and have not failed."""
        rows = select(jobs).where(jobs.c.kind == job.kind, jobs.c.id > job.id, jobs.c.state != "failed")
        with self.database.read() as connection:
            return [_job(row) for row in connection.execute(rows)]

    def call_off(self, reason: str) -> None:
        """Ends all jobs that are not over, as failed: what they are about is not here."""
        report = {"error": {"code": EnvironmentProblemError.code, "message": reason}}
        with self.database.write() as connection:
            open_jobs = update(jobs).where(jobs.c.state.not_in(_OVER))
            connection.execute(open_jobs.values(state="failed", lease_until=0.0, report=report))

    def forget_old(self) -> None:
        """Drops what was over and done with a month ago."""
        old = select(jobs.c.id).where(jobs.c.state.in_(_OVER), jobs.c.created < time.time() - KEPT_DAYS * 86_400)
        with self.database.write() as connection:
            connection.execute(delete(job_outcomes).where(job_outcomes.c.job_id.in_(old)))
            connection.execute(delete(jobs).where(jobs.c.id.in_(old)))


def fence_of(job: Job) -> Callable[[Connection], None]:
    """For `Database.fenced`: every write transaction raises LostLeaseError once the job is not this holder's."""

    def check(connection: Connection) -> None:
        _require_own(connection, job)

    return check


def inserted_id(result: CursorResult[Any]) -> int:
    assert result.inserted_primary_key is not None  # an INSERT of one row
    return int(result.inserted_primary_key[0])


def _require_own(connection: Connection, job: Job) -> None:
    row = connection.execute(select(jobs).where(jobs.c.id == job.id)).first()
    if row is None or row.state != "running" or row.attempts != job.attempts or row.lease_until < time.time():
        raise LostLeaseError(f"job {job.id} was handed out again, or its lease ran out: nothing more is written")


def _change_own(connection: Connection, job: Job, changes: Mapping[str, Any]) -> None:
    _require_own(connection, job)
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(changes))


def _job(row: Row[Any]) -> Job:
    return Job(row.id, row.kind, row.arguments, row.state, row.attempts, row.report)


def job_states(database: Database) -> Mapping[str, int]:
    """How many jobs are in which state."""
    counted = select(jobs.c.state, func.count()).group_by(jobs.c.state)
    with database.read() as connection:
        return {str(state): int(count) for state, count in connection.execute(counted)}
