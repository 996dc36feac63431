"""Routes that change what documents there are: uploads and deletions. Reading them is the ingest worker's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from kb_qa.answers import Language
from kb_qa.errors import InputError, KbQaError, RejectedFileError
from kb_qa.file_names import uploaded_name
from kb_qa.rejections import advice_in, rejection_in
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.forms import FileEnd, FilePart, form_events
from kb_qa.service.intake import Accepted, Intake
from kb_qa.service.parts import RequestId, UsedParts, open_intake
from kb_qa.service.pictures import ReaderLanguage, checked_document_id
from kb_qa.service.problems import pathless, problem_response
from kb_qa.service.received import ReceivedFile, in_time

router = APIRouter(prefix="/v1/documents")

RAW_BODY: Final = {"requestBody": {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}}
FORM_BODY: Final = {
    "requestBody": {
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            }
        }
    }
}

Retry = Annotated[bool, Query()]


@router.put("/{name}", openapi_extra=RAW_BODY)
async def upload(
    name: str, request: Request, parts: UsedParts, request_id: RequestId, language: ReaderLanguage, retry: Retry = False
) -> Response:
    """The body is the file, as it is. 202 with the job; 200 where these bytes are known under this name."""
    intake = open_intake(parts)
    try:
        async with intake.receiving(_announced(request)), ReceivedFile(intake.room) as file:
            async for piece in _body(request):
                await file.write(piece)
            accepted = await intake.take(file, uploaded_name(name), retry=retry)
    except RejectedFileError as error:
        return _refused(error, language, request_id)
    return AsciiJSONResponse(_accepted_json(accepted, language), status_code=200 if accepted.job is None else 202)


@router.post("", openapi_extra=FORM_BODY)
async def upload_form(request: Request, parts: UsedParts, request_id: RequestId, language: ReaderLanguage) -> Response:
    """The files of a form: a line for each, in their order. A file that is refused does not keep out the others."""
    intake = open_intake(parts)
    lines: list[dict[str, object]] = []
    problems: list[KbQaError] = []
    try:
        async with intake.receiving(0), aclosing(_form_files(request, intake)) as taken:
            async for name, result in taken:
                if isinstance(result, Accepted):
                    lines.append(_accepted_json(result, language))
                else:
                    problems.append(result)
                    message = pathless(rejection_in(language, result.code, str(result)))
                    advice = advice_in(language, result.code)
                    lines.append({"name": name, "code": result.code, "message": message, "advice": advice})
    except RejectedFileError as error:
        return _refused(error, language, request_id)
    if not lines:
        raise InputError("the form has no file")
    if len(problems) == len(lines):
        status = problems[0].status
    else:
        status = 202 if any(line.get("job") is not None for line in lines) else 200
    return AsciiJSONResponse({"documents": lines}, status_code=status)


@router.delete("/{document_id}")
async def delete_document(document_id: str, parts: UsedParts) -> Response:
    """202: nobody sees it any more; a job removes what is left of it."""
    wanted = checked_document_id(document_id)
    job = await asyncio.to_thread(open_intake(parts).delete, wanted)
    return AsciiJSONResponse({"document_id": wanted, "state": "deleting", "job": job}, status_code=202)


async def _form_files(request: Request, intake: Intake) -> AsyncGenerator[tuple[str, Accepted | KbQaError]]:
    """(name, what became of it) of each file. Raises LimitExceededError or NoRoomError, which end the form."""
    async with AsyncExitStack() as stack:
        file: ReceivedFile | None = None
        name = ""
        async for event in form_events(_body(request), request.headers.get("content-type", "")):
            if isinstance(event, FilePart):
                name = uploaded_name(event.name)
                file = await stack.enter_async_context(ReceivedFile(intake.room))
            elif isinstance(event, FileEnd):
                assert file is not None
                try:
                    yield name, await intake.take(file, name)
                except RejectedFileError as error:
                    yield name, error
                await stack.aclose()
            else:
                assert file is not None
                await file.write(event)


async def _body(request: Request) -> AsyncIterator[bytes]:
    try:
        async for piece in in_time(aiter(request.stream())):
            yield piece
    except ClientDisconnect as error:
        raise HTTPException(400, "the upload ended before its last byte") from error


def _announced(request: Request) -> int:
    """What the client says of the size; it is counted whatever it says."""
    told = request.headers.get("content-length", "")
    return int(told) if told.isascii() and told.isdigit() and len(told) < 16 else 0


def _refused(error: RejectedFileError, language: Language, request_id: str) -> Response:
    message = pathless(rejection_in(language, error.code, str(error)))
    advice = advice_in(language, error.code)
    return problem_response(error.status, code=error.code, message=message, request_id=request_id, advice=advice)


def _accepted_json(accepted: Accepted, language: Language) -> dict[str, Any]:
    return {
        "document_id": accepted.document_id,
        "name": accepted.name,
        "job": accepted.job,
        "state": accepted.state,
        "events_url": f"/v1/documents/{accepted.document_id}/events",
        "replaces": accepted.replaces,
        "message": _message(accepted, language),
    }


def _message(accepted: Accepted, language: Language) -> str:
    if accepted.job is None:
        return "内容相同的文档已在库中" if language == "zh" else "these bytes are known already; there is nothing to do"
    if accepted.replaces is None:
        return ""
    if language == "zh":
        return "同名文档已存在：新文档就绪之前仍由原文档作答，之后由新文档取代"
    return "a document of this name is there: it answers until this one is ready, and is replaced then"
