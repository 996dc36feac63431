"""The closed grammar of explicit expressions, and what they prove."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.guardrails.explicit import strip
from kb_qa.guardrails.expressions import evaluate, literals, parse
from tests.figure_cases import INCOME, SEGMENTS, checked


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("=(4,132-3,541)/3,541", "0.1669"),
        ("2^3+1", "9"),
        ("-(2+3)*2", "-10"),
        ("avg(1, 2, 6)", "3"),
        ("sum(1,200, 950, 480)", "2630"),
        ("max(3; 7) - min(3; 7)", "4"),
        ("round(2.345, 2)", "2.34"),
        ("count(5, 5, 5)", "3"),
        ("[(166+178)/2] - [(57+44)/2]", "121.5"),
        ("$3 × 4 ÷ 2", "6"),
        ("F1 / F2", "2"),
    ],
)
def test_values(text: str, value: str) -> None:
    """Signs, brackets, functions, printed numbers and facts."""
    facts = {"F1": Decimal(8), "F2": Decimal(4)}
    assert round(evaluate(parse(text), facts), 4) == Decimal(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "(1",
        "1 2",
        "__import__('os')",
        "abs(1)",
        "F1.real",
        "1 if 1 else 2",
        "((((((((1))))))))",
        "+".join("1" * 30),
        "1" * 500,
        "lambda: 1",
        "sum()",
    ],
)
def test_nothing_else_is_read(text: str) -> None:
    """No names, attributes or calls of Python; limits on depth, operands and length."""
    with pytest.raises(ValueError, match=r"\w"):
        parse(text)


@pytest.mark.parametrize("text", ["1/0", "F9+1", "2^1000", "0^-1", "round(1, 2, 3)", "-1^0.5"])
def test_what_has_no_value(text: str) -> None:
    """Division by zero, an unknown fact, a huge power: an error, and no figure."""
    try:
        value = evaluate(parse(text))
    except ValueError:
        return
    assert value == Decimal(-1)  # `-1^0.5` is -(1^0.5)


@given(st.text(alphabet="0123456789.,+-*/^()[]F sumavgroundx×÷%$=;", max_size=30))
def test_any_text_is_a_tree_or_a_value_error(text: str) -> None:
    """A hostile expression ends in a value or a ValueError, nothing else."""
    try:
        tree = parse(text)
        evaluate(tree, {})
    except ValueError:
        return
    assert all(text[each.start : each.end].strip() == each.printed for each in literals(tree))


def test_marks_are_taken_out_of_the_visible_text() -> None:
    """No reader sees an expression; its place is kept."""
    stripped = strip("Revenue grew 16.7%⟦=(F1-F2)/F2⟧ and 3% ⟦1+2⟧.")
    assert stripped.text == "Revenue grew 16.7% and 3%."
    assert [said for _, said in stripped.expressions] == ["=(F1-F2)/F2", "1+2"]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("Revenue grew 16.7%⟦=(F1-F2)/F2⟧ from 2023 to 2024.", "derived"),
        ("Revenue grew 16.7%⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.", "derived"),
        ("Revenue grew 16.8%⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.", "unsupported"),
        ("Revenue grew 9.7%⟦(702-640)/640⟧ from 2023 to 2024.", "misbound"),
        ("Revenue grew 16.7%⟦(4,132-3,541)/3,540⟧ from 2023 to 2024.", "unsupported"),
        ("Revenue fell 16.7%⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.", "unsupported"),
        ("Revenue grew 16.7%⟦(4,132-3,541)/3,541+0*__import__⟧ from 2023 to 2024.", "unsupported"),
        ("Revenue grew by $591 million⟦4,132-3,541⟧ from 2023 to 2024.", "derived"),
        ("Revenue grew by $591 thousand⟦4,132-3,541⟧ from 2023 to 2024.", "unsupported"),
        ("Average revenue was $3,836.5 million⟦(4,132+3,541)/2⟧ in 2023 and 2024.", "derived"),
        ("Operating margin fell 1.1 percentage points⟦17.0%-18.1%⟧ from 2023 to 2024.", "derived"),
        ("Revenue and margin were 4,149 million⟦4,132+17.0%⟧ in 2024.", "unsupported"),
        ("Revenue was 4,137 million⟦4,132+5⟧ in 2024.", "unsupported"),
    ],
)
def test_explicit_expressions(answer: str, status: str) -> None:
    """The arithmetic is right, every operand is bound, and the dimensions agree; else the figure is refused."""
    assert status in {figure.status for figure in checked(answer, INCOME).figures}


@pytest.mark.parametrize(
    ("answer", "text", "accepted"),
    [
        ("Revenue grew 16.7% from 2023 to 2024.", INCOME, True),
        ("Revenue grew 18.4% from 2023 to 2024.", INCOME, False),
        ("Net income grew 16.7% from 2023 to 2024.", INCOME, False),
        ("Revenue rose by $591 million between 2023 and 2024.", INCOME, True),
        ("Revenue fell by $591 million between 2023 and 2024.", INCOME, False),
        ("Average revenue in 2023 and 2024 was $3,836.5 million.", INCOME, True),
        ("Together the three segments total $2,630 million.", SEGMENTS, True),
        ("Together the three segments total $2,730 million.", SEGMENTS, False),
        ("Cloud accounts for 45.6% of the total segment revenue.", SEGMENTS, True),
        ("Cloud accounts for 36.1% of the total segment revenue.", SEGMENTS, False),
        ("用户数增长了两倍。", "用户数由100万增长至300万。", True),
        ("用户数增长了三倍。", "用户数由100万增长至300万。", False),
        ("用户数增长至三倍。", "用户数由100万增长至300万。", True),
        ("用户数翻了两番。", "用户数由100万增长至400万。", True),
        ("Sales grew at a compound rate of 10.0%.", "| | 2024 | 2022 |\n|---|---|---|\n| Sales | 121 | 100 |", True),
        ("Sales grew at a compound rate of 21.0%.", "| | 2024 | 2022 |\n|---|---|---|\n| Sales | 121 | 100 |", False),
        ("The limit is 60 mph, about 96.6 km/h.", "The limit is 60 mph.", True),
        ("The limit is 60 mph, about 98.6 km/h.", "The limit is 60 mph.", False),
        ("Profit grew 150%.", "| | 2024 | 2023 |\n|---|---|---|\n| Profit | 5 | (10) |", False),
        ("It is 591 million.", INCOME, False),
    ],
)
def test_the_implicit_search(answer: str, text: str, accepted: bool) -> None:
    """A word asks for the operation, and the operands are those that the words fit."""
    assert (checked(answer, text).verdict != "refuse") is accepted


def test_a_derivation_shows_its_operands() -> None:
    """The formula over printed values, over F-numbers, and a place for each operand."""
    outcome = checked("Revenue grew 16.7% from 2023 to 2024.", {"id": "s1", "page": 8, "text": INCOME})
    derivation = outcome.figures[0].derivation
    assert derivation is not None
    assert derivation.expr == "(F1-F2)/F2"
    assert derivation.shown.startswith("(4,132-3,541)/3,541 = 16.69%; 4,132 [p.8 Revenue × 2024] · 3,541 [p.8")
    assert [(place.cell, place.page) for place in derivation.places] == [((1, 1), 8), ((1, 2), 8)]
    assert Decimal(derivation.coincidence) <= Decimal("0.01")


def test_a_rounding_difference_is_reported_and_not_refused() -> None:
    """A printed total may miss the sum of its rounded parts by half a last place for each of them."""
    table = "| | 2024 |\n|---|---|\n| North | 10.4 |\n| South | 20.3 |\n| Total | 30.8 |"
    (figure,) = [
        each for each in checked("North and South total 30.8⟦10.4+20.3⟧ in 2024.", table).figures if each.raw == "30.8"
    ]
    assert (figure.status, figure.annotations) == ("derived", ("rounding_difference",))
    assert checked("North and South total 31.8⟦10.4+20.3⟧ in 2024.", table).verdict == "refuse"


def test_a_claim_finer_than_its_operands_is_annotated() -> None:
    """Two digits do not carry four places of a percentage."""
    table = "| | 2024 | 2023 |\n|---|---|---|\n| Sales | 13 | 11 |"
    (figure, *_) = checked("Sales grew 18.18% from 2023 to 2024.", table).figures
    assert (figure.status, figure.annotations) == ("derived", ("derived_low_precision",))
    (plain, *_) = checked("Revenue grew 16.7% from 2023 to 2024.", INCOME).figures
    assert plain.annotations == ()
