"""Superlatives and the largest or smallest of a series, and questions for figures without an answer to rest on."""

from __future__ import annotations

import pytest

from kb_qa.guardrails.policies import Policy
from tests.figure_cases import SEGMENTS, checked, passes

QUARTERS = """Orders, 2024
| | Q1 2024 | Q2 2024 | Q3 2024 | Q4 2024 |
|---|---|---|---|---|
| Europe | 210 | 250 | 190 | 230 |
| Asia | 180 | 170 | 160 | 150 |"""


@pytest.mark.parametrize(
    ("answer", "text", "accepted"),
    [
        ("The highest revenue was $1,200 million, in Cloud.", SEGMENTS, True),
        ("The lowest revenue was $480 million, in Services.", SEGMENTS, True),
        ("The lowest revenue was $1,200 million, in Cloud.", SEGMENTS, False),
        ("The highest revenue was $950 million, in Devices.", SEGMENTS, False),
        ("The second largest revenue was $950 million, in Devices.", SEGMENTS, True),
        ("The highest orders in Europe were 250, in Q2 2024.", QUARTERS, True),
        ("The highest orders in Asia were 160, in Q3 2024.", QUARTERS, False),
    ],
)
def test_a_superlative_holds_for_its_row_or_column(answer: str, text: str, accepted: bool) -> None:
    """A right value that is called the largest must be it, over periods or over rows; ranks below are not judged."""
    assert passes(answer, text) is accepted


@pytest.mark.parametrize(
    ("answer", "operation"),
    [
        ("The highest quarterly orders in Europe in 2024 were 250.", "max"),
        ("The lowest quarterly orders in Europe in 2024 were 190.", "min"),
    ],
)
def test_the_extreme_of_a_series_is_computed(answer: str, operation: str) -> None:
    """max and min over the finest periods inside the one that the claim names."""
    figure = next(each for each in checked(answer, QUARTERS).figures if each.derivation)
    assert figure.derivation is not None
    assert figure.derivation.op == operation
    assert len(figure.derivation.operands) == 4


@pytest.mark.parametrize("value", ["230", "180", "260"])
def test_another_value_is_no_extreme(value: str) -> None:
    """Neither another quarter nor another region is the largest."""
    assert not passes(f"The highest quarterly orders in Europe in 2024 were {value}.", QUARTERS)


@pytest.mark.parametrize(
    ("question", "answer", "notices", "verdict"),
    [
        ("How many employees are there?", "Very many.", ("no_evidence",), "refuse"),
        ("有多少员工？", "很多。", ("no_evidence",), "refuse"),
        ("How many employees are there?", "Not found in the materials.", (), "pass"),
        ("Who leads the company?", "A very good person.", (), "pass"),
    ],
)
def test_a_figure_is_asked_for_and_there_is_no_evidence(
    question: str, answer: str, notices: tuple[str, ...], verdict: str
) -> None:
    """Without any source, only an abstention answers a question for a figure; others are refused."""
    outcome = checked(answer, question=question)
    assert (outcome.notices, outcome.verdict) == (notices, verdict)
    assert (outcome.text == answer) is (verdict == "pass")
    assert checked(answer, question=question, policy=Policy(mode="off")).text == answer


def test_an_answer_without_a_figure_is_noticed() -> None:
    """With sources, an answer without the figure that was asked for passes, and the outcome says so."""
    outcome = checked("There is no limit.", "There is no limit.", question="How many days may I stay?")
    assert (outcome.verdict, outcome.notices) == ("pass", ("no_figure",))
    assert checked("30 days.", "The stay is 30 days.", question="How many days is the stay?").notices == ()
