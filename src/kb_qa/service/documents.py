"""Routes of documents: the list, one of them, its original, and pictures of its pages."""

from __future__ import annotations

import asyncio
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import FileResponse, Response

from kb_qa.answers import Language
from kb_qa.citation import GRADES
from kb_qa.document_record import DocumentRecord
from kb_qa.errors import NotFoundError
from kb_qa.geometry import parse_bbox
from kb_qa.picture import Picture
from kb_qa.protocols import Library
from kb_qa.quality_reasons import reason_in, summed_reasons
from kb_qa.rejections import advice_in, rejection_in
from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.parts import Parts, UsedParts
from kb_qa.service.pictures import (
    DEFAULT_DPI,
    GONE,
    NO_DOCUMENT,
    Dpi,
    IfNoneMatch,
    Margin,
    PathNumber,
    ReaderLanguage,
    checked_document_id,
    parsed_marks,
    picture_response,
)
from kb_qa.signatures import HEAD_BYTES, media_type

router = APIRouter(prefix="/v1/documents")

MAX_FILE_NAME: Final = 120
MOST_REASONS: Final = 6
BY_LANGUAGE: Final = {"Vary": "Accept-Language"}
# An original is an attachment; where a browser shows it all the same, nothing in it runs or loads.
ORIGINAL_HEADERS: Final = {
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "private, no-cache",
}


@router.get("")
async def listed_documents(parts: UsedParts, language: ReaderLanguage) -> Response:
    library = parts.knowledge_base.library
    queued = await _queued(parts)  # first: what is taken up meanwhile is then in the ledger
    stored, name = await asyncio.to_thread(lambda: (library.documents(), library.name()))
    known = {record.document_id for record in stored}
    records = [*stored, *(record for record in queued if record.document_id not in known)]
    lines = [_record_json(record, language) for record in records if record.state not in GONE]
    return AsciiJSONResponse({"name": name, "documents": lines}, headers=BY_LANGUAGE)


@router.get("/{document_id}")
async def one_document(document_id: str, parts: UsedParts, language: ReaderLanguage) -> Response:
    queued = [record for record in await _queued(parts) if record.document_id == document_id]
    record = queued[0] if queued else await asyncio.to_thread(_record, parts.knowledge_base.library, document_id)
    return AsciiJSONResponse(_record_json(record, language), headers=BY_LANGUAGE)


@router.get("/{document_id}/file")
async def original_file(document_id: str, parts: UsedParts) -> Response:
    record = await asyncio.to_thread(_record, parts.knowledge_base.library, document_id)
    path = await asyncio.to_thread(parts.knowledge_base.original, document_id)
    kind = await asyncio.to_thread(_media_type, path)
    name = attachment_name(record.names[0] if record.names else "")
    return FileResponse(path, media_type=kind, filename=name, headers=ORIGINAL_HEADERS)


@router.get("/{document_id}/pages/{number}.png")
async def page_picture(
    document_id: str,
    number: PathNumber,
    parts: UsedParts,
    dpi: Dpi = DEFAULT_DPI,
    if_none_match: IfNoneMatch = None,
) -> Response:
    return await picture_response(parts, document_id, Picture(number, dpi=dpi), if_none_match=if_none_match)


async def _asked_region(
    number: PathNumber,
    bbox: str,
    dpi: Dpi = DEFAULT_DPI,
    margin: Margin = 0,
    marks: Annotated[str, Query(max_length=40_000)] = "",
) -> Picture:
    """`bbox`, and the boxes of `marks` parted by semicolons, in points. Raises InvalidRegionError for other text."""
    return Picture(number, parse_bbox(bbox), dpi, margin, parsed_marks(marks))


@router.get("/{document_id}/pages/{number}/region.png")
async def region_picture(
    document_id: str,
    parts: UsedParts,
    asked: Annotated[Picture, Depends(_asked_region)],
    language: ReaderLanguage,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The region; the whole page, with the reason in the headers, where there is no such region on it."""
    return await picture_response(parts, document_id, asked, language=language, if_none_match=if_none_match)


async def _queued(parts: Parts) -> list[DocumentRecord]:
    """Uploads that nobody has taken up yet: the ledger knows nothing of them."""
    return [] if parts.intake is None else await asyncio.to_thread(parts.intake.queued)


def _record(library: Library, document_id: str) -> DocumentRecord:
    wanted = checked_document_id(document_id)
    record = library.document(wanted)
    if record is None or record.state in GONE:
        raise NotFoundError(NO_DOCUMENT)
    return record


def _record_json(record: DocumentRecord, language: Language) -> dict[str, object]:
    return {
        "document_id": record.document_id,
        "names": list(record.names),
        "state": record.state,
        "pages": record.pages,
        "chunks": record.chunks,
        "parser": record.parser,
        "flags": [reason_in(language, flag) for flag in record.flags],
        "reason": rejection_in(language, record.code, record.reason),
        "code": record.code,
        "advice": advice_in(language, record.code),
        "quality": _quality_json(record, language),
        "dated": record.dated,
        "dated_by": record.dated_by,
        "size": record.size,
        "events_url": f"/v1/documents/{record.document_id}/events",
        "file_url": f"/v1/documents/{record.document_id}/file",
    }


def _quality_json(record: DocumentRecord, language: Language) -> dict[str, object] | None:
    """The grade of the worst page, and how it came to be; None where nothing was read of any page."""
    if record.state != "ready" or not record.grades:
        return None
    reasons = summed_reasons(language, record.page_reasons)
    return {
        "grade": max(record.grades, key=GRADES.index),
        "pages": {grade: record.grades.get(grade, 0) for grade in GRADES},
        "reasons": [{"reason": reason, "pages": pages} for reason, pages in reasons[:MOST_REASONS]],
    }


def _media_type(path: Path) -> str:
    """By content, never by name. Raises NotFoundError where the original is not there any more."""
    try:
        with path.open("rb") as file:
            start = file.read(HEAD_BYTES)
    except OSError as error:
        raise NotFoundError("the original of this document is not there any more") from error
    return media_type(start)


def attachment_name(name: str) -> str:
    """The file's own name for a download: no folders, no control or direction characters, not endless."""
    last = PurePosixPath(name.replace("\\", "/")).name
    shown = "".join(letter for letter in last if unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Zl", "Zp"})
    suffix = PurePosixPath(shown).suffix[:20]
    stem = shown[: len(shown) - len(PurePosixPath(shown).suffix)][:MAX_FILE_NAME].strip(" .")
    return f"{stem or 'document'}{suffix}"
