"""Questions made from documents: in whose words, of which documents, and only those that are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from kb_qa.answers import AnswerEvent
from kb_qa.elements import Cell, Chunk, Element, Table
from kb_qa.examples import Example, ExampleBook, candidates
from kb_qa.geometry import Region
from kb_qa.guardrails.policies import STRICT, Policy
from kb_qa.testing import InMemoryLibrary
from tests.factories import make_chunk
from tests.scripted_service import events

ENGLISH = [["", "2024", "Share of 2023"], ["Net sales", "8,412", "44.6%"], ["EBITDA", "1,204", "12.1%"]]
CHINESE = [["职级", "职务", "基本工资"], ["P4", "助理工程师", "16500"], ["P5", "工程师", "22000"]]

EXPECTED = [
    ("What is the share of 2023 for Net sales?", "44.6%"),
    ("P4的基本工资是多少？", "16500"),
    ("What was EBITDA in 2024?", "1,204"),
    ("P5的基本工资是多少？", "22000"),
]


def table_of(rows: Sequence[Sequence[str]], document_id: str, source: str) -> tuple[Element, Chunk]:
    """An element whose first row and first column are its headers, and the chunk of its rows."""
    text = "\n".join(" | ".join(row) for row in rows)
    cells, at = [], 0
    for row, texts in enumerate(rows):
        for column, each in enumerate(texts):
            start = text.index(each, at)
            at = start + len(each)
            headers = {"row_headers": (texts[0],) if row and column else (), "column_headers": (rows[0][column],)}
            cells.append(Cell(row, column, 1, 1, each, 1, None, **headers, start=start, end=at, header=not row))
    made = make_chunk(*map(" | ".join, rows[1:]), document_id=document_id, source=source, element_type="table")
    blocks = tuple(replace(block, element_id=f"table {source}") for block in made.blocks)
    element = Element(
        id=f"table {source}",
        document_id=document_id,
        order=0,
        element_type="table",
        category="Table",
        text=text,
        regions=(Region(1, None),),
        table=Table(tuple(cells)),
    )
    return element, replace(made, blocks=blocks)


@dataclass
class Asked:
    """Over a library of two tables; the draft of a question of `answered` rests on what it was made from."""

    library: InMemoryLibrary
    policy: Policy = STRICT
    answered: Sequence[str] = ()
    drafted: list[str] = field(default_factory=list)

    async def draft(self, question: str) -> Sequence[AnswerEvent]:
        self.drafted.append(question)
        made = next(each for each in candidates(self.library, STRICT) if each.example.question == question)
        place = {"element": min(made.element_ids), "printed": made.printed}
        if question in self.answered:
            return events(("figure", {"support": [place]}), ("end", {"complete": True}))
        elsewhere = [place | {"printed": "9"}, place | {"element": "another"}]
        return events(("figure", {"support": elsewhere}), ("end", {"complete": True}))


@pytest.fixture
def asked() -> Asked:
    made = table_of(ENGLISH, "a" * 64, "report.pdf"), table_of(CHINESE, "b" * 64, "briefing.pdf")
    library = InMemoryLibrary(all_chunks=[chunk for _, chunk in made], elements=[element for element, _ in made])
    return Asked(library)


def test_a_question_names_row_and_column_in_their_own_words(asked: Asked) -> None:
    """Years and other columns, in English and Chinese; the documents take turns."""
    assert [(each.example.question, each.printed) for each in candidates(asked.library, STRICT)] == EXPECTED


async def test_only_what_is_answered_from_its_place_is_shown(asked: Asked) -> None:
    """A draft that rests on another figure or another table proves nothing; others than the language's are left out."""
    asked.answered = ["P5的基本工资是多少？"]
    book = ExampleBook()
    assert await book.examples(asked, "zh") == [Example("P5的基本工资是多少？", "briefing.pdf", "b" * 64)]
    assert await book.examples(asked, "en") == []


async def test_they_are_made_once_for_what_can_be_asked(asked: Asked) -> None:
    """Until the documents change."""
    book = ExampleBook()
    await book.examples(asked, "zh")
    drafted = len(asked.drafted)
    await book.examples(asked, "zh")
    assert len(asked.drafted) == drafted > 0
    asked.library.all_chunks = asked.library.all_chunks[:1]
    await book.examples(asked, "zh")  # no Chinese document is left: of the English ones
    assert asked.drafted[-1].startswith("What ")


@pytest.mark.parametrize(
    "rows",
    [
        [["", "2024"], ["2023", "7"], ["—", "8"]],
        [["", "Date"], ["Founded", "2024-03-31"]],
        [["", "x" * 60], ["Net sales", "8,412"]],
    ],
)
def test_no_question_is_made_of_what_says_too_little(rows: list[list[str]]) -> None:
    """Rows without a word, dates, and labels that are sentences."""
    element, chunk = table_of(rows, "a" * 64, "report.pdf")
    assert candidates(InMemoryLibrary(all_chunks=[chunk], elements=[element]), STRICT) == []
