"""Routes for whatever watches the service."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from kb_qa.errors import KbQaError
from kb_qa.service.doorway import not_ready
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import UsedParts

router = APIRouter()

NAME_SECONDS: Final = 1.0  # a ledger that is written to may take longer to tell it, and so may busy threads


@router.get("/healthz")
async def alive(parts: UsedParts) -> Response:
    """Alive, whatever becomes of the ledger; and which knowledge base this is, where the ledger says it in time."""
    try:
        async with asyncio.timeout(NAME_SECONDS):
            told = {"name": await asyncio.to_thread(parts.knowledge_base.library.name)}
    except (KbQaError, TimeoutError):
        told = {}
    return AsciiJSONResponse({"status": "ok", **told})


@router.get("/readyz")
async def ready(parts: UsedParts) -> Response:
    """200 where the ledger answers and the index is whole.

    Also with no documents yet, or nobody could ever send the first one.
    """
    if parts.operations.readiness.reason:
        return AsciiJSONResponse(not_ready(parts.operations.readiness), status_code=503, headers={"Retry-After": "2"})
    records = await asyncio.to_thread(parts.knowledge_base.library.documents)
    ready_documents = sum(record.state == "ready" for record in records)
    return AsciiJSONResponse({"status": "ready", "documents": ready_documents})


@router.get("/metrics")
async def metrics(parts: UsedParts) -> Response:
    """What this process counted, for Prometheus."""
    records = await asyncio.to_thread(parts.knowledge_base.library.documents)
    jobs = await asyncio.to_thread(parts.operations.job_states)
    states = Counter(record.state for record in records)
    gauges: dict[str, tuple[str, float | Mapping[str, float]]] = {
        "documents_ready": ("Documents that can be asked.", float(states["ready"])),
        "documents": ("Documents by state.", {state: float(count) for state, count in states.items()}),
        "answers_open": ("Answers that are being written.", float(len(parts.open_answers.events))),
        "jobs": ("Jobs of the ingest worker by state.", {state: float(count) for state, count in jobs.items()}),
        "ready": ("0 while the index is being rebuilt, else 1.", float(not parts.operations.readiness.reason)),
        "prompt_cache_hit_ratio": (
            "The share of all input tokens since the start that the model's prompt cache had.",
            parts.counters.cache_hit_ratio(),
        ),
    }
    return Response(parts.counters.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")
