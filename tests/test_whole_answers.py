"""Questions about one document as a whole, from the question to the events that its reader gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from kb_qa.answers import AnswerEvent
from kb_qa.errors import InputError, NotFoundError
from kb_qa.geometry import Page
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.models.claude import ClaudeModel
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.protocols import AnswerModel
from kb_qa.retrieve import Retriever
from kb_qa.settings import Settings
from kb_qa.testing import HashEmbedder, InMemoryLibrary, InMemoryVectorStore, page_location, said, scripted_messages_api
from kb_qa.whole_command import base_of_whole
from tests.claude_parts import OPTIONS, accounts, upstream
from tests.factories import DOCUMENT, make_chunk
from tests.scripted_service import ScriptedKnowledgeBase, served
from tests.test_whole_document import CHUNK, ELEMENT, SENTENCES

QUESTION = "What was net revenue in 2024?"
OTHER = make_chunk("Net revenue was 7 million in 2024.", document_id="e" * 64, source="other.pdf")


def base(model: AnswerModel, original: Path) -> KnowledgeBase:
    chunks = (CHUNK, OTHER)
    pages = {(DOCUMENT, number): Page(number, 600, 800) for number in (1, 2, 3)}
    library = InMemoryLibrary(chunks, (ELEMENT,), pages=pages)
    embedder, store = HashEmbedder(), InMemoryVectorStore()
    vectors = embedder.embed_passages([chunk.embedded_text for chunk in chunks])
    store.upsert([chunk.id for chunk in chunks], vectors, [{"document_id": chunk.document_id} for chunk in chunks])
    return KnowledgeBase(Retriever(embedder, store, library), library, model, original=lambda _: original)


def claude(url: str) -> ClaudeModel:
    from kb_qa.whole_document import QuotedPlaces

    places = QuotedPlaces(InMemoryLibrary((CHUNK,), (ELEMENT,)))
    return ClaudeModel(OPTIONS, upstream(url, accounts()), places=places)


async def answered(asked: KnowledgeBase, whole: str = "report.pdf") -> list[AnswerEvent]:
    return [event async for event in asked.ask(QUESTION, whole=whole)]


def text_of(events: Sequence[AnswerEvent]) -> str:
    return "".join(str(event.data["text"]) for event in events if event.event == "delta")


def one(events: Sequence[AnswerEvent], name: str) -> Any:
    (event,) = [event for event in events if event.event == name]
    return event.data


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.7\n%%EOF")
    return tmp_path / "report.pdf"


async def test_the_model_reads_the_file_and_its_quotes_get_page_marks(pdf: Path) -> None:
    """S3.2: a page mark behind the sentence, the quote's own words as its place, the figure checked as ever."""
    reply = said("Net revenue was 4,812 million in 2024.", page_location(0, 1, 2, SENTENCES[0]))
    with scripted_messages_api(reply) as api:
        events = await answered(base(claude(api.url), pdf))
        sent = api.asked[0].json["messages"][0]["content"]
    assert text_of(events) == "Net revenue was 4,812 million in 2024. [p.1]"
    assert [block["type"] for block in sent] == ["document", "text", "text", "text"], "instruction, ledger, question"
    sources = one(events, "sources")
    assert sources["whole"] == {"document_id": DOCUMENT, "sent": True, "reason": ""}
    assert [(each["label"], each["page"], each["text"]) for each in sources["sources"]] == [("report.pdf", None, "")]
    citation = one(events, "citation")
    assert (citation["cited_text"], citation["found"], citation["regions"][0]["page"]) == (SENTENCES[0], True, 1)
    assert len(citation["regions"][0]["rects"]) == 2
    statuses = {event.data["raw"]: event.data["status"] for event in events if event.event == "figure"}
    assert statuses == {"4,812 million": "exact", "2024": "exact"}


async def test_a_figure_that_the_file_does_not_print_is_withheld(pdf: Path) -> None:
    """A whole file in front of the model is no licence: a quote that is not printed on its page cites nothing."""
    reply = said("Net revenue was 4,821 million in 2024.", page_location(0, 1, 2, "Net revenue was 4,821 million"))
    with scripted_messages_api(reply) as api:
        events = await answered(base(claude(api.url), pdf))
    assert "4,821" not in text_of(events)
    assert one(events, "refusal")["reason"] == "unsupported"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"%PDF-1.7 /Encrypt 1 0 R", "encrypted", id="encrypted"),
        pytest.param(b"%PDF-1.7" + b"0" * (33 << 20), "32 MB at a time", id="too large"),
        pytest.param(b"<html>", "only PDF files", id="another kind"),
    ],
)
async def test_what_cannot_go_whole_is_read_in_passages_and_said_so(pdf: Path, data: bytes, reason: str) -> None:
    """The limits are checked before anything leaves; retrieval stays within the document."""
    pdf.write_bytes(data)
    with scripted_messages_api(said("Nothing.")) as api:
        events = await answered(base(claude(api.url), pdf))
        sent = api.asked[0].json["messages"][0]["content"]
    whole = one(events, "sources")["whole"]
    assert not whole["sent"]
    assert reason in whole["reason"]
    assert "passages" in whole["reason"]
    assert "7 million" not in str(sent), "the other document is not asked about"


async def test_without_a_key_passages_of_the_one_document_answer_with_the_same_marks(pdf: Path) -> None:
    """Offline: the extractive model, the page mark, and why the file itself was not read."""
    events = await answered(base(ExtractiveModel(), pdf))
    assert text_of(events) == "Net revenue was 4,812 million in 2024. [p.1]"
    assert one(events, "sources")["whole"]["reason"].startswith("no model that reads files")


async def test_a_document_that_is_not_there_is_an_error(pdf: Path) -> None:
    """Named in the error event, which ends the answer."""
    events = await answered(base(ExtractiveModel(), pdf), whole="nobody.pdf")
    assert [event.event for event in events] == ["error"]
    assert "nobody.pdf" in events[0].data["message"]
    assert events[0].data["code"] == NotFoundError.code


async def test_a_name_of_several_documents_needs_an_id(pdf: Path) -> None:
    """Nothing is guessed."""
    asked = base(ExtractiveModel(), pdf)
    library = InMemoryLibrary((CHUNK, replace(OTHER, source="report.pdf")), (ELEMENT,))
    events = await answered(replace(asked, library=library))
    assert events[0].data["code"] == InputError.code
    assert "2 documents" in events[0].data["message"]


def test_the_route_takes_a_document() -> None:
    """`whole` beside filters on documents contradicts itself."""
    asked = ScriptedKnowledgeBase()
    with served(asked) as url, httpx.Client(base_url=url, timeout=10) as client:
        done = client.post("/v1/ask", json={"question": QUESTION, "whole": "report.pdf"})
        both = {"question": QUESTION, "whole": "report.pdf", "filters": {"documents": ["other.pdf"]}}
        refused = client.post("/v1/ask", json=both)
    assert (done.status_code, refused.status_code) == (200, 422)
    assert asked.wholes == ["report.pdf"]


def test_a_name_is_looked_up_where_the_question_is_asked(tmp_path: Path) -> None:
    """What is no file here is the name or id of a document there."""
    settings = Settings(kb=tmp_path)
    with base_of_whole(settings, "report.pdf") as found:
        assert found == (settings, "report.pdf")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """The reader's own message stands above it on the terminal."""
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing")
    settings = Settings(kb=tmp_path / "kb")
    with pytest.raises(InputError, match="could not be read"), base_of_whole(settings, str(tmp_path / "broken.pdf")):
        pass
