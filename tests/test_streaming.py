"""What goes over the wire while an answer is written, and what happens when either side stops."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sse_starlette.sse import SendTimeoutError
from starlette.types import Message

from kb_qa.answers import AnswerEvent
from kb_qa.errors import MissingIndexError, ModelError
from kb_qa.service.encoding import one_line
from kb_qa.service.streaming import Pace, encoded_events, event_stream
from tests.scripted_service import (
    ANSWER,
    DOCUMENT,
    ScriptedKnowledgeBase,
    ScriptedLibrary,
    events,
    plain_answer,
    served,
)

STREAM_HEADERS = {"x-accel-buffering": "no", "cache-control": "no-store"}


def frames(body: str) -> list[tuple[int, str, dict[str, object]]]:
    """(id, event, data) of each frame; fails where a frame is not id, event and one line of JSON."""
    found = []
    for frame in body.replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in frame.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        fields = dict(line.split(": ", 1) for line in lines)
        assert len(fields) == len(lines) == 3
        found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


def ask(base: str, question: str = "What was revenue?", **more: object) -> httpx.Response:
    return httpx.post(f"{base}/v1/ask", json={"question": question, **more}, timeout=10)


def test_events_arrive_in_order_with_their_ids() -> None:
    """The stream is the knowledge base's events, one frame each, in their order and with their ids."""
    with served(ScriptedKnowledgeBase()) as base:
        response = ask(base)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert [(frame[0], frame[1]) for frame in frames(response.text)] == [
        (event.id, event.event) for event in plain_answer()
    ]
    assert [frame[2] for frame in frames(response.text)] == [dict(event.data) for event in plain_answer()]


def test_text_survives_the_wire_byte_for_byte() -> None:
    """Line ends, line separators, tables, emoji and half surrogates come out as they went in, from ASCII lines."""
    pieces = [
        "| A | B |\n|---|---|",
        "a\r\nb",
        "c\rd",
        " \t ",
        "",
        "x\u2028y\u2029z\u0085",
        "营业收入 4,812 万元 🙂",
        "\ud800",
    ]
    script = events(
        ("start", {"answer_id": ANSWER}),
        *[("delta", {"seq": number, "text": text}) for number, text in enumerate(pieces)],
        ("end", {"complete": True}),
    )
    with served(ScriptedKnowledgeBase([*script])) as base:
        response = ask(base)
    assert response.content.isascii()
    texts = [data["text"] for _, event, data in frames(response.text) if event == "delta"]
    assert texts == pieces


@given(st.text())
def test_one_line_is_one_line_of_ascii(text: str) -> None:
    """Any text becomes one line of ASCII JSON, however a client splits lines, and comes back the same."""
    line = one_line({"text": text})
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}


def test_stream_headers_keep_proxies_from_buffering() -> None:
    """Streams, replays and refusals of the stream routes all tell proxies not to buffer or store."""
    library = ScriptedLibrary(answers={ANSWER: plain_answer()})
    with served(ScriptedKnowledgeBase(library=library)) as base:
        responses = [
            ask(base),
            httpx.get(f"{base}/v1/answers/{ANSWER}/events"),
            httpx.get(f"{base}/v1/answers/nothing/events"),
            ask(base, question=" "),
        ]
    assert [response.status_code for response in responses] == [200, 200, 404, 422]
    for response in responses:
        assert {name: response.headers[name] for name in STREAM_HEADERS} == STREAM_HEADERS


def test_first_event_does_not_wait_for_the_last() -> None:
    """The first event is with the client while the answer is still being written."""
    start, *rest = plain_answer()
    with (
        served(ScriptedKnowledgeBase([start, 0.8, *rest])) as base,
        httpx.stream("POST", f"{base}/v1/ask", json={"question": "?"}) as response,
    ):
        began = time.monotonic()
        pieces = response.iter_raw()
        first = next(pieces)
        waited = time.monotonic() - began
        assert b"event: start" in first
        assert b"event: end" not in first
        assert waited < 0.5
        assert b"event: end" in b"".join(pieces)


@pytest.mark.parametrize("before", [0, 1, 3])
def test_unknown_failure_ends_in_one_error_event_that_tells_nothing(
    before: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A failure inside becomes one last `error` event without its inside; the log has it under the same id."""
    script = [*plain_answer()[:before], RuntimeError("kaboom secret=/etc/x")]
    with caplog.at_level(logging.ERROR), served(ScriptedKnowledgeBase(script)) as base:
        response = ask(base)
    last_id, event, data = frames(response.text)[-1]
    assert (last_id, event, data["code"], data["retryable"]) == (before + 1, "error", "internal", False)
    assert len(frames(response.text)) == before + 1
    assert "kaboom" not in response.text
    assert "/etc/x" not in response.text
    assert data["request_id"] == response.headers["x-request-id"]
    assert f"request {data['request_id']}" in caplog.text
    assert "kaboom secret" in caplog.text


def test_typed_failure_keeps_its_words() -> None:
    """A model's failure reaches the reader with its code, its sentence and whether trying again may help."""
    script = [*plain_answer()[:3], ModelError("the model is overloaded", retryable=True)]
    with served(ScriptedKnowledgeBase(script)) as base:
        _, event, data = frames(ask(base).text)[-1]
    assert event == "error"
    assert {name: data[name] for name in ("code", "message", "retryable")} == {
        "code": "model_failed",
        "message": "the model is overloaded",
        "retryable": True,
    }


def test_error_event_of_the_knowledge_base_gets_the_request_id() -> None:
    """An `error` that the knowledge base tells itself is passed on once, with this request's id if it has none."""
    script = events(("start", {}), ("error", {"code": "model_failed", "message": "m", "retryable": False}))
    with served(ScriptedKnowledgeBase([*script])) as base:
        response = ask(base)
    assert [event for _, event, _ in frames(response.text)] == ["start", "error"]
    assert frames(response.text)[1][2]["request_id"] == response.headers["x-request-id"]


def test_generator_runs_to_its_end_after_the_last_event(caplog: pytest.LogCaptureFixture) -> None:
    """What comes after `end` (storing the answer) is done; its failure is logged, and is no second end."""
    stored = []

    class Storing(ScriptedKnowledgeBase):
        async def ask(self, question: str, **_: object) -> AsyncGenerator[AnswerEvent]:  # type: ignore[override]
            for event in plain_answer():
                yield event
            stored.append(question)
            raise RuntimeError("disk full")

    with caplog.at_level(logging.ERROR), served(Storing()) as base:
        told = [event for _, event, _ in frames(ask(base).text)]
    assert stored == ["What was revenue?"]
    assert told == [event.event for event in plain_answer()]
    assert "disk full" in caplog.text


def test_citation_can_be_looked_at_while_the_answer_is_written(tmp_path: Path) -> None:
    """The crop that a `citation` event links to is there when the event is, not only when the answer is stored."""
    original = tmp_path / "original"
    original.write_bytes(b"%PDF-")
    script = [*plain_answer()[:4], 60.0]
    with (
        served(ScriptedKnowledgeBase(script, originals={DOCUMENT: original})) as base,
        httpx.stream("POST", f"{base}/v1/ask", json={"question": "?"}) as response,
    ):
        pieces = response.iter_raw()
        while b"event: citation" not in next(pieces):
            pass
        crop = httpx.get(f"{base}/v1/answers/{ANSWER}/citations/1/region.png")
        assert (crop.status_code, crop.headers["content-type"]) == (200, "image/png")
        so_far = httpx.get(f"{base}/v1/answers/{ANSWER}").json()
        assert (so_far["text"], so_far["complete"]) == ("Revenue was 4,812 million.", False)
        response.close()
        deadline = time.monotonic() + 2
        while httpx.get(f"{base}/v1/answers/{ANSWER}").status_code != 404:
            assert time.monotonic() < deadline


@pytest.mark.parametrize("value", [float("nan"), b"bytes", object()], ids=["nan", "bytes", "object"])
def test_data_that_is_not_json_ends_in_an_error_event(value: object) -> None:
    """An event that JSON has no word for is a failure of ours, told as one; never a broken frame."""
    script = events(("start", {}), ("usage", {"cost": value}), ("end", {"complete": True}))
    with served(ScriptedKnowledgeBase([*script])) as base:
        assert [event for _, event, _ in frames(ask(base).text)] == ["start", "error"]


def test_answer_that_just_stops_is_not_complete() -> None:
    """A generator that ends without `end` leaves an `error`, so that no client takes the text for an answer."""
    with served(ScriptedKnowledgeBase([*plain_answer()[:3]])) as base:
        _, event, data = frames(ask(base).text)[-1]
    assert (event, data["code"], data["retryable"]) == ("error", "incomplete", True)


@pytest.mark.parametrize("read", [0, 1], ids=["before the first event", "after it"])
def test_client_that_leaves_closes_the_generator(read: int) -> None:
    """Within a second of the client's leaving, the generator is closed, and the next question is answered."""
    start, *rest = plain_answer()
    knowledge_base = ScriptedKnowledgeBase([*([start] if read else []), 60.0, *rest])
    with served(knowledge_base) as base:
        with httpx.stream("POST", f"{base}/v1/ask", json={"question": "?"}, timeout=5) as response:
            chunks = response.iter_raw()  # kept: when it goes, the connection is closed
            if read:
                next(chunks)
            assert knowledge_base.started.wait(2)
            assert not knowledge_base.closed.is_set()
        left = time.monotonic()
        assert knowledge_base.closed.wait(1)
        assert time.monotonic() - left <= 1
        knowledge_base.script = [*plain_answer()]
        assert frames(ask(base).text)[-1][1] == "end"


def test_client_that_does_not_read_is_not_waited_for_in_memory() -> None:
    """A client that stops reading stops the generator too: events do not pile up in the service."""
    produced = 0

    class Endless(ScriptedKnowledgeBase):
        async def ask(self, question: str, **_: object) -> AsyncGenerator[AnswerEvent]:  # type: ignore[override]
            nonlocal produced
            while True:
                produced += 1
                yield AnswerEvent(produced, "delta", {"seq": produced, "text": "x" * 50_000})
                await asyncio.sleep(0)

    with served(Endless()) as base:
        host, port = base.removeprefix("http://").split(":")
        body = b'{"question": "?"}'
        head = f"POST /v1/ask HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        with socket.create_connection((host, int(port))) as client:
            client.sendall(head.encode() + b"\r\n\r\n" + body)
            time.sleep(1)
            settled = produced
            time.sleep(0.5)
            assert produced - settled <= 2


def test_shutdown_ends_an_open_stream_with_an_event() -> None:
    """A stream that is open when the service stops says so as its last event, and its generator is closed."""
    knowledge_base = ScriptedKnowledgeBase([plain_answer()[0], 60.0])

    async def stopped_after_the_first() -> list[tuple[str | None, dict[str, object]]]:
        stopping = anyio.Event()
        told = []
        async for frame in encoded_events(knowledge_base.ask("?"), stopping=stopping, request_id="r"):
            told.append((frame.event, json.loads(frame.data or "")))
            stopping.set()
        return told

    began = time.monotonic()
    (first, _), (last, data) = asyncio.run(stopped_after_the_first())
    assert (first, last, data["code"], data["retryable"]) == ("start", "error", "shutting_down", True)
    assert knowledge_base.closed.is_set()
    assert time.monotonic() - began < 1


SERVING_PROCESS = """
import uvicorn
from kb_qa.service import create_app
from kb_qa.settings import Settings
from tests.scripted_service import CountingRenderer, ScriptedKnowledgeBase, plain_answer

app = create_app(ScriptedKnowledgeBase([plain_answer()[0], 60.0]), CountingRenderer(), Settings())
uvicorn.run(app, port=int(__import__("sys").argv[1]), log_config=None, timeout_graceful_shutdown=8)
"""


def test_terminated_process_ends_its_streams_and_exits() -> None:
    """SIGTERM with a stream open: the stream gets its last event, and the process is gone within ten seconds."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    root = Path(__file__).resolve().parent.parent
    process = subprocess.Popen([sys.executable, "-c", SERVING_PROCESS, str(port)], cwd=root)
    try:
        base = f"http://127.0.0.1:{port}"
        wait_for(base)
        with httpx.stream("POST", f"{base}/v1/ask", json={"question": "?"}, timeout=15) as response:
            pieces = response.iter_raw()
            received = next(pieces)
            process.terminate()
            told = time.monotonic()
            received += b"".join(pieces)
        _, event, data = frames(received.decode())[-1]
        assert (event, data["code"]) == ("error", "shutting_down")
        assert process.wait(10) in {0, -signal.SIGTERM}  # uvicorn raises the signal again once it has shut down
        assert time.monotonic() - told <= 10
    finally:
        process.kill()
        process.wait()


def wait_for(base: str, seconds: float = 60) -> None:
    """Until it is ready: it listens before."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(httpx.TransportError):  # on a busy machine it may be slow to answer, too
            if httpx.get(f"{base}/readyz").status_code == 200:
                return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_question_without_any_ready_document_is_503_before_the_stream() -> None:
    """Where nothing was ingested, asking is a plain 503 with the typed code, not a stream."""
    with served(ScriptedKnowledgeBase(library=ScriptedLibrary(records=[]))) as base:
        response = ask(base)
    assert response.status_code == MissingIndexError.status
    assert response.json()["code"] == "missing_index"


@pytest.fixture(scope="module")
def stored_answer() -> Iterator[str]:
    """The events' address of one stored answer, behind one server for all tests of replaying."""
    library = ScriptedLibrary(answers={ANSWER: plain_answer()})
    with served(ScriptedKnowledgeBase(library=library)) as base:
        yield f"{base}/v1/answers/{ANSWER}/events"


@pytest.mark.parametrize("seen", range(len(plain_answer())))
def test_replay_resumes_after_the_last_event_seen(seen: int, stored_answer: str) -> None:
    """With `Last-Event-ID`, the stored events go on where the client was; without, they start at the first."""
    response = httpx.get(stored_answer, headers={"Last-Event-ID": str(seen)} if seen else {})
    rest = plain_answer()[seen:]
    assert frames(response.text) == [(event.id, event.event, dict(event.data)) for event in rest]


@pytest.mark.parametrize("seen", ["6", "999"])
def test_replay_with_nothing_left_ends_a_browsers_retries(seen: str, stored_answer: str) -> None:
    """After the last event there is nothing: 204, which tells an EventSource to stop."""
    response = httpx.get(stored_answer, headers={"Last-Event-ID": seen})
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.parametrize(
    "seen", ["-1", "x", "1.5", "9" * 5000, "\u0661".encode()], ids=["-1", "x", "1.5", "long", "arabic"]
)
def test_last_event_id_that_is_no_number_is_refused(seen: str | bytes, stored_answer: str) -> None:
    """A `Last-Event-ID` that no event has is told as wrong input."""
    response = httpx.get(stored_answer, headers={"Last-Event-ID": seen})
    assert (response.status_code, response.json()["code"]) == (422, "invalid_input")


def test_many_streams_at_once_lose_and_mix_nothing() -> None:
    """Forty streams at a time each get all events, once and in order."""
    script = events(*[("delta", {"seq": number, "text": str(number)}) for number in range(50)], ("end", {}))

    async def all_of_them(base: str) -> list[str]:
        async with httpx.AsyncClient(timeout=20, limits=httpx.Limits(max_connections=40)) as client:
            asked = [client.post(f"{base}/v1/ask", json={"question": "?"}) for _ in range(40)]
            return [response.text for response in await asyncio.gather(*asked)]

    with served(ScriptedKnowledgeBase([*script])) as base:
        bodies = asyncio.run(all_of_them(base))
    assert all([frame[0] for frame in frames(body)] == list(range(1, 52)) for body in bodies)


def test_e7_compression_never_holds_a_stream_back() -> None:
    """E7: a client that takes gzip gets the first delta before the last is produced; other JSON is compressed."""
    start, *rest = plain_answer()
    library = ScriptedLibrary(answers={ANSWER: [*plain_answer("long " * 1000)]})
    with served(ScriptedKnowledgeBase([start, rest[1], 0.8, *rest[2:]], library=library)) as base:
        accepting = {"Accept-Encoding": "gzip, deflate, br"}
        stored = httpx.get(f"{base}/v1/answers/{ANSWER}", headers=accepting)
        assert stored.headers["content-encoding"] == "gzip"
        assert stored.json()["text"] == "long " * 1000
        replay = httpx.get(f"{base}/v1/answers/{ANSWER}/events", headers=accepting)
        assert "content-encoding" not in replay.headers
        with httpx.stream("POST", f"{base}/v1/ask", json={"question": "?"}, headers=accepting) as response:
            began = time.monotonic()
            received, pieces = b"", response.iter_raw()
            while b"event: delta" not in received:
                received += next(pieces)
            assert time.monotonic() - began < 0.8  # the pause of the answer
            assert b"event: end" not in received
            assert "content-encoding" not in response.headers


def test_a_silent_stream_is_kept_alive_by_comments() -> None:
    """Comments, which no client takes for an event, as long as there is nothing to tell."""
    told = asyncio.run(sent_by(plain_answer()[0], 0.35, pace=Pace(ping=0.1)))
    assert told.count(b": ping") == 3
    assert [event for _, event, _ in frames(told.decode())][:1] == ["start"]


def test_a_client_that_does_not_read_is_dropped() -> None:
    """When nothing could be sent for the allowed time, the response ends and the answer's generator is closed."""
    knowledge_base = ScriptedKnowledgeBase([*plain_answer(), 60.0])

    async def unread() -> None:
        async def send(message: Message) -> None:
            if message.get("body"):
                await asyncio.sleep(60)

        began = time.monotonic()
        with pytest.raises(SendTimeoutError):
            await event_stream(knowledge_base.ask("?"), request_id="r", pace=Pace(send=0.2))(SCOPE, never, send)
        assert time.monotonic() - began < 5
        assert knowledge_base.closed.is_set()

    asyncio.run(unread())


SCOPE = {"type": "http", "method": "POST"}


async def never() -> Message:
    await asyncio.sleep(60)
    raise AssertionError


async def sent_by(*script: AnswerEvent | float, pace: Pace) -> bytes:
    """What the response of a scripted answer sends."""
    sent = []

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))

    await event_stream(ScriptedKnowledgeBase([*script]).ask("?"), request_id="r", pace=pace)(SCOPE, never, send)
    return b"".join(sent)


def test_e9_a_question_is_no_part_of_an_address(caplog: pytest.LogCaptureFixture) -> None:
    """E9: questions are taken from the body of a POST alone, and stand in no line of the log."""
    secret = "whatisthesecretofnorthfell"
    config = {"log_level": "info", "access_log": True}
    with caplog.at_level(logging.INFO), served(ScriptedKnowledgeBase(), **config) as base:
        assert ask(base, question=secret).status_code == 200
        refused = httpx.get(f"{base}/v1/ask", params={"question": "q"})
        assert refused.status_code == 405
        assert httpx.post(f"{base}/v1/ask", params={"question": "q"}).status_code == 422
    assert "/v1/ask" in caplog.text
    assert secret not in caplog.text


@pytest.mark.parametrize("read", [0, 1], ids=["before the first event", "after it"])
def test_a_client_that_half_closes_has_left(read: int) -> None:
    """A client that will send nothing more is taken for gone, as HTTP/1.1 clients that go on reading do not do so."""
    start, *rest = plain_answer()
    knowledge_base = ScriptedKnowledgeBase([*([start] if read else []), 60.0, *rest])
    with served(knowledge_base) as base:
        host, port = base.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(
                f"POST /v1/ask HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n"
                '{"question": "?"}'.encode()
            )
            assert knowledge_base.started.wait(5)
            if read:
                while b"event: start" not in client.recv(65_536):
                    pass
            client.shutdown(socket.SHUT_WR)
            assert knowledge_base.closed.wait(1)
