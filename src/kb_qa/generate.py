"""Context → claims: a model's stream, cut where what a piece of text rests on is known."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import assert_never

from kb_qa.answers import BlockCitation, Context, ModelStop, Question, SpanEnd, TextDelta
from kb_qa.protocols import AnswerModel


@dataclass(frozen=True, slots=True)
class Claim:
    """Text of a model, and the blocks that it says the text rests on (none: it says nothing)."""

    text: str
    citations: tuple[BlockCitation, ...] = ()


async def claims(model: AnswerModel, question: Question, context: Context) -> AsyncGenerator[Claim | ModelStop]:
    """Claims in order, then exactly one stop. A stream that ends without one has been cut: "incomplete".

    Citations may come before, amid or after their text; text after a cited text, and text after the end of a span,
    begins the next claim. The model's stream is closed when this one is.
    """
    text = ""
    cited: dict[BlockCitation, None] = {}
    stop = ModelStop("incomplete")
    async with aclosing(model.generate(question, context)) as events:
        async for event in events:
            match event:
                case TextDelta():
                    if text and cited:
                        yield Claim(text, tuple(cited))
                        text, cited = "", {}
                    text += event.text
                case BlockCitation():
                    cited[event] = None
                case SpanEnd():
                    if text:
                        yield Claim(text, tuple(cited))
                    text, cited = "", {}
                case ModelStop():
                    stop = event
                    break
                case _:
                    assert_never(event)
    if text:
        yield Claim(text, tuple(cited))
    yield stop
