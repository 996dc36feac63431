"""Failures as JSON `{code, message, request_id}`, and as the data of an `error` event."""

from __future__ import annotations

import http
import logging
import re
from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from kb_qa.answers import AnswerEvent
from kb_qa.errors import BusyError, InputError, KbQaError, LimitExceededError, NotFoundError
from kb_qa.service.encoding import AsciiJSONResponse

logger = logging.getLogger(__name__)

INTERNAL_MESSAGE = "Something went wrong on our side. The service's log has the details under this request id."


# An absolute path, in quotation marks (where blanks belong to it) or bare.
_PATH = re.compile(
    r"""(?P<quote>['"])(?:/|~/|[A-Za-z]:\\)[^'"\n]*(?P=quote)|(?<![\w./\\~>-])(?!//)(?:~?/|[A-Za-z]:\\)[^\s'"<>,;()]+"""
)


def pathless(message: str) -> str:
    """The message with each path cut to its last part: where things lie on this machine is no reader's business."""
    return _PATH.sub(lambda match: _last_part(match[0]), message)


def _last_part(path: str) -> str:
    quote = path[0] if path[0] in "'\"" else ""
    name = re.split(r"[/\\]", path.strip("'\"").rstrip("/"))[-1]
    return f"{quote}{name}{quote}"


def problem_response(
    status: int,
    *,
    code: str,
    message: str,
    request_id: str,
    headers: Mapping[str, str] | None = None,
    advice: str = "",
) -> Response:
    """`advice` says what to do about a file that was not taken."""
    content = {"code": code, "message": message, "request_id": request_id, **({"advice": advice} if advice else {})}
    return AsciiJSONResponse(content, status_code=status, headers=headers)


def error_data(error: Exception, request_id: str) -> dict[str, object]:
    """The data of an `error` event: a typed error's own sentence, and nothing of any other error."""
    if isinstance(error, KbQaError):
        return _data(error.code, pathless(str(error)), retryable=error.retryable, request_id=request_id)
    return _data("internal", INTERNAL_MESSAGE, retryable=False, request_id=request_id)


def shown_event(event: AnswerEvent) -> dict[str, object]:
    """The data of a stored event as it may leave this machine: an error's message was written for its log, too."""
    if event.event != "error":
        return dict(event.data)
    return {**event.data, "message": pathless(str(event.data.get("message", "")))}


ANSWER_STOPS = "The service is shutting down; the answer above is not complete. Ask again in a moment."
WATCHING_STOPS = "The service is shutting down; the work on the document goes on when it is back."


def stopping_data(request_id: str, message: str = ANSWER_STOPS) -> dict[str, object]:
    return _data("shutting_down", message, retryable=True, request_id=request_id)


def incomplete_data(request_id: str) -> dict[str, object]:
    return _data("incomplete", "The answer ended early and is not complete.", retryable=True, request_id=request_id)


def _data(code: str, message: str, *, retryable: bool, request_id: str) -> dict[str, object]:
    return {"code": code, "message": message, "retryable": retryable, "request_id": request_id}


def register(app: FastAPI) -> None:
    app.add_exception_handler(KbQaError, _typed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)


async def _typed(request: Request, error: Exception) -> Response:
    assert isinstance(error, KbQaError)
    request_id = request.state.request_id
    if error.status >= http.HTTPStatus.INTERNAL_SERVER_ERROR and not isinstance(error, BusyError):
        logger.error("request %s failed: %s", request_id, error, exc_info=error)
    return typed_response(error, request_id)


def typed_response(error: KbQaError, request_id: str) -> Response:
    """A typed error's own sentence, and when it is worth asking again where the error knows."""
    seconds = getattr(error, "retry_after", 0)
    headers = {"Retry-After": str(seconds)} if seconds else None
    message = pathless(str(error))
    return problem_response(error.status, code=error.code, message=message, request_id=request_id, headers=headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    message = _sentence(error.errors())
    return problem_response(422, code=InputError.code, message=message, request_id=request.state.request_id)


def _sentence(errors: Sequence[Mapping[str, object]]) -> str:
    """What is wrong with which field, without repeating what was sent."""
    told = []
    for error in errors[:5]:
        location = error["loc"]
        assert isinstance(location, tuple)
        field = ".".join(str(part) for part in location[1:] if not isinstance(part, str) or part.isidentifier())
        told.append(f"{field}: {error['msg']}" if field else str(error["msg"]))
    return "; ".join(told)


# Codes do not follow the phrases of `http.HTTPStatus`, which change from one Python to the next.
CODES = {404: NotFoundError.code, 405: "method_not_allowed", 408: "too_slow", 413: LimitExceededError.code}


async def _plain(request: Request, error: Exception) -> Response:
    """What the framework refuses: unknown path, wrong method, a body that is not JSON."""
    assert isinstance(error, HTTPException)
    return problem_response(
        error.status_code,
        code=CODES.get(error.status_code, "bad_request"),
        message=str(error.detail),
        request_id=request.state.request_id,
        headers=error.headers,
    )
