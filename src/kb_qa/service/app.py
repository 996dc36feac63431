"""The application: routes, error responses and the rim around them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from kb_qa.counters import Counters
from kb_qa.service import answers, citations, documents, exports, figures, health, highlighted, page, problems, sign_in
from kb_qa.service.access import AccessRim
from kb_qa.service.key_limits import KeyLimits
from kb_qa.service.key_ring import KeyRing
from kb_qa.service.middleware import RequestRim, allowed_hosts
from kb_qa.service.openapi import described
from kb_qa.service.parts import Operations, Parts
from kb_qa.service.recording import Recorder
from kb_qa.settings import is_loopback

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
    operations: Operations | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """The service over parts that are open already; `lifespan` is where their owner closes them.

    `counters` are what the parts count into, for `/metrics`. Keys are asked for once there is one, and always where
    `settings.host` is no loopback address.

    Where `settings.host` is a loopback address, only requests to a loopback name are answered.
    """
    # No interactive documentation: that page loads scripts from elsewhere.
    app = FastAPI(title="kb-qa", docs_url=None, redoc_url=None, openapi_url="/openapi.json", lifespan=lifespan)
    app.openapi = lambda: described(app)  # type: ignore[method-assign]
    counters = counters or Counters()
    operations = operations or Operations()
    ring = KeyRing(operations.keys, settings.kb.resolve().name, always=not is_loopback(settings.host))
    limits = KeyLimits(operations.keys, settings.key_requests, settings.key_streams, settings.key_tokens)
    app.state.parts = Parts(knowledge_base, renderer, settings, counters, operations, ring, limits)
    app.add_middleware(AccessRim, ring=ring, limits=limits)
    hosts = allowed_hosts(settings.host, settings.allowed_hosts)
    recorder = Recorder(counters, operations.audit, operations.tracer)
    app.add_middleware(RequestRim, hosts=hosts, recorder=recorder)
    problems.register(app)
    for module in (answers, citations, documents, exports, figures, highlighted, health, page, sign_in):
        app.include_router(module.router)
    return app
