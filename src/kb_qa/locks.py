"""One writer, one index owner: locks of a data directory that end with the process that holds them.

The lock is the kernel's (flock), so a killed holder leaves none. A file beside it says who holds it; it is a notice for
readers and never the lock itself.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from filelock import FileLock, Timeout

from kb_qa.errors import EnvironmentProblemError, LockHeldError

LockName = Literal["ingest", "index"]

WAIT_SECONDS = 1.0  # a probe by `holder` keeps the lock for a moment; a real holder keeps it longer
_NOTICE_SECONDS = 0.5  # between taking the lock and having written the notice


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock. `address` is where it is asked over HTTP, if anywhere; pid 0 where it has not said yet."""

    pid: int
    address: str = ""
    since: str = ""
    takes_jobs: bool = False  # an ingest worker: what is to be ingested goes through its job table


class DirectoryLock:
    """`acquire`, work, `release`; or as a context manager. Held as long as this object lives, never waited for."""

    def __init__(self, kb_dir: Path, name: LockName) -> None:
        self.kb_dir = kb_dir
        self.name = name
        self._lock = _file_lock(kb_dir, name)
        self._holder: Holder | None = None

    def acquire(self, address: str = "", *, takes_jobs: bool = False) -> Self:
        """Raises LockHeldError, naming the holder's process, within two seconds."""
        try:
            self.kb_dir.mkdir(parents=True, exist_ok=True)
            require_free(self.kb_dir, self.name)
            self._lock.acquire(timeout=WAIT_SECONDS)
        except Timeout:
            raise LockHeldError(_told(self.kb_dir, self.name, holder(self.kb_dir, self.name))) from None
        except OSError as error:
            raise EnvironmentProblemError(f"{str(self.kb_dir)!r} cannot be locked: {error.strerror}") from error
        self._tell(Holder(os.getpid(), address, datetime.now(UTC).isoformat(timespec="seconds"), takes_jobs))
        return self

    def announce(self, address: str) -> None:
        """Where the holder is asked from now on. Raises RuntimeError where the lock is not held."""
        if self._holder is None:
            raise RuntimeError(f"the lock {self.name!r} is not held")
        self._tell(replace(self._holder, address=address))

    def release(self) -> None:
        if self._holder is not None:
            _notice(self.kb_dir, self.name).unlink(missing_ok=True)
            self._holder = None
        self._lock.release()

    def __enter__(self) -> Self:
        return self if self._holder is not None else self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _tell(self, who: Holder) -> None:
        notice = _notice(self.kb_dir, self.name)
        draft = notice.with_suffix(f".{who.pid}")
        draft.write_text(json.dumps(asdict(who)), encoding="utf-8")
        draft.replace(notice)
        self._holder = who


def holder(kb_dir: Path, name: LockName) -> Holder | None:
    """Who holds the lock now; None where nobody does, whatever a dead process left written."""
    deadline = time.monotonic() + _NOTICE_SECONDS
    while _is_held(kb_dir, name):
        who = _read_notice(_notice(kb_dir, name))
        if who is not None and _is_alive(who.pid):
            return who
        if time.monotonic() > deadline:
            return Holder(pid=0)
        time.sleep(0.02)
    return None


def require_free(kb_dir: Path, name: LockName) -> None:
    """Raises LockHeldError where a living process has said that it holds the lock: at once, whatever comes later."""
    who = _read_notice(_notice(kb_dir, name))
    if who is not None and _is_alive(who.pid) and _is_held(kb_dir, name):
        raise LockHeldError(_told(kb_dir, name, who))


def _is_held(kb_dir: Path, name: LockName) -> bool:
    if not _lock_path(kb_dir, name).exists():
        return False
    probe = _file_lock(kb_dir, name)
    try:
        probe.acquire(timeout=0)
    except Timeout:
        return True
    probe.release()
    return False


def _file_lock(kb_dir: Path, name: LockName) -> FileLock:
    # Without the soft fallback: a lock file that outlives its process is no lock of ours.
    return FileLock(_lock_path(kb_dir, name), thread_local=False, fallback_to_soft=False)


def _lock_path(kb_dir: Path, name: LockName) -> Path:
    return kb_dir / f"{name}.lock"


def _notice(kb_dir: Path, name: LockName) -> Path:
    return kb_dir / f"{name}.holder.json"


def _read_notice(path: Path) -> Holder | None:
    try:
        return Holder(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None  # not written yet


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _told(kb_dir: Path, name: LockName, who: Holder | None) -> str:
    work = "ingests into" if name == "ingest" else "owns the index of"
    process = f"process {who.pid}" if who is not None and who.pid else "another process"
    since = f" since {who.since}" if who is not None and who.since else ""
    return f"{process} {work} {str(kb_dir)!r}{since}; wait for it or end it"
