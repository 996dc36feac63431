"""The application: routes, error responses and the rim around them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware

from kb_qa.counters import Counters
from kb_qa.service import (
    answers,
    citations,
    document_events,
    documents,
    exports,
    figures,
    health,
    highlighted,
    page,
    problems,
    uploads,
)
from kb_qa.service.admission import Admission
from kb_qa.service.middleware import EncodedSlashes, RequestRim, allowed_hosts
from kb_qa.service.open_answers import OpenAnswers
from kb_qa.service.parts import Parts
from kb_qa.service.shutdown import RefusalAtShutdown

if TYPE_CHECKING:
    from kb_qa.knowledge_base import KnowledgeBase
    from kb_qa.renderer import Renderer
    from kb_qa.service.intake import Intake
    from kb_qa.settings import Settings

# An event stream is never held back to be compressed; pictures and originals are compressed already.
NOT_COMPRESSED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/pdf", "application/octet-stream")
SMALL = 1024  # bytes, not worth it

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Any]]


def create_app(
    knowledge_base: KnowledgeBase,
    renderer: Renderer,
    settings: Settings,
    *,
    counters: Counters | None = None,
    lifespan: Lifespan | None = None,
    intake: Intake | None = None,
) -> FastAPI:
    """The service over parts that are open already; `lifespan` is where their owner closes them.

    `counters` are what the parts count into, for `/metrics`; without `intake` it takes no documents.

    Where `settings.host` is a loopback address, only requests to a loopback name are answered.
    """
    # No schema and no interactive documentation: the routes are the documented ones, and that page loads scripts
    # from elsewhere.
    parts = Parts(
        knowledge_base,
        renderer,
        settings,
        counters or Counters(),
        Admission(settings.max_answers, settings.max_waiting),
        intake=intake,
    )
    app = FastAPI(
        title="kb-qa", docs_url=None, redoc_url=None, openapi_url=None, lifespan=_closing(parts.open_answers, lifespan)
    )
    app.state.parts = parts
    # From the inside out.
    app.add_middleware(GZipMiddleware, minimum_size=SMALL, compresslevel=5, exclude_content_types=NOT_COMPRESSED)
    app.add_middleware(EncodedSlashes)
    app.add_middleware(RefusalAtShutdown, shutdown=parts.shutdown)
    app.add_middleware(RequestRim, hosts=allowed_hosts(settings.host))
    problems.register(app)
    for module in (
        answers,
        citations,
        document_events,
        documents,
        uploads,
        exports,
        figures,
        highlighted,
        health,
        page,
    ):
        app.include_router(module.router)
    return app


def _closing(open_answers: OpenAnswers, lifespan: Lifespan | None) -> Lifespan:
    """The caller's lifespan, within which what is still being written is stored before its parts are closed."""

    @asynccontextmanager
    async def closing(app: FastAPI) -> AsyncGenerator[None]:
        async with lifespan(app) if lifespan is not None else nullcontext():
            yield
            await open_answers.close()

    return closing
