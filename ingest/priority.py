"""How little of the processor ingest asks for beside a service: questions first."""

from __future__ import annotations

import os
import time
from pathlib import Path

BEHIND = 5  # niceness: a third of the weight of a process that answers; much less would stand still on a busy machine

_AUTOGROUP = Path("/proc/self/autogroup")
_TRIES, _APART = 4, 0.12  # the kernel takes ten such changes a second, from all of a machine's users


def step_behind() -> None:
    """This process, and those that it starts, run on what others leave: all of it, where they leave all."""
    os.nice(max(BEHIND - os.nice(0), 0))
    if hasattr(os, "SCHED_BATCH"):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    keep_behind()


def keep_behind() -> None:
    """The same for a session of its own: Linux may weigh sessions against each other, and a new one is not nice."""
    niceness = os.nice(0)
    for _ in range(_TRIES if niceness > 0 else 0):
        try:
            _AUTOGROUP.write_text(str(niceness))
        except BlockingIOError:
            time.sleep(_APART)
        except OSError:  # a kernel without such groups
            return
        else:
            return
