"""Routes that ask, search, and give stored answers again."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, cast

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from kb_qa.answers import AnswerEvent
from kb_qa.errors import InputError, MissingIndexError
from kb_qa.figure_events import outcome_of_events
from kb_qa.listing import answer_line, hit_line, is_complete
from kb_qa.marks import answer_text
from kb_qa.protocols import Library
from kb_qa.service.admission import Place
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.open_answers import OpenAnswers
from kb_qa.service.parts import CallerOf, RequestId, UsedParts
from kb_qa.service.problems import shown_event
from kb_qa.service.questions import AskBody, SearchBody
from kb_qa.service.streaming import event_stream
from kb_qa.service.tallies import tallied

router = APIRouter(prefix="/v1")

_EVENT_ID = re.compile(r"[0-9]{1,9}")


@router.post("/ask")
async def ask(body: AskBody, parts: UsedParts, caller: CallerOf, request_id: RequestId) -> Response:
    await parts.limits.require_tokens(caller)
    await asyncio.to_thread(_require_documents, parts.knowledge_base.library)
    session_id = body.session_id or secrets.token_hex(16)
    events = parts.knowledge_base.ask(
        body.question,
        filters=body.filters.filters(),
        level=body.level,
        session_id=session_id,
        whole=body.whole or "",
    )
    counted = tallied(parts.counters, parts.limits.charged(caller, events))
    place = parts.admission.place()
    stream = event_stream(_in_turn(parts.open_answers, place, counted), request_id=request_id)
    stream.closed = place.leave_unused
    return stream


async def _in_turn(
    open_answers: OpenAnswers, place: Place, events: AsyncGenerator[AnswerEvent]
) -> AsyncGenerator[AnswerEvent]:
    """A `queued` event for each position in line, then the answer's own events."""
    async with aclosing(place.positions()) as positions:
        async for position in positions:
            yield AnswerEvent(0, "queued", {"position": position})
    place.is_used = True
    async with aclosing(open_answers.followed(events, ended=place.leave)) as followed:
        async for event in followed:
            yield event


def _require_documents(library: Library) -> None:
    if library.is_empty():
        raise MissingIndexError("there is no document that can be asked yet; ingest some first")


@router.post("/search")
async def search(body: SearchBody, parts: UsedParts) -> Response:
    hits = await parts.knowledge_base.search(body.question, k=body.k, filters=body.filters.filters())
    return AsciiJSONResponse({"hits": [hit_line(rank, hit) for rank, hit in enumerate(hits, 1)]})


@router.get("/answers")
async def kept_answers(
    parts: UsedParts,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[str, Query(pattern="^[0-9A-Za-z_-]{0,64}$")] = "",
) -> Response:
    """The stored answers, newest first; `next` is the `before` of those that follow, null behind the last."""
    kept = await asyncio.to_thread(parts.knowledge_base.library.newest_answers, limit + 1, before)
    lines = [answer_line(each) for each in kept[:limit]]
    return AsciiJSONResponse({"answers": lines, "next": lines[-1]["id"] if len(kept) > limit else None})


@router.get("/answers/{answer_id}")
async def stored_answer(answer_id: str, parts: UsedParts) -> Response:
    events = await parts.open_answers.find(parts.knowledge_base.library, answer_id)
    data: dict[str, dict[str, Any]] = {event.event: cast(dict[str, Any], event.data) for event in events}
    return AsciiJSONResponse(
        {
            "id": answer_id,
            "question": data.get("start", {}).get("question", ""),
            "text": answer_text(events),
            "complete": is_complete(data),
            "outcome": outcome_of_events(events),
            "events": [{"id": event.id, "event": event.event, "data": shown_event(event)} for event in events],
        }
    )


@router.get("/answers/{answer_id}/events")
async def stored_answer_events(
    answer_id: str, parts: UsedParts, request_id: RequestId, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """The answer's events again, from the one after `Last-Event-ID`; 204, which ends a browser's retries, after all."""
    events = await parts.open_answers.find(parts.knowledge_base.library, answer_id)
    if last_event_id and not _EVENT_ID.fullmatch(last_event_id):
        raise InputError("Last-Event-ID must be the id of an event: a whole number")
    seen = int(last_event_id or 0)
    if seen and seen >= events[-1].id and events[-1].event in {"end", "error"}:
        return Response(status_code=204)
    replay = parts.open_answers.replay(parts.knowledge_base.library, answer_id, seen)
    return event_stream(replay, request_id=request_id)
