"""What a Messages API refuses, as far as our requests could get it wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kb_qa.testing.prompt_cache import blocks_of

MOST_MARKS = 4
MOST_BYTES = 32 * 1024 * 1024
_CITABLE = {"document", "search_result"}


def problem_of(request: Mapping[str, Any]) -> str:
    """Why the API answers 400; empty where it does not."""
    blocks = list(blocks_of(request))
    marks = sum("cache_control" in block for block in blocks)
    if marks > MOST_MARKS:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    if any("cache_control" in inner for block in blocks for inner in _inside(block)):
        return "cache_control cannot be set on content blocks inside of documents"
    citing = {_cites(block) for block in blocks if block.get("type") in _CITABLE}
    if len(citing) > 1:
        return "citations must be enabled on all documents or on none"
    if True in citing and request.get("output_config", {}).get("format"):
        return "citations cannot be used together with structured outputs"
    if any(inner.get("type") == "text" and not inner.get("text") for inner in [*blocks, *_all_inside(blocks)]):
        return "text content blocks must be non-empty"
    if not isinstance(request.get("max_tokens"), int):
        return "max_tokens: Field required"
    return ""


def _cites(block: Mapping[str, Any]) -> bool:
    return bool((block.get("citations") or {}).get("enabled"))


def _inside(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = block.get("content") if block.get("type") == "search_result" else block.get("source", {}).get("content")
    return list(content) if isinstance(content, list) else []


def _all_inside(blocks: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for block in blocks:
        yield from _inside(block)
