"""An answer that is being written can be read by several, and is written for as long as anybody reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from kb_qa.answers import AnswerEvent
from kb_qa.errors import ModelError, NotFoundError
from kb_qa.service.open_answers import OpenAnswers
from tests.scripted_service import ANSWER, ScriptedKnowledgeBase, ScriptedLibrary, plain_answer

EVENTS = plain_answer()


async def read(events: AsyncGenerator[AnswerEvent], most: int = 100) -> list[AnswerEvent]:
    """The first `most` events; then the reader leaves."""
    got: list[AnswerEvent] = []
    async with aclosing(events):
        async for event in events:
            got.append(event)
            if len(got) == most:
                break
    return got


@pytest.mark.parametrize("seen", range(4))
def test_a_reader_who_comes_back_reads_on_in_the_open_answer(seen: int) -> None:
    """After event `seen`: what was written meanwhile, then what is still to come; nothing twice, nothing lost."""

    async def resumed() -> None:
        answers = OpenAnswers()
        script = [step for event in EVENTS for step in (event, 0.02)]
        first = answers.followed(ScriptedKnowledgeBase(script).ask("?"))
        async with aclosing(first):
            for _ in range(4):
                await anext(first)
            second = asyncio.create_task(read(answers.replay(ScriptedLibrary(), ANSWER, seen)))
            assert [event async for event in first] == EVENTS[4:]
        assert await second == EVENTS[seen:]
        assert not answers.events

    asyncio.run(resumed())


def test_the_first_reader_may_leave_where_another_reads() -> None:
    """A connection that is dead and not yet known to be so stops nobody who has come back."""

    async def taken_over() -> None:
        answers, knowledge_base = OpenAnswers(), ScriptedKnowledgeBase([EVENTS[0], 0.02, *EVENTS[1:]])
        first = answers.followed(knowledge_base.ask("?"))
        await anext(first)  # and then it reads no more
        second = asyncio.create_task(read(answers.replay(ScriptedLibrary(), ANSWER, 1)))
        await asyncio.sleep(0.01)
        await first.aclose()
        assert await second == EVENTS[1:]

    asyncio.run(taken_over())


def test_a_reader_that_does_not_read_holds_up_nobody_else() -> None:
    """The answer is written as fast as the foremost reader reads."""

    async def stuck() -> None:
        answers, knowledge_base = OpenAnswers(), ScriptedKnowledgeBase([*EVENTS])
        first = answers.followed(knowledge_base.ask("?"))
        await anext(first)
        assert await read(answers.replay(ScriptedLibrary(), ANSWER, 0)) == EVENTS
        assert [event async for event in first] == EVENTS[1:]

    asyncio.run(asyncio.wait_for(stuck(), 5))


def test_without_a_reader_the_writing_is_given_up() -> None:
    """The last one who leaves closes the answer's generator, and what was told when it is closed is told then."""

    async def abandoned() -> None:
        answers, knowledge_base = OpenAnswers(), ScriptedKnowledgeBase([EVENTS[0], 60.0])
        ended: list[bool] = []
        events = answers.followed(knowledge_base.ask("?"), ended=lambda: ended.append(knowledge_base.closed.is_set()))
        assert await read(events, 1) == EVENTS[:1]
        await asyncio.sleep(0.01)
        assert ended == [True]
        assert not answers.events
        assert not answers.writing

    asyncio.run(abandoned())


def test_closing_waits_until_what_is_written_is_stored() -> None:
    """At shutdown the generators end before the parts they use do."""

    async def closed() -> None:
        answers, knowledge_base = OpenAnswers(), ScriptedKnowledgeBase([EVENTS[0], 60.0])
        events = answers.followed(knowledge_base.ask("?"))
        await anext(events)
        await answers.close()
        assert knowledge_base.closed.is_set()
        await events.aclose()

    asyncio.run(closed())


def test_a_failure_reaches_every_reader() -> None:
    """Whoever reads gets the events before it, and then the same error."""

    async def failed() -> None:
        answers = OpenAnswers()
        first = answers.followed(ScriptedKnowledgeBase([EVENTS[0], 0.02, ModelError("overloaded")]).ask("?"))
        await anext(first)
        second = asyncio.create_task(read(answers.replay(ScriptedLibrary(), ANSWER, 0)))
        for reader in (read(first), second):
            with pytest.raises(ModelError, match="overloaded"):
                await reader

    asyncio.run(failed())


def test_what_nobody_wrote_is_not_found() -> None:
    """Neither an open answer nor a stored one."""
    with pytest.raises(NotFoundError):
        asyncio.run(read(OpenAnswers().replay(ScriptedLibrary(), "b" * 32, 0)))
