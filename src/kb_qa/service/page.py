"""The page at `/` and its files: fixed names, so that no path of a request ever reaches the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

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


_SCRIPT = "text/javascript; charset=utf-8"
FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/access.js": ("access.js", _SCRIPT),
    "/app.css": ("app.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    "/app.js": ("app.js", _SCRIPT),
    "/events.js": ("events.js", _SCRIPT),
    "/evidence.js": ("evidence.js", _SCRIPT),
    "/labels.js": ("labels.js", _SCRIPT),
    "/nodes.js": ("nodes.js", _SCRIPT),
}

for path, (name, media_type) in FILES.items():
    router.get(path)(_served(name, media_type))
