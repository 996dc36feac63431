"""Folders for what is needed for a while: gone when that is over, or else with the next one that is made.

They hold parts of documents: a process that was killed must not leave them for good. Whoever made a folder holds a lock
on it (the kernel's, which ends with the process); one that nobody holds is left over.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from types import TracebackType

PREFIX = "kb-qa-scratch-"


class Scratch:
    """A new folder for its owner alone; in the system's temporary folder unless `parent` is another one.

    It is there until `remove`, or as a context manager for the block. Making it removes those with the same prefix
    beside it that a killed process left.
    """

    def __init__(self, prefix: str = PREFIX, parent: Path | None = None) -> None:
        parent = parent or Path(tempfile.gettempdir())
        remove_abandoned(prefix, parent)
        self.path, lock = _made(prefix, parent)
        self._end = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        self._end()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def remove_abandoned(prefix: str = PREFIX, parent: Path | None = None) -> None:
    """Removes the folders of processes that were killed; those of the living, and of other users, stay."""
    with suppress(OSError):
        for entry in os.scandir(parent or tempfile.gettempdir()):
            if entry.name.startswith(prefix):
                _remove_unheld(Path(entry.path))


def _made(prefix: str, parent: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        with suppress(OSError):  # a file system without locks: there, nothing is ever taken for left over
            fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return path, lock
        os.close(lock)  # another process took it for left over between the two


def _remove_unheld(path: Path) -> None:
    with suppress(OSError):  # held, not ours, no folder, or gone meanwhile
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)


def _remove(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)
