"""The rim around every request: who may ask, how much may be sent, what every response carries.

Plain ASGI: a middleware that wraps the response in a task of its own would hide from it that the client left.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import time
import uuid
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from sse_starlette.sse import SendTimeoutError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kb_qa.logs import bound
from kb_qa.service.problems import INTERNAL_MESSAGE, problem_response
from kb_qa.service.recording import Recorder
from kb_qa.settings import LOOPBACK_NAMES

logger = logging.getLogger(__name__)

MAX_BODY_BYTES: Final = 64 * 1024
BODY_SECONDS: Final = 30.0
DOCUMENTS: Final = "/v1/documents"
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

# What a browser says of a request that a page of another site made. Following a link to here is no such request.
FOREIGN_SITES: Final = frozenset({"cross-site", "same-site"})

_HOST: Final = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:/?#@\[\]\s]+)(?::[0-9]{1,5})?")

# A response that sets one of these itself keeps its own value.
DEFAULT_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def allowed_hosts(host: str, named: str = "") -> frozenset[str] | None:
    """The names a service bound to `host` answers to, those of the list `named` among them; None for any.

    A page of another site can reach a loopback address under a name of its own (DNS rebinding), hence the check.
    """
    names = frozenset(name.strip().lower() for name in named.split(",") if name.strip())
    try:
        is_every_address = ipaddress.ip_address(host).is_unspecified
    except ValueError:
        is_every_address = False
    if is_every_address:
        return names | LOOPBACK_NAMES if names else None
    return names | LOOPBACK_NAMES | {host.lower()}


class RequestRim:
    def __init__(self, app: ASGIApp, *, hosts: frozenset[str] | None, recorder: Recorder) -> None:
        self.app = app
        self.hosts = hosts
        self.recorder = recorder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = uuid.uuid4().hex
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        outgoing = _Outgoing(send, request_id)
        started = time.monotonic()
        with bound(request_id=request_id), self.recorder.span(request_id) as span:
            try:
                await self._answered(scope, receive, outgoing)
            finally:
                self.recorder.record(
                    state,
                    span,
                    status=outgoing.status,
                    seconds=time.monotonic() - started,
                    client=(scope.get("client") or ("",))[0],
                )

    async def _answered(self, scope: Scope, receive: Receive, outgoing: _Outgoing) -> None:
        refusal = _refusal(Headers(scope=scope), scope["method"], self.hosts)
        if refusal is not None:
            status, message = refusal
            response = problem_response(status, code="refused", message=message, request_id=outgoing.request_id)
            await response(scope, receive, outgoing)
            return
        incoming = receive if scope["method"] in {"GET", "HEAD"} or _is_upload(scope) else LimitedBody(receive)
        await self._guarded(scope, incoming, outgoing)

    async def _guarded(self, scope: Scope, receive: Receive, send: _Outgoing) -> None:
        try:
            await self.app(scope, receive, send)
        except SendTimeoutError:
            logger.warning("request %s: dropped a client that does not read", send.request_id)
        except Exception:  # the outer rim of a request: logged here, told without its inside
            logger.exception("request %s failed", send.request_id)
            if send.status:
                raise
            response = problem_response(500, code="internal", message=INTERNAL_MESSAGE, request_id=send.request_id)
            await response(scope, receive, send)


class EncodedSlashes:
    """A slash that was percent-encoded belongs to the name of an upload, and is no part of a path."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "PUT":
            folder, name = DOCUMENTS.encode() + b"/", scope.get("raw_path", b"").partition(b"?")[0]
            if name.startswith(folder) and b"/" not in name.removeprefix(folder):
                shown = unquote(name.removeprefix(folder).decode("latin-1")).replace("/", "\\")
                scope = {**scope, "path": f"{DOCUMENTS}/{shown}"}
        await self.app(scope, receive, send)


def _is_upload(scope: Scope) -> bool:
    """These bodies are counted and timed by the route, against other limits."""
    if scope["method"] == "POST":
        return bool(scope["path"] == DOCUMENTS)
    return bool(scope["method"] == "PUT" and scope["path"].startswith(f"{DOCUMENTS}/"))


@dataclass(slots=True)
class _Outgoing:
    """`send`, with the headers that every response carries."""

    send: Send
    request_id: str
    status: int = 0  # 0: nothing was sent yet

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self.request_id
            for name, value in DEFAULT_HEADERS.items():
                headers.setdefault(name, value)
        await self.send(message)


@dataclass(slots=True)
class LimitedBody:
    """`receive`, for a body of at most MAX_BODY_BYTES that is there within BODY_SECONDS."""

    receive: Receive
    received: int = 0
    complete: bool = False
    deadline: float = field(default_factory=lambda: asyncio.get_running_loop().time() + BODY_SECONDS)

    async def __call__(self) -> Message:
        if self.complete:
            return await self.receive()
        try:
            async with asyncio.timeout_at(self.deadline):
                message = await self.receive()
        except TimeoutError as error:
            raise HTTPException(408, f"the request's body was not complete after {BODY_SECONDS:g} seconds") from error
        self.received += len(message.get("body", b""))
        self.complete = not message.get("more_body", False)
        if self.received > MAX_BODY_BYTES:
            raise HTTPException(413, f"the request's body is larger than {MAX_BODY_BYTES} bytes")
        return message


def _refusal(headers: Headers, method: str, hosts: frozenset[str] | None) -> tuple[int, str] | None:
    """Status and message for a request that a page of another site could have sent."""
    host, *others = headers.getlist("host") or [""]
    if hosts is not None and not hosts.issuperset(map(_host_name, (host, *others))):
        return 400, "this service does not answer to the name in the Host header; use localhost or 127.0.0.1"
    if headers.get("sec-fetch-site") in FOREIGN_SITES and headers.get("sec-fetch-mode") != "navigate":
        return 403, "this was sent by a page of another site"
    origin = headers.get("origin")
    if method not in {"GET", "HEAD"} and origin is not None and _authority(origin) != _authority(f"http://{host}"):
        return 403, "the Origin header names another site"
    return None


def _host_name(host: str) -> str | None:
    """The name in a Host header, without port and brackets; None where it is not of that form."""
    match = _HOST.fullmatch(host)
    return None if match is None else match["name"].strip("[]").lower()


def _authority(url: str) -> str | None:
    """Host and port as written, in lower case; the scheme differs behind a proxy that ends TLS."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in {"http", "https"} and parts.netloc else None
