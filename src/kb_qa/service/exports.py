"""The route that gives a stored answer to keep, as a Markdown document."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from kb_qa.records import well_formed
from kb_qa.rendering import to_markdown
from kb_qa.service.parts import UsedParts

router = APIRouter(prefix="/v1")


@router.get("/answers/{answer_id}/answer.md")
async def answer_as_markdown(answer_id: str, parts: UsedParts) -> Response:
    """Its links are relative: they lead to the pages on this service."""
    events = await parts.open_answers.find(parts.knowledge_base.library, answer_id)
    return Response(well_formed(to_markdown(events, base_url="")), media_type="text/markdown")
