"""Work that one process leaves in the ledger for another: the service for its ingest worker."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CursorResult, Row, func, insert, or_, select, update

from kb_qa.errors import NotFoundError
from kb_qa.schema import Database, jobs


@dataclass(frozen=True, slots=True)
class Job:
    """`state` is queued, running, done or failed; `report` is whatever its worker last said of it."""

    id: int
    kind: str
    arguments: Mapping[str, Any]
    state: str
    attempts: int
    report: Mapping[str, Any]


class JobTable:
    """A queue with leases: a job whose worker died is handed out again when its lease has run out."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, kind: str, arguments: Mapping[str, Any]) -> int:
        values = {"kind": kind, "arguments": dict(arguments), "state": "queued", "report": {}, "created": time.time()}
        with self.database.write() as connection:
            return inserted_id(connection.execute(insert(jobs).values(values)))

    def claim(self, seconds: float) -> Job | None:
        """The oldest job that nobody works on, running from now with a lease of so many seconds."""
        now = time.time()
        free = or_(jobs.c.state == "queued", (jobs.c.state == "running") & (jobs.c.lease_until < now))
        with self.database.write() as connection:
            row = connection.execute(select(jobs).where(free).order_by(jobs.c.id).limit(1)).first()
            if row is None:
                return None
            changes = {"state": "running", "attempts": row.attempts + 1, "lease_until": now + seconds}
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(changes))
            return _job(connection.execute(select(jobs).where(jobs.c.id == row.id)).one())

    def extend(self, job_id: int, seconds: float, report: Mapping[str, Any] | None = None) -> None:
        """The worker lives: a new lease, and where it stands."""
        changes: dict[str, Any] = {"lease_until": time.time() + seconds}
        if report is not None:
            changes["report"] = dict(report)
        self._change(job_id, changes)

    def finish(self, job_id: int, state: str, report: Mapping[str, Any]) -> None:
        """`state` is done, failed, or queued to give the job back."""
        if state not in {"done", "failed", "queued"}:
            raise ValueError(f"a job cannot end {state!r}")
        self._change(job_id, {"state": state, "report": dict(report), "lease_until": 0.0})

    def get(self, job_id: int) -> Job:
        with self.database.read() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == job_id)).first()
        if row is None:
            raise NotFoundError(f"no job {job_id}")
        return _job(row)

    def _change(self, job_id: int, changes: dict[str, Any]) -> None:
        with self.database.write() as connection:
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(changes))


def inserted_id(result: CursorResult[Any]) -> int:
    assert result.inserted_primary_key is not None  # an INSERT of one row
    return int(result.inserted_primary_key[0])


def _job(row: Row[Any]) -> Job:
    return Job(row.id, row.kind, row.arguments, row.state, row.attempts, row.report)


def job_states(database: Database) -> Mapping[str, int]:
    """How many jobs are in which state."""
    counted = select(jobs.c.state, func.count()).group_by(jobs.c.state)
    with database.read() as connection:
        return {str(state): int(count) for state, count in connection.execute(counted)}
