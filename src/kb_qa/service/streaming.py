"""Answer events as server-sent events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from kb_qa.answers import AnswerEvent
from kb_qa.errors import KbQaError
from kb_qa.service.encoding import one_line
from kb_qa.service.problems import error_data, incomplete_data, shown_event, stopping_data

logger = logging.getLogger(__name__)

PING_SECONDS: Final = 15
SEND_SECONDS: Final = 30  # a client that does not read for so long is dropped
GRACE_SECONDS: Final = 5  # what a stream has at shutdown to say that it ends

LAST_EVENTS: Final = frozenset({"end", "error"})


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: between two heartbeats, until a client that does not read is dropped, and to say that a stream ends."""

    ping: float = PING_SECONDS
    send: float = SEND_SECONDS
    grace: float = GRACE_SECONDS


class OwningStream(EventSourceResponse):
    """Calls `closed` when the response is over, also where its first event was never asked for."""

    def __init__(self, frames: AsyncIterator[ServerSentEvent], stopping: anyio.Event, pace: Pace) -> None:
        super().__init__(
            frames,
            ping=pace.ping,
            send_timeout=pace.send,
            shutdown_event=stopping,
            shutdown_grace_period=pace.grace,
        )
        self.closed: Callable[[], None] = lambda: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.closed()


def event_stream(events: AsyncGenerator[AnswerEvent], *, request_id: str, pace: Pace = Pace()) -> OwningStream:
    """A response that owns `events`: however it ends, the generator is closed.

    The stream always ends with an `end` or an `error` event, whatever happens inside.
    """
    stopping = anyio.Event()
    return OwningStream(encoded_events(events, stopping=stopping, request_id=request_id), stopping, pace)


async def encoded_events(
    events: AsyncGenerator[AnswerEvent], *, stopping: anyio.Event, request_id: str
) -> AsyncIterator[ServerSentEvent]:
    last: AnswerEvent | None = None
    try:
        async with aclosing(_until(stopping, events)) as followed:
            async for event in followed:
                last = event
                yield _encoded(event, request_id)
        cut = stopping_data(request_id) if stopping.is_set() else incomplete_data(request_id)
    except KbQaError as error:
        logger.warning("request %s: the answer failed: %s", request_id, error, exc_info=error)
        cut = error_data(error, request_id)
    except Exception as error:  # the outer rim of an answer: logged here, told without its inside
        logger.exception("request %s: the answer failed", request_id)
        cut = error_data(error, request_id)
    # What fails after the last event (storing the answer, say) no longer concerns the reader.
    if last is None or last.event not in LAST_EVENTS:
        yield _encoded(AnswerEvent(1 if last is None else last.id + 1, "error", cut), request_id)


async def _until(stopping: anyio.Event, events: AsyncGenerator[AnswerEvent]) -> AsyncGenerator[AnswerEvent]:
    """The same events, up to the moment the service stops: then the one that is waited for is given up."""
    step = anyio.CancelScope()

    async def give_up() -> None:
        await stopping.wait()
        step.cancel()

    watching = asyncio.create_task(give_up())
    try:
        async with aclosing(events):
            while not stopping.is_set():
                event: AnswerEvent | None = None
                with anyio.CancelScope() as step:
                    event = await anext(events, None)
                if event is None:
                    break
                yield event
    finally:
        watching.cancel()


def _encoded(event: AnswerEvent, request_id: str) -> ServerSentEvent:
    data = shown_event(event)
    if event.event == "error" and not data.get("request_id"):
        data["request_id"] = request_id
    return ServerSentEvent(one_line(data), event=event.event, id=str(event.id))
