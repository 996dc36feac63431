"""What a parser child is before it reads anything: alone in its session, without network, keys, output and excess."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import socket
import sys
import tempfile
from pathlib import Path

from ingest.limits import BYTES_PER_MB
from ingest.priority import keep_behind

_SECRET_PARTS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
_SECRET_PREFIXES = ("ANTHROPIC_", "AWS_", "AZURE_", "GOOGLE_", "OPENAI_", "HF_")
_CHILD_ENVIRONMENT = {
    "DO_NOT_TRACK": "1",
    "UNSTRUCTURED_DISABLE_NOTICE": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_FILE_BYTES = 2 * 1024 * BYTES_PER_MB  # a file a child writes
_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


def confine(scratch: str, parent: int, memory_mb: int, workers: int) -> None:
    """Makes a fresh child harmless. Runs before the first task."""
    _die_with_parent(parent)
    os.setsid()
    keep_behind()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # pebble's handler needs a turn of the interpreter; C code gives none
    folder = Path(scratch) / str(os.getpid())
    folder.mkdir()
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    _scrub_environment(folder)
    os.environ["OMP_NUM_THREADS"] = str(max((os.cpu_count() or 1) // workers, 1))  # or children fight for the cores
    _cut_network()
    _limit_resources(memory_mb)
    _silence()


def _die_with_parent(parent: int) -> None:
    """A parent that is killed cannot end its children: the kernel does (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _scrub_environment(folder: Path) -> None:
    for name in tuple(os.environ):
        if name.upper().startswith(_SECRET_PREFIXES) or any(part in name.upper() for part in _SECRET_PARTS):
            del os.environ[name]
    os.environ.update(_CHILD_ENVIRONMENT, TMPDIR=str(folder), HOME=str(folder))


def _cut_network() -> None:
    """An empty network namespace where the kernel allows one; in any case no sockets but local ones in Python."""
    if sys.platform == "linux":
        _enter_empty_network()
    socket.socket = _LocalSocket  # type: ignore[misc]  # replaced for good: this process parses and nothing else


def _enter_empty_network() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) == 0:
        return
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
        # Without these maps no file could be created: its owner would have no number here.
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


class _LocalSocket(socket.socket):
    def __init__(self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> None:
        super().__init__(family, type, proto, fileno)
        if self.family != socket.AF_UNIX:
            self.close()
            raise PermissionError("a parser has no network")


def _limit_resources(memory_mb: int) -> None:
    memory = memory_mb * BYTES_PER_MB
    # Private writable memory, and not the address space: that one counts files and reservations that cost nothing.
    for kind, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, _FILE_BYTES), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))


def _silence() -> None:
    """What parsers print goes nowhere: it could be a gigabyte."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
