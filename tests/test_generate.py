"""A model's stream ends with exactly one stop."""

from collections.abc import Sequence

import pytest

from kb_qa.answers import BlockCitation, ModelEvent, ModelStop, Question, TextDelta
from kb_qa.errors import ModelError
from kb_qa.generate import model_events
from kb_qa.testing import ScriptedModel
from tests.factories import make_chunk, make_context

QUESTION = Question("What was revenue?", "en")
CONTEXT = make_context(make_chunk("Revenue was 12.", "Costs were 5."))
STOP = ModelStop("end_turn")
FIRST = BlockCitation(1, 0)


async def collect(reply: Sequence[ModelEvent | Exception]) -> list[ModelEvent]:
    return [event async for event in model_events(ScriptedModel([reply]), QUESTION, CONTEXT)]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param([TextDelta("Reve"), FIRST, STOP], [TextDelta("Reve"), FIRST, STOP], id="as they come"),
        pytest.param([STOP, TextDelta("Reve")], [STOP], id="nothing behind the stop"),
        pytest.param([TextDelta("Rev")], [TextDelta("Rev"), ModelStop("incomplete")], id="cut"),
        pytest.param([], [ModelStop("incomplete")], id="silent"),
    ],
)
async def test_a_stream_has_exactly_one_stop(reply: Sequence[ModelEvent], expected: Sequence[ModelEvent]) -> None:
    """A stream without a stop counts as cut; what comes behind one is not read."""
    assert await collect(reply) == expected


async def test_a_failing_model_raises() -> None:
    """The failure is not passed off as an end."""
    with pytest.raises(ModelError, match="overloaded"):
        await collect([TextDelta("Reve"), ModelError("overloaded", retryable=True)])
