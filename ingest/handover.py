"""A command's job: done here where nobody else writes, else handed to the worker that does, and followed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ingest.pipeline import Outcome
from ingest.progress import IngestProgress
from ingest.worker import LEASE_SECONDS, Progress, open_worker
from kb_qa.errors import InputError, KbQaError, LockHeldError, NotFoundError, kind_of_error
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of
from kb_qa.locks import DirectoryLock, holder
from kb_qa.protocols import Embedder
from kb_qa.settings import Settings
from kb_qa.wiring import wait_until_visible

POLL_SECONDS = 0.2
PATIENCE_SECONDS = 5.0  # without a holder of the lock, after which a job that was handed over is done here
_OUTCOME_FIELDS = frozenset(each.name for each in fields(Outcome))


def ingest_into(
    settings: Settings, paths: Sequence[Path], progress: IngestProgress, *, retry: bool = False
) -> tuple[Outcome, ...]:
    """What became of each file in these files and folders. Raises what `done_job` does."""
    given = {"paths": [str(plain_path(path)) for path in paths], "retry": retry}
    return done_job(settings, "ingest", given, progress)


def plain_path(path: Path) -> Path:
    """Absolute, and without `..`: one folder has one name, however it is given."""
    plain = Path(os.path.normpath(path.absolute()))
    try:
        return plain if plain.samefile(path) else path.resolve()  # `link/..` is not the folder that the link is in
    except (OSError, ValueError):  # it is not there: whoever opens it says so
        return plain


def delete_from(settings: Settings, names: Sequence[str], progress: IngestProgress) -> tuple[Outcome, ...]:
    """Deletes documents by id or name. Raises NotFoundError for a name that none has, InputError where several have it:
    then nothing is deleted.
    """
    with Ledger.open(settings.kb, create=False) as ledger:
        wanted = [_one_named(ledger, name) for name in names]
    return done_job(settings, "delete", {"documents": list(dict.fromkeys(wanted))}, progress)


def _one_named(ledger: Ledger, name: str) -> str:
    found = ledger.resolve([name], ready=False)
    if len(found) > 1:
        raise InputError(f"{len(found)} documents are called {name!r}; give the id of one: {', '.join(found)}")
    if not found:
        raise NotFoundError(f"there is no document {name!r}")
    return found[0]


def done_job(
    settings: Settings, kind: str, arguments: Mapping[str, Any], progress: IngestProgress
) -> tuple[Outcome, ...]:
    """What became of each file of the job, in the order in which they were settled.

    Raises LockHeldError, within two seconds, where another process writes that takes no jobs; what the job raised;
    ReindexNeededError where another model made the index.
    """
    watched = Progress(progress.expect, lambda line: progress.report(_outcome_of(line)), progress.pause)
    with Ledger.open(settings.kb, create=True) as ledger:
        lines, _ = carried_out(settings, ledger, kind, arguments, watched)
        wait_until_visible(settings, ledger)
        return tuple(map(_outcome_of, lines))


def carried_out(
    settings: Settings,
    ledger: Ledger,
    kind: str,
    arguments: Mapping[str, Any],
    watched: Progress,
    *,
    open_model: Callable[[Settings], Embedder] = embedder_of,
) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]]:
    """The lines that the job settled, in order, and its last report. `open_model` is for what is done here.

    Raises as `done_job` does.
    """
    order = _Order(settings, ledger, kind, arguments, watched, open_model)
    order.carry_out()
    return order.lines, ledger.jobs.get(order.job_id).report


@dataclass(slots=True)
class _Order:
    settings: Settings
    ledger: Ledger
    kind: str
    arguments: Mapping[str, Any]
    watched: Progress
    open_model: Callable[[Settings], Embedder]
    job_id: int = 0  # once it is in the table
    lines: list[Mapping[str, Any]] = field(default_factory=list)

    def carry_out(self) -> None:
        while not self._is_over():
            try:
                with DirectoryLock(self.settings.kb, "ingest"):
                    self._work()
            except LockHeldError:
                who = holder(self.settings.kb, "ingest")
                if who is None:
                    continue
                if not who.takes_jobs:
                    raise
                self._follow()
        self._raise_failure()

    def _is_over(self) -> bool:
        return bool(self.job_id) and self.ledger.jobs.get(self.job_id).is_over

    def _enter(self) -> None:
        self.job_id = self.job_id or self.ledger.jobs.add(self.kind, self.arguments)

    def _work(self) -> None:
        """Here, under the lock. What others left in the table waits for a worker."""
        with open_worker(self.settings, self.ledger) as worker:
            worker.writer.open_model = self.open_model
            self._enter()
            watched = replace(self.watched, settle=self._settle)
            while (job := self.ledger.jobs.claim(LEASE_SECONDS, self.job_id)) is not None:
                try:
                    worker.work_on(job, watched)
                except KeyboardInterrupt:
                    error = {"code": KbQaError.code, "message": "stopped by the user"}
                    self.ledger.jobs.finish(job, "failed", {"error": error})
                    raise

    def _follow(self) -> None:
        """Until the job is over, or nobody holds the lock any more."""
        self._enter()
        held = time.monotonic()
        while time.monotonic() - held < PATIENCE_SECONDS:
            job = self.ledger.jobs.get(self.job_id)
            for line in self.ledger.jobs.outcomes(self.job_id, after=len(self.lines)):
                self._settle(line)
            if job.report.get("total") is not None:
                self.watched.expect(int(job.report["total"]))
            self.watched.pause(str(job.report.get("paused", "")))
            self.watched.said(job.report)
            if job.is_over:
                return
            time.sleep(POLL_SECONDS)
            if holder(self.settings.kb, "ingest") is not None:
                held = time.monotonic()

    def _settle(self, line: Mapping[str, Any]) -> None:
        self.lines.append(line)
        self.watched.settle(line)

    def _raise_failure(self) -> None:
        told = self.ledger.jobs.get(self.job_id).report.get("error")
        if told is not None:
            raise kind_of_error(str(told["code"]))(str(told["message"]))


def _outcome_of(line: Mapping[str, Any]) -> Outcome:
    return Outcome(**{name: value for name, value in line.items() if name in _OUTCOME_FIELDS})
