"""The routes of the page at `/` and its files."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from kb_qa.service.page_files import FILES
from kb_qa.service.pictures import IfNoneMatch, matches

router = APIRouter()


def _served(name: str, media_type: str) -> Callable[[IfNoneMatch], Awaitable[Response]]:
    content = files("kb_qa").joinpath("web", name).read_bytes()
    headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"', "Cache-Control": "no-cache"}

    async def serve(if_none_match: IfNoneMatch = None) -> Response:
        if matches(if_none_match, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=media_type, headers=headers)

    return serve


_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}

for path, name in FILES.items():
    router.get(path)(_served(name, _TYPES[PurePosixPath(name).suffix]))
