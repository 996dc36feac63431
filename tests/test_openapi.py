"""The schema says what the routes take and give, and the routes keep to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kb_qa.answers import Hit
from kb_qa.elements import Block, Chunk
from kb_qa.geometry import BBox, Quality, Region
from kb_qa.service.openapi import GIVEN, described
from kb_qa.service.scopes import SCOPES
from tests.keyed_service import Keyed, keyed_service
from tests.scripted_service import ANSWER, DOCUMENT, ScriptedKnowledgeBase, plain_answer
from tests.test_access import ROUTES, application

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
SCHEMA: dict[str, Any] = json.loads(json.dumps(described(application())))


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    original = tmp_path_factory.mktemp("blobs") / "original"
    original.write_bytes(b"%PDF-1.7\n")
    knowledge_base = ScriptedKnowledgeBase(originals={DOCUMENT: original})
    knowledge_base.library.answers[ANSWER] = plain_answer()
    block = Block("b", "e", "4,812", 0, 5, (Region(2, BBox(1, 2, 3, 4)),))
    chunk = Chunk("c", DOCUMENT, 1, "report.pdf", 0, (block,), element_type="table", category="Table")
    knowledge_base.hits = [Hit(chunk, {"fused": 0.03}, Quality("fair", ("read by OCR",)))]
    with keyed_service(knowledge_base, key_requests=0) as running:
        yield running


def test_every_route_is_described() -> None:
    """All but the page's own files and the schema itself; each with its scope and its problems."""
    described_routes = {f"{method.upper()} {path}" for path, each in SCHEMA["paths"].items() for method in each}
    assert described_routes == set(GIVEN)
    others = {route for route in ROUTES if route not in GIVEN}
    assert {route for route in others if "/v1" in route} == set()
    for path, methods in SCHEMA["paths"].items():
        for method, operation in methods.items():
            scope = SCOPES[f"{method.upper()} {path}"]
            assert operation["x-scope"] == scope
            assert ("401" in operation["responses"]) == (scope != "open" or (path, method) == ("/v1/session", "post"))


def test_the_schema_is_given_to_readers(keyed: Keyed) -> None:
    """With a key that may read; it names no other host."""
    response = keyed.ask("GET", "/openapi.json", "read")
    assert response.json()["paths"].keys() == SCHEMA["paths"].keys()
    assert "http://" not in response.text.replace("http://json-schema.org", "")
    assert keyed.ask("GET", "/openapi.json").status_code == 401


PATHS = {
    "/healthz": None,
    "/readyz": None,
    "/v1/session": None,
    "/v1/answers": None,
    "/v1/examples": None,
    "/v1/answers/{answer_id}": {"answer_id": ANSWER},
    "/v1/answers/{answer_id}/citations": {"answer_id": ANSWER},
    "/v1/answers/{answer_id}/figures": {"answer_id": ANSWER},
    "/v1/decisions": None,
    "/v1/documents": None,
    "/v1/documents/{document_id}": {"document_id": DOCUMENT},
    "/v1/documents/{document_id}/elements": {"document_id": DOCUMENT},
}


@pytest.mark.parametrize("path", PATHS)
def test_what_is_given_is_as_described(path: str, keyed: Keyed) -> None:
    """JSON of a result that there is, against its model."""
    told = keyed.ask("GET", path.format(**(PATHS[path] or {})), "read").json()
    content = SCHEMA["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert told and content  # an empty schema would describe anything
    jsonschema.validate(told, content | {"components": SCHEMA["components"]})


def test_hits_are_as_described(keyed: Keyed) -> None:
    """The same of a search."""
    told = keyed.ask("POST", "/v1/search", "read", json={"question": "q"}).json()
    assert len(told["hits"]) == 1
    content = SCHEMA["paths"]["/v1/search"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(told, content | {"components": SCHEMA["components"]})


def attacked(operation: schemathesis.APIOperation[Any, Any, Any], mode: GenerationMode, keyed: Keyed, most: int) -> int:
    """How many requests of what the schema allows, or of what it does not, were sent; all are answered as it says."""
    headers = {"Authorization": f"Bearer {keyed.secrets['admin']}"}
    sent = 0

    @settings(max_examples=most, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        nonlocal sent
        case.call_and_validate(base_url=str(keyed.client.base_url), headers=headers, checks=CHECKS)
        sent += 1

    send()
    return sent


OPERATIONS = {result.ok().label: result.ok() for result in schemathesis.openapi.from_dict(SCHEMA).get_all_operations()}


@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("label", OPERATIONS)
def test_no_request_is_a_server_error(label: str, mode: GenerationMode, keyed: Keyed) -> None:
    """What the schema allows and what it does not: answered as described, never 500."""
    if mode is GenerationMode.NEGATIVE and not can_be_wrong(label):
        return
    assert attacked(OPERATIONS[label], mode, keyed, 3) > 0


@pytest.mark.long
@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("label", OPERATIONS)
def test_no_request_of_many_is_a_server_error(label: str, mode: GenerationMode, keyed: Keyed) -> None:
    """The same, more often."""
    if mode is GenerationMode.NEGATIVE and not can_be_wrong(label):
        return
    assert attacked(OPERATIONS[label], mode, keyed, 12) > 0


def can_be_wrong(label: str) -> bool:
    """Whether there is anything in the operation that its schema could forbid."""
    operation = OPERATIONS[label]
    return bool(operation.body) or any(operation.path_parameters) or any(operation.query)


def test_the_schema_is_made_once() -> None:
    """It takes a tenth of a second of a service that answers others meanwhile."""
    app = application()
    assert app.openapi() is app.openapi()
