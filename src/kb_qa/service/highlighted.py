"""The route of an answer's marked originals: a PDF a document in which every cited passage is highlighted (S1.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import PurePath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import FileResponse, Response

from kb_qa.errors import NotFoundError
from kb_qa.marks import MarkedDocument, chosen_documents, marked_documents
from kb_qa.protocols import Library
from kb_qa.service.documents import ORIGINAL_HEADERS, attachment_name
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import RequestId, UsedParts
from kb_qa.service.pictures import IfNoneMatch, matches, rendering_tag, shown_page

router = APIRouter(prefix="/v1/answers/{answer_id}")

SEVERAL = 409


@router.get("/highlighted.pdf")
async def highlighted_original(
    answer_id: str,
    parts: UsedParts,
    request_id: RequestId,
    document: Annotated[str, Query(max_length=4096)] = "",
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The marked original of the one cited document, or of `document` (name or id); 409 with the choice of several."""
    library = parts.knowledge_base.library
    events = await parts.open_answers.find(library, answer_id)
    documents = chosen_documents(marked_documents(events), document)
    if len(documents) > 1:
        return _choice(answer_id, documents, request_id)
    (marked,) = documents
    if not marked.claims:
        raise NotFoundError(f"{marked.name!r} has no pages to mark; its passages are cited by section")
    await asyncio.to_thread(_require_pages, library, marked)
    headers = ORIGINAL_HEADERS | {"ETag": rendering_tag(marked)}
    if matches(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    original = await asyncio.to_thread(parts.knowledge_base.original, marked.document_id)
    path = await parts.renderer.highlighted(original, marked.document_id, marked.claims)
    name = f"{PurePath(attachment_name(marked.name)).stem}.highlighted.pdf"
    return FileResponse(path, media_type="application/pdf", filename=name, headers=headers)


def _require_pages(library: Library, marked: MarkedDocument) -> None:
    for number in {place.page for claim in marked.claims for place in claim.pages}:
        shown_page(library, marked.document_id, number)


def _choice(answer_id: str, documents: Sequence[MarkedDocument], request_id: str) -> Response:
    """Which documents there are; `highlighted_url` is null for one without pages."""
    url = f"/v1/answers/{answer_id}/highlighted.pdf?document="
    choices = [
        {
            "document": marked.name,
            "document_id": marked.document_id,
            "highlighted_url": f"{url}{quote(marked.document_id)}" if marked.claims else None,
        }
        for marked in documents
    ]
    message = "the answer cites several documents; name one with ?document="
    problem = {"code": "several_documents", "message": message, "request_id": request_id, "documents": choices}
    return AsciiJSONResponse(problem, status_code=SEVERAL)
