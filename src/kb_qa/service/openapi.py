"""`/openapi.json`: the framework's description of what is asked, with what is answered, and whose key may ask it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from kb_qa.service import responses
from kb_qa.service.scopes import SCOPES

DESCRIPTION: Final = "Answers from your documents, in which every figure leads to the spot on the page it came from."
_REF: Final = "#/components/schemas/{model}"


@dataclass(frozen=True, slots=True)
class Given:
    """A response of `status` (204 has no body) or `or_status`. `problems` are the statuses that tell a Problem."""

    model: type[BaseModel] | None = None
    media_type: str = "application/json"
    status: str = "200"
    or_status: str = ""
    problems: tuple[int, ...] = (404, 422)
    may_be_unchanged: bool = False  # 304


_PICTURE: Final = Given(media_type="image/png", problems=(404, 413, 415, 422), may_be_unchanged=True)
_STREAM: Final = Given(responses.StreamedEvent, media_type="text/event-stream", problems=(404, 413, 422))
_TEXT: Final = Given(media_type="text/plain; version=0.0.4; charset=utf-8", problems=())

_UPLOAD: Final = (413, 415, 422, 429, 507)

GIVEN: Final = MappingProxyType(
    {
        "GET /healthz": Given(responses.Alive, problems=()),
        "GET /readyz": Given(responses.Ready, problems=()),
        "GET /metrics": _TEXT,
        "GET /v1/session": Given(responses.Session, problems=()),
        "POST /v1/session": Given(status="204", problems=(401, 413, 422)),
        "DELETE /v1/session": Given(status="204", problems=()),
        "GET /v1/answers": Given(responses.KeptAnswers),
        "GET /v1/answers/{answer_id}": Given(responses.Answer),
        "GET /v1/answers/{answer_id}/answer.md": Given(media_type="text/markdown; charset=utf-8"),
        "GET /v1/answers/{answer_id}/citations": Given(responses.ExportedCitations),
        "GET /v1/answers/{answer_id}/citations/{n}/region.png": _PICTURE,
        "GET /v1/answers/{answer_id}/events": _STREAM,
        "GET /v1/answers/{answer_id}/figures": Given(responses.Figures),
        "GET /v1/answers/{answer_id}/figures/{n}": Given(responses.FigurePlaces),
        "GET /v1/answers/{answer_id}/highlighted.pdf": Given(
            media_type="application/pdf", problems=(404, 409, 415, 422), may_be_unchanged=True
        ),
        "GET /v1/decisions": Given(responses.Decisions, problems=()),
        "GET /v1/decisions.csv": Given(media_type="text/csv; charset=utf-8", problems=(422,)),
        "GET /v1/decisions.jsonl": Given(media_type="application/x-ndjson", problems=(422,)),
        "GET /v1/documents": Given(responses.Documents, problems=(422,)),
        "POST /v1/documents": Given(responses.AcceptedForm, status="202", or_status="200", problems=_UPLOAD),
        "PUT /v1/documents/{name}": Given(responses.Accepted, status="202", or_status="200", problems=_UPLOAD),
        "DELETE /v1/documents/{document_id}": Given(responses.Deleting, status="202", problems=(404, 422)),
        "GET /v1/documents/{document_id}/events": Given(responses.DocumentEvent, media_type="text/event-stream"),
        "GET /v1/jobs/{job_id}": Given(responses.Job),
        "GET /v1/examples": Given(responses.Examples, problems=(422,)),
        "GET /v1/documents/{document_id}": Given(responses.Document),
        "GET /v1/documents/{document_id}/file": Given(media_type="application/octet-stream"),
        "GET /v1/documents/{document_id}/elements": Given(responses.DocumentElements),
        "GET /v1/documents/{document_id}/pages": Given(responses.Pages),
        "GET /v1/documents/{document_id}/pages/{number}/elements": Given(responses.PageElements),
        "GET /v1/documents/{document_id}/pages/{number}.png": _PICTURE,
        "GET /v1/documents/{document_id}/pages/{number}/region.png": _PICTURE,
        "POST /v1/ask": _STREAM,
        "POST /v1/search": Given(responses.Hits, problems=(413, 422)),
        "PUT /v1/answers/{answer_id}/figures/{n}/decision": Given(responses.Decision, problems=(404, 413, 422)),
    }
)


def described(app: FastAPI) -> dict[str, Any]:
    """The schema. The page's own files are no part of it."""
    schema = get_openapi(title="kb-qa", version=version("kb-qa"), description=DESCRIPTION, routes=app.routes)
    components = schema.setdefault("components", {})
    components.setdefault("schemas", {}).update(_schemas())
    components["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "made by `kb-qa key create`"},
        "session": {"type": "apiKey", "in": "cookie", "name": "kb_qa_session"},
    }
    paths = {}
    for path, methods in schema["paths"].items():
        told = {method: _operation(f"{method.upper()} {path}", each) for method, each in methods.items()}
        paths[path] = {method: each for method, each in told.items() if each}
    schema["paths"] = {path: methods for path, methods in paths.items() if methods}
    return schema


def _operation(route: str, operation: dict[str, Any]) -> dict[str, Any]:
    """The operation with its responses; empty for what is not described."""
    given = GIVEN.get(route)
    if given is None:
        return {}
    scope = SCOPES.get(route, "admin")
    statuses = [*given.problems, 400, 405, 408, 503] + ([] if scope == "open" else [401, 403, 429])
    told: dict[str, Any] = {str(status): _problem() for status in sorted(set(statuses))}
    if route == "GET /readyz":
        told["503"] = _body("What it waits for.", "application/json", responses.NotReady)
    if given.may_be_unchanged:
        told["304"] = {"description": "The same as by `If-None-Match`."}
    if route.endswith("/events"):
        told["204"] = {"description": "Nothing comes after `Last-Event-ID`."}
    told["400"]["content"]["text/plain; charset=utf-8"] = {"schema": {"type": "string"}}  # what is no HTTP
    for status in filter(None, (given.status, given.or_status)):
        told[status] = _body("As asked.", given.media_type, given.model)
    if given.status == "204":
        told["204"] = {"description": "Done."}
    operation["responses"] = dict(sorted(told.items()))
    operation["x-scope"] = scope
    if scope != "open":
        operation["security"] = [{"key": []}, {"session": []}]
    return operation


def _problem() -> dict[str, Any]:
    return _body("Refused, with the reason.", "application/json", responses.Problem)


def _body(description: str, media_type: str, model: type[BaseModel] | None) -> dict[str, Any]:
    schema = {"$ref": _REF.format(model=model.__name__)} if model is not None else {"type": "string"}
    return {"description": description, "content": {media_type: {"schema": schema}}}


def _schemas() -> dict[str, Any]:
    models = [each for each in vars(responses).values() if isinstance(each, type) and issubclass(each, BaseModel)]
    named = [(each, "serialization") for each in models if each is not BaseModel]
    _, schema = models_json_schema(named, ref_template=_REF)  # type: ignore[arg-type]
    return dict(schema["$defs"])
