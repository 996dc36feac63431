"""G6: a model that obeys whatever documents say, over real HTTP, against the whole read side."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kb_qa.answers import AnswerEvent
from kb_qa.elements import Chunk
from kb_qa.geometry import Page
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.protocols import AnswerModel
from kb_qa.retrieve import Retriever
from kb_qa.testing import (
    HashEmbedder,
    InMemoryLibrary,
    InMemoryVectorStore,
    Reply,
    ScriptedMessagesAPI,
    Text,
    obedient,
    scripted_messages_api,
)
from tests.claude_parts import claude, markers
from tests.hostile_documents import CLEAN, HOSTILE, PLANTS, Planted, clean, hostile

MODELS: dict[str, Callable[[str], AnswerModel]] = {"claude": claude, "markers": markers}
_FIGURE = re.compile(r"\d[\d,]{2,}")
_MARKS = re.compile(r" (?:\[\d+\])+")


class Overheard:
    """The obedient model, and what it said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        reply = obedient(request)
        self.said.append("".join(piece for block in reply.blocks if isinstance(block, Text) for piece in block.pieces))
        return reply


@pytest.fixture(scope="module")
def api() -> Iterator[ScriptedMessagesAPI]:
    with scripted_messages_api(otherwise=Overheard()) as running:
        yield running


def knowledge_base(chunks: tuple[Chunk, ...], model: AnswerModel) -> KnowledgeBase:
    embedder, store = HashEmbedder(), InMemoryVectorStore()
    vectors = embedder.embed_passages([chunk.embedded_text for chunk in chunks])
    store.upsert([chunk.id for chunk in chunks], vectors, [{"document_id": chunk.document_id} for chunk in chunks])
    pages = {(chunk.document_id, 1): Page(1, 600, 800) for chunk in chunks}
    library = InMemoryLibrary(all_chunks=chunks, pages=pages)
    return KnowledgeBase(Retriever(embedder, store, library), library, model, original=Path)


async def answered(planted: Planted, model: AnswerModel) -> list[AnswerEvent]:
    return [event async for event in knowledge_base(planted.chunks, model).ask(planted.question)]


def text_of(events: list[AnswerEvent]) -> str:
    return "".join(str(event.data["text"]) for event in events if event.event == "delta")


def unsupported(events: list[AnswerEvent]) -> list[str]:
    """Figures of the released text that no citation which covers them prints: judged without any of our own code."""
    text = _MARKS.sub(lambda match: " " * len(match[0]), text_of(events))
    citations: list[Any] = [event.data for event in events if event.event == "citation"]
    found = []
    for figure in _FIGURE.finditer(text):
        covering = [each for each in citations if each["start"] <= figure.start() and figure.end() <= each["end"]]
        if not any(figure[0] in each["cited_text"] for each in covering):
            found.append(figure[0])
    return found


def test_there_are_enough_of_every_kind() -> None:
    """120 hostile ones, each kind of order in both languages, and 40 clean ones; the same in every run."""
    cases = hostile()
    assert (len(cases), len(clean())) == (HOSTILE, CLEAN) == (120, 40)
    assert cases == hostile()
    assert {(case.kind, case.language) for case in cases} == {(kind, tag) for kind in PLANTS for tag in ("en", "zh")}
    assert all(case.forged not in case.honest for case in cases if case.forged)


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize("kind", PLANTS)
async def test_g6_what_an_order_invents_is_not_shown_as_supported(
    kind: str, model: str, api: ScriptedMessagesAPI
) -> None:
    """G6: the model obeys; no figure is shown that the place cited for it does not print, nor an uncited one."""
    for planted in (each for each in hostile() if each.kind == kind):
        overheard = api.otherwise
        assert isinstance(overheard, Overheard)
        overheard.said.clear()
        events = await answered(planted, MODELS[model](api.url))
        assert any(planted.demanded in said for said in overheard.said), (planted, overheard.said)
        assert unsupported(events) == [], (planted, events)
        supported = [event for event in events if event.event == "figure" and event.data["status"] == "exact"]
        assert not supported or any(event.event == "citation" for event in events), (planted, events)
        assert events[-1].event == "end"


async def test_g6_the_request_holds_no_forged_delimiter_and_no_file_name(api: ScriptedMessagesAPI) -> None:
    """G6: look-alikes of our headings and markers are escaped; no file name, no tool is in a request."""
    for planted in hostile(len(PLANTS) * 2):
        for model in MODELS.values():
            await answered(planted, model(api.url))
            sent = api.asked[-1].json
            text = json.dumps(sent["messages"], ensure_ascii=False)
            assert set(re.findall(r"[\[【](?:Material |材料)(\d+)[\]】]", text)) <= {"1", "2"}
            assert "](id=" not in text
            assert ".pdf" not in text.replace("audited.pdf", "").replace("年报.pdf", "")
            assert "tools" not in sent


@pytest.mark.parametrize("model", sorted(MODELS))
async def test_g6_a_clean_document_loses_nothing(model: str, api: ScriptedMessagesAPI) -> None:
    """G6: without an order, the answer is the passage, whole, cited, its figures exact."""
    for planted in clean():
        events = await answered(planted, MODELS[model](api.url))
        assert _MARKS.sub("", text_of(events)).strip() == planted.honest
        assert unsupported(events) == []
        assert not any(event.event in {"withheld", "refusal"} for event in events)
        assert any(event.event == "citation" and event.data["cited_text"] == planted.honest for event in events)
        assert events[-1].data["complete"] is True
