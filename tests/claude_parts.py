"""A Claude or markers model that talks to a scripted Messages API, and what it was asked with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kb_qa.answers import BlockCitation, Context, Language, ModelEvent, ModelStop, Question, SpanEnd, TextDelta
from kb_qa.counters import Counters
from kb_qa.models.accounts import Accounts
from kb_qa.models.claude import ClaudeModel
from kb_qa.models.marked import MarkersModel
from kb_qa.models.requests import ModelOptions
from kb_qa.models.upstream import Connection, Upstream
from kb_qa.prompts import build_context
from kb_qa.protocols import AnswerModel
from kb_qa.testing import InMemorySpending
from tests.factories import make_chunk, make_context

Spans = list[tuple[str, tuple[BlockCitation, ...]]]

OPTIONS = ModelOptions("claude-sonnet-5-5", max_tokens=500)
EN = Question("What was net revenue in 2024?", "en")
REVENUE = make_chunk("Net revenue was 4,812 million in 2024.", "Costs were 900 million.", source="report.pdf")
PAY = make_chunk("P5 | 22000", source="briefing.pdf", ordinal=1, page=4, element_type="table", section=("薪酬",))
CONTEXT = build_context(EN, [material.hit for material in make_context(REVENUE, PAY).materials])


def accounts(**given: Any) -> Accounts:
    return Accounts(**({"spending": InMemorySpending(), "meter": Counters()} | given))


def upstream(url: str, books: Accounts | None = None, **connection: Any) -> Upstream:
    """Waits of a hundredth of a second instead of a half."""
    quick = Connection(api_key="k", base_url=url, connect=2.0, silence=5.0, first_wait=0.01)
    return Upstream(replace(quick, **connection), books or accounts())


def claude(url: str, books: Accounts | None = None, *, options: ModelOptions = OPTIONS, **given: Any) -> ClaudeModel:
    own = {name: given.pop(name) for name in ("pictures", "budget", "notes_of") if name in given}
    return ClaudeModel(options, upstream(url, books, **given), **own)


def markers(url: str, books: Accounts | None = None, **given: Any) -> MarkersModel:
    return MarkersModel(OPTIONS, upstream(url, books, **given))


async def replied(model: AnswerModel, question: Question = EN, context: Context = CONTEXT) -> list[ModelEvent]:
    return [event async for event in model.generate(question, context)]


def text_of(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def spans(events: Sequence[ModelEvent]) -> Spans:
    """Text and citations of each span."""
    found: Spans = []
    text, cited = "", []
    for event in events:
        match event:
            case TextDelta():
                text += event.text
            case BlockCitation():
                cited.append(event)
            case SpanEnd():
                found.append((text, tuple(cited)))
                text, cited = "", []
    return found


def stop_of(events: Sequence[ModelEvent]) -> ModelStop:
    """The one stop, which is the last event."""
    stops = [event for event in events if isinstance(event, ModelStop)]
    assert stops == [events[-1]]
    return stops[0]


def asked(text: str, language: Language = "en") -> Question:
    return Question(text, language)
