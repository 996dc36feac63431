"""Named places at which a test ends the process, as the power would, or lets a write fail, as a full disk would.

Inert in production: without the variable, which is read once when the module loads and which nothing but tests sets, a
failpoint is one comparison with None. It can end or fail only the process whose own environment asks for it.
"""

from __future__ import annotations

import errno
import os
import signal

VARIABLE = "KBQA_TEST_FAILPOINT"  # without the settings' prefix: it is none


class _Armed:
    """`kill:NAME:N` ends the process at the n-th time that NAME is reached, `full:NAME:N:M` fails it M times from then
    on for lack of room. `*` is any name; `log::PATH` writes each name to a file.
    """

    def __init__(self, told: str) -> None:
        self._action, self._name, *rest = told.split(":", 2)
        self._rest = rest[0] if rest else ""
        numbers = [int(number) for number in self._rest.split(":")] if self._action != "log" else [0]
        self._first, self._times = numbers[0], (numbers[1] if len(numbers) > 1 else 1)
        self._seen = 0

    def reach(self, name: str) -> None:
        if self._action == "log":
            with open(self._rest, "a", encoding="utf-8") as file:  # noqa: PTH123  nothing is imported for this
                file.write(f"{name}\n")
            return
        if self._name not in (name, "*"):
            return
        self._seen += 1
        if self._action == "kill" and self._seen == self._first:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._action == "full" and self._first <= self._seen < self._first + self._times:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _armed(told: str) -> _Armed | None:
    return _Armed(told) if told else None


_here = _armed(os.environ.get(VARIABLE, ""))


def arm(told: str) -> None:
    """For a test that forks: as if the variable had been set when this process began; "" disarms."""
    global _here
    _here = _armed(told)


def failpoint(name: str) -> None:
    if _here is not None:
        _here.reach(name)
