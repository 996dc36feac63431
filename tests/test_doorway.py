"""The service listens before it can answer, and says what it waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import httpx
from fastapi import FastAPI

from kb_qa.counters import Counters
from kb_qa.errors import LockHeldError
from kb_qa.service import create_app
from kb_qa.service.doorway import Doorway, waiting_room
from kb_qa.service.middleware import RequestRim
from kb_qa.service.parts import Operations
from kb_qa.service.readiness import Readiness
from kb_qa.service.recording import Recorder
from kb_qa.settings import LOOPBACK_NAMES, Settings
from kb_qa.testing.serving import serving
from tests.scripted_service import CountingRenderer, ScriptedKnowledgeBase


@contextmanager
def standing(doorway: Doorway) -> Iterator[httpx.Client]:
    with serving(doorway, log_config=None) as base, httpx.Client(base_url=base, timeout=10) as client:
        yield client


def rim(readiness: Readiness) -> RequestRim:
    return RequestRim(waiting_room(readiness), hosts=LOOPBACK_NAMES, recorder=Recorder(Counters()))


def test_it_says_what_it_waits_for_until_it_answers() -> None:
    """Alive at once; not ready, with the reason, on every path; then the application, until its lifespan is ended."""
    readiness, go, told = Readiness("the index is being rebuilt from the ledger"), threading.Event(), []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        told.append("lives")
        yield
        told.append("ended")

    def opened(held: ExitStack) -> FastAPI:
        held.callback(lambda: told.append("closed"))
        go.wait(10)
        operations = Operations(readiness=readiness)
        app = create_app(
            ScriptedKnowledgeBase(),  # type: ignore[arg-type]
            CountingRenderer(),  # type: ignore[arg-type]
            Settings(),
            operations=operations,
            lifespan=lifespan,
        )
        readiness.wait_for("")
        return app

    doorway = Doorway(opened, rim(readiness), lambda: None)
    with standing(doorway) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        waiting = client.get("/readyz")
        assert (waiting.status_code, waiting.headers["retry-after"]) == (503, "2")
        assert waiting.json() == {"status": "not ready", "reason": "the index is being rebuilt from the ledger"}
        for method, path in (("GET", "/v1/documents"), ("POST", "/v1/ask"), ("GET", "/nothing")):
            refused = client.request(method, path)
            assert (refused.status_code, refused.json()["code"]) == (503, "not_ready")
            assert "rebuilt" in refused.json()["message"]
            assert refused.headers["x-content-type-options"] == "nosniff"
        assert client.get("/").headers["refresh"] == "2"
        assert client.get("/readyz", headers={"Host": "evil.example"}).status_code == 400
        go.set()
        until = time.monotonic() + 10
        while not client.get("/readyz").is_success:
            assert time.monotonic() < until
            time.sleep(0.02)
        assert client.get("/v1/documents").status_code == 200
        readiness.wait_for("the index is being rebuilt from the ledger")
        assert client.get("/readyz").status_code == 503
        assert "kb_qa_ready 0\n" in client.get("/metrics").text
    assert told == ["lives", "ended", "closed"]


def test_what_fails_while_it_opens_ends_the_service() -> None:
    """With the error that whoever started it raises; what was opened before is closed."""
    gave_up, closed = threading.Event(), threading.Event()

    def fail(held: ExitStack) -> FastAPI:
        held.callback(closed.set)
        raise LockHeldError("process 7 owns the index")

    doorway = Doorway(fail, rim(Readiness()), gave_up.set)
    with standing(doorway) as client:
        assert gave_up.wait(10)
        assert client.get("/readyz").status_code == 503
    assert isinstance(doorway.failure, LockHeldError)
    assert closed.is_set()


def test_to_be_stopped_does_not_wait_for_the_opening() -> None:
    """A large index takes long to rebuild: it may be given up at any moment. What comes too late is closed again."""
    go, closed = threading.Event(), threading.Event()

    def slow(held: ExitStack) -> FastAPI:
        go.wait(30)
        held.callback(closed.set)
        raise LockHeldError("nobody waits for this")

    began = time.monotonic()
    with standing(Doorway(slow, rim(Readiness("slow")), lambda: None)) as client:
        assert client.get("/healthz").is_success
    assert time.monotonic() - began < 8
    go.set()
    assert closed.wait(5)
