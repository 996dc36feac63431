"""Context → a model's events, always ended by exactly one stop."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kb_qa.answers import Context, ModelEvent, ModelStop, Question
from kb_qa.protocols import AnswerModel

INCOMPLETE = ModelStop("incomplete")


async def model_events(model: AnswerModel, question: Question, context: Context) -> AsyncGenerator[ModelEvent]:
    """The events up to the model's stop; a stream that ends without one has been cut: "incomplete".

    The model's stream is closed when this one is.
    """
    async with aclosing(model.generate(question, context)) as events:
        async for event in events:
            yield event
            if isinstance(event, ModelStop):
                return
    yield INCOMPLETE
