"""Traces for OpenTelemetry, where a setting names a collector: a span a request and a stage of a question, no content.

Nothing of OpenTelemetry is imported without that setting. Spans are given their parent by hand: a stage is left in
other tasks than it was entered in, where OpenTelemetry's own context cannot be given back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from kb_qa.errors import MissingDependencyError
from kb_qa.protocols import Meter

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

SERVICE: Final = "kb-qa"
FLUSH_MILLISECONDS: Final = 3000  # what the last spans may take to be sent when the process ends

_request: ContextVar[Span | None] = ContextVar("request_span", default=None)


class Tracer:
    """`close` sends what is left."""

    def __init__(self, endpoint: str) -> None:
        """`endpoint` is the collector's address for OTLP over gRPC: `http://127.0.0.1:4317`."""
        try:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise MissingDependencyError("KB_QA_OTLP_ENDPOINT needs the extra: pip install 'kb-qa[otel]'") from error
        self._provider: TracerProvider = TracerProvider(
            resource=Resource.create({"service.name": SERVICE}), shutdown_on_exit=False
        )
        exporter = OTLPSpanExporter(endpoint=endpoint, insecure=not endpoint.startswith("https://"))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(SERVICE)

    @contextmanager
    def request(self, request_id: str) -> Iterator[dict[str, str | int]]:
        """The span of one request, in one task. What is put into the dictionary becomes its attributes."""
        span = self._tracer.start_span("request", attributes={"request.id": request_id})
        told: dict[str, str | int] = {}
        token = _request.set(span)
        try:
            yield told
        finally:
            _request.reset(token)
            span.set_attributes(told)
            span.update_name(str(told.get("http.route", "request")))
            span.end()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A span below the request's, wherever it is left."""
        from opentelemetry.trace import set_span_in_context

        parent = _request.get()
        span = self._tracer.start_span(name, context=None if parent is None else set_span_in_context(parent))
        try:
            yield
        finally:
            span.end()

    def close(self) -> None:
        self._provider.force_flush(FLUSH_MILLISECONDS)
        self._provider.shutdown()


class StageWatch:
    """`protocols.Stages`: the time of each stage, counted, and traced where there is a tracer."""

    def __init__(self, meter: Meter, tracer: Tracer | None = None) -> None:
        self._meter = meter
        self._tracer = tracer

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            if self._tracer is None:
                yield
            else:
                with self._tracer.stage(stage):
                    yield
        finally:
            self._meter.add("stage_seconds", time.monotonic() - began, stage=stage)
            self._meter.add("stages", stage=stage)
