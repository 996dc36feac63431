"""Whether a reply was to be read from the prompt cache, and why it was not (S3.5)."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from kb_qa.models.requests import MessagesRequest

TTL_SECONDS = {"5m": 300.0, "1h": 3600.0}
_KEPT = 256  # materials whose last call is remembered


@dataclass(frozen=True, slots=True)
class Call:
    """What decides whether the next call with the same materials reads from the cache. `at` counts seconds."""

    model: str
    prefix: str
    tools: str
    at: float
    ttl: float


def call_of(request: MessagesRequest, at: float) -> Call:
    body = request.body
    stable = [*body["system"], *body["messages"][0]["content"][:-1]]
    ttl = next((block["cache_control"]["ttl"] for block in stable if "cache_control" in block), "5m")
    return Call(body["model"], _digest(stable), _digest(body.get("tools", [])), at, TTL_SECONDS[ttl])


def miss_reason(before: Call, now: Call, usage: Mapping[str, int]) -> str:
    """Why a call that had the same materials as one before did not read them from the cache; empty where it did."""
    if usage.get("cache_read_input_tokens", 0) > 0:
        return ""
    if before.model != now.model:
        return f"the model changed from {before.model} to {now.model}"
    if before.tools != now.tools:
        return "the tools or their order changed"
    if before.prefix != now.prefix:
        return "the prefix changed"
    if now.at - before.at > before.ttl:
        return f"more than the TTL ({before.ttl:g} s) passed between the calls"
    if not usage.get("cache_creation_input_tokens", 0):
        return "the prefix is below the minimum length that the model caches"
    return "none that is known here: the entry may have been evicted"


@dataclass(slots=True)
class CacheWatch:
    """The last call with each set of materials, as long as there is room."""

    calls: OrderedDict[tuple[str, ...], Call] = field(default_factory=OrderedDict)

    def reason(self, materials: tuple[str, ...], now: Call, usage: Mapping[str, int]) -> str:
        """Why nothing was read though it was to be; empty where it was, or was not to be. Remembers the call.

        A call about no materials (a question put into other words, a picture) has nothing that was to be read.
        """
        if not materials:
            return ""
        before = self.calls.pop(materials, None)
        self.calls[materials] = now
        while len(self.calls) > _KEPT:
            self.calls.popitem(last=False)
        return "" if before is None else miss_reason(before, now, usage)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
