"""How many answers are written at once, and what the others are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from kb_qa.errors import BusyError
from kb_qa.service.admission import Admission, Place
from kb_qa.settings import Settings
from tests.scripted_service import ScriptedKnowledgeBase, plain_answer, served


async def positions_of(place: Place, told: list[int]) -> None:
    async for position in place.positions():
        told.append(position)


def test_the_line_is_served_in_order_and_everybody_is_told_where_they_stand() -> None:
    """Each one that leaves moves the others up by one; the first in line is admitted, and nobody else."""

    async def line() -> list[list[int]]:
        admission = Admission(2, 3)
        places = [admission.place() for _ in range(5)]
        told: list[list[int]] = [[] for _ in places]
        waiting = [asyncio.create_task(positions_of(each, heard)) for each, heard in zip(places, told, strict=True)]
        for leaving in (0, 3, 1):  # an open one, one that waits, an open one
            await asyncio.sleep(0.01)
            places[leaving].leave()
            places[leaving].leave()
        await asyncio.gather(*waiting)
        assert [place.admitted for place in places] == [True, True, True, False, True]
        assert (admission.open, admission.line) == (2, [])
        return told

    assert asyncio.run(line()) == [[], [], [1], [2, 1], [3, 2, 1]]


def test_nobody_passes_those_who_wait() -> None:
    """A place that is free goes to the first in line, not to whoever comes just then."""

    async def late() -> None:
        admission = Admission(1, 5)
        first, second = admission.place(), admission.place()
        first.leave()
        third = admission.place()
        assert not third.admitted
        told: list[int] = []
        heard = asyncio.create_task(positions_of(third, told))
        await asyncio.sleep(0.01)
        await positions_of(second, [])
        assert second.admitted
        await asyncio.sleep(0.01)
        assert told == [2, 1]
        heard.cancel()

    asyncio.run(late())


def test_a_full_line_sends_away() -> None:
    """At the cap the error says when to come again."""
    admission = Admission(1, 1)
    for _ in range(2):
        admission.place()
    with pytest.raises(BusyError, match="1 answers are being written and 1 questions wait") as caught:
        admission.place()
    assert caught.value.retry_after > 0


def told_events(response: httpx.Response) -> Iterator[tuple[int, str, dict[str, object]]]:
    """(id, event, data) as they arrive."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if line and not line.startswith(":"):
            name, value = line.split(": ", 1)
            fields[name] = value
        elif fields:
            yield int(fields["id"]), fields["event"], json.loads(fields["data"])
            fields = {}


def test_questions_wait_in_line_over_http() -> None:
    """`queued` comes before `start`, with the position and id 0; at the cap 503 with Retry-After; leaving moves on."""
    knowledge_base = ScriptedKnowledgeBase([plain_answer()[0], 60.0])
    with ExitStack() as stack:
        base = stack.enter_context(served(knowledge_base, settings=Settings(max_answers=1, max_waiting=2)))
        client = stack.enter_context(httpx.Client(timeout=10))
        streams = []
        for _ in range(3):
            response = stack.enter_context(client.stream("POST", f"{base}/v1/ask", json={"question": "?"}))
            streams.append((response, told_events(response)))
            if len(streams) == 1:
                assert next(streams[0][1])[1] == "start"
        assert [next(told) for _, told in streams[1:]] == [
            (0, "queued", {"position": 1}),
            (0, "queued", {"position": 2}),
        ]
        refused = client.post(f"{base}/v1/ask", json={"question": "?"})
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert int(refused.headers["retry-after"]) > 0
        knowledge_base.script = [*plain_answer()]
        streams[0][0].close()
        names = [event for _, event, _ in streams[1][1]]
        assert names == [event.event for event in plain_answer()]
        assert [event for _, event, _ in streams[2][1]] == ["queued", *names]
        assert client.post(f"{base}/v1/ask", json={"question": "?"}).status_code == 200


@pytest.mark.parametrize("rounds", [30])
def test_no_place_is_lost_to_clients_that_leave_in_line(rounds: int) -> None:
    """Whoever leaves, before or after the answer began, gives the place back: the next question is answered."""
    knowledge_base = ScriptedKnowledgeBase([plain_answer()[0], 60.0])
    with served(knowledge_base, settings=Settings(max_answers=2, max_waiting=2)) as base:
        with httpx.Client(timeout=10) as client:
            for _ in range(rounds):
                with ExitStack() as stack:
                    for _ in range(3):
                        stack.enter_context(client.stream("POST", f"{base}/v1/ask", json={"question": "?"}))
        knowledge_base.script = [*plain_answer()]
        with httpx.stream("POST", f"{base}/v1/ask", json={"question": "?"}, timeout=10) as response:
            assert [event for _, event, _ in told_events(response)][-1] == "end"
