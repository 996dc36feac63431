"""A follow-up question made to stand alone by the model that answers. What it writes is checked by whoever asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from kb_qa.answers import TextDelta, Turn
from kb_qa.follow_ups.history import REWRITE_PROMPTS, history_blocks
from kb_qa.guardrails.languages import language_of
from kb_qa.models.requests import MessagesRequest, ModelOptions, cache_mark, settled_body
from kb_qa.models.upstream import Upstream

MOST_TOKENS = 300  # of a question


class ModelRewriter:
    """One short call (`protocols.QuestionRewriter`). It pays from the same budget as answers do."""

    def __init__(self, options: ModelOptions, upstream: Upstream) -> None:
        self._options = replace(options, max_tokens=MOST_TOKENS)
        self._upstream = upstream

    async def rewrite(self, turns: Sequence[Turn], question: str) -> str:
        language = language_of(question)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in history_blocks(turns, question)]
        if len(blocks) > 1:
            blocks[-2] |= {"cache_control": cache_mark(self._options)}
        body = settled_body(self._options) | {
            "system": [{"type": "text", "text": REWRITE_PROMPTS[language]}],
            "messages": [{"role": "user", "content": blocks}],
        }
        said = ""
        async with aclosing(self._upstream.events(MessagesRequest(body), lambda _: (), language, ())) as events:
            async for event in events:
                said += event.text if isinstance(event, TextDelta) else ""
        return said.strip()
