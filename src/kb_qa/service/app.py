"""The application: routes, error responses and the rim around them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from kb_qa.counters import Counters
from kb_qa.service import answers, citations, documents, exports, figures, health, highlighted, page, problems
from kb_qa.service.middleware import RequestRim, allowed_hosts
from kb_qa.service.parts import Parts

if TYPE_CHECKING:
    from kb_qa.knowledge_base import KnowledgeBase
    from kb_qa.renderer import Renderer
    from kb_qa.settings import Settings

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Any]]


def create_app(
    knowledge_base: KnowledgeBase,
    renderer: Renderer,
    settings: Settings,
    *,
    counters: Counters | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """The service over parts that are open already; `lifespan` is where their owner closes them.

    `counters` are what the parts count into, for `/metrics`.

    Where `settings.host` is a loopback address, only requests to a loopback name are answered.
    """
    # No schema and no interactive documentation: the routes are the documented ones, and that page loads scripts
    # from elsewhere.
    app = FastAPI(title="kb-qa", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.parts = Parts(knowledge_base, renderer, settings, counters or Counters())
    app.add_middleware(RequestRim, hosts=allowed_hosts(settings.host))
    problems.register(app)
    for module in (answers, citations, documents, exports, figures, highlighted, health, page):
        app.include_router(module.router)
    return app
