"""How the service ends: nothing new is begun, what is being said may be finished, the rest is told that it is cut."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from kb_qa.service.problems import problem_response

if TYPE_CHECKING:
    from types import FrameType

    from kb_qa.service.open_answers import OpenAnswers

logger = logging.getLogger(__name__)

FINISH_SECONDS: Final = 5.0  # what open answers have to come to their own end
RETRY_SECONDS: Final = 10
ALIVE: Final = "/healthz"


@dataclass(slots=True)
class Shutdown:
    has_begun: bool = False


class RefusalAtShutdown:
    """503 with Retry-After for every request that comes once the shutdown has begun; what watches us is answered."""

    def __init__(self, app: ASGIApp, *, shutdown: Shutdown) -> None:
        self.app = app
        self.shutdown = shutdown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self.shutdown.has_begun or scope["path"] == ALIVE:
            await self.app(scope, receive, send)
            return
        response = problem_response(
            503,
            code="shutting_down",
            message="the service is shutting down; ask again in a moment",
            request_id=scope["state"]["request_id"],
            headers={"Retry-After": str(RETRY_SECONDS), "Connection": "close"},
        )
        await response(scope, receive, send)


class FinishingServer(uvicorn.Server):
    """Between the signal and the end it still listens, to say that it is ending, while answers are finished.

    `began` is called once, when the signal was heard. A second signal ends it at once.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        shutdown: Shutdown,
        open_answers: OpenAnswers,
        began: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._began: Callable[[], None] | None = began
        self._shutdown = shutdown
        self._open_answers = open_answers
        self._asked_at = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._asked_at:
            super().handle_exit(sig, frame)
        self._asked_at = self._asked_at or time.monotonic()
        self._shutdown.has_begun = True

    async def on_tick(self, counter: int) -> bool:
        if self._asked_at and self._began is not None:
            self._began()
            self._began = None
        if self._asked_at and not self.should_exit:
            waited = time.monotonic() - self._asked_at
            if not self._open_answers.writing or waited >= FINISH_SECONDS:
                logger.info("the service ends; %d answers are cut", len(self._open_answers.writing))
                self.should_exit = True
        return await super().on_tick(counter)
