"""Growth that is computed from a row, with its expression."""

from __future__ import annotations

import asyncio

import pytest

from ingest.chunk import Origin, chunk
from kb_qa.answers import Context, Hit, Material, ModelStop, Question, TextDelta
from kb_qa.elements import Cell, Element, Table
from kb_qa.evidence import materials_of_context
from kb_qa.extraction.growth import computed_growth
from kb_qa.extraction.request import request_of
from kb_qa.geometry import Region
from kb_qa.guardrails.gate import Gate
from kb_qa.guardrails.policies import STRICT
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.testing import InMemoryLibrary

SALES = (("", "Net sales"), ("2024", "8,412"), ("2023", "7,650"), ("2021", "9,000"))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much did net sales grow?", "Net sales rose 10.0%⟦=(8,412-7,650)/7,650⟧ from 2023 to 2024."),
        ("How much did net sales grow in 2024?", "Net sales rose 10.0%⟦=(8,412-7,650)/7,650⟧ from 2023 to 2024."),
        (
            "What was the percentage change in net sales from 2021 to 2023?",
            "Net sales fell 15.0%⟦=(7,650-9,000)/9,000⟧ from 2021 to 2023.",
        ),
        ("How much did net sales grow in 2023?", ""),
        ("How much did net sales grow in 2021, 2023 and 2024?", ""),
        ("What were net sales in 2024?", ""),
    ],
)
def test_growth_from_one_year_to_the_next(question: str, said: str) -> None:
    """Between the years that are asked for, else to the latest; where one is not there, nothing."""
    assert computed_growth(SALES, request_of(question), chinese=False) == said


@pytest.mark.parametrize(
    "pairs",
    [
        (("", "Profit"), ("2024", "(12)"), ("2023", "7")),
        (("", "Profit"), ("2024", "12"), ("2023", "-")),
        (("", "Profit"), ("2024", "12"), ("2023", "7"), ("Change", "71%")),
        (("", "Profit"), ("2024 / A", "12"), ("2024 / B", "13"), ("2023", "7")),
        (("", "Profit"), ("2024", "12 or 13"), ("2023", "7")),
        (("", "Profit"), ("2024", "12")),
    ],
    ids=["loss", "blank", "printed", "two columns of a year", "two figures", "one year"],
)
def test_what_is_not_clear_is_not_computed(pairs: tuple[tuple[str, str], ...]) -> None:
    """Losses, blanks, doubtful columns, and what is printed anyway."""
    assert computed_growth(pairs, request_of("How much did profit grow?"), chinese=False) == ""


def test_chinese() -> None:
    """The sentence is in the question's language."""
    pairs = (("", "营业收入"), ("2024年", "4,132"), ("2023年", "3,541"))
    said = computed_growth(pairs, request_of("营业收入同比增长多少？"), chinese=True)
    assert said == "营业收入从2023年到2024年增长16.7%⟦=(4,132-3,541)/3,541⟧。"


def test_the_guard_proves_it() -> None:
    """The row and the computed growth are both let out; the expression is not shown."""
    printed = "Net sales | 8,412 | 7,650"
    cells = [Cell(0, column, 1, 1, year, 1, None, header=True) for column, year in ((1, "2024"), (2, "2023"))]
    cells.append(Cell(1, 0, 1, 1, "Net sales", 1, None, start=0, end=9, header=True))
    for column, year, figure in ((1, "2024", "8,412"), (2, "2023", "7,650")):
        start = printed.index(figure)
        cells.append(
            Cell(1, column, 1, 1, figure, 1, None, ("Net sales",), (year,), start=start, end=start + len(figure))
        )
    element = Element("e", "d", 0, "table", "Table", printed, (Region(1, None),), table=Table(tuple(cells)))
    elements = (element,)
    chunks = chunk(elements, Origin("d", 1, "a.pdf", "1"))
    question = Question("How much did net sales grow in 2024?", "en")
    hits = [Hit(each, {"fused": 1.0}) for each in chunks]
    context = Context(tuple(Material(number, hit, "a.pdf") for number, hit in enumerate(hits, 1)), "", "")
    library = InMemoryLibrary(chunks, elements)
    gate = Gate(question.text, context, materials_of_context(context, library, STRICT), STRICT)

    async def run() -> list[str]:
        said = [event async for event in ExtractiveModel().generate(question, context)]
        assert any(isinstance(event, TextDelta) and "⟦" in event.text for event in said)
        assert isinstance(said[-1], ModelStop)
        return [unit.text for event in said for unit in gate.feed(event) if not unit.withheld]

    assert "Net sales rose 10.0% from 2023 to 2024." in "".join(asyncio.run(run()))
