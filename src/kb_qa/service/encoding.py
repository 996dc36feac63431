"""JSON for the wire: one line of ASCII.

ASCII, because clients of event streams split lines at U+2028 and U+0085, and because a file name can hold half a
surrogate pair, which UTF-8 cannot.
"""

from __future__ import annotations

import json

from starlette.responses import Response


def one_line(value: object) -> str:
    """Raises ValueError or TypeError for what JSON has no word for (NaN, bytes, objects)."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


class AsciiJSONResponse(Response):
    media_type = "application/json"

    def render(self, content: object) -> bytes:
        return one_line(content).encode("ascii")
