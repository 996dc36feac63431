"""The ingest worker as the service's child: never missed for long, never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_qa.counters import Counters
from kb_qa.service import ingest_watch
from kb_qa.service.ingest_watch import IngestWatch
from tests.test_children import ends, is_running

pytestmark = pytest.mark.anyio

LIVES = "import os, sys, time; open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); time.sleep(120)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {LIVES}"
DIES = "import os, sys; open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); sys.exit(1)"


def watch(program: str, pids: Path, counters: Counters | None = None) -> IngestWatch:
    return IngestWatch([sys.executable, "-c", program, str(pids)], counters or Counters(), first_delay=0.05)


def started(pids: Path) -> list[int]:
    return [int(line) for line in pids.read_text().split()] if pids.exists() else []


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.02)


async def test_a_worker_that_is_killed_is_started_again(tmp_path: Path) -> None:
    """The service's own process goes on, and counts the death."""
    pids, counters = tmp_path / "pids", Counters()
    watched = watch(LIVES, pids, counters)
    async with watched.running():
        await until(lambda: len(started(pids)) == 1)
        assert watched.pid == started(pids)[0]
        os.kill(watched.pid, signal.SIGKILL)
        await until(lambda: len(started(pids)) == 2)
    assert counters.value("ingest_worker_deaths") == 1
    assert not any(map(is_running, started(pids)))


@pytest.mark.parametrize("program", [LIVES, DEAF], ids=["hears", "is deaf"])
async def test_the_worker_ends_with_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """It is told to, and killed where it does not listen."""
    monkeypatch.setattr(ingest_watch, "END_SECONDS", 0.3)
    pids = tmp_path / "pids"
    watched = watch(program, pids)
    async with watched.running():
        await until(lambda: bool(started(pids)))
    assert ends(started(pids)[0])
    assert watched.pid == 0


async def test_a_worker_that_cannot_live_is_tried_later_and_later(tmp_path: Path) -> None:
    """Each wait is twice the one before, so that a broken worker takes no processor from the questions."""
    pids = tmp_path / "pids"
    async with watch(DIES, pids).running():
        await until(lambda: len(started(pids)) >= 2)
        begun = asyncio.get_running_loop().time()
        await until(lambda: len(started(pids)) >= 4)
        assert asyncio.get_running_loop().time() - begun > 0.1 + 0.2


async def test_a_program_that_is_not_there_ends_nothing(tmp_path: Path) -> None:
    """The service serves without a worker."""
    watched = IngestWatch([str(tmp_path / "nothing")], Counters(), first_delay=0.01)
    async with watched.running():
        await asyncio.sleep(0.1)
        assert watched.pid == 0
