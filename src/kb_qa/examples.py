"""Questions that the documents answer, made from what is printed in them: for readers who do not know where to begin.

Each was asked before it is shown: a draft of its answer, which no model writes, rests on the place it was made from.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any, Protocol, cast

from kb_qa.answers import AnswerEvent, Language
from kb_qa.document_record import DocumentRecord
from kb_qa.elements import Chunk, Table
from kb_qa.errors import KbQaError
from kb_qa.evidence import element_facts
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.languages import language_of
from kb_qa.guardrails.policies import Policy
from kb_qa.protocols import Library

WANTED = 5
MOST_DRAFTS = 24
MOST_DOCUMENTS = 12
MOST_CHUNKS = 80  # of a document, from its start: enough to find a table or a heading
MOST_TABLES = 3
_PER_DOCUMENT = 6  # candidates
_LABEL = re.compile(r"[^\W\d_]|[A-Z]\d", re.UNICODE)
_LONGEST = 40
_SENTENCE = re.compile(r"[,;，；。]|\. ")
_YEAR = re.compile(r"(?:FY ?)?((?:19|20)\d\d)\s*年?(?:度)?")
_NUMBERING = re.compile(
    r"(?:[第（(]?[一二三四五六七八九十\d]+[章节部分]*[、.)）]|(?:Note|Section|Chapter) \d+[.:]?)\s*"
)
_PLURAL = re.compile(r"[^,(]*?[^s,(]s(?: (?:of|from|for|in|before|after|to|by|per)\b.*)?")
_NO_FIGURES = frozenset({"year", "date", "monthday", "id", "ref", "enum", "period"})


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the document that answers it."""

    question: str
    document: str
    document_id: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """`element_id` and, for a figure, `printed` are what its answer must rest on."""

    example: Example
    element_ids: frozenset[str]
    printed: str = ""

    @property
    def language(self) -> Language:
        return language_of(self.example.question)


class Drafting(Protocol):
    @property
    def library(self) -> Library: ...

    @property
    def policy(self) -> Policy: ...

    async def draft(self, question: str) -> Sequence[AnswerEvent]: ...


@dataclass(slots=True)
class ExampleBook:
    """The examples by language, made anew when other documents can be asked."""

    kept: dict[Language, tuple[str, Sequence[Example]]] = field(default_factory=dict)
    making: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def examples(self, asked: Drafting, language: Language) -> Sequence[Example]:
        """At most WANTED, in `language` where the documents have any of it, else in theirs."""
        async with self.making:
            edition = await asyncio.to_thread(asked.library.edition)
            known = self.kept.get(language)
            if known is None or known[0] != edition:
                known = self.kept[language] = (edition, await _made(asked, language))
        return known[1]


async def _made(asked: Drafting, language: Language) -> Sequence[Example]:
    found = await asyncio.to_thread(candidates, asked.library, asked.policy)
    own = [each for each in found if each.language == language]
    examples: list[Example] = []
    for candidate in (own or found)[:MOST_DRAFTS]:
        if len(examples) == WANTED:
            break
        if await _answers(asked, candidate):
            examples.append(candidate.example)
    return examples


async def _answers(asked: Drafting, candidate: Candidate) -> bool:
    """Whether the draft is whole and rests on the place that the question was made from."""
    try:
        events = await asked.draft(candidate.example.question)
    except KbQaError:
        return False
    if any(event.event in {"refusal", "withheld", "error"} for event in events):
        return False
    return any(_rests_on(candidate, cast(dict[str, Any], event.data), event.event) for event in events)


def _rests_on(candidate: Candidate, data: dict[str, Any], name: str) -> bool:
    if not candidate.printed:
        return name == "citation" and data["document_id"] == candidate.example.document_id
    return name == "figure" and any(
        place["element"] in candidate.element_ids and place["printed"] == candidate.printed for place in data["support"]
    )


def candidates(library: Library, policy: Policy) -> Sequence[Candidate]:
    """In the order in which they are tried: the first one of each document, then the second ones. Blocking."""
    ready = [each for each in library.documents() if each.state == "ready" and each.names]
    step = max(1, len(ready) // MOST_DOCUMENTS)
    by_document = [_of_document(library, policy, each) for each in ready[::step][:MOST_DOCUMENTS]]
    return [each for each in chain.from_iterable(zip_longest(*by_document)) if each is not None]


def _of_document(library: Library, policy: Policy, record: DocumentRecord) -> Sequence[Candidate]:
    """Figures of its first tables, then headings; each once."""
    places = [(record.document_id, ordinal) for ordinal in range(min(record.chunks, MOST_CHUNKS))]
    found = library.chunk_ids_at(places)
    sketches = library.sketches([found[place] for place in places if place in found])
    tables = [each for each, sketch in sketches.items() if sketch.element_type == "table"][:MOST_TABLES]
    prose = [each for each, sketch in sketches.items() if sketch.element_type == "text"]
    chunks = library.chunks([*tables, *prose[:: max(1, len(prose) // _PER_DOCUMENT)]])
    figures = [_figures(library, policy, chunks[each], record) for each in tables if each in chunks]
    headings = [_headings(chunk, record) for each, chunk in chunks.items() if each not in tables]
    mixed = chain(chain.from_iterable(zip_longest(*figures)), chain.from_iterable(headings))
    once = {each.example.question: each for each in mixed if each is not None}
    return [*once.values()][:_PER_DOCUMENT]


def _figures(library: Library, policy: Policy, chunk: Chunk, record: DocumentRecord) -> Sequence[Candidate]:
    """One from the upper and one from the lower part of the table, where both have labels."""
    elements = dict.fromkeys((block.element_id for block in chunk.blocks), chunk)
    asked: list[Candidate] = []
    for element_id, facts in element_facts(elements, library, policy).items():
        element = library.element(element_id)
        if element is None or element.table is None or element.hidden:
            continue
        fit = [(fact, question) for fact in facts if (question := _question(fact, element.table))]
        for fact, question in [fit[len(fit) // 3], fit[2 * len(fit) // 3]] if fit else []:
            asked.append(Candidate(_example(question, record), frozenset({element_id}), fact.printed))
    return asked


def _question(fact: Fact, table: Table) -> str:
    """Empty where the figure is no plain one, or its row or column has no label that says enough."""
    quantity = fact.quantity
    if fact.cell is None or not fact.body or fact.ambiguous or fact.confidence is not None or fact.cell[1] == 0:
        return ""
    if quantity.role != "figure" or quantity.kind in _NO_FIGURES:
        return ""
    row = next((cell.text for cell in table.cells if (cell.row, cell.column) == (fact.cell[0], 0)), "")
    row, column = " ".join(row.split()), " ".join(fact.column.split())
    if not _is_label(row) or not column or len(column) > _LONGEST:
        return ""
    return _asked_in_chinese(row, column) if language_of(f"{row} {column}") == "zh" else _asked_in_english(row, column)


def _is_label(text: str) -> bool:
    return bool(_LABEL.search(text)) and len(text) <= _LONGEST and not _SENTENCE.search(text)


def _asked_in_chinese(row: str, column: str) -> str:
    year = _YEAR.fullmatch(column)
    return f"{year[1]}年的{row}是多少？" if year else f"{row}的{column}是多少？"


def _asked_in_english(row: str, column: str) -> str:
    year = _YEAR.fullmatch(column)
    if year:
        name = _lowered(row)
        return f"What {'were' if _PLURAL.fullmatch(name) else 'was'} {name} in {year[1]}?"
    return f"What is the {_lowered(column)} for {row}?" if _is_label(column) else ""


def _lowered(text: str) -> str:
    """`Net sales` within a sentence; `EBITDA` and `P5` as they are."""
    return text[0].lower() + text[1:] if text[1:2].islower() else text


def _headings(chunk: Chunk, record: DocumentRecord) -> Iterator[Candidate]:
    heading = _NUMBERING.sub("", chunk.section[-1]).strip() if len(chunk.section) > 1 else ""
    if not 2 <= len(heading) <= _LONGEST or not _is_label(heading) or heading[-1] in "?？:：.。":
        return
    chinese = language_of(heading) == "zh"
    question = f"关于“{heading}”，文中怎么说？" if chinese else f"What is said about {_lowered(heading)}?"
    yield Candidate(_example(question, record), frozenset(block.element_id for block in chunk.blocks))


def _example(question: str, record: DocumentRecord) -> Example:
    return Example(question, record.names[0], record.document_id)
