"""The locks of a data directory: one holder, told to the others, gone with its process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kb_qa.errors import EnvironmentProblemError, LockHeldError
from kb_qa.locks import DirectoryLock, Holder, holder

HOLD = """
import sys
from pathlib import Path
from kb_qa.locks import DirectoryLock
lock = DirectoryLock(Path(sys.argv[1]), "index").acquire("http://127.0.0.1:8000")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def holding(kb_dir: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLD, str(kb_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        yield child
        child.kill()


def test_a_second_process_is_told_who_holds_the_lock_within_two_seconds(tmp_path: Path) -> None:
    """The message names the process id; the holder's address can be read."""
    with holding(tmp_path) as child:
        started = time.monotonic()
        with pytest.raises(LockHeldError, match=f"process {child.pid} owns the index"):
            DirectoryLock(tmp_path, "index").acquire()
        assert time.monotonic() - started < 2
        who = holder(tmp_path, "index")
        assert who is not None
        assert (who.pid, who.address) == (child.pid, "http://127.0.0.1:8000")


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    """After kill -9 the notice is still there and is believed by nobody."""
    with holding(tmp_path) as child:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert (tmp_path / "index.holder.json").exists()
    assert holder(tmp_path, "index") is None
    with DirectoryLock(tmp_path, "index"):
        who = holder(tmp_path, "index")
        assert who is not None and who.pid == os.getpid()


def test_a_lock_is_released_at_the_end_of_its_block(tmp_path: Path) -> None:
    """Also after an error; the notice goes with it, and the two names are two locks."""
    with pytest.raises(KeyError), DirectoryLock(tmp_path, "ingest").acquire(), DirectoryLock(tmp_path, "index"):
        raise KeyError
    assert holder(tmp_path, "ingest") is None
    assert not list(tmp_path.glob("*.json"))


def test_one_process_cannot_take_a_lock_twice(tmp_path: Path) -> None:
    """Two owners within one process are two owners."""
    with DirectoryLock(tmp_path, "ingest"), pytest.raises(LockHeldError, match=f"process {os.getpid()} ingests into"):
        DirectoryLock(tmp_path, "ingest").acquire()


def test_the_address_can_be_told_later(tmp_path: Path) -> None:
    """A service knows its port only once it listens."""
    lock = DirectoryLock(tmp_path, "index")
    with pytest.raises(RuntimeError, match="not held"):
        lock.announce("http://127.0.0.1:1")
    with lock.acquire():
        lock.announce("http://127.0.0.1:4321")
        who = holder(tmp_path, "index")
        assert who is not None and who.address == "http://127.0.0.1:4321"


def test_the_notice_of_a_dead_process_is_not_the_holder(tmp_path: Path) -> None:
    """Between taking the lock and writing the notice, the old notice of a dead process is not believed."""
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    with DirectoryLock(tmp_path, "index"):
        (tmp_path / "index.holder.json").write_text(json.dumps({"pid": dead.pid, "address": "x", "since": ""}))
        assert holder(tmp_path, "index") == Holder(pid=0)


def test_nobody_holds_a_directory_that_is_not_there(tmp_path: Path) -> None:
    """Asking makes nothing."""
    assert holder(tmp_path / "nothing", "ingest") is None
    assert not (tmp_path / "nothing").exists()


def test_a_directory_that_cannot_be_made_is_an_environment_problem(tmp_path: Path) -> None:
    """A file in the way is told as such."""
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblemError, match="cannot be locked"):
        DirectoryLock(tmp_path / "file" / "kb", "ingest").acquire()
