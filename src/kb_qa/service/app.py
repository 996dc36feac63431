"""The application: routes, error responses and the rim around them."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware

from kb_qa.counters import Counters
from kb_qa.service import (
    answers,
    citations,
    decisions,
    document_events,
    documents,
    examples,
    exports,
    figures,
    health,
    highlighted,
    page,
    problems,
    readings,
    sign_in,
    uploads,
)
from kb_qa.service.access import AccessRim
from kb_qa.service.admission import Admission
from kb_qa.service.key_limits import KeyLimits
from kb_qa.service.key_ring import KeyRing
from kb_qa.service.middleware import EncodedSlashes, RequestRim, allowed_hosts
from kb_qa.service.open_answers import OpenAnswers
from kb_qa.service.openapi import described
from kb_qa.service.parts import Operations, Parts
from kb_qa.service.recording import Recorder
from kb_qa.service.shutdown import RefusalAtShutdown
from kb_qa.settings import is_loopback

if TYPE_CHECKING:
    from kb_qa.knowledge_base import KnowledgeBase
    from kb_qa.renderer import Renderer
    from kb_qa.service.intake import Intake
    from kb_qa.settings import Settings

# An event stream is never held back to be compressed; pictures and originals are compressed already.
NOT_COMPRESSED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/pdf", "application/octet-stream")
SMALL = 1024  # bytes, not worth it

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Any]]


def create_app(  # noqa: PLR0913  (what its owner opened, each by its name)
    knowledge_base: KnowledgeBase,
    renderer: Renderer,
    settings: Settings,
    *,
    counters: Counters | None = None,
    operations: Operations | None = None,
    lifespan: Lifespan | None = None,
    intake: Intake | None = None,
) -> FastAPI:
    """The service over parts that are open already; `lifespan` is where their owner closes them.

    `counters` are what the parts count into, for `/metrics`; without `intake` it takes no documents. Keys are asked for
    once there is one, and always where `settings.host` is no loopback address.

    Where `settings.host` is a loopback address, only requests to a loopback name are answered.
    """
    counters = counters or Counters()
    operations = operations or Operations()
    parts = Parts(
        knowledge_base,
        renderer,
        settings,
        counters,
        Admission(settings.max_answers, settings.max_waiting),
        operations,
        ring=KeyRing(operations.keys, settings.kb.resolve().name, always=not is_loopback(settings.host)),
        limits=KeyLimits(operations.keys, settings.key_requests, settings.key_streams, settings.key_tokens),
        intake=intake,
    )
    # No interactive documentation: that page loads scripts from elsewhere.
    app = FastAPI(
        title="kb-qa",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        lifespan=_closing(operations.open_answers, lifespan),
    )
    app.openapi = functools.cache(lambda: described(app))  # type: ignore[method-assign]  # all routes are there by then
    app.state.parts = parts
    _add_rims(app, parts)
    problems.register(app)
    for module in (
        answers,
        citations,
        decisions,
        document_events,
        documents,
        uploads,
        examples,
        exports,
        figures,
        highlighted,
        health,
        page,
        readings,
        sign_in,
    ):
        app.include_router(module.router)
    return app


def _add_rims(app: FastAPI, parts: Parts) -> None:
    # From the inside out.
    app.add_middleware(GZipMiddleware, minimum_size=SMALL, compresslevel=5, exclude_content_types=NOT_COMPRESSED)
    app.add_middleware(AccessRim, ring=parts.ring, limits=parts.limits)
    app.add_middleware(EncodedSlashes)  # outside of it: which route is asked for is then the same for both
    app.add_middleware(RefusalAtShutdown, shutdown=parts.operations.shutdown)
    app.add_middleware(
        RequestRim,
        hosts=allowed_hosts(parts.settings.host, parts.settings.allowed_hosts),
        recorder=Recorder(parts.counters, parts.operations.audit, parts.operations.tracer),
    )


def _closing(open_answers: OpenAnswers, lifespan: Lifespan | None) -> Lifespan:
    """The caller's lifespan, within which what is still being written is stored before its parts are closed."""

    @asynccontextmanager
    async def closing(app: FastAPI) -> AsyncGenerator[None]:
        async with lifespan(app) if lifespan is not None else nullcontext():
            yield
            await open_answers.close()

    return closing
