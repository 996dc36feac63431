"""What the index of facts leaves out is of another kind or value for sure: no verdict depends on it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_qa.guardrails.fact_index import FactIndex
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.materials import materials_of, source_elements
from kb_qa.guardrails.quantities import Quantity
from kb_qa.guardrails.values import compare
from tests.figure_cases import source

_NUMBERS = st.one_of(
    st.integers(0, 20_000).map(str),
    st.integers(0, 30_000_000).map(lambda number: f"{number:,}"),
    st.decimals(0, 2000, places=2).map(str),
    st.decimals(0, 2, places=4).map(str),
    st.sampled_from(["0", "1.234", "2/3", "9.96", "99.5", "10..12", "10–12", "三分之一", "1/4", "半"]),
)
_FORMS = st.sampled_from(
    [
        "{}",
        "${} million",
        "{}%",
        "{}万元",
        "{}亿元",
        "about {}",
        "over {}",
        "逾{}人",
        "{}x",
        "{} km",
        "{}天",
        "约{}万",
        "{} bps",
        "翻{}番",
    ]
)
_PRINTED = st.builds(lambda number, form: form.format(number), _NUMBERS, _FORMS)


def facts_of(*texts: str) -> tuple[Fact, ...]:
    table = "Ratios\n| | Ratio |\n|---|---|\n" + "\n".join(
        f"| Row {number} | {text} |" for number, text in enumerate(texts)
    )
    return materials_of(source_elements([source("\n".join(texts)), source(table)])).facts


def figures(text: str) -> list[Quantity]:
    return [each for each in lex(text, locale="en") if each.role == "figure"]


@settings(max_examples=200, deadline=None)
@given(said=_PRINTED, printed=st.lists(_PRINTED, min_size=1, max_size=12))
def test_what_is_left_out_is_another_kind_or_value(said: str, printed: list[str]) -> None:
    """Every fact with an agreement, or an objection that a reason names, is near; the order is that of the facts."""
    facts = facts_of(*printed)
    index = FactIndex(facts)
    for claim in figures(said):
        near = index.near(claim)
        kept = {id(fact) for fact in near}
        left_out = [compare(claim, fact) for fact in facts if id(fact) not in kept]
        assert {each.objection for each in left_out} <= {"kind", "value"}
        assert [id(fact) for fact in near] == [id(fact) for fact in facts if id(fact) in kept]


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        pytest.param("$4.1 billion", "$4,132 million", id="rounded"),
        pytest.param("$10 million", "$9.96 million", id="rounded-over-a-power-of-ten"),
        pytest.param("$4.13 million", "$4.1 million", id="more-precise"),
        pytest.param("$4,132 thousand", "$4,132 million", id="another-scale"),
        pytest.param("19.52%", "0.19524", id="a-ratio"),
        pytest.param("about 22,000", "21,870", id="about"),
        pytest.param("over 10,000", "10,368", id="a-bound"),
    ],
)
def test_what_may_be_meant_is_near(said: str, printed: str) -> None:
    """Rounding, scale, ratio, approximation and bound: a candidate for each, and no other number with it."""
    facts = facts_of(printed, "777,777", "0.0333")
    near = {fact.printed for fact in FactIndex(facts).near(figures(said)[0])}
    assert printed.strip("$") in {fact.strip("$") for fact in near}
    assert "777,777" not in near or "over" in said


def test_faces() -> None:
    """With its scale or without it, a number is found by what an expression writes for it, in the facts' order."""
    index = FactIndex(facts_of("$4.1 billion", "(4.1)%", "4,100,000,000"))
    assert [fact.printed for fact in index.of_face(Decimal("4.1"))][:2] == ["$4.1 billion", "(4.1)%"]
    assert {fact.printed for fact in index.of_face(Decimal(4_100_000_000))} == {"$4.1 billion", "4,100,000,000"}
    assert not index.of_face(Decimal(5))
