"""A question becomes ordered events: cited text, checked figures, or a refusal."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kb_qa.answers import (
    AnswerEvent,
    BlockCitation,
    Context,
    Filters,
    ModelEvent,
    ModelStop,
    Question,
    SpanEnd,
    TextDelta,
    Turn,
)
from kb_qa.elements import Chunk
from kb_qa.errors import EnvironmentProblemError, MissingIndexError, ModelError
from kb_qa.geometry import Page, Quality
from kb_qa.guardrails.policies import Policy
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.records import metadata_of
from kb_qa.retrieve import Retriever
from kb_qa.testing import HashEmbedder, InMemoryLibrary, InMemoryVectorStore, ScriptedModel
from tests.factories import DOCUMENT, make_chunk

STOP = ModelStop("end_turn", {"input_tokens": 10, "output_tokens": 3})
REVENUE = make_chunk("Net revenue was 4,812 million in 2024.", "Costs were 900 million.", source="report.pdf")
PAY = make_chunk("P5 | 22000", source="briefing.pdf", ordinal=1, page=4, element_type="table", section=("薪酬",))


def knowledge_base(*reply: ModelEvent | Exception, chunks: Sequence[Chunk] = (REVENUE, PAY)) -> KnowledgeBase:
    embedder, store = HashEmbedder(), InMemoryVectorStore()
    vectors = embedder.embed_passages([chunk.embedded_text for chunk in chunks])
    store.upsert([chunk.id for chunk in chunks], vectors, [*map(metadata_of, chunks)])
    pages = {(DOCUMENT, number): Page(number, 600, 800) for number in (1, 4)}
    library = InMemoryLibrary(all_chunks=chunks, pages=pages)
    return KnowledgeBase(Retriever(embedder, store, library), library, ScriptedModel([reply]), original=Path)


async def answered(asked: KnowledgeBase, question: str) -> list[AnswerEvent]:
    return [event async for event in asked.ask(question)]


def only(events: Sequence[AnswerEvent], name: str) -> list[AnswerEvent]:
    return [event for event in events if event.event == name]


def text_of(events: Sequence[AnswerEvent]) -> str:
    return "".join(str(event.data["text"]) for event in only(events, "delta"))


async def test_an_answer_is_its_events_in_order() -> None:
    """Sources come before text, each claim's citations and figures behind it, and the end is last."""
    asked = knowledge_base(TextDelta("Net revenue was 4,812 million in 2024."), BlockCitation(1, 0), STOP)
    events = await answered(asked, "What was net revenue?")
    assert [event.event for event in events] == [
        *("start", "sources", "delta", "delta", "citation", "figure", "figure", "references", "usage", "end")
    ]
    assert text_of(events) == "Net revenue was 4,812 million in 2024. [1]"
    citation = only(events, "citation")[0].data
    assert (citation["start"], citation["end"]) == (0, 38)
    assert citation["cited_text"] == "Net revenue was 4,812 million in 2024."
    assert citation["label"] == "report.pdf · P1·text"
    assert [figure.data["status"] for figure in only(events, "figure")] == ["exact", "exact"]
    told = {"complete": True, "stop_reason": "end_turn", "truncated": False, "refused": False, "withheld": 0}
    assert events[-1].data == told | {"stats": {"units": 1, "held_chars_max": 38}}


async def test_a_claim_with_a_figure_is_shown_at_its_spot() -> None:
    """By `auto`, the claim that holds a figure is at level region, plain text on a good page at level page."""
    plain = make_chunk("The board met in Geneva.", "Net revenue was 4,812 million.", source="report.pdf")
    reply = (TextDelta("The board met in Geneva."), BlockCitation(1, 0), TextDelta(" Net revenue was 4,812 million."))
    asked = knowledge_base(*reply, BlockCitation(1, 1), STOP, chunks=[plain])
    events = await answered(asked, "Where did the board meet, and what was net revenue?")
    assert [event.data["level"] for event in only(events, "citation")] == ["page", "region"]


async def test_a_sentence_with_an_unsupported_figure_is_withheld() -> None:
    """The invented figure never leaves; the sentence beside it does."""
    asked = knowledge_base(
        TextDelta("Costs were 900 million."),
        BlockCitation(1, 1),
        TextDelta(" Net revenue was 4,913 million."),
        BlockCitation(1, 0),
        STOP,
    )
    events = await answered(asked, "What were costs and net revenue?")
    assert text_of(events) == "Costs were 900 million. [1]"
    withheld = only(events, "withheld")[0].data
    assert [figure["raw"] for figure in withheld["figures"] if figure["status"] == "unsupported"] == ["4,913 million"]
    assert "4,913" not in str(withheld["text"])
    assert events[-1].data["withheld"] == 1


async def test_nothing_left_is_a_refusal_in_the_questions_language() -> None:
    """Where every sentence is withheld, the answer is a refusal and not an empty bubble."""
    asked = knowledge_base(TextDelta("基本工资是 23500。"), BlockCitation(1, 0), STOP)
    events = await answered(asked, "基本工资是多少？")
    assert text_of(events) == ""
    assert only(events, "refusal")[0].data["reason"] == "unsupported"
    assert "材料中未找到相关信息" in str(only(events, "refusal")[0].data["message"])
    assert events[-1].data["refused"] is True


@pytest.mark.parametrize("said", ["Net revenue was 4,913 million.", "Net revenue was 4,812 million."])
async def test_an_answer_as_a_whole_is_shown_or_refused(said: str) -> None:
    """Granularity `answer`: a wrong figure leaves the refusal alone, in place of the right sentence before it, too."""
    first = "Costs were 900 million."
    reply = (TextDelta(first), BlockCitation(1, 1), TextDelta(f" {said}"), BlockCitation(1, 0), STOP)
    asked = replace(knowledge_base(*reply), policy=Policy(granularity="answer"))
    events = await answered(asked, "What were costs and net revenue?")
    right = "4,812" in said
    assert text_of(events) == (f"{first} [1] {said} [2]" if right else "")
    assert [each.data["message"] for each in only(events, "refusal")] == (
        [] if right else ["Not found in the materials."]
    )
    assert [each.data["text"] for each in only(events, "withheld")] == ([] if right else [""])
    assert events[-1].data["refused"] is not right


async def test_a_question_that_names_what_no_material_names_is_refused_without_a_model() -> None:
    """P9 is nowhere: no model is asked, and the refusal says what is missing."""
    asked = knowledge_base()
    events = await answered(asked, "P9 的基本工资是多少？")
    assert [event.event for event in events] == ["start", "sources", "refusal", "references", "usage", "end"]
    refusal = only(events, "refusal")[0].data
    assert (refusal["reason"], refusal["missing"]) == ("not_named", ["P9"])
    assert isinstance(asked.model, ScriptedModel)
    assert asked.model.asked == []


async def test_a_model_without_evidence_is_a_refusal() -> None:
    """A model that finds nothing to answer from says so, and the reader is told in English here."""
    events = await answered(knowledge_base(ModelStop("no_evidence")), "What was net revenue?")
    assert only(events, "refusal")[0].data["message"] == "Not found in the materials."


async def test_a_citation_of_a_material_that_was_never_given_supports_nothing() -> None:
    """An invented citation is dropped, and the figure that rested on it is withheld."""
    asked = knowledge_base(TextDelta("Costs were 900 million."), BlockCitation(7, 0), STOP)
    events = await answered(asked, "What were costs?")
    assert only(events, "citation") == []
    assert text_of(events) == ""


async def test_a_failing_model_ends_the_answer_with_an_error_event() -> None:
    """No end follows, what was said before stays incomplete, and the reader knows whether to try again."""
    asked = knowledge_base(
        TextDelta("Costs were 900 million."),
        BlockCitation(1, 1),
        TextDelta(" And"),
        ModelError("the model is overloaded", retryable=True),
    )
    events = await answered(asked, "What were costs?")
    assert events[-1].event == "error"
    assert events[-1].data["retryable"] is True
    assert only(events, "end") == []


async def test_a_cut_stream_is_not_complete() -> None:
    """A model that stops without saying so has been cut off."""
    events = await answered(knowledge_base(TextDelta("Costs were 900 million."), BlockCitation(1, 1)), "Costs?")
    assert events[-1].data["complete"] is False


async def test_answers_are_stored_even_when_nobody_listens_to_the_end() -> None:
    """A reader who leaves early leaves a stored, incomplete answer."""
    asked = knowledge_base(TextDelta("Costs were 900 million."), BlockCitation(1, 1), STOP)
    events = asked.ask("What were costs?")
    first = await anext(events)
    await anext(events)
    await events.aclose()
    stored = asked.library.answer(str(first.data["answer_id"]))
    assert stored is not None
    assert [event.event for event in stored] == ["start", "sources"]


async def test_a_full_disk_takes_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    """An answer and a session that cannot be written are logged; the reader has the whole answer."""

    class Full(InMemoryLibrary):
        def save_answer(self, answer_id: str, question: str, events: Sequence[AnswerEvent]) -> None:
            raise EnvironmentProblemError("the disk is full; make room and try again")

        def add_turn(self, session_id: str, turn: Turn) -> int:
            raise EnvironmentProblemError("the disk is full; make room and try again")

    asked = knowledge_base(TextDelta("Net revenue was 4,812 million in 2024."), BlockCitation(1, 0), STOP)
    library = Full(all_chunks=(REVENUE, PAY), pages=asked.library.pages)  # type: ignore[attr-defined]
    asked = replace(asked, library=library)
    events = [event async for event in asked.ask("What was net revenue?", session_id="s")]
    assert events[-1].event == "end"
    assert events[-1].data["complete"]
    assert "could not be stored: the disk is full" in caplog.text


async def test_a_figure_does_not_pass_for_a_list_number() -> None:
    """List numbers follow one another from 1; a number that does not is a figure and needs its source."""
    asked = knowledge_base(TextDelta("1. Costs fell.\n2. Sales rose.\n42. Staff left.\n"), BlockCitation(1, 1), STOP)
    events = await answered(asked, "What happened to costs?")
    assert text_of(events).startswith("1. Costs fell.\n2. Sales rose.")
    assert [figure["raw"] for figure in only(events, "withheld")[0].data["figures"]] == ["42."]


async def test_the_same_quote_keeps_its_number() -> None:
    """Two claims that rest on one sentence share its number; the list below names it once."""
    asked = knowledge_base(
        *(TextDelta("Costs were 900 million."), BlockCitation(1, 1)),
        *(TextDelta(" So costs were 900 million."), BlockCitation(1, 1), STOP),
    )
    events = await answered(asked, "What were costs?")
    assert [citation.data["number"] for citation in only(events, "citation")] == [1, 1]
    assert len(only(events, "references")[0].data["items"]) == 1


async def test_an_empty_knowledge_base_is_told() -> None:
    """Nothing found because nothing is there is not a refusal."""
    asked = knowledge_base(chunks=())
    events = await answered(asked, "What were costs?")
    assert events[-1].data["code"] == "missing_index"
    with pytest.raises(MissingIndexError):
        await asked.search("costs", k=3)


async def test_hits_carry_the_grade_of_their_pages() -> None:
    """A hit on a page that was read by OCR says so."""
    scanned = Page(4, 600, 800, quality=Quality("fair", ("read by OCR, confidence 0.93",)))
    asked = knowledge_base()
    asked.library.pages[(DOCUMENT, 4)] = scanned  # type: ignore[attr-defined]
    grades = {hit.chunk.source: hit.quality.grade for hit in await asked.search("P5 net revenue", k=5) if hit.quality}
    assert grades == {"report.pdf": "good", "briefing.pdf": "fair"}


async def test_filters_reach_retrieval() -> None:
    """Only the chosen pages are materials."""
    asked = knowledge_base(ModelStop("no_evidence"))
    events = [event async for event in asked.ask("900 million", filters=Filters(pages=(4,)))]
    assert [source["page"] for source in only(events, "sources")[0].data["sources"]] == [4]


async def test_a_computed_figure_comes_with_its_operands_and_without_its_expression() -> None:
    """The mark is never seen; the event has the formula and the place of each operand."""
    rows = make_chunk("Revenue was 4,132 million in 2024 and 3,541 million in 2023.", source="report.pdf")
    said = TextDelta("Revenue grew 16.7%⟦(4,132-3,541)/3,541⟧ in 2024.")
    asked = knowledge_base(said, BlockCitation(1, 0), STOP, chunks=[rows])
    events = await answered(asked, "How much did revenue grow in 2024?")
    assert text_of(events) == "Revenue grew 16.7% in 2024. [1]"
    derived = only(events, "figure")[0].data
    assert (derived["status"], derived["start"], derived["end"]) == ("derived", 13, 18)
    places = derived["derivation"]["places"]  # type: ignore[index]
    assert [(each["printed"], each["page"]) for each in places] == [("4,132 million", 1), ("3,541 million", 1)]


async def test_under_annotate_the_text_stays_and_is_marked() -> None:
    """Spans count in the text as it is shown, marks and markers included."""
    asked = replace(
        knowledge_base(TextDelta("Costs were 901 million. Costs were 900 million."), BlockCitation(1, 1), STOP),
        policy=Policy("annotate"),
    )
    events = await answered(asked, "What were costs?")
    text = text_of(events)
    assert text == "Costs were 901 million✗. Costs were 900 million. [1]"
    figures = [event.data for event in only(events, "figure")]
    assert [text[int(str(each["start"])) : int(str(each["end"]))] for each in figures] == ["901 million", "900 million"]
    assert [each["status"] for each in figures] == ["unsupported", "exact"]
    assert only(events, "citation")[0].data["end"] == len(text) - len(" [1]")


async def test_markers_stand_behind_what_they_bear_out() -> None:
    """A span of two sentences has its marker once, a sentence of two spans one behind each."""
    asked = knowledge_base(
        *(TextDelta("Costs were 900 million. So they were.\n"), BlockCitation(1, 1), SpanEnd()),
        *(TextDelta("Net revenue was 4,812 million"), BlockCitation(1, 0), SpanEnd()),
        *(TextDelta(", and costs were 900 million"), BlockCitation(1, 1), SpanEnd(), TextDelta("."), STOP),
    )
    events = await answered(asked, "What were costs and net revenue?")
    assert text_of(events) == (
        "Costs were 900 million. So they were. [1]\nNet revenue was 4,812 million [2], and costs were 900 million [1]."
    )


async def test_a_model_that_lost_its_way_is_closed() -> None:
    """Its stream is not read to the end, and the answer says that it was broken off."""
    closed = []

    class Rambling(ScriptedModel):
        async def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]:
            try:
                for number in range(100):
                    yield TextDelta(f"Costs were {number}3 million.\n")
                    yield SpanEnd()
            finally:
                closed.append(number)

    events = await answered(replace(knowledge_base(), model=Rambling([])), "What were costs?")
    assert closed == [0]
    assert (events[-1].data["stop_reason"], events[-1].data["refused"]) == ("withheld", True)
    assert only(events, "refusal")[0].data["reason"] == "unsupported"


async def test_a_figure_that_only_another_material_prints_is_withheld() -> None:
    """The reader is not led to a place that does not say it."""
    events = await answered(
        knowledge_base(TextDelta("Net revenue was 4,812 million."), BlockCitation(2, 0), STOP), "What was net revenue?"
    )
    sources = only(events, "sources")[0].data["sources"]
    assert len(sources) == 2  # type: ignore[arg-type]
    assert text_of(events) == ""
    assert only(events, "withheld")[0].data["figures"][0]["status"] == "wrong_citation"  # type: ignore[index]


@pytest.mark.parametrize(
    ("question", "mark"),
    [
        pytest.param("What was net revenue?", " [no source given]", id="English"),
        pytest.param("净收入是多少？", "〔未注明出处〕", id="Chinese"),
    ],
)
async def test_a_statement_that_cites_nothing_is_shown_as_such(question: str, mark: str) -> None:
    """An event of its own behind it, in the question's language; the mark is no part of the text."""
    said = (TextDelta("The market is attractive. "), SpanEnd(), TextDelta("The board met."), BlockCitation(1, 0), STOP)
    events = await answered(knowledge_base(*said), question)
    assert text_of(events) == "The market is attractive. The board met. [1]"
    assert [event.data for event in only(events, "uncited")] == [{"start": 0, "end": 25, "text": mark}]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param((TextDelta("In short:"), SpanEnd(), STOP), id="what leads over"),
        pytest.param((TextDelta("——"), SpanEnd(), STOP), id="no word"),
        pytest.param((TextDelta("As told, "), SpanEnd(), TextDelta("it met."), BlockCitation(1, 0), STOP), id="a part"),
    ],
)
async def test_what_states_nothing_needs_no_source(said: Sequence[ModelEvent]) -> None:
    """A heading, a rule, and the uncited beginning of a cited sentence carry no mark."""
    assert only(await answered(knowledge_base(*said), "What was net revenue?"), "uncited") == []


async def test_a_refusal_says_what_was_searched() -> None:
    """How many documents, and the limits that the reader set."""
    told = []
    for filters in (Filters(), Filters(documents=("report.pdf",), element_types=("text",))):
        asked = knowledge_base(ModelStop("no_evidence", {}))
        events = [event async for event in asked.ask("Net revenue?", filters=filters)]
        told.append(only(events, "refusal")[0].data["searched"])
    assert told == [
        {"documents": 1, "chosen": []},
        {"documents": 1, "chosen": ["report.pdf"], "element_types": ["text"]},
    ]


async def test_a_draft_quotes_and_is_kept_nowhere() -> None:
    """The same stages without a model of its own; nothing can be found of it afterwards."""
    asked = knowledge_base(ModelError("no model may be asked"))
    events = await asked.draft("What was net revenue in 2024?")
    assert text_of(events).startswith("Net revenue was 4,812 million in 2024.")
    assert asked.library.newest_answers(1) == []


@pytest.mark.parametrize(("others", "places"), [(0, 8), (1, 3)])
async def test_a_document_crowds_a_context_only_where_it_is_alone(others: int, places: int) -> None:
    """Three passages of one document beside others; of the only one, as many as there is room for."""
    own = [make_chunk(f"Net revenue of segment {n} was {n} million.", ordinal=n) for n in range(1, 12)]
    beside = [make_chunk("Net revenue is told elsewhere.", document_id="b" * 64, source="b.pdf")] * others
    asked = knowledge_base(TextDelta("It is told."), BlockCitation(1, 0), STOP, chunks=[*own, *beside])
    (sources,) = only(await answered(asked, "What was net revenue?"), "sources")
    assert sum(each["document_id"] == DOCUMENT for each in sources.data["sources"]) == places
