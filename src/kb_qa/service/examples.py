"""The route that says what could be asked."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter
from starlette.responses import Response

from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import UsedParts
from kb_qa.service.pictures import ReaderLanguage

router = APIRouter(prefix="/v1")


@router.get("/examples")
async def example_questions(parts: UsedParts, language: ReaderLanguage) -> Response:
    """A handful of questions that the documents answer, in the reader's language where they have any of it."""
    found = await parts.examples.examples(parts.knowledge_base, language)
    return AsciiJSONResponse({"examples": [asdict(each) for each in found]}, headers={"Vary": "Accept-Language"})
