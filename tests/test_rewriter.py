"""A model that makes follow-up questions stand alone, over real HTTP."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kb_qa.answers import AnswerEvent, Turn
from kb_qa.errors import ModelError
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.models.rewriter import ModelRewriter
from kb_qa.retrieve import Retriever
from kb_qa.testing import HashEmbedder, HttpFault, InMemoryLibrary, InMemoryVectorStore, said, scripted_messages_api
from tests.claude_parts import OPTIONS, upstream
from tests.factories import make_chunk

FIRST = "What was Northfell's net revenue in 2024?"
TURN = Turn(1, FIRST, FIRST, "a1", (), time=1.0)
SECOND = "And in 2023?"
FULL = "What was Northfell's net revenue in 2023?"
CHUNKS = (
    make_chunk("Northfell's net revenue was 4,132 million in 2024.", source="report.pdf"),
    make_chunk("Northfell's net revenue was 3,541 million in 2023.", source="report.pdf", ordinal=1),
)


def base(rewriter: ModelRewriter) -> KnowledgeBase:
    library = InMemoryLibrary(CHUNKS)
    embedder, store = HashEmbedder(), InMemoryVectorStore()
    vectors = embedder.embed_passages([chunk.embedded_text for chunk in CHUNKS])
    store.upsert([chunk.id for chunk in CHUNKS], vectors, [{"document_id": chunk.document_id} for chunk in CHUNKS])
    retriever = Retriever(embedder, store, library)
    return KnowledgeBase(retriever, library, ExtractiveModel(), original=Path, rewriter=rewriter)


async def asked(knowledge_base: KnowledgeBase, question: str) -> list[AnswerEvent]:
    return [event async for event in knowledge_base.ask(question, session_id="s1")]


async def test_a_rewrite_is_one_short_call() -> None:
    """The instruction is the system prompt; every question is a line of data; the marks stand before the new one."""
    with scripted_messages_api(said(f" {FULL}\n")) as api:
        assert await ModelRewriter(OPTIONS, upstream(api.url)).rewrite([TURN], SECOND) == FULL
        sent = api.asked[0].json
    assert sent["max_tokens"] == 300
    lines = [json.loads(block["text"]) for block in sent["messages"][0]["content"]]
    assert lines == [{"role": "earlier", "question": FIRST}, {"role": "new", "question": SECOND}]
    assert ["cache_control" in block for block in sent["messages"][0]["content"]] == [True, False]
    assert FIRST not in str(sent["system"])


async def test_two_calls_share_their_beginning() -> None:
    """The history of a session is the same bytes from call to call, up to what was asked since."""
    turns = [replace(TURN, ordinal=number) for number in (1, 2, 3)]
    with scripted_messages_api() as api:
        rewriter = ModelRewriter(OPTIONS, upstream(api.url))
        await rewriter.rewrite(turns[:2], SECOND)
        await rewriter.rewrite(turns, "And in 2022?")
        first, second = (request.json["messages"][0]["content"] for request in api.asked)
    assert [block["text"] for block in first[:2]] == [block["text"] for block in second[:2]]


async def test_a_conversation_with_a_model() -> None:
    """The follow-up is answered in the words of the rewrite, and the reader is told so."""
    with scripted_messages_api(said(FULL)) as api:
        talk = base(ModelRewriter(OPTIONS, upstream(api.url)))
        await asked(talk, FIRST)
        events = await asked(talk, SECOND)
    assert events[0].data["standalone"] == FULL
    assert "3,541 million" in "".join(str(event.data["text"]) for event in events if event.event == "delta")


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(HttpFault(401, "authentication_error"), id="no key"),
        pytest.param(said("What was the profit of Contoso in 1999?"), id="names that nobody asked for"),
        pytest.param(said("It was 3,541 million."), id="an answer"),
    ],
)
async def test_the_rules_take_over(reply: HttpFault) -> None:
    """A model that fails, or says more than was asked, costs no answer."""
    with scripted_messages_api(reply) as api:
        talk = base(ModelRewriter(OPTIONS, upstream(api.url)))
        await asked(talk, FIRST)
        events = await asked(talk, SECOND)
    assert events[0].data["standalone"] == FULL


async def test_a_failure_is_typed() -> None:
    """Whoever asks decides what becomes of it."""
    with scripted_messages_api(HttpFault(401, "authentication_error")) as api, pytest.raises(ModelError):
        await ModelRewriter(OPTIONS, upstream(api.url)).rewrite([TURN], SECOND)
