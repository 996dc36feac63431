"""Routes for whatever watches the service."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.responses import Response

from kb_qa.errors import KbQaError
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import UsedParts

router = APIRouter()


@router.get("/healthz")
async def alive(parts: UsedParts) -> Response:
    """Alive, whatever becomes of the ledger; and which knowledge base this is, where the ledger says it."""
    try:
        told = {"name": await asyncio.to_thread(parts.knowledge_base.library.name)}
    except KbQaError:
        told = {}
    return AsciiJSONResponse({"status": "ok", **told})


@router.get("/readyz")
async def ready(parts: UsedParts) -> Response:
    """200 where the ledger answers; also with no documents yet, or nobody could ever send the first one."""
    records = await asyncio.to_thread(parts.knowledge_base.library.documents)
    ready_documents = sum(record.state == "ready" for record in records)
    return AsciiJSONResponse({"status": "ready", "documents": ready_documents})


@router.get("/metrics")
async def metrics(parts: UsedParts) -> Response:
    """What this process counted, for Prometheus."""
    records = await asyncio.to_thread(parts.knowledge_base.library.documents)
    gauges = {
        "documents_ready": ("Documents that can be asked.", float(sum(each.state == "ready" for each in records))),
        "answers_open": ("Answers that are being written.", float(len(parts.open_answers.events))),
        "prompt_cache_hit_ratio": (
            "The share of all input tokens since the start that the model's prompt cache had.",
            parts.counters.cache_hit_ratio(),
        ),
    }
    return Response(parts.counters.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")
