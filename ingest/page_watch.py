"""Which page a parser child is at, told to its parent before each page; and the end of a child that a page holds up.

The child is ended by the kernel's alarms, which need no turn of the interpreter: a loop in C ends too. They count
processor time, since a sound page takes long on a busy machine, and, more patiently, time, for what only waits.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TOO_LONG = (signal.SIGPROF, signal.SIGALRM)  # what a child dies of whose page takes too long
PATIENCE = 3  # times the seconds of a page, by the clock on the wall


@dataclass(frozen=True, slots=True)
class PageWatch:
    """`mark`, a file of the parent's, is there while a page is read. `seconds` of processor time are for one page."""

    mark: Path
    seconds: float

    @contextmanager
    def at(self, index: int, count: int) -> Iterator[None]:
        """Around the reading of the page at the place `index` (from 0) of `count`."""
        self.mark.write_text(f"{index} {count}")
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE * self.seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.mark.unlink(missing_ok=True)

    def died_at(self) -> tuple[int, int] | None:
        """The place of the page at which the child died, and how many pages there are; None where it was at none.

        A child that a document took over can forge it: what does not make sense counts as none.
        """
        try:
            words = self.mark.read_text("ascii").split()
        except (OSError, ValueError):
            return None
        self.mark.unlink(missing_ok=True)
        if len(words) != 2 or not all(word.isdecimal() and len(word) < 8 for word in words):
            return None
        index, count = int(words[0]), int(words[1])
        return (index, count) if index < count else None
