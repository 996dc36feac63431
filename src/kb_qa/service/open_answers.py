"""The events of answers that are being written, and of those that were.

An answer is stored when it is done, but its first citation can be looked at while the rest is still being written.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from kb_qa.answers import AnswerEvent
from kb_qa.errors import NotFoundError
from kb_qa.protocols import Library

FOLLOW_SECONDS = 0.2
_ANSWER_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(slots=True)
class OpenAnswers:
    events: dict[str, list[AnswerEvent]] = field(default_factory=dict)

    async def followed(self, events: AsyncGenerator[AnswerEvent]) -> AsyncGenerator[AnswerEvent]:
        """The same events, findable by their answer's id until the generator is closed."""
        answer_id = ""
        try:
            async with aclosing(events):
                async for event in events:
                    answer_id = answer_id or str(event.data.get("answer_id", ""))
                    self.events.setdefault(answer_id, []).append(event)
                    yield event
        finally:
            self.events.pop(answer_id, None)

    async def find(self, library: Library, answer_id: str) -> Sequence[AnswerEvent]:
        """The events of a stored answer, or so far of an open one. Raises NotFoundError where there is neither."""
        if not _ANSWER_ID.fullmatch(answer_id):
            raise NotFoundError("there is no answer with this id")
        events: Sequence[AnswerEvent] | None = self.events.get(answer_id)
        events = events or await asyncio.to_thread(library.answer, answer_id)
        if not events:
            raise NotFoundError("there is no answer with this id")
        return tuple(events)

    async def replay(self, library: Library, answer_id: str, seen: int) -> AsyncGenerator[AnswerEvent]:
        """The events after number `seen`, those still to come included."""
        is_open = True
        while is_open:
            is_open = answer_id in self.events
            for event in await self.find(library, answer_id):
                if event.id > seen:
                    seen = event.id
                    yield event
            await asyncio.sleep(FOLLOW_SECONDS if is_open else 0)
