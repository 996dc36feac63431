"""A Messages API over real HTTP, on loopback, that says what it is told to and keeps every request it got."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kb_qa.testing.prompt_cache import PromptCache, count
from kb_qa.testing.replies import HttpFault, Reply, error_json, frame, frames, message_json, said
from kb_qa.testing.request_rules import MOST_BYTES, problem_of
from kb_qa.testing.serving import serving

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Scripted = Reply | HttpFault | Callable[[Mapping[str, Any]], Reply | HttpFault]

MODELS = {"claude-sonnet-5-5": 1_000_000, "claude-haiku-5-5": 200_000}
_FILE_NAME = re.compile(rb'filename="([^"]*)"')


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it arrived; `json` is empty where the body is none. `at` is of the monotonic clock."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    json: Mapping[str, Any]
    at: float


@dataclass(slots=True)
class ScriptedMessagesAPI:
    """Replies from a queue, then `otherwise` for ever. `left` counts clients that closed a stream before its end.

    Requests that the API would refuse are refused, whatever the queue holds. `models` are the known ids with the size
    of their windows.
    """

    replies: list[Scripted] = field(default_factory=list)
    otherwise: Scripted = field(default_factory=lambda: said("Not found in the materials."))
    cache: PromptCache = field(default_factory=PromptCache)
    models: dict[str, int] = field(
        default_factory=lambda: {"claude-sonnet-5-5": 1_000_000, "claude-haiku-5-5": 200_000}
    )
    requests: list[SentRequest] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    url: str = ""
    open_streams: int = 0
    left: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def asked(self) -> list[SentRequest]:
        """The requests for a message."""
        return [request for request in self.requests if request.path == "/v1/messages"]

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        body = await _body(receive)
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        request = SentRequest(scope["method"], scope["path"], headers, body, _json(body), time.monotonic())
        self.requests.append(request)
        response = self._response(request)
        if isinstance(response, HttpFault):
            await self._send(send, response.status, response.content(), response.content_type, response.headers)
        elif isinstance(response, Reply):
            await self._answer(response, request, receive, send)
        else:
            await self._send(send, 200, json.dumps(response).encode(), "application/json", {})

    def _response(self, request: SentRequest) -> Reply | HttpFault | dict[str, Any]:
        if not request.headers.get("x-api-key") and not request.headers.get("authorization"):
            return HttpFault(401, "authentication_error", "x-api-key header is required")
        match (request.method, request.path):
            case ("POST", "/v1/messages"):
                return self._message(request)
            case ("POST", "/v1/messages/count_tokens"):
                return {"input_tokens": count(request.json)}
            case ("POST", "/v1/files"):
                return self._upload(request.body)
            case ("GET", path) if path.startswith("/v1/models/"):
                return self._model(path.removeprefix("/v1/models/"))
            case _:
                return HttpFault(404, "not_found_error", "Not found")

    def _message(self, request: SentRequest) -> Reply | HttpFault:
        if len(request.body) > MOST_BYTES:
            return HttpFault(413, "request_too_large", "Request exceeds the maximum size")
        problem = problem_of(request.json)
        if problem:
            return HttpFault(400, "invalid_request_error", problem)
        scripted = self.replies.pop(0) if self.replies else self.otherwise
        reply = scripted(request.json) if callable(scripted) else scripted
        if isinstance(reply, Reply) and request.json["model"] not in self.models:
            return HttpFault(404, "not_found_error", f"model: {request.json['model']}")
        return reply

    def _upload(self, body: bytes) -> dict[str, Any]:
        file_id = f"file_{len(self.files) + 1:06d}"
        self.files[file_id] = body
        name = _FILE_NAME.search(body)
        return {
            "id": file_id,
            "type": "file",
            "filename": name[1].decode() if name else "file",
            "mime_type": "application/pdf",
            "size_bytes": len(body),
            "created_at": "2026-01-01T00:00:00Z",
            "downloadable": False,
        }

    def _model(self, model: str) -> dict[str, Any] | HttpFault:
        if model not in self.models:
            return HttpFault(404, "not_found_error", f"model: {model}")
        return {
            "id": model,
            "type": "model",
            "display_name": model,
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": self.models[model],
            "max_tokens": 64_000,
        }

    async def _answer(self, reply: Reply, request: SentRequest, receive: Receive, send: Send) -> None:
        number = len(self.asked)
        usage = self.cache.usage(request.json) | {"output_tokens": _output_tokens(reply)}
        message = (f"msg_{number:06d}", str(request.json["model"]), usage)
        if not request.json.get("stream"):
            content = json.dumps(message_json(reply, *message), ensure_ascii=False).encode()
            await self._send(send, 200, content, "application/json", {})
            return
        await send(_start(200, "text/event-stream", {}, len(self.requests)))
        self.open_streams += 1
        leaving = asyncio.create_task(_left(receive))
        try:
            ended = await self._stream(reply, list(frames(reply, *message)), send, leaving)
        finally:
            self.open_streams -= 1
            self.left += leaving.done()
            leaving.cancel()
        if ended:
            await send({"type": "http.response.body", "body": b""})

    async def _stream(self, reply: Reply, wire: Sequence[str], send: Send, leaving: asyncio.Task[None]) -> bool:
        """Whether the response is to be ended properly; else the server cuts the connection."""
        for index in range(len(wire) + 1):
            if leaving.done():
                return False
            if index == reply.end_after:
                return True
            if index == reply.drop_after:
                await asyncio.sleep(0.01)  # what was sent is on its way
                return False
            if index == reply.error_after:
                await _write(send, frame(error_json(reply.error_type, "scripted")), reply.byte_by_byte)
                return True
            if index == reply.silence_after:
                await self._silence(send, leaving, pings=reply.endless_pings)
                return False
            if index < len(wire):
                await asyncio.wait({leaving}, timeout=reply.pause)
                await _write(send, wire[index], reply.byte_by_byte)
        return True

    async def _silence(self, send: Send, leaving: asyncio.Task[None], *, pings: bool) -> None:
        while not leaving.done() and not self.stopping.is_set():
            await asyncio.wait({leaving}, timeout=0.05)
            if pings and not leaving.done():
                await _write(send, frame({"type": "ping"}), False)

    async def _send(
        self, send: Send, status: int, content: bytes, content_type: str, headers: Mapping[str, str]
    ) -> None:
        await send(_start(status, content_type, headers, len(self.requests)))
        await send({"type": "http.response.body", "body": content})


@contextmanager
def scripted_messages_api(*replies: Scripted, **fields: Any) -> Iterator[ScriptedMessagesAPI]:
    """The API behind a uvicorn of its own on a free port; `url` is its base URL."""
    api = ScriptedMessagesAPI(list(replies), **fields)
    with serving(api, log_level="critical", lifespan="off") as url:
        api.url = url
        try:
            yield api
        finally:
            api.stopping.set()


def _start(status: int, content_type: str, headers: Mapping[str, str], number: int) -> Message:
    sent = {"content-type": content_type, "request-id": f"req_{number:06d}", **headers}
    pairs = [(name.encode(), value.encode()) for name, value in sent.items()]
    return {"type": "http.response.start", "status": status, "headers": pairs}


async def _write(send: Send, text: str, byte_by_byte: bool) -> None:
    data = text.encode()
    for piece in [data[index : index + 1] for index in range(len(data))] if byte_by_byte else [data]:
        await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _body(receive: Receive) -> bytes:
    pieces = []
    more = True
    while more:
        message = await receive()
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces)


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _output_tokens(reply: Reply) -> int:
    content = message_json(reply, "", "", {})["content"]
    return max(1, sum(len(str(block.get("text", block.get("thinking", "")))) for block in content) // 4)
