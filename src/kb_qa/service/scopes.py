"""What each route asks of a key. A route that does not stand here asks for `admin`, and fails a test."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, compile_path
from starlette.types import Scope

from kb_qa.service.page_files import FILES

RouteScope = Literal["open", "read", "write", "admin"]

# `open` says nothing of any document: whether the service lives, the page's own files, and signing in.
SCOPES: Final = MappingProxyType[str, RouteScope](
    {
        **{f"GET {path}": "open" for path in FILES},
        "GET /healthz": "open",
        "GET /metrics": "read",
        "GET /openapi.json": "read",
        "GET /readyz": "open",
        "DELETE /v1/session": "open",
        "GET /v1/session": "open",
        "POST /v1/session": "open",
        "GET /v1/answers": "read",
        "GET /v1/answers/{answer_id}": "read",
        "GET /v1/answers/{answer_id}/answer.md": "read",
        "GET /v1/answers/{answer_id}/citations": "read",
        "GET /v1/answers/{answer_id}/citations/{n}/region.png": "read",
        "GET /v1/answers/{answer_id}/events": "read",
        "GET /v1/answers/{answer_id}/figures": "read",
        "GET /v1/answers/{answer_id}/figures/{n}": "read",
        "GET /v1/answers/{answer_id}/highlighted.pdf": "read",
        "GET /v1/decisions": "read",
        "GET /v1/decisions.csv": "read",
        "GET /v1/decisions.jsonl": "read",
        "GET /v1/documents": "read",
        "POST /v1/documents": "write",
        "PUT /v1/documents/{name}": "write",
        "DELETE /v1/documents/{document_id}": "write",
        "GET /v1/documents/{document_id}": "read",
        "GET /v1/documents/{document_id}/events": "read",
        "GET /v1/documents/{document_id}/elements": "read",
        "GET /v1/documents/{document_id}/pages": "read",
        "GET /v1/documents/{document_id}/pages/{number}/elements": "read",
        "GET /v1/documents/{document_id}/file": "read",
        "GET /v1/documents/{document_id}/pages/{number}.png": "read",
        "GET /v1/documents/{document_id}/pages/{number}/region.png": "read",
        "GET /v1/examples": "read",
        "GET /v1/jobs/{job_id}": "read",
        "POST /v1/ask": "read",
        "POST /v1/search": "read",
        "PUT /v1/answers/{answer_id}/figures/{n}/decision": "write",
    }
)
STREAMS: Final = frozenset(
    {"POST /v1/ask", "GET /v1/answers/{answer_id}/events", "GET /v1/documents/{document_id}/events"}
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The route that a request is for. `name` is `GET /v1/documents/{document_id}`; empty where there is none."""

    name: str
    scope: RouteScope
    ids: MappingProxyType[str, str]


class RouteTable:
    """Which route a request is for, before the framework looks: keys are checked before anything is read."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._patterns: dict[str, list[tuple[re.Pattern[str], str]]] = {}
        for route in iter_route_contexts(list(routes)):
            for method in set(route.methods or ()) - {"HEAD"}:  # asks for the same as GET
                pattern = compile_path(str(route.path))[0]
                self._patterns.setdefault(method, []).append((pattern, f"{method} {route.path}"))

    def find(self, scope: Scope) -> Asked:
        for pattern, name in self._patterns.get("GET" if scope["method"] == "HEAD" else scope["method"], ()):
            match = pattern.match(scope["path"])
            if match is not None:
                return Asked(name, SCOPES.get(name, "admin"), MappingProxyType(match.groupdict()))
        # Nothing is there; should the framework know better, at least nothing is changed without `admin`.
        return Asked("", "read" if scope["method"] in {"GET", "HEAD"} else "admin", MappingProxyType({}))

    def names(self) -> list[str]:
        return sorted(name for patterns in self._patterns.values() for _, name in patterns)
