"""What runs beside a service leaves the processor to it, and so do its parser children."""

from __future__ import annotations

import subprocess
import sys

import pytest

ASKED = """
import os
from pathlib import Path
from ingest.priority import keep_behind, step_behind
os.setsid()
if {behind}:
    step_behind()
if os.fork() == 0:
    os.setsid()
    keep_behind()
    session = Path("/proc/self/autogroup")
    told = session.read_text().split()[-1] if session.exists() else os.nice(0)
    print(os.nice(0), told, os.sched_getscheduler(0) == os.SCHED_BATCH, flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="weighs processes in another way")
@pytest.mark.parametrize(("behind", "told"), [(True, "5 5 True"), (False, "0 0 False")])
def test_a_child_in_a_session_of_its_own_stays_behind(behind: bool, told: str) -> None:
    """Its niceness, that of its session, and its class are those of the process that stepped behind, or untouched."""
    program = ASKED.format(behind=behind)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == told
