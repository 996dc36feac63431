"""Who may do what: the key of a request is checked before any of it is read, and before anything is looked up.

A refusal never depends on what there is: without a key, every path that is not open is 401, known or not.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kb_qa.errors import KbQaError
from kb_qa.service.key_limits import KeyLimits
from kb_qa.service.key_ring import Caller, KeyRing
from kb_qa.service.problems import problem_response, typed_response
from kb_qa.service.scopes import STREAMS, Asked, RouteTable

READING_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(slots=True)
class AccessRim:
    """The request's state gets `asked` (the route) and `caller` (None where the request came without a key)."""

    app: ASGIApp
    ring: KeyRing
    limits: KeyLimits
    routes: RouteTable | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with ExitStack() as held:
            try:
                refusal = await self._refusal(scope, held)
            except KbQaError as error:
                refusal = typed_response(error, scope["state"]["request_id"])
            await (refusal or self.app)(scope, receive, send)

    async def _refusal(self, scope: Scope, held: ExitStack) -> ASGIApp | None:
        """None for a request that may pass; `held` keeps its place among its key's streams. Raises KbQaError."""
        state = scope["state"]
        asked: Asked = self._routes(scope).find(scope)
        state["asked"] = asked
        headers = Headers(scope=scope)
        caller: Caller | None = await self.ring.caller(headers)
        state["caller"] = caller
        if caller is None:
            return None if asked.scope == "open" else _unauthorized(state["request_id"])
        if not caller.may(asked.scope):
            return _forbidden(f"this key does not have the scope {asked.scope!r}", state["request_id"])
        if caller.by_cookie and scope["method"] not in READING_METHODS and not _is_of_the_page(headers):
            return _forbidden("a request that changes something must come from the page itself", state["request_id"])
        self.limits.count(caller)
        if asked.name in STREAMS:
            held.enter_context(self.limits.stream(caller))
        return None

    def _routes(self, scope: Scope) -> RouteTable:
        """Made at the first request: routes may be added to an application after this was put around it."""
        self.routes = self.routes or RouteTable(scope["app"].routes)
        return self.routes


def _is_of_the_page(headers: Headers) -> bool:
    """Whether a browser says so. That an `Origin` names this site was checked at the rim, where there is one."""
    return "origin" in headers or headers.get("sec-fetch-site") == "same-origin"


def _unauthorized(request_id: str) -> ASGIApp:
    message = "this service asks for a key: send it as `Authorization: Bearer KEY`; kb-qa key create makes one"
    challenge = {"WWW-Authenticate": 'Bearer realm="kb-qa"'}
    return problem_response(401, code="unauthorized", message=message, request_id=request_id, headers=challenge)


def _forbidden(message: str, request_id: str) -> ASGIApp:
    return problem_response(403, code="forbidden", message=message, request_id=request_id)
