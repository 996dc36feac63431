"""A finished answer as Markdown or in a terminal: numbered, quoted, and with nothing of it taken for markup."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kb_qa.answers import AnswerEvent, BlockCitation, ModelEvent, ModelStop, TextDelta
from kb_qa.elements import Chunk
from kb_qa.geometry import Page
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.references import collapsed
from kb_qa.rendering import terminal_text, to_markdown
from kb_qa.retrieve import Retriever
from kb_qa.testing import HashEmbedder, InMemoryLibrary, InMemoryVectorStore, ScriptedModel
from tests.factories import DOCUMENT, make_chunk

STOP = ModelStop("end_turn")
REPORT = make_chunk("Net revenue\nwas 4,812 million.", "Costs were\t900 million.", source="report.pdf")
PAY = make_chunk("P5 | 22000", source="*pay*.pdf", ordinal=1, page=4, element_type="table")


async def answered(*reply: ModelEvent, question: str = "What was net revenue?") -> Sequence[AnswerEvent]:
    chunks: tuple[Chunk, ...] = (REPORT, PAY)
    embedder, store = HashEmbedder(), InMemoryVectorStore()
    vectors = embedder.embed_passages([chunk.embedded_text for chunk in chunks])
    store.upsert([chunk.id for chunk in chunks], vectors, [{"document_id": chunk.document_id} for chunk in chunks])
    pages = {(DOCUMENT, number): Page(number, 600, 800) for number in (1, 4)}
    library = InMemoryLibrary(all_chunks=chunks, pages=pages)
    asked = KnowledgeBase(Retriever(embedder, store, library), library, ScriptedModel([reply]), original=Path)
    return [event async for event in asked.ask(question)]


def material(events: Sequence[AnswerEvent], document: str) -> int:
    sources: list[dict[str, object]] = events[1].data["sources"]  # type: ignore[assignment]
    return next(int(str(source["n"])) for source in sources if source["document"] == document)


async def test_an_answer_is_exported_with_its_numbered_quotations() -> None:
    """S1.3: markers behind the claims, then `[n] "quoted text" found in "document title"`, blanks collapsed."""
    first = await answered(STOP)
    report = material(first, "report.pdf")
    events = await answered(
        TextDelta("Revenue was 4,812 million and costs 900 million."),
        *(BlockCitation(report, 1), BlockCitation(report, 0)),
        TextDelta(" Net revenue was 4,812 million."),
        *(BlockCitation(report, 0), STOP),
    )
    assert to_markdown(events) == (
        "# What was net revenue?\n\n"
        "Revenue was 4,812 million and costs 900 million.<sup>[1]</sup><sup>[2]</sup> "
        "Net revenue was 4,812 million.<sup>[1]</sup>\n\n"
        '- [1] "Net revenue was 4,812 million." found in "report.pdf · P1·text"\n'
        '- [2] "Costs were 900 million." found in "report.pdf · P1·text"\n'
    )
    url = f"/v1/documents/{DOCUMENT}/pages/1.png"
    linked = to_markdown(events, base_url="https://kb.example/")
    assert f"million.<sup>[[1](https://kb.example{url})]</sup>" in linked
    assert f'found in "[report.pdf · P1·text](https://kb.example{url})"' in linked


async def test_citations_of_a_claim_are_ordered_by_position() -> None:
    """S1.3: however a model names them, blocks of a document are numbered from its start to its end."""
    first = await answered(STOP)
    report, pay = material(first, "report.pdf"), material(first, "*pay*.pdf")
    cited = [BlockCitation(pay, 0), BlockCitation(report, 1), BlockCitation(report, 0)]
    events = await answered(TextDelta("Revenue, costs and pay are named."), *cited, STOP)
    texts = [str(event.data["cited_text"]) for event in events if event.event == "citation"]
    assert [collapsed(text) for text in texts] == [
        *("Net revenue was 4,812 million.", "Costs were 900 million.", "P5 | 22000"),
    ]
    assert [event.data["number"] for event in events if event.event == "citation"] == [1, 2, 3]


async def test_nothing_of_an_answer_is_markup() -> None:
    """Names, quotations and text show as they are: no heading, list, link or tag comes out of them."""
    first = await answered(STOP, question="# P5 <b>pay</b>?")
    text = "# Pay\n- The pay of *P5* [a] [x](javascript:alert) <img src=x>\n---"
    events = await answered(
        TextDelta(text), BlockCitation(material(first, "*pay*.pdf"), 0), STOP, question="# P5 <b>pay</b>?"
    )
    lines = to_markdown(events).split("\n")
    assert lines[0] == r"# \# P5 \<b\>pay\</b\>?"
    assert lines[2] == r"\# Pay  "
    assert lines[3] == r"\- The pay of \*P5\* \[a\] \[x\]\(javascript:alert\) \<img src=x\>  "
    assert lines[4] == r"\---<sup>[1]</sup>"
    assert lines[6] == r'- [1] "P5 \| 22000" found in "\*pay\*.pdf · P4·table"'


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("What was net revenue?", "*The answer is incomplete: max\\_tokens.*"),
        ("净收入是多少？", "*回答不完整：max\\_tokens。*"),
    ],
)
async def test_an_export_says_that_the_answer_was_cut(question: str, note: str) -> None:
    """S3.6: an answer that was cut off is never passed on as a whole one."""
    events = await answered(TextDelta("Net revenue"), ModelStop("max_tokens"), question=question)
    assert to_markdown(events).rstrip().endswith(note)


async def test_a_refusal_is_exported_as_one() -> None:
    """What stands in place of an answer is in the export, with the sentence that was withheld."""
    events = await answered(TextDelta("Net revenue was 5,000 million."), STOP)
    refusal = next(event for event in events if event.event == "refusal")
    assert str(refusal.data["message"]) in to_markdown(events)
    assert "5,000" not in to_markdown(events)


def test_terminal_text_holds_no_controls() -> None:
    """A document's text can neither colour a terminal nor hide what stands in it."""
    assert terminal_text("a\x1b[31mb\u202ec\r\x07d\n\te\x9bf\u200cg") == "a[31mbcd\n\tef\u200cg"


LANGUAGES = {
    "English": ("en", "And *in* 2023?", "Sales in 2023?", "Understood as: "),
    "Chinese": ("zh", "那P6呢？", "P6的工资？", "理解为："),
}


@pytest.mark.parametrize(("language", "question", "standalone", "told"), LANGUAGES.values(), ids=LANGUAGES)
def test_an_export_says_what_a_follow_up_was_taken_for(
    language: str, question: str, standalone: str, told: str
) -> None:
    """Without the question that it took up, the answer could not be read alone."""
    start = {"question": question, "standalone": standalone, "language": language}
    lines = to_markdown([AnswerEvent(1, "start", start)]).split("\n")
    assert lines[2] == f"{told}{standalone}"


async def test_markdown_says_which_statements_cite_nothing() -> None:
    """The mark stands behind the statement, where the reader meets it."""
    made = to_markdown(await answered(TextDelta("The market is attractive."), ModelStop("end_turn")))
    assert "The market is attractive. \\[no source given\\]" in made
