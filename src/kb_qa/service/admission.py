"""How many answers are written at once: the others wait in line and are told where they stand."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from kb_qa.errors import BusyError

RETRY_SECONDS: Final = 10


@dataclass(slots=True)
class Admission:
    """A line with a cap. First come, first served."""

    most_open: int
    most_waiting: int
    open: int = 0
    line: list[int] = field(default_factory=list)  # the tickets of those that wait, in order
    _next: int = 0
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    def place(self) -> Place:
        """A place among the open ones, or at the end of the line; whoever takes it gives it back with `leave`.

        Raises BusyError where the line is full.
        """
        if self.open < self.most_open and not self.line:
            self.open += 1
            return Place(self, 0, admitted=True)
        if len(self.line) >= self.most_waiting:
            raise BusyError(
                f"{self.open} answers are being written and {len(self.line)} questions wait; ask again in a moment",
                retry_after=RETRY_SECONDS,
            )
        self._next += 1
        self.line.append(self._next)
        return Place(self, self._next)

    def _move(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()


@dataclass(slots=True)
class Place:
    """One question's place. `ticket` is 0 where it never had to wait."""

    admission: Admission
    ticket: int
    admitted: bool = False
    is_used: bool = False  # the answer has begun; its end gives the place back
    given_back: bool = False

    async def positions(self) -> AsyncGenerator[int]:
        """Where it stands in line, from 1, each time that changes; ends when its turn has come."""
        told = 0
        while not self.admitted and not self.given_back:
            position = bisect_left(self.admission.line, self.ticket) + 1
            if position == 1 and self.admission.open < self.admission.most_open:
                self._admit()
                return
            moved = self.admission._moved
            if position != told:
                told = position
                yield position
            else:
                await moved.wait()

    def leave(self) -> None:
        """However often it is called, the place is given back once."""
        if self.given_back:
            return
        self.given_back = True
        if self.admitted:
            self.admission.open -= 1
        else:
            self.admission.line.remove(self.ticket)
        self.admission._move()

    def leave_unused(self) -> None:
        """Nobody wants the answer any more, or it gives the place back itself."""
        if not self.is_used:
            self.leave()

    def _admit(self) -> None:
        self.admitted = True
        self.admission.line.remove(self.ticket)
        self.admission.open += 1
        self.admission._move()
