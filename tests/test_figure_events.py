"""What an answer's events say of its figures is its whole outcome."""

import json

import pytest

from kb_qa.answers import AnswerEvent, ModelStop, Question
from kb_qa.figure_events import outcome_of_events
from kb_qa.geometry import BBox
from kb_qa.guardrails.outcome import DerivationShown, FigureOutcome, Place, Reason
from kb_qa.rendering import document_names, formula
from kb_qa.transcript import Transcript
from tests.factories import DOCUMENT, make_chunk, make_context

NEW = Place("e1", 8, BBox(72, 310, 148, 322), "4,132", "4132", "", (1, 2), "Revenue", "2024", document=DOCUMENT)
OLD = Place("e1", 8, BBox(150, 310, 190, 322), "3,541", "3541", "", (1, 3), "Revenue", "2023", document=DOCUMENT)
SHOWN = DerivationShown(
    "growth", "(F1-F2)/F2", "(4,132-3,541)/3,541 = 16.69%; 4,132 [p.8]", ("F1", "F2"), (NEW, OLD), "explicit"
)
GROWTH = FigureOutcome("16.7%", 4, 9, "percent", "16.7", "derived", support=(NEW, OLD), derivation=SHOWN)
WRONG = FigureOutcome("9", 0, 1, "number", "9", "misbound", reason=Reason("misbound", "9 is another", (NEW,)))


def answered(*, end: bool = True) -> list[AnswerEvent]:
    written = Transcript("a", Question("Growth?", "en"), lambda *_: None)
    written.start(model="m", policy="strict", policy_hash="abc")
    written.sources(make_context(make_chunk("Revenue 4,132")))
    written.delta("Up: 16.7%")
    written.figure(GROWTH, unit=0, span=(4, 9))
    written.withheld("[withheld]", [WRONG], unit=1)
    if end:
        written.end(ModelStop("end_turn"), {"units": 2})
    return written.events


def test_the_outcome_has_every_claim_with_its_figures() -> None:
    """Released and withheld, the policy and the counts; it is plain JSON."""
    outcome = outcome_of_events(answered())
    assert json.loads(json.dumps(outcome)) == outcome
    assert (outcome["verdict"], outcome["policy"]) == ("refuse", {"id": "strict", "hash": "abc"})
    assert [(each["unit"], each["status"], each["span"]) for each in outcome["claims"]] == [
        (0, "released", [4, 9]),
        (1, "refused", [9, 9]),
    ]
    stats = outcome["stats"]
    assert [stats[name] for name in ("figures", "supported", "derived", "refused", "units")] == [2, 1, 1, 1, 2]
    assert outcome["withheld"] == 1


def test_an_operand_leads_to_its_spot() -> None:
    """Each operand has its F-number, its cell and the picture of its region."""
    figure = outcome_of_events(answered())["claims"][0]["figures"][0]
    first = figure["derivation"]["places"][0]
    assert (first["name"], first["row"], first["col"], first["cell"]) == ("F1", "Revenue", "2024", [1, 2])
    assert first["region_url"] == f"/v1/documents/{DOCUMENT}/pages/8/region.png?bbox=72,310,148,322"


def test_the_nearest_alternative_is_named() -> None:
    """A withheld figure says what its words fit better."""
    (figure,) = outcome_of_events(answered())["claims"][1]["figures"]
    assert figure["reason"]["nearest"][0]["printed"] == "4,132"


@pytest.mark.parametrize("end", [True, False], ids=["whole", "broken off"])
def test_an_answer_without_an_end_has_an_outcome_too(end: bool) -> None:
    """What a reader saw of a broken answer was checked all the same."""
    assert outcome_of_events(answered(end=end))["stats"]["figures"] == 2


def test_the_formula_names_each_operands_place() -> None:
    """In the terminal and in exports."""
    events = answered()
    (data,) = [event.data for event in events if event.event == "figure"]
    assert formula(data, document_names(events)) == (
        "16.7% = (4,132-3,541)/3,541 = 16.69%; "
        "4,132 [briefing.pdf · P8 · Revenue × 2024] · 3,541 [briefing.pdf · P8 · Revenue × 2023]"
    )
    assert formula({"raw": "5", "derivation": None}, {}) == ""


def test_events_from_before_units_had_numbers_have_an_outcome_too() -> None:
    """A stored answer stays readable."""
    events = [
        AnswerEvent(1, "figure", {"n": 1, "start": 0, "end": 1, "raw": "5", "status": "exact"}),
        AnswerEvent(2, "withheld", {"text": "[withheld]", "at": 2, "figures": [{"raw": "9", "status": "unsupported"}]}),
    ]
    outcome = outcome_of_events(events)
    assert [claim["status"] for claim in outcome["claims"]] == ["released", "refused"]
