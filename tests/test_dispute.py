"""A figure of a stored answer leads to every place that tells the same measure, agreeing or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import httpx
import pytest

from kb_qa.answers import AnswerEvent
from kb_qa.dispute import Dispute, dispute
from kb_qa.elements import Element
from kb_qa.errors import NotFoundError
from kb_qa.geometry import BBox, Page, Region
from kb_qa.guardrails.document_facts import packed_facts
from kb_qa.guardrails.pipe_tables import elements_of
from kb_qa.protocols import StoredFacts
from kb_qa.testing import InMemoryLibrary
from tests.factories import make_chunk
from tests.scripted_service import ANSWER, CountingRenderer, ScriptedKnowledgeBase, events, served

REPORT, PRESS = "ab" * 32, "cd" * 32
TABLE = (
    "(USD in millions)\n| | 2024 | 2023 |\n|---|---|---|\n| Net revenue | 4,132 | 3,541 |\n| Net income | 512 | 300 |"
)
RELEASE = "Net revenue reached $4,123 million in 2024, a record."
TEXT = "Net revenue was $4,132 million in 2024."


def laid_out(element: Element) -> Element:
    """The element with boxes: a row every 20 points, a column every 100."""
    if element.table is None:
        return replace(element, regions=(Region(3, BBox(60, 100, 500, 130)),))
    cells = tuple(
        replace(
            cell,
            page=8,
            bbox=BBox(60 + 100 * cell.column, 100 + 20 * cell.row, 150 + 100 * cell.column, 118 + 20 * cell.row),
        )
        for cell in element.table.cells
    )
    return replace(element, regions=(Region(8, BBox(60, 100, 400, 180)),), table=replace(element.table, cells=cells))


def library(*given: tuple[str, str, str]) -> InMemoryLibrary:
    """A library of one element a document: (document id, name, text or pipe table)."""
    elements, chunks = [], []
    for ordinal, (document_id, name, text) in enumerate(given):
        element = replace(laid_out(elements_of(f"element-{ordinal}", text)[0]), document_id=document_id)
        elements.append(element)
        kind = "table" if element.table else "text"
        chunks.append(make_chunk(text, document_id=document_id, source=name, ordinal=ordinal, element_type=kind))
    facts = {key: StoredFacts(packed) for key, packed in packed_facts(elements).items()}
    pages = {(document_id, number): Page(number, 600, 800) for document_id, _, _ in given for number in (3, 8)}
    return InMemoryLibrary(chunks, elements, pages=pages, stored_facts=facts)


def answer(
    text: str = TEXT, *figures: dict[str, object], question: str = "What was net revenue in 2024?"
) -> Sequence[AnswerEvent]:
    return events(
        ("start", {"answer_id": ANSWER, "question": question, "language": "en"}),
        ("sources", {"sources": [{"document_id": REPORT, "document": "report.pdf"}]}),
        ("delta", {"seq": 1, "text": text}),
        *(("figure", {"n": n, **figure}) for n, figure in enumerate(figures, 1)),
        ("end", {"complete": True}),
    )


SUPPORTED: dict[str, object] = {
    "raw": "$4,132 million",
    "start": 16,
    "end": 30,
    "status": "exact",
    "support": [{"element": "element-0", "printed": "4,132", "cell": [1, 1]}],
}
BOTH = ((REPORT, "report.pdf", TABLE), (PRESS, "press.pdf", RELEASE))


def shown(found: Dispute) -> list[tuple[str, str, bool, bool]]:
    return [
        (place.source, place.telling.fact.printed, place.is_support, place.telling.contradicts)
        for place in found.places
    ]


def test_two_documents_that_contradict_each_other_are_shown_side_by_side() -> None:
    """The place the answer rests on comes first, then the one that prints another value for the same thing."""
    found = dispute(library(*BOTH), answer(TEXT, SUPPORTED), 1)
    assert found.conflict
    assert shown(found) == [("report.pdf", "4,132", True, False), ("press.pdf", "$4,123 million", False, True)]
    assert [place.shown for place in found.places] == [
        Region(8, BBox(60, 120, 350, 138)),  # the whole row, with its label
        Region(3, BBox(60, 100, 500, 130)),
    ]


def test_a_figure_without_support_is_looked_for_by_its_sentence() -> None:
    """The annotate policy leaves an unsupported figure visible; its reader sees what the documents say instead."""
    text = "Net revenue was $5,000 million in 2024."
    figure = {**SUPPORTED, "raw": "$5,000 million", "status": "unsupported", "support": []}
    found = dispute(library(*BOTH), answer(text, figure), 1)
    assert not found.conflict
    assert {(source, printed) for source, printed, _, _ in shown(found)} == {
        ("report.pdf", "4,132"),
        ("press.pdf", "$4,123 million"),
    }


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        pytest.param("1. Net revenue rose.", {"raw": "1.", "start": 0, "end": 2, "support": []}, id="a list number"),
        pytest.param("In 2024.", {"raw": "2024", "start": 3, "end": 7, "support": []}, id="a year"),
    ],
)
def test_what_claims_nothing_has_no_places(text: str, figure: dict[str, object]) -> None:
    """A list number and a year are no measures."""
    assert dispute(library(*BOTH), answer(text, figure), 1).places == ()


@pytest.mark.parametrize("n", [0, 2])
def test_a_figure_that_is_not_there(n: int) -> None:
    """Figures count from 1."""
    with pytest.raises(NotFoundError, match=f"no figure {n}"):
        dispute(library(*BOTH), answer(TEXT, SUPPORTED), n)


def test_the_routes_of_a_figure() -> None:
    """Places with crops, a decision that is kept and exported, and refusals of what makes no sense."""
    stored = library(*BOTH)
    stored.save_answer(ANSWER, "", answer(TEXT, SUPPORTED))
    base = ScriptedKnowledgeBase(library=stored)  # type: ignore[arg-type]  # a fuller library than the scripted one
    with served(base, CountingRenderer()) as url, httpx.Client(base_url=url, timeout=10) as client:
        place = f"/v1/answers/{ANSWER}/figures/1"
        data = client.get(place).json()
        kept = client.put(f"{place}/decision", json={"decision": "reject", "note": " the release is right "})
        after = client.get(place).json()["decision"]
        record = client.get(f"/v1/answers/{ANSWER}/figures").json()["figures"]
        exported = client.get("/v1/decisions").json()["decisions"]
        refused = [
            client.put(f"{place}/decision", json=body).status_code
            for body in ({"decision": "maybe"}, {"decision": "note"}, {"decision": "note", "note": "x" * 4001}, {})
        ]
        missing = [
            client.get(f"/v1/answers/{ANSWER}/figures/2").status_code,
            client.put(f"/v1/answers/{ANSWER}/figures/2/decision", json={"decision": "accept"}).status_code,
            client.get(f"/v1/answers/{'0' * 32}/figures/1").status_code,
        ]
    assert data["conflict"] is True
    first, second = data["places"]
    assert (first["label"], first["page"], first["bbox"], first["row"]) == (
        "report.pdf · P8·table",
        8,
        [160.0, 120.0, 250.0, 138.0],
        "Net revenue",
    )
    assert first["region_url"] == f"/v1/documents/{REPORT}/pages/8/region.png?bbox=60,120,350,138"
    assert (second["document"], second["printed"], second["value"], second["contradicts"]) == (
        "press.pdf",
        "$4,123 million",
        "4123000000",
        True,
    )
    assert kept.status_code == 200
    assert after == record[0]["decision"] == exported[0] == kept.json()
    assert (after["decision"], after["note"], after["raw"]) == ("reject", "the release is right", "$4,132 million")
    assert refused == [422] * 4
    assert missing == [404] * 3
