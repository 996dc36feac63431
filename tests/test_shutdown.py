"""A service that is told to stop: what is open, what comes then, and how the process ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from kb_qa.service.shutdown import FINISH_SECONDS
from tests.test_streaming import frames, wait_for

ROOT = Path(__file__).resolve().parent.parent
SERVING = """
import sys
import uvicorn
from kb_qa.service import create_app, server
from kb_qa.service.shutdown import FinishingServer
from kb_qa.settings import Settings
from tests.scripted_service import CountingRenderer, ScriptedKnowledgeBase, plain_answer

start, *rest = plain_answer()
app = create_app(ScriptedKnowledgeBase([start, float(sys.argv[2]), *rest]), CountingRenderer(), Settings())
config = uvicorn.Config(app, port=int(sys.argv[1]), log_config=None, timeout_graceful_shutdown=server.SHUTDOWN_SECONDS)
parts = app.state.parts
server.end_quietly()
FinishingServer(config, parts.operations.shutdown, parts.open_answers).run()
"""


@contextmanager
def process(silence: float) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process whose answers pause for so many seconds after their first event."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = subprocess.Popen([sys.executable, "-c", SERVING, str(port), str(silence)], cwd=ROOT, env=environment)
    try:
        wait_for(f"http://127.0.0.1:{port}")
        yield child, f"http://127.0.0.1:{port}"
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize(("silence", "last"), [(3.0, "end"), (60.0, "error")], ids=["finished", "cut"])
def test_open_answers_end_with_an_event_while_new_requests_are_503(silence: float, last: str) -> None:
    """SIGTERM: an answer that is nearly done is finished, another ends with an error event; all within 10 s, exit 0."""
    with process(silence) as (child, base):
        with httpx.stream("POST", f"{base}/v1/ask", json={"question": "?"}, timeout=15) as response:
            pieces = response.iter_raw()
            received = next(pieces)
            child.send_signal(signal.SIGTERM)
            told = time.monotonic()
            time.sleep(0.3)
            refused = httpx.post(f"{base}/v1/ask", json={"question": "?"})
            assert (refused.status_code, refused.json()["code"]) == (503, "shutting_down")
            assert int(refused.headers["retry-after"]) > 0
            assert httpx.get(f"{base}/healthz").status_code == 200
            received += b"".join(pieces)
        _, event, data = frames(received.decode())[-1]
        assert event == last
        assert data.get("code", "") == ("" if last == "end" else "shutting_down")
        assert child.wait(10) == 0
        assert time.monotonic() - told <= 10


def test_an_idle_service_ends_at_once() -> None:
    """Nothing is waited for where nothing is open."""
    with process(60.0) as (child, base):
        httpx.get(f"{base}/healthz")
        told = time.monotonic()
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 0
        assert time.monotonic() - told < FINISH_SECONDS


def test_a_second_signal_does_not_wait() -> None:
    """Whoever insists is not kept waiting until answers are finished."""
    with process(60.0) as (child, base), httpx.stream("POST", f"{base}/v1/ask", json={"question": "?"}) as response:
        pieces = response.iter_raw()  # kept: when it goes, the connection is closed
        next(pieces)
        told = time.monotonic()
        child.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 0
        assert time.monotonic() - told < FINISH_SECONDS
