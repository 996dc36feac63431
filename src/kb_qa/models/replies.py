"""A reply of the Messages API, streamed or in one piece, → model events in the order that claims need.

The API sends a block's citations anywhere among its text, and says only at the very end that a reply was cut. So
citations wait for the end of their block, the end of a block for what follows it, and what may be the beginning of a
figure for what tells that it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kb_qa.answers import BlockCitation, ModelEvent, ModelStop, SpanEnd, TextDelta
from kb_qa.guardrails.messages import refusal_text
from kb_qa.models.cited_places import CitedPages
from kb_qa.refuse import NO_EVIDENCE

if TYPE_CHECKING:
    from anthropic.types import Message

TOKEN_KINDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
HOUR_TOKENS = "cache_creation_1h_input_tokens"
CHARACTERS_PER_TOKEN = 2  # between what Latin letters and Chinese characters take
CUT = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})
# A figure that may go on: its digits, and what may become its unit or scale.
_OPEN_FIGURE = re.compile(r"[-−(]?[$€£¥]?\d[^\s，。；、！？!?;]{0,40}(?:[ \u00a0][^\s\d]{0,24})?\Z")

Cited = BlockCitation | CitedPages
ReplyEvent = ModelEvent | CitedPages
Resolver = Callable[[Any], Sequence[Cited]]


class ReplyReader:
    """Feed it the events of one reply; `stop` is set by the last one. `resolve` says what a citation points to.

    `dropped` counts the citations that point nowhere. `usage` is what is known of it so far.
    """

    def __init__(self, resolve: Resolver) -> None:
        self.usage: dict[str, int] = {}
        self.message_id = ""
        self.dropped = 0
        self.heard = 0  # characters of text that came
        self.stop: ModelStop | None = None
        self._resolve = resolve
        self._reason = ""
        self._held = ""  # text that may be half a figure
        self._has_text = False  # the open block has text
        self._cited: dict[Cited, None] = {}  # by the open block, or by one without text before it
        self._ended: dict[Cited, None] | None = None  # what the last block cites, its end still to be told

    @property
    def cut_usage(self) -> dict[str, int]:
        """What is paid for of a reply that was cut: its last count of the output is that of its beginning."""
        written = max(self.usage.get("output_tokens", 0), self.heard // CHARACTERS_PER_TOKEN)
        return self.usage | {"output_tokens": written}

    def feed(self, event: Any) -> Iterator[ReplyEvent]:
        """An event of the SDK's stream, which does not validate: what nobody knows is passed over."""
        match event.type:
            case "message_start" if event.message is not None:
                self.message_id = event.message.id
                self._count(event.message.usage)
            case "content_block_start" if getattr(event.content_block, "text", None):
                yield from self._text(event.content_block.text)
            case "content_block_delta":
                yield from self._delta(event.delta)
            case "content_block_stop":
                self._end_block()
            case "message_delta":
                self._reason = event.delta.stop_reason or self._reason
                self._count(event.usage)
            case "message_stop":
                yield from self._close()

    def read(self, message: Message) -> Iterator[ReplyEvent]:
        """The same events from a reply that came in one piece."""
        self.message_id = message.id
        self._count(message.usage)
        for block in message.content:
            if block.type == "text":
                yield from self._text(block.text)
                for citation in block.citations or ():
                    self._cite(citation)
                self._end_block()
        self._reason = message.stop_reason or ""
        yield from self._close()

    def _delta(self, delta: Any) -> Iterator[ReplyEvent]:
        match delta.type:
            case "text_delta" if delta.text:
                yield from self._text(delta.text)
            case "citations_delta":
                self._cite(delta.citation)

    def _text(self, text: str) -> Iterator[ReplyEvent]:
        if not text:
            return
        yield from self._end_span()
        self.heard += len(text)
        self._has_text = True
        text = self._held + text
        open_figure = _OPEN_FIGURE.search(text)
        certain = open_figure.start() if open_figure else len(text)
        self._held = text[certain:]
        if certain:
            yield TextDelta(text[:certain])

    def _cite(self, citation: Any) -> None:
        blocks = self._resolve(citation)
        self.dropped += not blocks
        self._cited.update(dict.fromkeys(blocks))

    def _end_block(self) -> None:
        """A block that only cites belongs to the text before it; to the next one, where there is none."""
        if self._has_text:
            self._ended, self._cited, self._has_text = self._cited, {}, False
        elif self._ended is not None:
            self._ended |= self._cited
            self._cited = {}

    def _end_span(self) -> Iterator[ReplyEvent]:
        if self._ended is None:
            return
        if self._held:
            yield TextDelta(self._held)
        self._held = ""
        yield from self._ended
        yield SpanEnd()
        self._ended = None

    def _close(self) -> Iterator[ReplyEvent]:
        self._end_block()
        if self._reason in CUT:
            self._held = ""
        yield from self._end_span()
        self.stop = ModelStop(self._reason or "incomplete", dict(self.usage))

    def _count(self, usage: Any) -> None:
        """Counts are cumulative: a later one replaces an earlier one."""
        for kind in TOKEN_KINDS:
            value = getattr(usage, kind, None)
            if isinstance(value, int):
                self.usage[kind] = value
        hour = getattr(getattr(usage, "cache_creation", None), "ephemeral_1h_input_tokens", None)
        if isinstance(hour, int):
            self.usage[HOUR_TOKENS] = hour


class RefusalWatch:
    """Recognises a reply that is the refusal the prompt asked for, and nothing else: it becomes a stop `no_evidence`.

    Text is held only as long as it may still be one.
    """

    def __init__(self, language_tag: str) -> None:
        self._refusals = {_plain(refusal_text(tag)) for tag in (language_tag, "zh", "en")}
        self._held: list[ModelEvent] = []
        self._watching = True

    def passed(self, event: ModelEvent) -> Iterator[ModelEvent]:
        if not self._watching:
            yield event
            return
        if isinstance(event, ModelStop):
            refused = event.stop_reason == "end_turn" and self._text() in self._refusals
            yield from [ModelStop(NO_EVIDENCE, event.usage)] if refused else [*self._held, event]
            return
        self._held.append(event)
        if not any(refusal.startswith(self._text()) for refusal in self._refusals):
            self._watching = False
            yield from self._held

    def _text(self) -> str:
        return _plain("".join(event.text for event in self._held if isinstance(event, TextDelta)))


def _plain(text: str) -> str:
    return "".join(text.split()).rstrip(".。").lower()
