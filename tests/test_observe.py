"""Questions are asked, and what is seen of each is kept: pages found, what the answer cites and says, and how long."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import pytest

from kb_qa.answers import AnswerEvent, BlockCitation, Filters, ModelStop, TextDelta
from kb_qa.elements import Element
from kb_qa.errors import ModelError
from kb_qa.evaluation.cases import Case
from kb_qa.evaluation.runs import Run, latencies
from kb_qa.evaluation.scores import Place, outcomes
from kb_qa.geometry import BBox, Page, Region
from kb_qa.observe import HereAsker, Line, Seconds, answered_of, named_documents, observe, stored_pages, unaskable
from kb_qa.testing import InMemoryLibrary
from tests.factories import DOCUMENT
from tests.test_knowledge_base import PAY, knowledge_base

STOP = ModelStop("end_turn", {})
REVENUE = Case("r", "What was net revenue in 2024?", "report.pdf", ((1,),), answers=("4,812 million",))


def test_what_an_answer_says_is_kept() -> None:
    """Text, citations and figures with values in base units, and the seconds of each stage that was gone through."""
    base = knowledge_base(TextDelta("Net revenue was 4,812 million in 2024."), BlockCitation(1, 0), STOP)
    documents = {"report.pdf": frozenset({DOCUMENT})}
    seen = next(observe([REVENUE], HereAsker(base), documents, {"bm25": lambda question, ids: [_place(2)]}))
    assert seen.answered is not None
    assert seen.answered.text.startswith("Net revenue was 4,812 million")
    assert [place.page for place in seen.answered.cited] == [1]
    assert Decimal(4_812_000_000) in seen.answered.figures[0].values
    assert {*seen.answered.seconds} == {"resolve", "retrieve", "context", "answer", "save", "total"}
    assert seen.answered.seconds["total"] >= sum(
        seen.answered.seconds[stage] for stage in ("retrieve", "context", "answer")
    )
    found = outcomes(seen)
    assert found["figure_right"] and found["page_hit@1"] and not found["page_hit@1.bm25"]
    assert {*seen.found} == {"", "bm25", "within", "within.bm25"}


def test_a_failed_question_is_an_outcome() -> None:
    """The model's error is kept with its question."""
    seen = next(observe([Case("1", "What was net revenue?")], HereAsker(knowledge_base(ModelError("broken"))), {}, {}))
    assert seen.answered is not None and seen.answered.error == "broken"
    assert outcomes(seen)["failed"]


def test_questions_may_be_asked_of_their_document_alone() -> None:
    """With `within` the answer is limited to the expected document; without it it is not."""
    asked = _Recorded([])
    documents = {"report.pdf": frozenset({DOCUMENT})}
    for within in (True, False):
        [*observe([REVENUE], asked, documents, {}, within=within)]
    assert [filters.documents for filters in asked.filters] == [(DOCUMENT,), ()]


def test_a_search_alone_is_timed() -> None:
    """Without answers, what the search took is all that is known of the stages."""
    base = knowledge_base(STOP)
    seen = tuple(observe([REVENUE], HereAsker(base), {"report.pdf": frozenset({DOCUMENT})}, {}, answers=False))
    assert seen[0].answered is None
    assert [stage for stage, *_ in latencies(Run("A", seen))] == ["retrieve"]
    assert seen[0].searched > 0


def test_a_cut_answer_is_no_answer() -> None:
    """An answer without its end failed, whatever it said."""
    events = [AnswerEvent(1, "start", {"answer_id": "a"}), AnswerEvent(2, "delta", {"text": "x"})]
    assert answered_of(events, {}).error


def test_stored_pages_are_the_plain_searchs() -> None:
    """The text of each page as it was read; names that are not known stand for nothing."""
    element = Element("e", DOCUMENT, 0, "text", "Header", "Northfell", (Region(1, None), Region(2, None)))
    library = InMemoryLibrary(all_chunks=[PAY], elements=[element, replace(element, id="h", hidden="white")])
    assert [(place.page, place.text) for place in stored_pages(library)] == [(1, "Northfell"), (2, "Northfell")]
    assert named_documents([REVENUE, Case("2", "?", "none.pdf")], library)["none.pdf"] == frozenset()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (Case("q", "?", "none.pdf"), ["question 'q' names 'none.pdf', which cannot be asked"]),
        (Case("q", "?", "report.pdf", ((1, 7),)), ["question 'q' expects page 7, which is no page, of 'report.pdf'"]),
        (
            Case("q", "?", "report.pdf", ((1,),), Region(1, BBox(700, 10, 720, 20))),
            ["question 'q' expects a region beside page 1, which is no place, of 'report.pdf'"],
        ),
        (Case("q", "?", "report.pdf", ((1,),), Region(1, BBox(500, 10, 720, 20))), []),
        (Case("q", "?"), []),
    ],
    ids=["document", "page", "region", "all there", "nothing expected"],
)
def test_what_no_document_has_is_no_miss(case: Case, said: list[str]) -> None:
    """A page or region that the document does not have is told before anything is asked, with the question."""
    library = InMemoryLibrary(all_chunks=[PAY], pages={(DOCUMENT, 1): Page(1, 600, 800)})
    documents = {"report.pdf": frozenset({DOCUMENT}), "none.pdf": frozenset[str]()}
    assert [*unaskable([case], documents, library)] == said


def _place(page: int) -> Place:
    return Place(DOCUMENT, "report.pdf", page)


@dataclass(frozen=True, slots=True)
class _Recorded:
    filters: list[Filters]

    def search(self, question: str, k: int, filters: Filters) -> Sequence[Line]:
        return []

    def ask(self, question: str, filters: Filters) -> tuple[Sequence[AnswerEvent], Seconds]:
        self.filters.append(filters)
        return [], {}
