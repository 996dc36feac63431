"""The ingest worker: takes jobs from the ledger under the one writer's lock, one after the other.

It gives the job back where it is told to end, pauses where the disk is full, and writes nothing once its lease ran out.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.writer import Settled, Task, Writer
from kb_qa.backup import remove_unfinished_backups
from kb_qa.blobs import UPLOADS
from kb_qa.errors import FULL, EnvironmentProblemError, KbQaError, LockHeldError, LostLeaseError
from kb_qa.jobs import Job
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock
from kb_qa.scratch import remove_abandoned
from kb_qa.settings import Settings

_log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
IDLE_SECONDS = 0.5  # between two looks for a job
REST_SECONDS = 60.0  # without a job, after which the model's memory is given back
PAUSE_SECONDS = 5.0  # before the next try where the disk was full
PARENT_SECONDS = 0.5
GRACE_SECONDS = 15.0  # in which a job is given back after the parent is gone
UPLOAD_SECONDS = 3600.0  # after which a file that no job names is left over


class WorkStoppedError(Exception):
    """The work is to end here; somebody goes on with it later."""


@dataclass(slots=True)
class Progress:
    """Who watches the work where it is done; what the job table is told goes to those who watch from elsewhere.

    `settle` hears the line of each file or document, `said` the job's report as it stands.
    """

    expect: Callable[[int], None] = field(default=lambda total: None)
    settle: Callable[[Mapping[str, Any]], None] = field(default=lambda line: None)
    pause: Callable[[str], None] = field(default=lambda reason: None)
    said: Callable[[Mapping[str, Any]], None] = field(default=lambda report: None)


@dataclass(slots=True)
class Worker:
    """Works jobs of the ledger. `stopped` ends it; to be used by whoever holds the ingest lock."""

    ledger: Ledger
    writer: Writer
    stopped: threading.Event = field(default_factory=threading.Event)
    pause_seconds: float = PAUSE_SECONDS

    def tidy(self) -> None:
        """What a process that was killed has left: jobs that run, halves of files, documents half deleted."""
        self.ledger.jobs.take_back()
        remove_abandoned()
        remove_unfinished_backups(self.ledger.kb_dir)
        self.ledger.remove_leftovers()
        self.writer.removal(self.ledger).sweep()
        self._remove_uploads()
        self.ledger.jobs.forget_old()

    def run(self) -> None:
        """Until it is stopped."""
        idle_since = time.monotonic()
        while not self.stopped.is_set():
            try:
                job = self.ledger.jobs.claim(LEASE_SECONDS)
            except EnvironmentProblemError as error:  # a full disk: a claim is a write
                _log.warning("no job can be taken: %s", error)
                self.stopped.wait(self.pause_seconds)
                continue
            if job is not None:
                self.work_on(job)
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > REST_SECONDS:
                self.writer.rest()
                self._remove_uploads()
                idle_since = time.monotonic()
            else:
                self.stopped.wait(IDLE_SECONDS)

    def work_on(self, job: Job, watched: Progress | None = None) -> bool:
        """Does a job that was claimed; False where it was lost or given back, and somebody is to take it up again."""
        with _Held(self.ledger, job, watched or Progress()) as held:
            while True:
                try:
                    held.resume()
                    own = self.ledger.held_by(job)
                    told = replace(job, report=dict(held.report))
                    self.writer.do(Task(told, own, held.expect, held.settle, self._check, held.say))
                    held.finish("done")
                except WorkStoppedError:
                    with suppress(KbQaError):
                        held.finish("queued")
                    return False
                except LostLeaseError as error:
                    _log.warning("%s", error)
                    return False
                except (KbQaError, OSError) as error:
                    if not _may_pass(error):
                        return self._failed(held, error)
                    held.pause(str(error))
                    self.stopped.wait(self.pause_seconds)
                except Exception as error:  # noqa: BLE001  the rim of one job: the next one is worked on
                    _log.exception("job %d failed", job.id)
                    return self._failed(held, error)
                else:
                    return True

    def _failed(self, held: _Held, error: Exception) -> bool:
        code = error.code if isinstance(error, KbQaError) else KbQaError.code
        held.report["error"] = {"code": code, "message": _told(error)}
        try:
            held.finish("failed")
        except KbQaError:
            _log.exception("job %d failed, and could not be told to", held.job.id)
            return False
        return True

    def _check(self) -> None:
        if self.stopped.is_set():
            raise WorkStoppedError

    def _remove_uploads(self) -> None:
        named = {each.get("file") for job in self.ledger.jobs.unfinished() for each in job.arguments.get("uploads", ())}
        for path in (self.ledger.kb_dir / UPLOADS).glob("*"):
            with suppress(OSError):  # one that was renamed meanwhile
                if path.name not in named and path.stat().st_mtime < time.time() - UPLOAD_SECONDS:
                    path.unlink()


class _Held:
    """A job in hand: its lease, kept by a thread, and what is said of it."""

    def __init__(self, ledger: Ledger, job: Job, watched: Progress) -> None:
        self.job = job
        self.report: dict[str, Any] = {**job.report, "total": None, "done": 0, "paused": ""}
        self._paused = ""  # last
        self._jobs = ledger.jobs
        self._watched = watched
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="lease", daemon=True)

    def __enter__(self) -> _Held:
        self._heart.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._heart.join()

    def expect(self, total: int) -> None:
        self.report["total"] = total
        self._watched.expect(total)
        self._jobs.extend(self.job, LEASE_SECONDS, self.report)

    def settle(self, settled: Settled) -> None:
        self.report["done"] += 1
        if self._jobs.settle(self.job, settled.key, settled.line, self.report):
            self._watched.settle(settled.line)

    def say(self, more: Mapping[str, Any]) -> None:
        self.report |= more
        self._jobs.extend(self.job, LEASE_SECONDS, self.report)
        self._watched.said(self.report)

    def pause(self, reason: str) -> None:
        """What cannot be written down because of the very reason is at least logged, and told to who watches."""
        if self._paused != reason:
            _log.warning("ingest pauses: %s", reason)
            self._watched.pause(reason)
        self._paused = self.report["paused"] = reason
        with suppress(KbQaError):
            self._jobs.extend(self.job, LEASE_SECONDS, self.report)

    def resume(self) -> None:
        self.report |= {"done": 0, "paused": ""}

    def finish(self, state: str) -> None:
        self._jobs.finish(self.job, state, self.report)

    def _beat(self) -> None:
        while not self._over.wait(LEASE_SECONDS / 4):
            try:
                self._jobs.extend(self.job, LEASE_SECONDS)
            except LostLeaseError:
                return  # the next write says so
            except EnvironmentProblemError as error:
                _log.warning("the lease of job %d was not renewed: %s", self.job.id, error)


@contextmanager
def open_worker(settings: Settings, ledger: Ledger) -> Iterator[Worker]:
    """Under the ingest lock, which the caller holds."""
    writer = Writer(settings)
    try:
        worker = Worker(ledger, writer)
        worker.tidy()
        yield worker
    finally:
        writer.rest()


def work(settings: Settings, *, parent: int = 0, stopped: threading.Event | None = None) -> None:
    """Works jobs until it is stopped, or until the process `parent` is gone.

    A worker with a parent waits for the lock; another one raises LockHeldError where the lock has a holder.
    """
    stopped = stopped or threading.Event()
    if parent:
        threading.Thread(target=_watch_parent, args=(parent, stopped), name="parent", daemon=True).start()
    lock = DirectoryLock(settings.kb, "ingest")
    while not stopped.is_set():
        try:
            lock.acquire(takes_jobs=True)
            break
        except LockHeldError:
            if not parent:
                raise
            stopped.wait(IDLE_SECONDS)
    else:
        return
    with lock, Ledger.open(settings.kb, create=True) as ledger, open_worker(settings, ledger) as worker:
        worker.stopped = stopped
        worker.run()


def _watch_parent(parent: int, stopped: threading.Event) -> None:
    """A worker whose parent is gone ends: it gives its job back, and where it cannot, it is ended."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    stopped.set()
    time.sleep(GRACE_SECONDS)
    os._exit(1)  # the parser children end with it


def _may_pass(error: Exception) -> bool:
    """Whether waiting may help: there will be room on the disk again, or the index is rebuilt."""
    if isinstance(error, KbQaError):
        return isinstance(error, EnvironmentProblemError) and error.retryable
    return isinstance(error, OSError) and error.errno in FULL


def _told(error: Exception) -> str:
    """Our own errors are worded for readers; the words of others may hold what they failed on, and stay in the log."""
    if isinstance(error, KbQaError):
        return str(error)
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"something went wrong on our side ({type(error).__name__}); the log has the details"
