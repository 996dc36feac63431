"""What hears of money, events and time: whoever watches the process decides what becomes of it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Spending(Protocol):
    """What was paid for models, by day (`2026-11-30`, UTC), in billionths of a US dollar."""

    def spent(self, day: str) -> int: ...

    def add(self, day: str, amount: int) -> None: ...


class Meter(Protocol):
    """Counts what happens, for whoever watches the process. From any thread."""

    def add(self, name: str, amount: float = 1, **labels: str) -> None: ...


class Stages(Protocol):
    def timed(self, stage: str) -> AbstractContextManager[None]:
        """While a stage of a question runs. It may be left in another task than it was entered in."""
        ...
