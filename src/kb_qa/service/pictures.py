"""Pictures of pages and regions, with the tags that spare a browser the second download."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Annotated, Final

from fastapi import Header, Path, Query
from pydantic import BeforeValidator
from starlette.responses import Response

from kb_qa.errors import InvalidRegionError, NotFoundError
from kb_qa.geometry import BBox, Page, parse_bbox
from kb_qa.protocols import Library
from kb_qa.service.questions import MAX_PAGE


def _digits(text: object) -> object:
    """A page has one address: ` 1` and `1.0` are none, though they would do as numbers."""
    if isinstance(text, str) and not (text.isascii() and text.isdigit()):
        raise ValueError("must be a whole number")
    return text


Dpi = Annotated[int, Query(ge=36, le=300)]
PathNumber = Annotated[int, BeforeValidator(_digits), Path(ge=1, le=MAX_PAGE)]
IfNoneMatch = Annotated[str | None, Header()]

DEFAULT_DPI: Final = 150

_DOCUMENT_ID = re.compile(r"[0-9a-f]{64}")
_RENDERING = version("pymupdf") + version("kb-qa")


async def picture_response(
    key: tuple[object, ...], if_none_match: str | None, render: Callable[[], Awaitable[bytes]]
) -> Response:
    """The PNG that `render` makes; 304, and no rendering, where the browser has the picture that `key` names."""
    etag = f'"{hashlib.sha256(repr((_RENDERING, key)).encode()).hexdigest()[:32]}"'
    # Kept, but asked for again each time: the picture of a deleted document must not come out of a cache.
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if matches(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    return Response(await render(), media_type="image/png", headers=headers)


def matches(if_none_match: str | None, etag: str) -> bool:
    if if_none_match is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return etag in tags or "*" in tags


async def shown_page(library: Library, document_id: str, number: int) -> Page:
    """Raises NotFoundError for an id that is none, a document that is not ready, and a page it does not have."""
    page = await asyncio.to_thread(library.page, checked_document_id(document_id), number)
    if page is None:
        raise NotFoundError(f"there is no page {number} of this document to show")
    return page


def checked_document_id(document_id: str) -> str:
    if not _DOCUMENT_ID.fullmatch(document_id):
        raise NotFoundError("there is no document with this id")
    return document_id


def parsed_bbox(text: str, page: Page) -> BBox:
    """The box `x0,y0,x1,y1` in points. Raises InvalidRegionError where it is none, or lies off the page."""
    bbox = parse_bbox(text)
    if bbox.intersection(BBox(0, 0, page.width, page.height)) is None:
        raise InvalidRegionError(f"bbox lies off the page, which is {page.width:g} x {page.height:g} points")
    return bbox
