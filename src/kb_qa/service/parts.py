"""What the routes work with, handed to each of them by FastAPI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from kb_qa.access_keys import AccessKeys
from kb_qa.audit import AuditLog
from kb_qa.counters import Counters
from kb_qa.errors import ReadOnlyError
from kb_qa.examples import ExampleBook
from kb_qa.service.admission import Admission
from kb_qa.service.intake import Intake
from kb_qa.service.key_limits import KeyLimits
from kb_qa.service.key_ring import Caller, KeyRing
from kb_qa.service.open_answers import OpenAnswers
from kb_qa.service.readiness import Readiness
from kb_qa.service.shutdown import Shutdown
from kb_qa.tracing import Tracer

if TYPE_CHECKING:
    from kb_qa.knowledge_base import KnowledgeBase
    from kb_qa.renderer import Renderer
    from kb_qa.settings import Settings


@dataclass(frozen=True, slots=True)
class Operations:
    """What watches over the service and its door. `job_states` is how many jobs are in which state. Blocking."""

    keys: AccessKeys | None = None
    audit: AuditLog | None = None
    tracer: Tracer | None = None
    readiness: Readiness = field(default_factory=Readiness)
    job_states: Callable[[], Mapping[str, int]] = dict
    open_answers: OpenAnswers = field(default_factory=OpenAnswers)
    shutdown: Shutdown = field(default_factory=Shutdown)


@dataclass(frozen=True, slots=True)
class Parts:
    knowledge_base: KnowledgeBase
    renderer: Renderer
    settings: Settings
    counters: Counters
    admission: Admission
    operations: Operations
    ring: KeyRing
    limits: KeyLimits
    intake: Intake | None = None
    examples: ExampleBook = field(default_factory=ExampleBook)

    @property
    def open_answers(self) -> OpenAnswers:
        return self.operations.open_answers


def open_intake(parts: Parts) -> Intake:
    """Raises ReadOnlyError where the service was opened without an ingest worker."""
    if parts.intake is None:
        raise ReadOnlyError("this service takes no documents; use kb-qa ingest")
    return parts.intake


# Asynchronous, though they wait for nothing: FastAPI takes a plain function to a thread, which costs more than they do.


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


async def _ring(request: Request) -> KeyRing:
    parts: Parts = request.app.state.parts
    return parts.ring


async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def _request_id(request: Request) -> str:
    request_id: str = request.state.request_id
    return request_id


UsedParts = Annotated[Parts, Depends(_parts)]
Ring = Annotated[KeyRing, Depends(_ring)]
CallerOf = Annotated[Caller, Depends(_caller)]
RequestId = Annotated[str, Depends(_request_id)]
