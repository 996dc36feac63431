"""The events of answers that are being written, and of those that were.

An answer is stored when it is done, but its first citation can be looked at while the rest is still being written, and
a reader whose connection broke can go on reading it. It is written for as long as anybody reads it, and no faster than
the foremost reader does.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from kb_qa.answers import AnswerEvent
from kb_qa.errors import NotFoundError
from kb_qa.protocols import Library

_ANSWER_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(slots=True)
class OpenAnswers:
    events: dict[str, LiveAnswer] = field(default_factory=dict)
    writing: set[asyncio.Task[None]] = field(default_factory=set)

    async def followed(
        self, events: AsyncGenerator[AnswerEvent], *, ended: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[AnswerEvent]:
        """The same events, findable by their answer's id until the last reader is gone.

        `ended` is called when `events` is closed, which may be a little later than this generator.
        """
        live = LiveAnswer()
        task = asyncio.create_task(self._write(live, events, ended))
        self.writing.add(task)
        task.add_done_callback(self.writing.discard)
        live.task = task
        async with aclosing(live.read()) as reading:
            async for event in reading:
                yield event

    async def _write(self, live: LiveAnswer, events: AsyncGenerator[AnswerEvent], ended: Callable[[], None]) -> None:
        answer_id = ""
        try:
            async with aclosing(events):
                await live.wanted.wait()
                async for event in events:
                    answer_id = answer_id or str(event.data.get("answer_id", ""))
                    self.events[answer_id] = live
                    await live.take(event)
        except Exception as error:  # noqa: BLE001 -- raised again in whoever reads, whose rim logs it
            live.failure = error
        finally:
            self.events.pop(answer_id, None)
            live.finish()
            ended()

    async def close(self) -> None:
        """Gives up what is still being written; returns when all of it is stored."""
        writing = tuple(self.writing)
        for task in writing:
            task.cancel()
        await asyncio.gather(*writing, return_exceptions=True)

    async def find(self, library: Library, answer_id: str) -> Sequence[AnswerEvent]:
        """The events of a stored answer, or so far of an open one. Raises NotFoundError where there is neither."""
        if not _ANSWER_ID.fullmatch(answer_id):
            raise NotFoundError("there is no answer with this id")
        live = self.events.get(answer_id)
        if live is not None and live.events:
            return tuple(live.events)
        stored = await asyncio.to_thread(library.answer, answer_id)
        if not stored:
            raise NotFoundError("there is no answer with this id")
        return tuple(stored)

    async def replay(self, library: Library, answer_id: str, seen: int) -> AsyncGenerator[AnswerEvent]:
        """The events after number `seen`, those still to come included."""
        live = self.events.get(answer_id)
        if live is None:
            for event in await self.find(library, answer_id):
                if event.id > seen:
                    yield event
            return
        async with aclosing(live.read()) as reading:
            async for event in reading:
                if event.id > seen:
                    yield event


@dataclass(slots=True)
class LiveAnswer:
    """One answer while it is written, with any number of readers. Without a reader its writing is given up."""

    events: list[AnswerEvent] = field(default_factory=list)
    readers: int = 0
    failure: Exception | None = None
    is_done: bool = False
    task: asyncio.Task[None] | None = None
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, event: AnswerEvent) -> None:
        """Returns when a reader has read all there is: a reader that does not read must not fill the memory."""
        self.events.append(event)
        self.wanted.clear()
        self._tell()
        await self.wanted.wait()

    def finish(self) -> None:
        self.is_done = True
        self._tell()

    async def read(self) -> AsyncGenerator[AnswerEvent]:
        """All events from the first one on. Raises what the writing raised, behind the last of them."""
        at = 0
        self.readers += 1
        try:
            while True:
                news = self._news
                while at < len(self.events):
                    at += 1
                    yield self.events[at - 1]
                if self.is_done and at == len(self.events):
                    break
                if at == len(self.events) and news is self._news:
                    self.wanted.set()
                    await news.wait()
            if self.failure is not None:
                raise self.failure
        finally:
            self.readers -= 1
            if not self.readers and not self.is_done and self.task is not None:
                self.task.cancel()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
