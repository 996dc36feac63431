"""A running service as the command line sees it: it owns the index, so it is asked over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import httpx
from httpx_sse import connect_sse

from kb_qa.answers import AnswerEvent, EventName, Filters, LevelChoice
from kb_qa.errors import EnvironmentProblemError, InputError, KbQaError, NotFoundError

SECONDS = 300.0  # a whole answer; heartbeats keep the connection alive within it


def ask(  # noqa: PLR0913  (a question's fields, and the key)
    address: str,
    question: str,
    *,
    filters: Filters,
    level: LevelChoice,
    session_id: str = "",
    whole: str = "",
    key: str = "",
) -> Iterator[AnswerEvent]:
    """The answer's events as they arrive. Raises KbQaError where the service refuses or is gone."""
    body = {"question": question, "level": level, "filters": _filters(filters), "session_id": session_id or None}
    if whole:
        body["whole"] = whole
    try:
        with (
            _client(address, key) as client,
            connect_sse(client, "POST", "/v1/ask", json=body) as source,
        ):
            _check(source.response)
            for event in source.iter_sse():
                if event.event and event.data:
                    name = cast(EventName, event.event)
                    yield AnswerEvent(int(event.id), name, json.loads(event.data))
    except httpx.HTTPError as error:
        raise _unreachable(address, error) from error


def search(address: str, question: str, *, k: int, filters: Filters, key: str = "") -> list[dict[str, Any]]:
    """Hits as `kb-qa search --json` prints them."""
    body = {"question": question, "k": k, "filters": _filters(filters)}
    try:
        with _client(address, key) as client:
            response = client.post("/v1/search", json=body)
            _check(response)
            return list(response.json()["hits"])
    except httpx.HTTPError as error:
        raise _unreachable(address, error) from error


def _client(address: str, key: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(base_url=address, timeout=SECONDS, trust_env=False, headers=headers)


def _filters(filters: Filters) -> Mapping[str, Any]:
    return {
        "documents": list(filters.documents),
        "pages": list(filters.pages),
        "element_types": list(filters.element_types),
        "folder": filters.folder,
        "since": filters.since,
        "until": filters.until,
    }


def _check(response: httpx.Response) -> None:
    """The service's own message as the error it was there."""
    if response.is_success:
        return
    response.read()
    try:
        message = str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        message = f"the service answered with status {response.status_code}"
    if response.status_code in {401, 403}:
        raise InputError(f"{message}; set KB_QA_KEY to the key")
    if response.status_code == NotFoundError.status:
        raise NotFoundError(message)
    if response.is_client_error:
        raise InputError(message)
    raise EnvironmentProblemError(message)


def _unreachable(address: str, error: httpx.HTTPError) -> KbQaError:
    return EnvironmentProblemError(
        f"the service at {address} owns the index and does not answer ({type(error).__name__}); "
        "wait for it, or stop it and ask again"
    )
