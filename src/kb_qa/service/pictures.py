"""Pictures of pages and regions, with the tags that spare a browser the second download."""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path as FilePath
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import Depends, Header, Path, Query
from pydantic import BeforeValidator
from starlette.responses import Response

from kb_qa.answers import Language
from kb_qa.errors import InvalidRegionError, NotFoundError, UnsupportedFileError
from kb_qa.geometry import BBox, Page, parse_bbox
from kb_qa.picture import MAX_DPI, Picture, box_problem, instead_text
from kb_qa.protocols import Library
from kb_qa.renderer import PICTURE_VERSION
from kb_qa.search_filters import MAX_PAGE
from kb_qa.service.parts import Parts


def _digits(text: object) -> object:
    """A page has one address: ` 1` and `1.0` are none, though they would do as numbers."""
    if isinstance(text, str) and not (text.isascii() and text.isdigit()):
        raise ValueError("must be a whole number")
    return text


# Any resolution may be asked for; what is drawn stays within MAX_DPI and the budget of pixels.
Dpi = Annotated[int, Query(ge=36, le=1_000_000)]
Margin = Annotated[float, Query(ge=0, le=1000, allow_inf_nan=False)]
PathNumber = Annotated[int, BeforeValidator(_digits), Path(ge=1, le=MAX_PAGE)]
IfNoneMatch = Annotated[str | None, Header()]

DEFAULT_DPI: Final = 150
MOST_MARKS: Final = 500
GONE: Final = frozenset({"deleting", "deleted"})
NO_DOCUMENT: Final = "there is no document with this id"

_DOCUMENT_ID = re.compile(r"[0-9a-f]{64}")
_RENDERING = version("pymupdf") + version("kb-qa")
_PREFERENCE = re.compile(r"\s*([A-Za-z*]{1,8})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]{0,3})?))?\s*")


async def _reader_language(accept_language: Annotated[str, Header(max_length=1000)] = "") -> Language:
    """What the browser's reader reads best, of the languages that there are."""
    best: tuple[float, Language] = (0.0, "en")
    for part in accept_language.split(","):
        match = _PREFERENCE.fullmatch(part)
        if match is None or match[1].lower() not in {"zh", "en"}:
            continue
        weight = float(match[2] or 1)
        if weight > best[0]:
            best = (weight, "zh" if match[1].lower() == "zh" else "en")
    return best[1]


ReaderLanguage = Annotated[Language, Depends(_reader_language)]


async def picture_response(
    parts: Parts, document_id: str, asked: Picture, *, language: Language = "en", if_none_match: str | None
) -> Response:
    """The PNG of the picture; 304, and no rendering, where the browser has it.

    Where there is no such region on the page it is of the page, and headers say why. Raises what `shown_page` does.
    """
    found = await asyncio.to_thread(_look, parts, document_id, asked, (language, if_none_match))
    if isinstance(found, Response):
        return found
    path, picture, headers = found
    png = await parts.renderer.picture(path, document_id, picture)
    return Response(png, media_type="image/png", headers=headers)


def _look(
    parts: Parts, document_id: str, asked: Picture, reader: tuple[Language, str | None]
) -> Response | tuple[FilePath, Picture, dict[str, str]]:
    """The response, where nothing is to be drawn for it; else what is to be drawn, and the response's headers.

    All that blocks in one call: each change of thread costs a cached picture as much as the rest of its way.
    """
    language, if_none_match = reader
    page = shown_page(parts.knowledge_base.library, document_id, asked.page)
    picture, told = region_or_page(replace(asked, dpi=min(asked.dpi, MAX_DPI)), page, language)
    headers = {
        "ETag": rendering_tag(document_id, picture, parts.settings.max_megapixels),
        # Kept, but asked for again each time: the picture of a deleted document must not come out of a cache.
        "Cache-Control": "private, no-cache",
        **told,
    }
    if matches(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    kept = parts.renderer.kept(document_id, picture)
    if kept is not None:
        return Response(kept, media_type="image/png", headers=headers)
    return parts.knowledge_base.original(document_id), picture, headers


def region_or_page(picture: Picture, page: Page, language: Language) -> tuple[Picture, dict[str, str]]:
    """The picture, or that of its whole page where its box is none; then headers say why.

    `X-Region-Problem` is a code; `X-Region-Reason` is the sentence, percent-encoded UTF-8, as headers are ASCII.
    """
    whole = BBox(0, 0, page.width, page.height)
    problem = None if picture.bbox is None else box_problem(picture.bbox, whole)
    if picture.bbox is None or problem is None:
        return picture, {}
    reason = instead_text(problem, picture.bbox, whole, language)
    headers = {"X-Region-Problem": problem, "X-Region-Reason": quote(reason), "Content-Language": language}
    return replace(picture, bbox=None, margin=0), headers


def rendering_tag(*made_from: object) -> str:
    """A strong tag of what is always made the same from these values."""
    key = repr((_RENDERING, PICTURE_VERSION, *made_from)).encode("utf-8", "surrogatepass")
    return f'"{hashlib.sha256(key).hexdigest()[:32]}"'


def matches(if_none_match: str | None, etag: str) -> bool:
    if if_none_match is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return etag in tags or "*" in tags


def shown_page(library: Library, document_id: str, number: int) -> Page:
    """Blocking. Raises NotFoundError for an id that is none, a document that is not ready, and a page it does not have.

    UnsupportedFileError where the document has no pages at all.
    """
    page = library.page(checked_document_id(document_id), number)
    if page is None:
        raise _missing_page(library, document_id, number)
    return page


def _missing_page(library: Library, document_id: str, number: int) -> NotFoundError | UnsupportedFileError:
    states = {record.document_id: record for record in library.documents() if record.state not in GONE}
    record = states.get(document_id)
    if record is None:
        return NotFoundError(NO_DOCUMENT)
    if record.state == "ready" and record.pages == 0:
        return UnsupportedFileError("this document has no pages to show; its passages are cited by section")
    return NotFoundError(f"there is no page {number} of this document to show")


def checked_document_id(document_id: str) -> str:
    if not _DOCUMENT_ID.fullmatch(document_id):
        raise NotFoundError(NO_DOCUMENT)
    return document_id


def parsed_marks(text: str) -> tuple[BBox, ...]:
    """The boxes `x0,y0,x1,y1;…`. Raises InvalidRegionError where one is none, or there are too many."""
    parts = text.split(";", MOST_MARKS) if text else []
    if len(parts) > MOST_MARKS:
        raise InvalidRegionError(f"marks must be at most {MOST_MARKS} boxes")
    return tuple(map(parse_bbox, parts))
