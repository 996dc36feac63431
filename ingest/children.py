"""Parsing in child processes that can be killed.

A file can crash, hang or bloat only its own child. A child has its own session, scratch directory and limits, no
network and no keys in its environment. What it returns is unpickled: a child that a document took over could forge
that, so this contains faults and most attacks, and is no sandbox against a tailored one.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import multiprocessing
import os
import resource
import shutil
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pebble import ProcessExpired, ProcessPool

from ingest.confinement import confine
from ingest.kinds import Kind
from ingest.limits import Limits, took_too_long
from ingest.page_watch import TOO_LONG
from ingest.parse import Parse, parse_document
from kb_qa.elements import ParsedDocument
from kb_qa.errors import FULL, CrashedParserError, KbQaError, OverrunError, disk_error
from kb_qa.raised import places
from kb_qa.scratch import Scratch

_log = logging.getLogger(__name__)

MAX_TASKS = 40  # a child is replaced after so many documents, which bounds what leaks add up to
ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a child sends back: what it parsed, one of our errors, or the words and places of any other."""

    pid: int
    parsed: Any = None
    error: KbQaError | None = None
    failure: str = ""
    trace: str = ""


@dataclass(eq=False)
class _Job:
    path: Path
    document_id: str
    kind: Kind
    parse: Callable[..., Any]
    future: Future[Any] = field(default_factory=Future)
    attempt: int = 1

    def succeed(self, parsed: Any) -> None:
        with contextlib.suppress(InvalidStateError):  # cancelled meanwhile
            self.future.set_result(parsed)

    def fail(self, error: KbQaError) -> None:
        with contextlib.suppress(InvalidStateError):
            self.future.set_exception(error)


class ParserPool:
    """`workers` child processes that parse. Use as a context manager; leaving it ends the children.

    `parse` must be a function of a module, so that a child can import it.
    """

    def __init__(self, parse: Parse = parse_document, *, limits: Limits, workers: int = 2) -> None:
        self._parse = parse
        self._limits = limits
        self.workers = workers
        self._lock = threading.Lock()
        self._closed = False
        self._jobs: set[_Job] = set()
        self._scratch = Scratch()
        # Linux ends a child with the *thread* that started it (PDEATHSIG), so one thread stays for as long as the pool.
        self._starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parser-starter")
        self._pool: ProcessPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parse(self, path: Path, document_id: str, kind: Kind) -> ParsedDocument:
        """As `submit`, and waits."""
        return self.submit(path, document_id, kind).result()

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
        """Parses in a child. Cancelling the future ends that child, closing the pool cancels it.

        The future raises what the parser raised where that is an error of ours, LimitExceededError past the time or
        memory (an OverrunError for one page's time, and where the child lived), CrashedParserError where the child
        died twice or the parser failed in another way.
        """
        return self.run(self._parse, path, document_id, kind)

    def run(self, parse: Callable[..., Any], path: Path, document_id: str, kind: Kind) -> Future[Any]:
        """As `submit`, with another function of a module, called as the pool's parser is; what it returns, but None."""
        job = _Job(path, document_id, kind, parse)
        self._jobs.add(job)
        self._schedule(job)
        return job.future

    def close(self) -> None:
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        for job in tuple(self._jobs):
            job.future.cancel()
        if pool is not None:
            _stop(pool)
        self._starter.shutdown()
        self._end_orphans()
        self._scratch.remove()

    def _schedule(self, job: _Job) -> None:
        task = functools.partial(_run, job.parse, job.path.absolute(), job.document_id, job.kind, self._limits)
        inner = self._running_pool().schedule(task, timeout=self._limits.seconds)
        # pebble's own kind of future: cancelling ends the child too
        job.future.add_done_callback(lambda outer: outer.cancelled() and inner.cancel())  # type: ignore[no-untyped-call]
        inner.add_done_callback(functools.partial(self._finish, job))

    def _running_pool(self) -> ProcessPool:
        """The pool; a new one where the old one broke."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the parser pool is closed")
            broken = self._pool if self._pool is not None and not self._pool.active else None
            if self._pool is None or broken is not None:
                self._pool = self._started_pool()
            if broken is not None:
                self._starter.submit(_stop, broken)  # not waited for: this may be one of its own threads
            return self._pool

    def _started_pool(self) -> ProcessPool:
        pool = ProcessPool(
            max_workers=self.workers,
            max_tasks=MAX_TASKS,
            initializer=confine,
            initargs=(str(self._scratch.path), os.getpid(), self._limits.memory_mb, self.workers),
            context=multiprocessing.get_context("spawn"),
        )
        self._starter.submit(lambda: pool.active).result()  # asking starts it
        return pool

    def _finish(self, job: _Job, inner: Future[_Outcome]) -> None:
        """Runs in a thread of the pool when a task ended, in whatever way."""
        try:
            self._settle(job, inner)
        except Exception as error:  # noqa: BLE001  # a future swallows what callbacks raise; the job would hang
            _log.exception("the parser pool failed on %r", job.path.name)
            job.fail(CrashedParserError(f"parsing {job.path.name!r} failed: {type(error).__name__}"))
        if job.future.done():
            self._jobs.discard(job)

    def _settle(self, job: _Job, inner: Future[_Outcome]) -> None:
        if inner.cancelled():
            job.future.cancel()
        elif (error := inner.exception()) is None:
            outcome = inner.result()
            _end_session(outcome.pid, spare_leader=True)
            _deliver(job, outcome)
            return
        elif isinstance(error, TimeoutError):
            job.fail(took_too_long(job.path, self._limits))
        elif isinstance(error, ProcessExpired) and -error.exitcode in TOO_LONG:  # by its own alarm: no accident
            job.fail(OverrunError(f"a page of {job.path.name!r} took too long (KB_QA_PAGE_SECONDS)"))
        elif isinstance(error, (ProcessExpired, BrokenProcessPool)):
            self._retry(job, _death(error))
        else:  # what the child could not send back
            job.fail(CrashedParserError(f"the parser of {job.path.name!r} returned nonsense: {type(error).__name__}"))
        self._end_orphans()

    def _retry(self, job: _Job, cause: str) -> None:
        _log.warning("the parser child of %r died (%s), attempt %d", job.path.name, cause, job.attempt)
        if job.attempt >= ATTEMPTS:
            job.fail(CrashedParserError(f"{job.path.name!r} crashed its parser {ATTEMPTS} times ({cause})"))
        elif not job.future.cancelled():
            job.attempt += 1
            self._schedule(job)

    def _end_orphans(self) -> None:
        """Kills what children that are gone left running, and removes their scratch directories."""
        for folder in self._scratch.path.iterdir():
            leader = int(folder.name)
            if not _is_alive(leader):
                _end_session(leader)
                shutil.rmtree(folder, ignore_errors=True)


def _deliver(job: _Job, outcome: _Outcome) -> None:
    if outcome.parsed is not None:
        job.succeed(outcome.parsed)
    elif outcome.error is not None:
        job.fail(outcome.error)
    else:
        kind = outcome.failure.partition(":")[0]  # without its words, which may be the document's
        _log.error("the parser failed on %r: %s at %s", job.path.name, kind, outcome.trace)
        job.fail(CrashedParserError(f"the parser failed on {job.path.name!r}: {outcome.failure}"))


def _stop(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves it untyped
    pool.join()


def _death(error: ProcessExpired | BrokenProcessPool) -> str:
    """How a child died, in words: `SIGSEGV`, `exit code 3`."""
    code = error.exitcode if isinstance(error, ProcessExpired) else None
    if code is None:
        return "all children died"
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end_session(leader: int, *, spare_leader: bool = False) -> None:
    """Kills a child's process group, and what left the group but not the session."""
    if not spare_leader:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
    for pid in _session_members(leader):
        if pid != leader or not spare_leader:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _session_members(leader: int) -> list[int]:
    """Pids whose session is `leader`; none where there is no /proc."""
    members: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == leader and fields[0] != "Z":
                members.append(int(stat.parent.name))
    return members


# From here on: what runs in the child.


def _run(parse: Callable[..., Any], path: Path, document_id: str, kind: Kind, limits: Limits) -> _Outcome:
    _allow_processor_time(limits.seconds)
    pid = os.getpid()
    try:
        return _Outcome(pid, parsed=parse(path, document_id, kind, limits=limits))
    except KbQaError as error:
        return _Outcome(pid, error=error)
    except OSError as error:
        if error.errno not in FULL:
            return _failed(pid, error)
        return _Outcome(pid, error=disk_error(error, f"what the parser of {path.name!r} needs"))  # not the file's fault
    except MemoryError:
        return _Outcome(pid, error=OverrunError(f"{path.name!r} needs more than {limits.memory_mb} MB of memory"))
    except BaseException as error:  # noqa: BLE001  # the rim of one document, also for sys.exit; the parent logs it
        return _failed(pid, error)
    finally:
        _clear(Path.cwd())


def _failed(pid: int, error: BaseException) -> _Outcome:
    words = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"
    return _Outcome(pid, failure=words, trace="; ".join(places(error)))


def _allow_processor_time(seconds: int) -> None:
    """A backstop for a child whose parent cannot time it: what was used, and twice the time on every processor."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime) + 2 * seconds * (os.cpu_count() or 1) + 10
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _clear(scratch: Path) -> None:
    """Removes what a parser left behind; links stay, they are to models."""
    for entry in scratch.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif not entry.is_symlink():
            entry.unlink(missing_ok=True)
