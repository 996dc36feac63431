"""The gate: the same units for every split of the stream, nothing unchecked, and an end where a model loses its way."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kb_qa.answers import BlockCitation, ModelEvent, ModelStop, SpanEnd, TextDelta
from kb_qa.guardrails.gate import Gate, Settled
from kb_qa.guardrails.policies import STRICT, Policy
from kb_qa.guardrails.unit_ends import next_end
from kb_qa.guardrails.units import split_units
from tests.gate_answers import STOP, all_fed, gate_over, source

REPORT = source("Revenue was $4,132 million in 2024 and $3,541 million in 2023; costs were $2.1 billion.")
STAFF = source("公司2024年员工人数为21,870人，营业收入为41.32亿元。")
FIRST, SECOND, SPAN = BlockCitation(1, 0), BlockCitation(2, 0), SpanEnd()

ANSWERS: dict[str, list[ModelEvent]] = {
    "a scale after the figure": [TextDelta("Revenue was $4.1 billion in 2024. Costs were $2.1 billion."), FIRST],
    "a wrong figure": [TextDelta("Revenue was $4,123 million. Costs were $2.1 billion."), FIRST],
    "chinese": [TextDelta("公司2024年营业收入为41.32亿元。员工21,870人。员工21,871人！"), SECOND],
    "spans inside a sentence": [
        *(TextDelta("Revenue was $4,132 million"), FIRST, SPAN, TextDelta(" in 2024, and staff were "), SPAN),
        *(TextDelta("21,870"), SECOND, SPAN, TextDelta(". That is all."), SPAN),
    ],
    "an expression": [
        *(TextDelta("Revenue grew 16.7% ⟦=(4,132-3,541)/3,541⟧ in 2024. ⟦ is left open at 7."), FIRST, SPAN),
        TextDelta("Broken ⟦1+⟦2⟧ marks⟧ stay."),
    ],
    "a list": [
        TextDelta("Revenue:\n1. 2024: $4,132 million\n2. 2023: $3,541 million\n- **Costs**: $2.1 billion\n\n"),
        FIRST,
    ],
    "a table": [
        TextDelta("| Item | 2024 |\n|---|---|\n| Revenue | $4,132 million |\n| Costs | $2.1 billion |\n"),
        FIRST,
    ],
    "markers and quotes": [
        TextDelta("“Revenue was $4,132 million!” [1] (P8·text) It says so [1](id=1). Dr. No. 5 left… ok"),
        FIRST,
    ],
    "no bound of a sentence": [TextDelta("Revenue, " * 60 + "was $4,132 million in 2024."), FIRST],
    "no mark at all": [TextDelta("收入" * 90 + "41.32亿元"), SECOND],
    "never cited": [TextDelta("Revenue was good. It was $4,132 million. " * 3)],
}  # fmt: skip


def fed(events: Sequence[ModelEvent], *, policy: Policy = STRICT) -> tuple[list[Settled], Gate]:
    gate = gate_over([REPORT, STAFF], "What was revenue in 2024?", policy)
    return all_fed(gate, events), gate


@st.composite
def splits(draw: st.DrawFn, events: Sequence[ModelEvent]) -> list[ModelEvent]:
    """The same stream with its texts cut anywhere, empty deltas among them."""
    split: list[ModelEvent] = []
    for event in events:
        if not isinstance(event, TextDelta):
            split.append(event)
            continue
        cuts = sorted(draw(st.lists(st.integers(0, len(event.text)), max_size=12)))
        edges = [0, *cuts, len(event.text)]
        split += [TextDelta(event.text[start:end]) for start, end in itertools.pairwise(edges)]
    return split


@pytest.mark.parametrize("name", ANSWERS, ids=[*ANSWERS])
@pytest.mark.parametrize("stop", ["end_turn", "max_tokens"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_split_of_a_stream_gives_the_same_units_i4(name: str, stop: str, data: st.DataObject) -> None:
    """Invariant I4: text, verdicts, places and citations do not depend on how the stream was cut."""
    events = [*ANSWERS[name], ModelStop(stop)]
    whole, one = fed(events)
    for policy in (Policy(), Policy("annotate"), Policy(granularity="answer")):
        expected, _ = fed(events, policy=policy)
        found, _ = fed(data.draw(splits(events)), policy=policy)
        assert found == expected
    letters = [TextDelta(each) for each in ANSWERS[name][0].text] if isinstance(ANSWERS[name][0], TextDelta) else []
    found, other = fed([*letters, *events[1:]])
    assert (found, other.stopped, other.longest) == (whole, one.stopped, one.longest)


@given(st.text(alphabet='a1,. 。！?\n[](P·“”；【】"-|元4亿#*：', max_size=200), st.data())
def test_ends_are_never_taken_back(text: str, data: st.DataObject) -> None:
    """An end that was found in a part of the text is the one that the whole text has."""
    part = text[: data.draw(st.integers(0, len(text)))]
    early = next_end(part, ended=False)
    if early is not None:
        assert next_end(text, ended=False) == early
        assert next_end(text, ended=True) == early


@given(st.text(alphabet="a1. 。！?\n[]“”；-|元", max_size=80))
@example("。1.元")
def test_units_are_those_of_the_whole_text(text: str) -> None:
    """What the gate cuts is what `split_units` cuts, blank ends aside."""
    units, rest = [], text
    while rest.strip() and (found := next_end(rest, ended=True)) is not None:
        units.append(rest[: found[0]].strip())
        rest = rest[found[0] :]
    assert units == [text[start:end].strip() for start, end in split_units(text) if text[start:end].strip()]


WHOLE = Policy(granularity="answer")
SAID = [TextDelta("Revenue was $4,132 million in 2024. Costs were $2.1 billion. "), FIRST]


def test_a_whole_answer_is_held_until_it_is_complete() -> None:
    """Granularity `answer`: no unit leaves before the end, and then all of them do, as they would have one by one."""
    gate = gate_over([REPORT, STAFF], "What was revenue in 2024?", WHOLE)
    assert all_fed(gate, [*SAID, SPAN]) == []
    units = gate.feed(STOP)
    assert [unit.text for unit in units] == ["Revenue was $4,132 million in 2024. ", "Costs were $2.1 billion. "]
    assert units == fed([*SAID, STOP])[0]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "connection", "pause_turn"])
def test_of_a_cut_answer_nothing_leaves(stop: str) -> None:
    """What was checked and right is not shown either: how the answer would have ended is not known."""
    assert fed([*SAID, ModelStop(stop)], policy=WHOLE)[0] == []


def test_one_wrong_figure_refuses_the_whole_answer() -> None:
    """Only the unit that is the reason is told, without a text in its place; the model is stopped there."""
    units, gate = fed(
        [*SAID, TextDelta("Costs were $2.2 billion. Revenue was $4,132 million."), FIRST, STOP], policy=WHOLE
    )
    assert [(unit.number, unit.withheld, unit.instead) for unit in units] == [(2, True, "")]
    assert gate.stopped


def test_nothing_is_given_before_its_meaning_is_settled() -> None:
    """`4.1` may become `4.1 billion`, 41 may become 41亿, and an open mark may hide the rest."""
    for held in ("Costs were 2.1", "Costs were 2.1.", "收入41", "Costs ⟦1", "It was good. [", "It was good."):
        assert all_fed(gate_over([REPORT]), [TextDelta(held), SPAN]) == []


def test_a_sentence_waits_for_the_citations_of_its_span() -> None:
    """A complete sentence whose citation has not come is not judged yet."""
    gate = gate_over([REPORT])
    assert gate.feed(TextDelta("Revenue was $4,132 million in 2024. Costs")) == []
    assert gate.feed(FIRST) == []
    (unit,) = gate.feed(TextDelta(" were low. And"))
    assert (unit.text, unit.withheld) == ("Revenue was $4,132 million in 2024. ", False)


def test_a_sentence_rests_on_all_spans_under_it() -> None:
    """The figure stands in one span, its citation in another of the same sentence."""
    units, _ = fed([*ANSWERS["spans inside a sentence"], STOP])
    first = units[0]
    assert not first.withheld
    assert [piece.citations for piece in first.pieces] == [(FIRST,), (), (SECOND,), ()]
    assert [each.status for each in first.figures] == ["exact", "exact", "exact"]


def test_expressions_are_not_seen() -> None:
    """The mark is for the guard; what is no mark stays, and its numbers are figures."""
    units, _ = fed([*ANSWERS["an expression"], STOP])
    assert units[0].text == "Revenue grew 16.7% in 2024. "
    assert units[0].figures[0].status == "derived"
    assert units[1].withheld
    assert "".join(unit.text for unit in units[1:]) == "⟦ is left open at 7.Broken ⟦1+ marks⟧ stay."


def test_an_expression_needs_no_citation_its_operands_are_its_sources() -> None:
    """Every operand has its place; a figure without either has no source."""
    said = "Revenue grew 16.7%⟦=(4,132-3,541)/3,541⟧."
    assert [unit.withheld for unit in fed([TextDelta(said), STOP])[0]] == [False]
    assert [unit.withheld for unit in fed([TextDelta("Revenue was $4,132 million in 2024."), STOP])[0]] == [True]


def test_a_figure_of_another_material_than_the_cited_one_is_told() -> None:
    """B4: where it stands is said, and the sentence is withheld."""
    (unit,) = fed([TextDelta("Revenue was $4,132 million in 2024."), SECOND, STOP])[0]
    (wrong,) = [each for each in unit.figures if each.status == "wrong_citation"]
    assert unit.withheld
    assert wrong.reason is not None
    assert "1" in wrong.reason.detail


def test_what_was_cut_off_is_not_shown() -> None:
    """The last sentence of a cut stream may have gone on: `4` of `4.1 billion`."""
    cut = [TextDelta("Costs were $2.1 billion. Revenue was $4"), FIRST, ModelStop("incomplete")]
    assert [unit.text for unit in fed(cut)[0]] == ["Costs were $2.1 billion. "]
    assert fed([TextDelta("Costs were $2.1 billion."), FIRST, ModelStop("max_tokens")])[0] == []


def test_a_model_that_lost_its_way_is_stopped() -> None:
    """After three refused units, or a first one without any bound figure, nothing more is taken."""
    first, gate = fed([TextDelta("Revenue was $9 million. Costs were $2.1 billion."), FIRST, STOP])
    assert (len(first), gate.stopped) == (1, True)
    bad = "Costs were $2.1 billion. " + "Revenue was $9 million. " * 4 + "Costs were $2.1 billion."
    units, gate = fed([TextDelta(bad), FIRST, STOP])
    assert [unit.withheld for unit in units] == [False, True, True, True]
    assert gate.stopped


def test_a_long_sentence_is_cut_at_a_clause_and_checked_with_what_it_said_before() -> None:
    """The bound holds, and a piece of a sentence knows its subject."""
    lead = "Revenue in 2024, " + "which everybody in the company had been waiting for, " * 7
    units, _ = fed([TextDelta(f"{lead}was $4,132 million."), FIRST, STOP])
    assert len(units) == 2
    assert max(len(unit.text) for unit in units) <= 400
    assert not any(unit.withheld for unit in units)


def test_an_item_is_read_with_the_line_above_it() -> None:
    """`2024: 4,132` says of itself not even what it counts."""
    units, _ = fed([TextDelta("Costs:\n- 2024: $4,132 million\n"), FIRST, STOP])
    good, _ = fed([TextDelta("Revenue:\n- 2024: $4,132 million\n"), FIRST, STOP])
    assert not good[1].withheld
    assert units[0].text == "Costs:\n"


def test_annotate_marks_and_off_says_nothing() -> None:
    """The text is kept under both; the verdicts are the same as under strict (I5)."""
    events = [TextDelta("Revenue was $4,123 million."), FIRST, STOP]
    strict, annotate, off = (fed(events, policy=Policy(mode))[0] for mode in ("strict", "annotate", "off"))
    assert [units[0].withheld for units in (strict, annotate, off)] == [True, False, False]
    assert [edit.text for edit in annotate[0].edits] == ["✗"]
    assert off[0].edits == ()
    assert strict[0].figures == annotate[0].figures == off[0].figures


def test_a_code_in_another_script_binds_by_its_block() -> None:
    """An English answer over a Chinese table shares no word with it; the cited row is what binds the figure."""
    row = source("", labelled="职级：P5 | 基本工资（元）：22000")
    gate = gate_over([row], "What is the base salary?")
    (unit,) = all_fed(gate, [TextDelta("The base salary is 22,000 yuan."), FIRST, STOP])
    assert not unit.withheld
    other = gate_over([row, source("", labelled="职级：甲 | 年终奖（元）：900")], "What is the base salary?")
    (unit,) = all_fed(other, [TextDelta("The base salary is 900 yuan."), FIRST, STOP])
    assert unit.withheld


@pytest.mark.parametrize(
    ("row", "withheld"),
    [
        ("| Revenue | $4,132 million | $3,541 million |\n", False),
        ("| Revenue | $3,541 million | $4,132 million |\n", True),
    ],
    ids=["as printed", "columns swapped"],
)
def test_a_row_is_read_under_its_headers(row: str, withheld: bool) -> None:
    """A right figure in the wrong column of the answer's own table is a wrong figure."""
    table = source("", labelled="Item：Revenue | 2024：$4,132 million | 2023：$3,541 million")
    gate = gate_over([table], "How did revenue develop?")
    said = TextDelta(f"| Item | 2024 | 2023 |\n|---|---|---|\n{row}")
    units = all_fed(gate, [said, FIRST, STOP])
    assert units[-1].withheld is withheld
    kept = [units[-1].text[each.start : each.end] for each in units[-1].figures]
    assert kept == [each.raw for each in units[-1].figures]
    assert len(kept) == 2
