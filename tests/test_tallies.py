"""What answers come to is counted from their events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from kb_qa.answers import AnswerEvent
from kb_qa.counters import Counters
from kb_qa.service.tallies import tallied
from tests.scripted_service import events, plain_answer


async def given(steps: list[AnswerEvent | Exception]) -> AsyncGenerator[AnswerEvent]:
    for step in steps:
        if isinstance(step, Exception):
            raise step
        yield step


END = ("end", {"complete": True, "refused": False})
CASES: dict[str, tuple[list[AnswerEvent | Exception], str]] = {
    "answered": ([*plain_answer()], "answered"),
    "refused": (
        [*events(("refusal", {"reason": "not_named"}), ("end", {"complete": True, "refused": True}))],
        "refused",
    ),
    "told error": ([*events(("error", {"code": "x"}))], "failed"),
    "raised": ([RuntimeError("x")], "failed"),
    "no end": ([*plain_answer()[:-1]], "cut"),
    "not complete": ([*events(("end", {"complete": False}))], "cut"),
}


@pytest.mark.parametrize("name", CASES)
def test_outcomes(name: str) -> None:
    """One of four, once an answer."""
    steps, outcome = CASES[name]
    counters = Counters()

    async def all_of_it() -> None:
        async for _ in tallied(counters, given(steps)):
            pass

    try:
        asyncio.run(all_of_it())
    except RuntimeError:
        assert name == "raised"
    assert counters.value("answers", outcome=outcome) == 1


def test_figures_refusals_and_withheld_sentences_are_counted_by_reason() -> None:
    """Codes, never words."""
    unsupported = {"raw": "9", "status": "unsupported", "reason": {"code": "no_fact", "detail": "secret"}}
    steps = events(
        ("figure", {"status": "exact"}),
        ("figure", {"status": "exact"}),
        ("withheld", {"figures": [unsupported]}),
        ("withheld", {"figures": []}),
        ("refusal", {"reason": "unsupported"}),
        END,
    )
    counters = Counters()

    async def all_of_it() -> None:
        async for _ in tallied(counters, given([*steps])):
            pass

    asyncio.run(all_of_it())
    text = counters.text({})
    assert 'kb_qa_figures_total{status="exact"} 2\n' in text
    assert 'kb_qa_withheld_total{reason="no_fact"} 1\n' in text
    assert 'kb_qa_withheld_total{reason="none"} 1\n' in text
    assert 'kb_qa_refusals_total{reason="unsupported"} 1\n' in text
    assert "secret" not in text
