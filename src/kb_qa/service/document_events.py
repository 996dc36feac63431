"""The states of a document on its way from upload to answer, as a stream of events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Final

import anyio
from fastapi import APIRouter, Header
from sse_starlette import ServerSentEvent
from starlette.responses import Response

from kb_qa.answers import Language
from kb_qa.errors import KbQaError, NotFoundError
from kb_qa.rejections import advice_in, rejection_in
from kb_qa.service.encoding import AsciiJSONResponse, one_line
from kb_qa.service.intake import Intake, Progress
from kb_qa.service.parts import RequestId, UsedParts, open_intake
from kb_qa.service.pictures import NO_DOCUMENT, ReaderLanguage, checked_document_id
from kb_qa.service.problems import WATCHING_STOPS, error_data, pathless, stopping_data
from kb_qa.service.streaming import OwningStream, Pace

logger = logging.getLogger(__name__)
router = APIRouter(prefix="/v1")

LOOK_SECONDS: Final = 0.4
# An event's id is the rank of its state: a reader that comes back after `end` has nothing more to hear.
RANKS: Final = {
    state: rank for rank, state in enumerate("received stored parsing parsed embedding indexing".split(), 1)
}
LAST_RANK: Final = len(RANKS) + 2


@router.get("/documents/{document_id}/events")
async def document_events(
    document_id: str,
    parts: UsedParts,
    request_id: RequestId,
    language: ReaderLanguage,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """`state` events from the current state on, then `end`; 204 for a reader who heard the end already."""
    intake = open_intake(parts)
    wanted = checked_document_id(document_id)
    first = await asyncio.to_thread(intake.progress, wanted)
    if not first.is_known:
        raise NotFoundError(NO_DOCUMENT)
    if last_event_id == str(LAST_RANK) and first.is_over:
        return Response(status_code=204)
    stopping = anyio.Event()
    return OwningStream(_frames(intake, wanted, language, request_id, stopping), stopping, Pace())


@router.get("/jobs/{job_id}")
async def one_job(job_id: str, parts: UsedParts, language: ReaderLanguage) -> Response:
    """What became of a job's files so far."""
    intake = open_intake(parts)
    if not (job_id.isascii() and job_id.isdigit() and len(job_id) < 16):
        raise NotFoundError("there is no job with this id")
    job = await asyncio.to_thread(intake.jobs.get, int(job_id))
    outcomes = await asyncio.to_thread(intake.jobs.outcomes, job.id)
    shown = [
        {
            "name": str(each.get("path", "")).rsplit("/", 1)[-1],
            **{key: each.get(key) for key in ("document_id", "state", "pages", "chunks", "code")},
            "reason": pathless(rejection_in(language, str(each.get("code", "")), str(each.get("reason", "")))),
        }
        for each in outcomes
    ]
    told = {key: job.report.get(key) for key in ("total", "done", "paused")}
    return AsciiJSONResponse({"job": job.id, "kind": job.kind, "state": job.state, **told, "outcomes": shown})


async def _frames(
    intake: Intake, document_id: str, language: Language, request_id: str, stopping: anyio.Event
) -> AsyncIterator[ServerSentEvent]:
    told: dict[str, object] = {}
    try:
        while not stopping.is_set():
            progress = await asyncio.to_thread(intake.progress, document_id)
            data = progress_json(progress, language)
            if data != told:
                told = data
                yield _frame("state", data, RANKS.get(progress.state, LAST_RANK - 1))
            if progress.is_over:
                yield _frame("end", {"document_id": document_id, "state": progress.state}, LAST_RANK)
                return
            with anyio.move_on_after(LOOK_SECONDS):
                await stopping.wait()
        cut = stopping_data(request_id, WATCHING_STOPS)
    except KbQaError as error:
        logger.warning("request %s: the document's events failed: %s", request_id, error)
        cut = error_data(error, request_id)
    except Exception as error:  # the outer rim of a stream: logged here, told without its inside
        logger.exception("request %s: the document's events failed", request_id)
        cut = error_data(error, request_id)
    yield _frame("error", cut, RANKS.get(str(told.get("state")), 0))


def progress_json(progress: Progress, language: Language) -> dict[str, object]:
    record, job = progress.record, progress.job
    error = {} if job is None else job.report.get("error") or {}
    code = (record.code if record is not None else "") or str(progress.outcome.get("code") or error.get("code", ""))
    reason = (record.reason if record is not None else "") or str(
        progress.outcome.get("reason") or error.get("message", "")
    )
    return {
        "document_id": progress.document_id,
        "state": progress.state,
        "names": [] if record is None else list(record.names),
        "pages": 0 if record is None else record.pages,
        "chunks": 0 if record is None else record.chunks,
        "job": None if job is None else job.id,
        "code": code,
        "reason": pathless(rejection_in(language, code, reason)),
        "advice": advice_in(language, code),
        "paused": "" if job is None else str(job.report.get("paused") or ""),
    }


def _frame(name: str, data: dict[str, object], rank: int) -> ServerSentEvent:
    return ServerSentEvent(one_line(data), event=name, id=str(rank))
