"""What a scripted Messages API says: replies block by block, what goes wrong, and both as the wire has them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]


def char_location(document: int, start: int, end: int, text: str) -> Json:
    """Of a plain-text document: characters `[start, end)`."""
    place = {"start_char_index": start, "end_char_index": end}
    return {"type": "char_location", "cited_text": text, "document_index": document, "document_title": None} | place


def page_location(document: int, start: int, end: int, text: str) -> Json:
    """Of a PDF: pages from `start` (1-based) up to, without, `end`."""
    place = {"start_page_number": start, "end_page_number": end}
    return {"type": "page_location", "cited_text": text, "document_index": document, "document_title": None} | place


def block_location(document: int, start: int, end: int | None = None, text: str = "") -> Json:
    """Of custom content: content blocks `[start, end)`, one where `end` is left out."""
    place = {"start_block_index": start, "end_block_index": start + 1 if end is None else end}
    kind = {"type": "content_block_location", "cited_text": text, "document_index": document, "document_title": None}
    return kind | place


def search_location(result: int, start: int, end: int, text: str = "", source: str = "s") -> Json:
    """Of a search result: content blocks `[start, end)`."""
    place = {"start_block_index": start, "end_block_index": end}
    kind = {"type": "search_result_location", "cited_text": text, "search_result_index": result, "title": None}
    return kind | {"source": source} | place


@dataclass(frozen=True, slots=True)
class Text:
    """A text block in pieces, a delta each. In a stream its citations come behind the text, or before it."""

    pieces: tuple[str, ...]
    citations: tuple[Mapping[str, Any], ...] = ()
    citations_first: bool = False


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str = "Let me see."


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply, and what goes wrong while it streams; `…_after` counts the events sent before that."""

    blocks: tuple[Text | Thinking, ...] = ()
    stop_reason: str = "end_turn"
    end_after: int | None = None  # the stream ends there, without message_stop
    drop_after: int | None = None  # the connection is cut there
    silence_after: int | None = None  # nothing comes any more, and the connection stays open
    error_after: int | None = None  # an `error` event, with status 200
    error_type: str = "overloaded_error"
    pings: bool = False  # a ping after each event
    endless_pings: bool = False  # silence is filled with pings
    unknown_deltas: bool = False  # and events and deltas of kinds that no client knows
    byte_by_byte: bool = False
    pause: float = 0.0  # seconds before each event


@dataclass(frozen=True, slots=True)
class HttpFault:
    """A response that is no reply."""

    status: int
    error_type: str = "api_error"
    message: str = "scripted"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""  # in place of the JSON of an error
    content_type: str = "application/json"

    def content(self) -> bytes:
        return (self.body or json.dumps(error_json(self.error_type, self.message))).encode()


def said(text: str, *citations: Mapping[str, Any], more: Sequence[Text] = (), **faults: Any) -> Reply:
    """A reply of one text block, and of `more`."""
    return replace(Reply(), blocks=(Text((text,), tuple(citations)), *more), **faults)


def error_json(error_type: str, message: str) -> Json:
    return {"type": "error", "error": {"type": error_type, "message": message}}


def message_json(reply: Reply, message_id: str, model: str, usage: Mapping[str, Any]) -> Json:
    """The reply as a message in one piece."""
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_content(block) for block in reply.blocks],
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": dict(usage),
    }


def frames(reply: Reply, message_id: str, model: str, usage: Mapping[str, Any]) -> Iterator[str]:
    """The reply as server-sent events, one frame each, faults of content included."""
    for event in _events(reply, message_id, model, usage):
        yield frame(event)
        if reply.pings:
            yield frame({"type": "ping"})


def frame(event: Mapping[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"


def _events(reply: Reply, message_id: str, model: str, usage: Mapping[str, Any]) -> Iterator[Json]:
    opened = message_json(replace(reply, blocks=()), message_id, model, dict(usage) | {"output_tokens": 1})
    yield {"type": "message_start", "message": opened | {"stop_reason": None}}
    for index, block in enumerate(reply.blocks):
        # As the API does it: a block starts without a list of citations.
        empty = (
            {"type": "text", "text": ""}
            if isinstance(block, Text)
            else {"type": "thinking", "thinking": "", "signature": ""}
        )
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if reply.unknown_deltas:
            yield {"type": "content_block_delta", "index": index, "delta": {"type": "mood_delta", "mood": "calm"}}
            yield {"type": "weather", "index": index, "sky": "clear"}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _deltas(block: Text | Thinking) -> Iterator[Json]:
    if isinstance(block, Thinking):
        yield {"type": "thinking_delta", "thinking": block.text}
        yield {"type": "signature_delta", "signature": "c2ln"}
        return
    texts: list[Json] = [{"type": "text_delta", "text": piece} for piece in block.pieces]
    citations: list[Json] = [{"type": "citations_delta", "citation": dict(citation)} for citation in block.citations]
    yield from [*citations, *texts] if block.citations_first else [*texts, *citations]


def _content(block: Text | Thinking) -> Json:
    if isinstance(block, Thinking):
        return {"type": "thinking", "thinking": block.text, "signature": "c2ln"}
    text = {"type": "text", "text": "".join(block.pieces)}
    return text | {"citations": [dict(citation) for citation in block.citations] or None}
