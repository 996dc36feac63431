"""The ingest worker as the service's child: started, watched, started again when it dies, ended with the service."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from kb_qa.counters import Counters

log = logging.getLogger(__name__)

FIRST_DELAY = 0.5  # seconds before a worker that died is started again; doubled each time
LONGEST_DELAY = 30.0
LONG_LIFE = 60.0  # after which a death is the first one again
END_SECONDS = 8.0  # for giving its job back
_LOOK_SECONDS = 0.2


def worker_command(kb: Path) -> list[str]:
    return [sys.executable, "-m", "ingest", "work", "--kb", str(kb), "--parent", str(os.getpid())]


class IngestWatch:
    """Keeps one worker alive. A worker that dies costs the service nothing but a new one, later and later."""

    def __init__(self, command: Sequence[str], counters: Counters, *, first_delay: float = FIRST_DELAY) -> None:
        self._command = command
        self._counters = counters
        self._first_delay = first_delay
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ending = False

    @property
    def pid(self) -> int:
        """The worker's process; 0 where there is none at the moment."""
        return self._process.pid if self._process is not None and self._process.poll() is None else 0

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await asyncio.to_thread(self.end)

    async def _watch(self) -> None:
        delay = self._first_delay
        while not self._is_ending:
            started = time.monotonic()
            try:
                # A session of its own: what ends the service by its terminal lets the worker give its job back.
                self._process = subprocess.Popen(self._command, start_new_session=True, stdin=subprocess.DEVNULL)
            except OSError:
                log.exception("the ingest worker cannot be started")
            else:
                while self._process.poll() is None:
                    await asyncio.sleep(_LOOK_SECONDS)
                _end_group(self._process.pid)
                log.warning("the ingest worker ended with code %s", self._process.returncode)
                self._counters.add("ingest_worker_deaths")
            if time.monotonic() - started > LONG_LIFE:
                delay = self._first_delay
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY)

    def begin_to_end(self) -> None:
        """Tells the worker to give its job back, and waits for nothing; no other is started."""
        self._is_ending = True
        if self.pid and self._process is not None:
            self._process.terminate()

    def end(self) -> None:
        """Tells the worker to end, and ends it where it does not."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_SECONDS)
        _end_group(process.pid)
        process.wait()


def _end_group(leader: int) -> None:
    """What a worker left running ends with it; its parser children have sessions of their own, and end themselves."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
