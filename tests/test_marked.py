"""The markers model: sentences with a marker are cited by the blocks that bear them out, the others are not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.answers import BlockCitation, Context, ModelStop, TextDelta
from kb_qa.errors import ModelOverloadedError
from kb_qa.models.marked import MarkedSentences, bearing_blocks
from kb_qa.prompts import build_context
from kb_qa.testing import HttpFault, Reply, Text, said, scripted_messages_api
from tests.claude_parts import EN, Spans, asked, markers, replied, spans, stop_of
from tests.factories import make_chunk, make_context

REPORT = make_chunk("Net revenue was 4,812 million in 2024.", "Costs were 900 million.", "The board met in Geneva.")
PAY = make_chunk("P5 的基本工资为22000元。", "P6 的基本工资为28000元。", ordinal=1)
CONTEXT = build_context(EN, [material.hit for material in make_context(REPORT, PAY).materials])
PAY_ROWS = [(4, "助理工程师", 16500), (5, "工程师", 22000), (6, "高级工程师", 29500)]


def told(*deltas: str, context: Context = CONTEXT) -> Spans:
    sentences = MarkedSentences(context)
    events = [event for delta in deltas for event in sentences.told(TextDelta(delta))]
    return spans([*events, *sentences.told(ModelStop("end_turn"))])


R0, R1, R2, P0 = BlockCitation(1, 0), BlockCitation(1, 1), BlockCitation(1, 2), BlockCitation(2, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Costs were 900 million [1](id=1).", [("Costs were 900 million.", (R1,))], id="before the stop"),
        pytest.param("Costs were 900 million. [1](id=1)", [("Costs were 900 million.", (R1,))], id="after the stop"),
        pytest.param(
            "Costs were 900 million. The board met in Geneva [1](id=1).",
            [("Costs were 900 million. ", ()), ("The board met in Geneva.", (R2,))],
            id="a sentence without a marker takes none of the next",
        ),
        pytest.param(
            "Net revenue was 4,812 million [1](id=1) and costs 900 million [2](id=1).",
            [("Net revenue was 4,812 million and costs 900 million.", (R0, R1))],
            id="two in one sentence",
        ),
        pytest.param("P5 的基本工资为22000元[1](id=2)。", [("P5 的基本工资为22000元。", (P0,))], id="Chinese"),
        pytest.param("The salary is 22000 yuan [1](id=2).", [("The salary is 22000 yuan.", (P0,))], id="by its figure"),
        pytest.param("Costs were 900 million [1](id=9).", [("Costs were 900 million .", ())], id="never given"),
        pytest.param("Elephants are grey [1](id=1).", [("Elephants are grey.", ())], id="nothing in common"),
        pytest.param(
            "It says “costs were 900 million” [1](id=1).",
            [("It says “costs were 900 million”.", (R1,))],
            id="a quotation that stands there",
        ),
        pytest.param(
            "It says “costs were about 900 million” [1](id=1).",
            [("It says “costs were about 900 million”.", ())],
            id="F6: a quotation that stands nowhere",
        ),
        pytest.param(
            "It says “Net revenue was 900 million” [1](id=1).",
            [("It says “Net revenue was 900 million”.", ())],
            id="F6: stitched from far-apart words",
        ),
        pytest.param(
            "It says “costs were 900 million” [1](id=2).",
            [("It says “costs were 900 million”.", ())],
            id="F6: a quotation of another document than the marker's",
        ),
        pytest.param("[1](id=1) Costs were 900 million.", [(" Costs were 900 million.", ())], id="before any text"),
        pytest.param("Costs were 900 million [1].", [("Costs were 900 million.", (R1,))], id="the short form"),
    ],
)
def test_a_marked_sentence_is_cited(text: str, expected: Spans) -> None:
    """The marker is gone from the text, and leads to the blocks that say what the sentence says."""
    assert told(text) == expected


MIXED = (
    "Revenue was 4,812 million in 2024. [1](id=1) Costs were 900 million [2](id=1). 基本工资为22000元[1](id=2)。Bye."
)


@given(st.lists(st.integers(0, len(MIXED)), max_size=12))
def test_the_cuts_of_the_stream_change_nothing(cuts: list[int]) -> None:
    """However the text is cut into deltas, sentences and citations are the same."""
    places = [0, *sorted(cuts), len(MIXED)]
    assert told(*(MIXED[start:end] for start, end in pairwise(places))) == told(MIXED)


def test_a_table_row_is_told_from_its_neighbours() -> None:
    """The headers, which every row has, do not make the other rows bear it out."""
    rows = [f"职级：P{grade} | 岗位示例：{job} | 基本工资：{pay} | 单位：元/月" for grade, job, pay in PAY_ROWS]
    context = make_context(make_chunk(*rows, element_type="table"))
    for index, row in enumerate(rows):
        assert list(bearing_blocks(row, context.materials[0])) == [index]
    assert list(bearing_blocks("P5 的基本工资为22000元/月。", context.materials[0])) == [1]


def test_a_sentence_in_another_language_without_a_figure_rests_on_the_whole_material() -> None:
    """No words are shared between the languages: the marker's own word counts."""
    assert list(bearing_blocks("董事会在日内瓦开会。", CONTEXT.materials[0])) == [0, 1, 2]


async def test_an_endpoint_without_citations_answers_cited() -> None:
    """Over HTTP, in pieces, with the endpoint's own text blocks anywhere."""
    reply = Reply((Text(("Net revenue was 4,8", "12 million [1](i")), Text(("d=1). ", "And costs 900 million."))))
    with scripted_messages_api(reply) as api:
        events = await replied(markers(api.url), context=CONTEXT)
    assert spans(events) == [("Net revenue was 4,812 million. ", (R0,)), ("And costs 900 million.", ())]
    assert stop_of(events).usage["output_tokens"] > 0


async def test_its_refusal_and_failures_are_those_of_the_other_model() -> None:
    """The refusal that the prompt asks for is one; an overload is a typed error."""
    with scripted_messages_api(said("材料中未找到相关信息。"), otherwise=HttpFault(529)) as api:
        assert stop_of(await replied(markers(api.url), asked("？", "zh"))).stop_reason == "no_evidence"
        with pytest.raises(ModelOverloadedError):
            await replied(markers(api.url))
