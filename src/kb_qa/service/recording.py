"""What is kept of a request: a line in the log, a line in the audit log, a count. None holds what it was about."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import structlog

from kb_qa.audit import AuditLog
from kb_qa.counters import Counters
from kb_qa.service.scopes import Asked
from kb_qa.tracing import Tracer

# Asked for many times a minute by whatever watches the service.
WATCHING: Final = frozenset({"GET /healthz", "GET /readyz", "GET /metrics"})

_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{64}|[0-9]{1,7}")
_OUTCOMES: Final = {401: "no key", 403: "forbidden", 404: "not found", 429: "too many", 503: "not ready"}
_CUT: Final = 499  # no response was begun before the client left


@dataclass(slots=True)
class Recorder:
    counters: Counters
    audit: AuditLog | None = None
    tracer: Tracer | None = None

    def span(self, request_id: str) -> AbstractContextManager[dict[str, str | int]]:
        """While a request is answered; what is put into the dictionary is told of it."""
        return nullcontext({}) if self.tracer is None else self.tracer.request(request_id)

    def record(
        self, state: Mapping[str, Any], span: dict[str, str | int], *, status: int, seconds: float, client: str
    ) -> None:
        """`status` 0: nothing was sent. The route stands for the path, which may hold anything."""
        asked: Asked | None = state.get("asked")
        route = asked.name if asked is not None and asked.name else "(none)"
        status = status or _CUT
        caller = state.get("caller")
        who = caller.name if caller is not None else ""
        span |= {"http.route": route, "http.response.status_code": status, "kb_qa.key": who}
        self.counters.add("http_requests", route=route, status=str(status))
        self.counters.add("http_seconds", seconds, route=route)
        level = logging.DEBUG if route in WATCHING else logging.INFO
        structlog.stdlib.get_logger(__name__).log(
            level, "request", route=route, status=status, milliseconds=round(seconds * 1000), key=who
        )
        if self.audit is not None and (asked is None or asked.scope != "open" or "session" in route):
            self.audit.write(
                {
                    "request_id": state["request_id"],
                    "key": who,
                    "key_id": caller.key_id if caller is not None else "",
                    "client": client,
                    "route": route,
                    **_ids(asked),
                    "status": status,
                    "outcome": _OUTCOMES.get(status, "ok" if status < 400 else "cut" if status == _CUT else "refused"),
                    "milliseconds": round(seconds * 1000),
                }
            )


def _ids(asked: Asked | None) -> dict[str, str]:
    """The parts of the path that are ids or numbers of ours; what else stands there is not kept."""
    if asked is None:
        return {}
    return {name: value for name, value in asked.ids.items() if _ID.fullmatch(value)}
