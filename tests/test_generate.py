"""A model's stream becomes claims, whatever the order of text and citations."""

from collections.abc import Sequence

import pytest

from kb_qa.answers import BlockCitation, ModelEvent, ModelStop, Question, SpanEnd, TextDelta
from kb_qa.errors import ModelError
from kb_qa.generate import Claim, claims
from kb_qa.testing import ScriptedModel
from tests.factories import make_chunk, make_context

QUESTION = Question("What was revenue?", "en")
CONTEXT = make_context(make_chunk("Revenue was 12.", "Costs were 5."))
STOP = ModelStop("end_turn")
FIRST, SECOND = BlockCitation(1, 0), BlockCitation(1, 1)


async def collect(reply: Sequence[ModelEvent | Exception]) -> list[Claim | ModelStop]:
    return [part async for part in claims(ScriptedModel([reply]), QUESTION, CONTEXT)]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(
            [TextDelta("Reve"), TextDelta("nue was 12."), FIRST, TextDelta(" Costs were 5."), SECOND, STOP],
            [Claim("Revenue was 12.", (FIRST,)), Claim(" Costs were 5.", (SECOND,)), STOP],
            id="text then citation",
        ),
        pytest.param(
            [FIRST, TextDelta("Revenue was 12."), STOP], [Claim("Revenue was 12.", (FIRST,)), STOP], id="citation first"
        ),
        pytest.param(
            [TextDelta("Both."), FIRST, SECOND, FIRST, STOP], [Claim("Both.", (FIRST, SECOND)), STOP], id="two on one"
        ),
        pytest.param([TextDelta("Hello."), STOP], [Claim("Hello."), STOP], id="uncited"),
        pytest.param(
            [TextDelta("In short: "), SpanEnd(), FIRST, TextDelta("Revenue was 12."), SpanEnd(), SpanEnd(), STOP],
            [Claim("In short: "), Claim("Revenue was 12.", (FIRST,)), STOP],
            id="an uncited span does not take the next one's citation",
        ),
        pytest.param([ModelStop("no_evidence")], [ModelStop("no_evidence")], id="nothing"),
        pytest.param([TextDelta("Rev")], [Claim("Rev"), ModelStop("incomplete")], id="cut"),
    ],
)
async def test_claims(reply: Sequence[ModelEvent], expected: Sequence[Claim | ModelStop]) -> None:
    """Each claim holds the text and all that it rests on; a stream without a stop counts as cut."""
    assert await collect(reply) == expected


async def test_a_failing_model_raises() -> None:
    """What the model said before it failed is not passed off as a claim."""
    with pytest.raises(ModelError, match="overloaded"):
        await collect([TextDelta("Reve"), ModelError("overloaded", retryable=True)])
