"""How long the stages of an answer take: told to a meter, so that whoever watches decides what becomes of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from kb_qa.protocols import Meter

# `answer` is generating, checking and citing, which take turns.
Stage = Literal["retrieve", "context", "answer"]
STAGE_SECONDS = "stage_seconds"


class _SilentMeter:
    """Nobody watches."""

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        pass


SILENT = _SilentMeter()


@contextmanager
def timed(meter: Meter, stage: Stage) -> Iterator[None]:
    """Adds the seconds by the clock, also of a stage that fails or is given up."""
    started = time.perf_counter()
    try:
        yield
    finally:
        meter.add(STAGE_SECONDS, time.perf_counter() - started, stage=stage)
