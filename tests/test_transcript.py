"""An answer's events carry the numbers, offsets and places that a reader's page needs."""

import json

from kb_qa.answers import Citation, Located, LocatedRegion, ModelStop, Question
from kb_qa.errors import ModelError
from kb_qa.geometry import BBox, Page, Quality, Region
from kb_qa.guardrails.outcome import FigureOutcome, Place, Reason
from kb_qa.transcript import Transcript
from tests.factories import DOCUMENT, make_chunk, make_context

PAGES = {(DOCUMENT, 1): Page(1, width=600, height=800)}
BOX = BBox(60, 80, 300, 120)


def transcript() -> Transcript:
    return Transcript("answer-1", Question("P5？", "zh"), lambda document, number: PAGES.get((document, number)))


def citation(*, regions: tuple[Region, ...], located: Located = Located(found=False)) -> Citation:
    return Citation(
        number=1,
        start=0,
        end=5,
        cited_text="P5 | 22000",
        level="region",
        label="briefing.pdf · P1·表格",
        document_id=DOCUMENT,
        document="briefing.pdf",
        element_type="table",
        regions=regions,
        located=located,
    )


def test_events_are_counted_from_one_and_are_plain_json() -> None:
    """Ids follow one another; every event's data survives JSON."""
    written = transcript()
    written.start(model="extractive", policy="strict")
    written.sources(make_context(make_chunk("P5 | 22000", element_type="table")))
    written.delta("P5：22000")
    written.citation(citation(regions=(Region(1, BOX),)))
    place = Place("e", 1, BOX, "22000", "22000", "exact", (1, 1), "P5", "基本工资", document=DOCUMENT)
    written.figure(FigureOutcome("22000", 3, 8, "number", "22000", "exact", support=(place,)), unit=0, span=(3, 8))
    written.references(style="text", text="[1] …", items=[{"number": 1}])
    written.usage({"input_tokens": 3})
    written.end(ModelStop("end_turn"))
    assert [event.id for event in written.events] == list(range(1, 9))
    assert [event.event for event in written.events] == [
        *("start", "sources", "delta", "citation", "figure", "references", "usage", "end")
    ]
    for event in written.events:
        assert json.loads(json.dumps(event.data)) == event.data


def test_a_citation_gives_its_box_in_points_and_as_a_share_of_the_page() -> None:
    """A viewer marks the words without knowing the page's size."""
    rects = (BBox(60, 80, 300, 95), BBox(60, 105, 100, 120))
    located = Located(True, (LocatedRegion(1, BOX, rects),), "exact")
    data = transcript().citation(citation(regions=(Region(1, BOX),), located=located)).data
    assert data["regions"] == [
        {
            "page": 1,
            "bbox": [60, 80, 300, 120],
            "box": [0.1, 0.1, 0.5, 0.15],
            "rects": [[60, 80, 300, 95], [60, 105, 100, 120]],
        }
    ]
    assert data["region_url"] == "/v1/answers/answer-1/citations/1/region.png"
    assert data["page_url"] == f"/v1/documents/{DOCUMENT}/pages/1.png"


def test_a_citation_without_geometry_has_no_picture() -> None:
    """A document without pages is cited by section; there is nothing to crop."""
    data = transcript().citation(citation(regions=())).data
    assert (data["page_url"], data["region_url"], data["found"]) == (None, None, False)


def test_figures_are_placed_in_the_whole_answer() -> None:
    """A figure's span counts from the start of the answer, whatever part of it was checked."""
    figure = FigureOutcome("22000", 3, 8, "number", "22000", "exact")
    data = transcript().figure(figure, unit=2, span=(13, 18)).data
    assert (data["unit"], data["start"], data["end"], data["status"]) == (2, 13, 18, "exact")


def test_withheld_sentences_are_placed_and_counted() -> None:
    """The end says how many sentences were withheld; each says where it would have stood."""
    written = transcript()
    written.delta("One. ")
    reason = Reason("unsupported", "not printed")
    figure = FigureOutcome("9", 0, 1, "number", "9", "unsupported", reason=reason)
    held = written.withheld("[withheld]", [figure], unit=0)
    end = written.end(ModelStop("end_turn"))
    assert held.data["at"] == 5
    (named,) = held.data["figures"]  # type: ignore[misc]
    assert (named["raw"], named["status"]) == ("9", "unsupported")
    assert named["reason"] == {"code": "unsupported", "detail": "not printed", "nearest": []}
    assert (end.data["withheld"], end.data["complete"]) == (1, True)


def test_a_cut_answer_is_not_complete() -> None:
    """Only a model that finished by itself makes a complete answer."""
    for reason in ("incomplete", "max_tokens", "refusal"):
        assert transcript().end(ModelStop(reason)).data["complete"] is False


def test_an_error_names_its_code_and_whether_to_try_again() -> None:
    """A reader learns what to do; the request id leads to the log."""
    data = transcript().error(ModelError("the model is overloaded", retryable=True)).data
    assert (data["code"], data["retryable"], data["request_id"]) == ("model_failed", True, "answer-1")


def test_sources_and_citations_say_how_far_their_page_can_be_trusted() -> None:
    """The grade and reasons of the page travel with what is cited; null where the page is not known."""
    scanned = Page(1, width=600, height=800, quality=Quality("fair", ("read by OCR, confidence 0.93",)))
    written = Transcript("answer-1", Question("P5？", "zh"), lambda document, number: scanned if number == 1 else None)
    cited = written.citation(citation(regions=(Region(1, BOX),))).data
    assert cited["quality"] == {"grade": "fair", "reasons": ["由 OCR 识读，置信度 0.93"]}
    assert written.citation(citation(regions=(Region(7, BOX),))).data["quality"] is None
    (source,) = written.sources(make_context(make_chunk("P5 | 22000"))).data["sources"]  # type: ignore[misc]
    assert source["quality"]["grade"] == "fair"


def test_sources_name_the_pages_of_their_document_that_could_not_be_read() -> None:
    """B9: what is missing from a document is said beside every answer that rests on it, in the reader's language."""
    flag = "page 3 unreadable: its content is damaged"
    for language, shown in (("en", flag), ("zh", "第 3 页：无法读取：内容已损坏")):
        written = Transcript("a", Question("P5", language), lambda *_: None, lambda document: (flag,))
        (source,) = written.sources(make_context(make_chunk("P5 | 22000"))).data["sources"]  # type: ignore[misc]
        assert source["document_flags"] == [shown]
