"""No model is asked where nothing was found, nothing that is evidence, or nothing that the question names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb_qa.answers import Context, Filters, Hit, Material, Question
from kb_qa.protocols import Identity, Unrelated
from kb_qa.refuse import before_generation
from tests.factories import DOCUMENT, make_chunk, make_context

CASHFLOW = make_chunk("Cash flow from operations was 41 million in 2022.")
KNOWN = Unrelated("e5", 9, {"en": 0.8, "en-support": 0.4, "zh": 0.8, "zh-support": 0.4})


def weak(support: float = 0.1, dense: float = 0.7) -> Context:
    hit = Hit(CASHFLOW, {"fused": 1.0, "dense": dense, "support": support})
    return Context((Material(1, hit, "briefing.pdf · P1"),), for_readers="", for_models="")


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        (Question("How deep does a whale dive?", "en"), "3 documents were searched"),
        (Question("抹香鲸能潜多深？", "zh"), "已检索3份文档"),
    ],
    ids=["en", "zh"],
)
def test_passages_that_are_no_evidence(question: Question, searched: str) -> None:
    """The reader is told what was searched, in the question's language; the event says what came nearest."""
    identities = {name: Identity(name) for name in "abc"}
    refusal = before_generation(question, weak(), identities=identities, unrelated=KNOWN)
    assert refusal is not None
    assert (refusal.reason, refusal.nearest) == ("too_weak", ("briefing.pdf · P1",))
    assert searched in refusal.message


@pytest.mark.parametrize(
    ("context", "known"),
    [
        pytest.param(weak(support=0.6), KNOWN, id="the same words"),
        pytest.param(weak(dense=0.9), KNOWN, id="near in meaning"),
        pytest.param(weak(), None, id="never measured"),
    ],
)
def test_evidence_of_any_kind_goes_to_the_model(context: Context, known: Unrelated | None) -> None:
    """Words or meaning suffice, and without a measurement nothing is too weak."""
    assert before_generation(Question("How deep is it?", "en"), context, unrelated=known) is None


@pytest.mark.parametrize(
    ("question", "named"),
    [
        pytest.param(Question("How deep is it?", "en"), frozenset({DOCUMENT}), id="named"),
        pytest.param(Question("How deep is it?", "en", Filters(documents=("briefing.pdf",))), frozenset(), id="chosen"),
    ],
)
def test_the_weakest_passages_of_a_document_that_is_asked_about(question: Question, named: frozenset[str]) -> None:
    """Whoever names or chooses a document knows what it is about: its passages go to the model."""
    assert before_generation(question, replace(weak(), named=named), unrelated=KNOWN) is None


def test_a_company_that_its_cover_alone_names() -> None:
    """What the document is called counts for each of its passages; another company is missing as before."""
    context = make_context(CASHFLOW)
    asked = Question("What was the cash flow from operations of Sonic Automotive, Inc. in 2022?", "en")
    refusal = before_generation(asked, context)
    assert refusal is not None
    assert refusal.reason == "not_named"
    cover = {DOCUMENT: Identity(DOCUMENT, ("x.pdf",), "", ("SONIC AUTOMOTIVE, INC",))}
    assert before_generation(asked, context, identities=cover) is None
    other = replace(asked, text=asked.text.replace("Sonic Automotive", "Globex Foods"))
    assert before_generation(other, context, identities=cover) is not None
