"""The prompt cache of a scripted Messages API: it knows prefixes byte for byte, up to each mark."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

BYTES_PER_TOKEN = 4
SECONDS = {"5m": 300.0, "1h": 3600.0}


@dataclass(slots=True)
class PromptCache:
    """`minimum` is the shortest prefix, in tokens, that is kept. `clock` counts seconds."""

    minimum: int = 64
    clock: Callable[[], float] = time.monotonic
    kept: dict[str, tuple[float, float]] = field(default_factory=dict)  # prefix → (last used, seconds it is kept)

    def usage(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The input tokens of a request by kind, as the API counts them; keeps the request's marked prefixes."""
        marks = list(_marks(request))
        whole = tokens(b"".join(piece for piece, _ in _pieces(request)))
        read = max((size for digest, size, _ in marks if self._is_kept(digest)), default=0)
        kept = [(digest, size, ttl) for digest, size, ttl in marks if size >= self.minimum]
        written = max((size for _, size, _ in kept), default=0)
        now = self.clock()
        for digest, _, ttl in kept:
            self.kept[digest] = (now, SECONDS[ttl])
        created = max(written - read, 0)
        hour = kept[-1][2] == "1h" if kept else False
        return {
            "input_tokens": whole - read - created,
            "cache_creation_input_tokens": created,
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": 0 if hour else created,
                "ephemeral_1h_input_tokens": created if hour else 0,
            },
        }

    def _is_kept(self, digest: str) -> bool:
        used, seconds = self.kept.get(digest, (-math.inf, 0.0))
        return self.clock() - used < seconds


def tokens(data: bytes) -> int:
    return math.ceil(len(data) / BYTES_PER_TOKEN)


def count(request: Mapping[str, Any]) -> int:
    """All input tokens of a request."""
    return tokens(b"".join(piece for piece, _ in _pieces(request)))


def blocks_of(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The top-level blocks in the order of the prefix: tools, system, messages."""
    yield from request.get("tools", ())
    yield from _as_blocks(request.get("system", ()))
    for message in request["messages"]:
        yield from _as_blocks(message["content"])


def _as_blocks(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _pieces(request: Mapping[str, Any]) -> Iterator[tuple[bytes, Any]]:
    """(bytes, mark) of each block; keys stay in the order they came in."""
    yield json.dumps(request["model"]).encode(), None
    for block in blocks_of(request):
        plain = {key: value for key, value in block.items() if key != "cache_control"}
        yield json.dumps(plain).encode(), block.get("cache_control")


def _marks(request: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """(digest of the prefix, its tokens, how long it is kept) of each mark, shortest first."""
    digest = hashlib.sha256()
    size = 0
    for piece, mark in _pieces(request):
        digest.update(piece)
        size += len(piece)
        if mark is not None:
            yield digest.hexdigest(), math.ceil(size / BYTES_PER_TOKEN), mark.get("ttl", "5m")
