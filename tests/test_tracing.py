"""Traces go where a setting says, without content, and cost nothing without it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import closing, contextmanager
from typing import Any

import grpc
import httpx
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from kb_qa.counters import Counters
from kb_qa.errors import MissingDependencyError
from kb_qa.service import create_app
from kb_qa.service.parts import Operations
from kb_qa.settings import Settings
from kb_qa.testing.serving import serving
from kb_qa.tracing import StageWatch, Tracer
from tests.scripted_service import CountingRenderer, ScriptedKnowledgeBase, plain_answer

CANARY = "canary-2718"


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """What a collector of OpenTelemetry was sent."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def Export(self, request: Any, context: Any) -> Any:
        self.spans += [span for each in request.resource_spans for scope in each.scope_spans for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


@pytest.fixture
def collector() -> Iterator[tuple[Collector, str]]:
    collector = Collector()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield collector, f"http://127.0.0.1:{port}"
    server.stop(None).wait()


class Staged(ScriptedKnowledgeBase):
    """Two stages, of which one is left in another task than it was entered in, as a stream's may be."""

    watch: StageWatch

    async def ask(self, question: str, **given: Any) -> Any:
        with self.watch.timed("retrieve"):
            pass
        with self.watch.timed("generate"):
            async for event in super().ask(question, **given):
                yield event


@contextmanager
def traced(endpoint: str) -> Iterator[tuple[httpx.Client, Counters]]:
    counters = Counters()
    with closing(Tracer(endpoint)) as tracer:
        knowledge_base = Staged([*plain_answer(CANARY, CANARY)])
        knowledge_base.watch = StageWatch(counters, tracer)
        app = create_app(
            knowledge_base,  # type: ignore[arg-type]
            CountingRenderer(),  # type: ignore[arg-type]
            Settings(),
            counters=counters,
            operations=Operations(tracer=tracer),
        )
        with serving(app, log_config=None) as base, httpx.Client(base_url=base) as client:
            yield client, counters


def test_a_span_a_request_and_one_a_stage(collector: tuple[Collector, str]) -> None:
    """Stages stand below their request; route, status and key are told, and nothing of what it was about."""
    kept, endpoint = collector
    with traced(endpoint) as (client, counters):
        client.post("/v1/ask", json={"question": CANARY})
        client.get(f"/v1/documents/{CANARY}", params={"q": CANARY})
    spans = {span.name: span for span in kept.spans}
    assert set(spans) == {"POST /v1/ask", "GET /v1/documents/{document_id}", "retrieve", "generate"}
    request = spans["POST /v1/ask"]
    assert {spans[name].parent_span_id for name in ("retrieve", "generate")} == {request.span_id}
    told = {each.key: each.value.int_value or each.value.string_value for each in request.attributes}
    assert (told["http.route"], told["http.response.status_code"], told["kb_qa.key"]) == ("POST /v1/ask", 200, "local")
    assert CANARY not in str(kept.spans)
    assert counters.value("stages", stage="generate") == 1


def test_a_collector_that_is_gone_costs_no_answer() -> None:
    """Spans are lost, requests are answered, and the service ends in time."""
    began = time.monotonic()
    with traced("http://127.0.0.1:9") as (client, _):
        assert client.post("/v1/ask", json={"question": "q"}).is_success
    assert time.monotonic() - began < 15


def test_nothing_is_imported_without_the_setting() -> None:
    """A process that measures stages has not even looked at OpenTelemetry."""
    program = (
        "import sys; from kb_qa.counters import Counters; from kb_qa.tracing import StageWatch\n"
        "with StageWatch(Counters()).timed('x'): pass\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting without the packages is an error at the start."""
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.grpc.trace_exporter", None)
    with pytest.raises(MissingDependencyError, match=r"kb-qa\[otel\]"):
        Tracer("http://127.0.0.1:4317")


def test_stages_are_counted_also_where_they_fail() -> None:
    """Their number and their seconds."""
    counters = Counters()
    with pytest.raises(KeyError), StageWatch(counters).timed("retrieve"):
        raise KeyError
    assert counters.value("stages", stage="retrieve") == 1
    assert 0 <= counters.value("stage_seconds", stage="retrieve") < 1
