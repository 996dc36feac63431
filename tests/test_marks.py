"""What an answer marks comes from its stored events: a claim is one span, told in the documents it rests on."""

from __future__ import annotations

import pytest

from kb_qa.answers import AnswerEvent
from kb_qa.errors import NotFoundError
from kb_qa.geometry import BBox
from kb_qa.marks import MarkedClaim, MarkedDocument, PageMarks, chosen_documents, marked_documents
from tests.scripted_service import DOCUMENT, OTHER, citation, events

BOX = [60.0, 80.0, 300.0, 120.0]
LINES = ((120.0, 80.0, 300.0, 100.0), (60.0, 100.0, 180.0, 120.0))


def region(page: int, *rects: tuple[float, ...], bbox: list[float] | None = BOX) -> dict[str, object]:
    return {"page": page, "bbox": bbox, "box": None, "rects": [list(rect) for rect in rects]}


def answer(*citations: tuple[str, dict[str, object]]) -> list[AnswerEvent]:
    return events(("start", {}), ("delta", {"seq": 1, "text": "First. Se"}), ("delta", {"text": "cond."}), *citations)


def boxes(*rects: tuple[float, ...]) -> tuple[BBox, ...]:
    return tuple(BBox(*rect) for rect in rects)


def test_a_claim_is_one_span_with_all_its_citations() -> None:
    """Two citations of one span are one claim; its passages are gathered by page, none twice."""
    told = answer(
        citation(1, start=0, end=6, regions=[region(2, *LINES)]),
        citation(2, start=0, end=6, regions=[region(2, LINES[1]), region(1, LINES[0])], number=4),
        citation(3, start=7, end=14, regions=[region(3, *LINES)], number=1),
    )
    (marked,) = marked_documents(told)
    assert (marked.document_id, marked.name) == (DOCUMENT, "report.pdf")
    assert marked.claims == (
        MarkedClaim(1, "First.", (1, 4), (PageMarks(1, boxes(LINES[0])), PageMarks(2, boxes(*LINES)))),
        MarkedClaim(2, "Second.", (1,), (PageMarks(3, boxes(*LINES)),)),
    )


def test_each_document_has_its_own_marks_and_claims_keep_their_ordinals() -> None:
    """A claim that rests on the second document alone is claim 2 there, too: its colour is the same everywhere."""
    told = answer(
        citation(1, start=0, end=6, regions=[region(2, *LINES)]),
        citation(2, start=7, end=14, regions=[region(5, *LINES)], document_id=OTHER, document="b.pdf"),
    )
    first, second = marked_documents(told)
    assert [claim.ordinal for claim in first.claims] == [1]
    assert [claim.ordinal for claim in second.claims] == [2]


def test_a_passage_without_lines_is_marked_by_its_box_and_one_without_a_place_not_at_all() -> None:
    """Where the words have no place the block's box stands for them; a document without pages has no claims to mark."""
    told = answer(
        citation(1, start=0, end=6, regions=[region(2)]),
        citation(2, start=7, end=14, regions=[region(3, bbox=None)], document_id=OTHER, document="slides.pptx"),
        citation(3, start=7, end=14, regions=[], document_id=OTHER, document="slides.pptx"),
    )
    first, second = marked_documents(told)
    assert first.claims[0].pages == (PageMarks(2, boxes(tuple(BOX))),)
    assert second.claims == ()


CITED = (MarkedDocument(DOCUMENT, "2024/Report.pdf", ()), MarkedDocument(OTHER, "报告.pdf", ()))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        *(("", [0, 1]), (OTHER, [1]), ("report.pdf", [0]), ("2024/REPORT.PDF", [0]), ("/2024/report.pdf", [0])),
        ("报告.pdf", [1]),
    ],
)
def test_a_document_is_chosen_by_name_or_id(wanted: str, found: list[int]) -> None:
    """A name may be the file's alone or end its path, in either letter case."""
    assert chosen_documents(CITED, wanted) == [CITED[number] for number in found]


@pytest.mark.parametrize("wanted", ["port.pdf", "other.pdf", "Report", "pdf", "2024"])
def test_a_document_that_is_not_cited_is_named(wanted: str) -> None:
    """The error says what the answer does cite."""
    with pytest.raises(NotFoundError, match="Report"):
        chosen_documents(CITED, wanted)


def test_an_answer_without_citations_marks_nothing() -> None:
    """A refusal has no document to mark."""
    with pytest.raises(NotFoundError, match="cites no document"):
        chosen_documents(marked_documents(answer()))
