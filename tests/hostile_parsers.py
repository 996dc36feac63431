"""Parse functions that misbehave, each in one way. A spawned child imports them by name."""

from __future__ import annotations

import ctypes
import errno
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf

from ingest import document_reader, page_reader
from ingest.drafts import PageDraft
from ingest.kinds import Kind
from ingest.limits import Limits
from kb_qa.elements import Element, ParsedDocument
from kb_qa.errors import PasswordRequiredError


def _document(text: str) -> ParsedDocument:
    element = Element("e", "d", 0, "text", "NarrativeText", text, origin="parser")
    return ParsedDocument(pages=(), elements=(element,), parser="test")


def reads(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    return _document(path.read_text(encoding="utf-8"))


def obeys_file(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    """Does what the file says, so that one pool meets every kind of file."""
    return _ACTIONS[path.read_text(encoding="utf-8").strip()](path)


def _crash(path: Path) -> ParsedDocument:
    (path.parent / "crashes").open("a").write("x")
    os.abort()


def _crash_once(path: Path) -> ParsedDocument:
    mark = path.with_suffix(".mark")
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return _document("second time")


def _loop(path: Path) -> ParsedDocument:
    while True:
        pass


def _sleep_in_c(path: Path) -> ParsedDocument:
    """PyDLL keeps the interpreter's lock: no signal handler of Python runs."""
    ctypes.PyDLL(None).sleep(60)
    return _document("woke up")


def _fork(path: Path) -> ParsedDocument:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
    path.with_suffix(".pid").write_text(str(child.pid))
    return _document("forked")


def _fork_and_hang(path: Path) -> ParsedDocument:
    _fork(path)
    time.sleep(120)
    return _document("woke up")


def _take_memory(path: Path) -> ParsedDocument:
    return _document(str(len(bytearray(4_000_000_000))))


def _print(path: Path) -> ParsedDocument:
    line = "x" * 1_000_000
    for _ in range(1000):
        sys.stdout.write(line)
    os.write(2, line.encode())
    return _document("printed")


def _raise_value_error(path: Path) -> ParsedDocument:
    raise ValueError("what is this?")


def _fill_the_disk(path: Path) -> ParsedDocument:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _refuse(path: Path) -> ParsedDocument:
    raise PasswordRequiredError("'a.pdf' is encrypted")


def _exit(path: Path) -> ParsedDocument:
    sys.exit(3)


def _report_environment(path: Path) -> ParsedDocument:
    return _document(f"{sorted(os.environ)} {Path.cwd()} {os.getsid(0) == os.getpid()}")


def _connect(path: Path) -> ParsedDocument:
    try:
        socket.create_connection(("127.0.0.1", int(path.with_suffix(".port").read_text())), timeout=2)
    except OSError as error:
        return _document(f"refused: {error}")
    return _document("connected")


def _litter(path: Path) -> ParsedDocument:
    Path("left-over").write_text("x")
    return _document(str(Path.cwd()))


_ACTIONS: dict[str, Callable[[Path], ParsedDocument]] = {
    "read": lambda path: _document("read"),
    "crash": _crash,
    "crash once": _crash_once,
    "loop": _loop,
    "sleep in c": _sleep_in_c,
    "fork": _fork,
    "fork and hang": _fork_and_hang,
    "take memory": _take_memory,
    "print": _print,
    "raise": _raise_value_error,
    "fill the disk": _fill_the_disk,
    "refuse": _refuse,
    "exit": _exit,
    "environment": _report_environment,
    "connect": _connect,
    "litter": _litter,
}


def counted(path: Path, document_id: str, kind: Kind, *, limits: Limits, times: int) -> int:
    """So many times the file's letters: no parser, but called as one."""
    return times * len(path.read_text(encoding="utf-8"))


def _bloat() -> None:
    """Past the child's limit, in the way of C code that does not ask whether it got the memory."""
    try:
        bytearray(64_000_000_000)
    except MemoryError:
        os.abort()


_PAGE_ACTIONS: dict[str, Callable[[], object]] = {
    "crash": os.abort,
    "hang": lambda: ctypes.PyDLL(None).sleep(600),  # in C, with the interpreter's lock
    "loop": lambda: all(True for _ in itertools.count()),
    "bloat": _bloat,
}


def with_bad_pages(
    path: Path, document_id: str, kind: Kind, *, limits: Limits, parse: Callable[..., Any], bad: dict[int, str]
) -> Any:
    """Runs `parse`, with a reader that does on the pages of these numbers what `bad` says. Only in a child."""
    read = page_reader.read_page_draft

    def reads_or_dies(page: pymupdf.Page, number: int, limits: Limits, **given: Any) -> PageDraft:
        _PAGE_ACTIONS.get(bad.get(number, ""), lambda: None)()
        return read(page, number, limits, **given)

    document_reader.read_page_draft = reads_or_dies
    return parse(path, document_id, kind, limits=limits)
