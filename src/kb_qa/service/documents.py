"""Routes of documents: the list, one of them, its original, and pictures of its pages."""

from __future__ import annotations

import asyncio
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Final

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

from kb_qa.errors import NotFoundError
from kb_qa.protocols import DocumentRecord, Library
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import UsedParts
from kb_qa.service.pictures import (
    DEFAULT_DPI,
    Dpi,
    IfNoneMatch,
    PathNumber,
    checked_document_id,
    parsed_bbox,
    picture_response,
    shown_page,
)

router = APIRouter(prefix="/v1/documents")

GONE: Final = frozenset({"deleting", "deleted"})
MAX_FILE_NAME: Final = 120
# An original is an attachment; where a browser shows it all the same, nothing in it runs or loads.
ORIGINAL_HEADERS: Final = {
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "private, no-cache",
}


@router.get("")
async def listed_documents(parts: UsedParts) -> Response:
    records = await asyncio.to_thread(parts.knowledge_base.library.documents)
    return AsciiJSONResponse({"documents": [_record_json(record) for record in records if record.state not in GONE]})


@router.get("/{document_id}")
async def one_document(document_id: str, parts: UsedParts) -> Response:
    record = await asyncio.to_thread(_record, parts.knowledge_base.library, document_id)
    return AsciiJSONResponse(_record_json(record))


@router.get("/{document_id}/file")
async def original_file(document_id: str, parts: UsedParts) -> Response:
    record = await asyncio.to_thread(_record, parts.knowledge_base.library, document_id)
    path = await asyncio.to_thread(parts.knowledge_base.original, document_id)
    media_type = await asyncio.to_thread(_media_type, path)
    name = attachment_name(record.names[0] if record.names else "")
    return FileResponse(path, media_type=media_type, filename=name, headers=ORIGINAL_HEADERS)


@router.get("/{document_id}/pages/{number}.png")
async def page_picture(
    document_id: str,
    number: PathNumber,
    parts: UsedParts,
    dpi: Dpi = DEFAULT_DPI,
    if_none_match: IfNoneMatch = None,
) -> Response:
    await shown_page(parts.knowledge_base.library, document_id, number)

    async def render() -> bytes:
        path = await asyncio.to_thread(parts.knowledge_base.original, document_id)
        return await parts.renderer.page_png(path, document_id, number, dpi=dpi)

    return await picture_response(("page", document_id, number, dpi), if_none_match, render)


@router.get("/{document_id}/pages/{number}/region.png")
async def region_picture(
    document_id: str,
    number: PathNumber,
    bbox: str,
    parts: UsedParts,
    dpi: Dpi = DEFAULT_DPI,
    if_none_match: IfNoneMatch = None,
) -> Response:
    page = await shown_page(parts.knowledge_base.library, document_id, number)
    box = parsed_bbox(bbox, page)

    async def render() -> bytes:
        path = await asyncio.to_thread(parts.knowledge_base.original, document_id)
        return await parts.renderer.region_png(path, document_id, number, box, dpi=dpi, margin=0)

    return await picture_response(("region", document_id, number, box.as_tuple(), dpi), if_none_match, render)


def _record(library: Library, document_id: str) -> DocumentRecord:
    wanted = checked_document_id(document_id)
    for record in library.documents():
        if record.document_id == wanted and record.state not in GONE:
            return record
    raise NotFoundError("there is no document with this id")


def _record_json(record: DocumentRecord) -> dict[str, object]:
    return {
        "document_id": record.document_id,
        "names": list(record.names),
        "state": record.state,
        "pages": record.pages,
        "chunks": record.chunks,
        "parser": record.parser,
        "flags": list(record.flags),
        "reason": record.reason,
        "size": record.size,
        "file_url": f"/v1/documents/{record.document_id}/file",
    }


def _media_type(path: Path) -> str:
    """By content, never by name. Raises NotFoundError where the original is not there any more."""
    try:
        with path.open("rb") as file:
            start = file.read(1024)
    except OSError as error:
        raise NotFoundError("the original of this document is not there any more") from error
    return "application/pdf" if b"%PDF-" in start else "application/octet-stream"


def attachment_name(name: str) -> str:
    """The file's own name for a download: no folders, no control or direction characters, not endless."""
    last = PurePosixPath(name.replace("\\", "/")).name
    shown = "".join(letter for letter in last if unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Zl", "Zp"})
    suffix = PurePosixPath(shown).suffix[:20]
    stem = shown[: len(shown) - len(PurePosixPath(shown).suffix)][:MAX_FILE_NAME].strip(" .")
    return f"{stem or 'document'}{suffix}"
