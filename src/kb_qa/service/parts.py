"""What the routes work with, handed to each of them by FastAPI."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from kb_qa.counters import Counters
from kb_qa.errors import ReadOnlyError
from kb_qa.service.admission import Admission
from kb_qa.service.intake import Intake
from kb_qa.service.open_answers import OpenAnswers
from kb_qa.service.shutdown import Shutdown

if TYPE_CHECKING:
    from kb_qa.knowledge_base import KnowledgeBase
    from kb_qa.renderer import Renderer
    from kb_qa.settings import Settings


@dataclass(frozen=True, slots=True)
class Parts:
    knowledge_base: KnowledgeBase
    renderer: Renderer
    settings: Settings
    counters: Counters
    admission: Admission
    open_answers: OpenAnswers = field(default_factory=OpenAnswers)
    shutdown: Shutdown = field(default_factory=Shutdown)
    intake: Intake | None = None


def open_intake(parts: Parts) -> Intake:
    """Raises ReadOnlyError where the service was opened without an ingest worker."""
    if parts.intake is None:
        raise ReadOnlyError("this service takes no documents; use kb-qa ingest")
    return parts.intake


# Asynchronous, though they wait for nothing: FastAPI takes a plain function to a thread, which costs more than they do.


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


async def _request_id(request: Request) -> str:
    request_id: str = request.state.request_id
    return request_id


UsedParts = Annotated[Parts, Depends(_parts)]
RequestId = Annotated[str, Depends(_request_id)]
