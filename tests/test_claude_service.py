"""A question over HTTP that Claude answers: what a reader sees of its reply, and of what goes wrong with it."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from kb_qa.counters import Counters
from kb_qa.geometry import Page
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.retrieve import Retriever
from kb_qa.service import create_app
from kb_qa.settings import Settings
from kb_qa.testing import (
    HashEmbedder,
    HttpFault,
    InMemoryLibrary,
    InMemoryVectorStore,
    Reply,
    ScriptedMessagesAPI,
    Text,
    Thinking,
    block_location,
    said,
    scripted_messages_api,
)
from kb_qa.testing.messages_api import Scripted
from kb_qa.testing.serving import serving
from tests.claude_parts import REVENUE, accounts, claude
from tests.factories import DOCUMENT
from tests.scripted_service import CountingRenderer

QUESTION = "What was net revenue?"
SAID = "Net revenue was 4,812 million in 2024."
GOOD = said(SAID, block_location(0, 0))


@dataclass(frozen=True, slots=True)
class Service:
    base: str
    api: ScriptedMessagesAPI
    library: InMemoryLibrary

    def ask(self, question: str = QUESTION) -> list[dict[str, Any]]:
        """The answer's events."""
        response = httpx.post(f"{self.base}/v1/ask", json={"question": question}, timeout=15)
        assert response.status_code == 200
        return events_of(response.text)


def events_of(body: str) -> list[dict[str, Any]]:
    """Each frame's event and data; every data line is one line of JSON."""
    found = []
    for frame in body.replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in frame.split("\n") if line and not line.startswith(":")]
        if lines:
            fields = dict(line.split(": ", 1) for line in lines)
            found.append({"event": fields["event"], "data": json.loads(fields["data"])})
    return found


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["data"]["text"] for event in events if event["event"] == "delta")


def until_closed(running_: Service) -> None:
    """Waits until no stream of the upstream is open: a second at most, and what a busy machine takes for it."""
    began = time.monotonic()
    while running_.api.open_streams and time.monotonic() < began + 3:
        time.sleep(0.01)
    assert time.monotonic() - began < 1.5
    assert running_.api.open_streams == 0


@contextmanager
def service(*replies: Scripted, silence: float = 5.0, **api_fields: Any) -> Iterator[Service]:
    """A service over one document of two sentences, answered by Claude from the scripted API."""
    with scripted_messages_api(*replies, **api_fields) as api:
        embedder, store = HashEmbedder(), InMemoryVectorStore()
        vectors = embedder.embed_passages([REVENUE.embedded_text])
        store.upsert([REVENUE.id], vectors, [{"document_id": REVENUE.document_id}])
        library = InMemoryLibrary(all_chunks=[REVENUE], pages={(DOCUMENT, 1): Page(1, 600, 800)})
        counters = Counters()
        model = claude(api.url, accounts(meter=counters), silence=silence)
        knowledge_base = KnowledgeBase(Retriever(embedder, store, library), library, model, original=Path)
        app = create_app(knowledge_base, CountingRenderer(), Settings(), counters=counters)  # type: ignore[arg-type]
        with serving(app, log_config=None) as base:
            yield Service(base, api, library)


def test_an_answer_of_claude_is_cited_and_checked() -> None:
    """Text, citation with its region, figures, usage and a complete end; sources before any text."""
    with service(GOOD) as running_:
        events = running_.ask()
    names = [event["event"] for event in events]
    assert names[:3] == ["start", "sources", "delta"]
    assert text_of(events) == f"{SAID} [1]"
    citation = next(event["data"] for event in events if event["event"] == "citation")
    assert citation["cited_text"] == SAID
    assert events[-1]["data"]["complete"] is True
    usage = next(event["data"] for event in events if event["event"] == "usage")
    assert usage["output_tokens"] > 0
    assert events[0]["data"]["model"] == "claude-sonnet-5-5"


@pytest.mark.parametrize("after", range(8))
@pytest.mark.parametrize("how", ["drop_after", "end_after", "error_after"])
def test_e1_e2_a_reply_that_was_cut_is_never_complete(how: str, after: int) -> None:
    """E1, E2: for every event k of the upstream: one error event or a whole answer, and nothing twice."""
    whole = 7  # events of a whole reply
    with service(replace(GOOD, **{how: after})) as running_:
        events = running_.ask()
        asked = len(running_.api.asked)
    last = events[-1]
    if after >= whole:  # all was said before the cut
        assert (last["event"], last["data"]["complete"], asked) == ("end", True, 1)
    elif after < 3:  # before any text: tried again, and the second reply is the queue's default, a refusal
        assert (last["event"], last["data"]["refused"], asked) == ("end", True, 2)
    else:
        assert (last["event"], last["data"]["retryable"], asked) == ("error", True, 1)
        assert last["data"]["code"] in {"model_interrupted", "model_overloaded"}
        assert last["data"]["request_id"]
        assert [event["event"] for event in events].count("error") == 1
        assert "figure" not in {event["event"] for event in events}


@pytest.mark.parametrize("read", [0, 1, 2, 3])
def test_e3_the_upstream_ends_within_a_second_of_the_client_leaving(read: int) -> None:
    """E3: a client leaves before, at or after the first text: the upstream sees its stream closed; the next works."""
    slow = Reply(
        (Text(tuple(f"Word {number} of many. " for number in range(300)), (block_location(0, 0),)),), pause=0.03
    )
    slow = replace(slow, blocks=(Text(("Net revenue was fine. ",), (block_location(0, 0),)), *slow.blocks))
    with service(slow, GOOD) as running_:
        with httpx.stream("POST", f"{running_.base}/v1/ask", json={"question": QUESTION}, timeout=15) as response:
            pieces = response.iter_raw()
            for _ in range(read):
                next(pieces)
            deadline = time.monotonic() + 5
            while not running_.api.open_streams and time.monotonic() < deadline:
                time.sleep(0.01)
            assert running_.api.open_streams == 1
        until_closed(running_)
        assert running_.api.left == 1
        assert running_.ask()[-1]["data"]["complete"] is True
        [cut, whole] = running_.library.answers.values()
    assert cut[-1].event not in {"end"}
    assert whole[-1].event == "end"


TRICKY = ["| A | B |\n|---|---|\n| x | y |\n", "a\r\nb ", "line\u2028separator\u2029 ", "trailing  ", "🙂 营业收入。"]


@pytest.mark.parametrize("noise", [{}, {"byte_by_byte": True, "pings": True, "unknown_deltas": True}], ids=str)
def test_e4_e5_e6_text_arrives_as_the_model_wrote_it(noise: dict[str, Any]) -> None:
    """E4, E5, E6: line breaks, separators and emoji come through pings, unknown events and any cut."""
    reply = Reply((Text(tuple(TRICKY), (block_location(0, 0),)),), **noise)
    with service(reply) as running_:
        events = running_.ask()
    assert text_of(events) == "".join(TRICKY) + " [1]"
    assert "\ufffd" not in text_of(events)


def test_e5_the_first_event_does_not_wait_for_the_model() -> None:
    """E5: sources are with the reader within a second, however long the model thinks."""
    slow = Reply((Thinking(), Text((SAID,), (block_location(0, 0),))), pause=0.4)
    with service(slow) as running_:
        running_.ask()  # warm
        running_.api.replies.append(slow)
        began = time.monotonic()
        with httpx.stream("POST", f"{running_.base}/v1/ask", json={"question": QUESTION}, timeout=15) as response:
            first = next(response.iter_raw())
            assert time.monotonic() - began < 1.0
            assert b"event: start" in first


@pytest.mark.parametrize(
    ("reason", "truncated"),
    [("max_tokens", True), ("model_context_window_exceeded", True), ("refusal", False)],
)
def test_e8_a_reply_cut_at_its_limit_is_marked(reason: str, truncated: bool) -> None:
    """E8: the end says why and is not complete; the half figure is shown to nobody."""
    cut = Reply((Text(("Costs were 900 million. ",), (block_location(0, 1),)), Text(("Net revenue was 4,8",))), reason)
    with service(cut) as running_:
        events = running_.ask("What were costs and net revenue?")
    end = events[-1]["data"]
    assert (end["complete"], end["stop_reason"], end["truncated"]) == (False, reason, truncated)
    assert "4,8" not in text_of(events)
    assert all("4,8" not in event["data"]["raw"] for event in events if event["event"] == "figure")
    assert "900 million" in text_of(events)


@pytest.mark.parametrize(
    ("reason", "code"), [("max_tokens", "model_empty"), ("end_turn", "model_empty"), ("refusal", "model_declined")]
)
def test_e8_no_text_is_an_explicit_error(reason: str, code: str) -> None:
    """E8: thinking and nothing else is no blank answer."""
    with service(Reply((Thinking(),), reason)) as running_:
        assert running_.ask()[-1]["data"]["code"] == code


def test_e10_the_hosts_words_stay_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """E10: an error's body with script, a key and a path reaches the log where that is to say all, and no reader."""
    fault = HttpFault(400, "invalid_request_error", "<script>alert(1)</script> sk-ant-123 /etc/x")
    with caplog.at_level(logging.DEBUG), service(fault) as running_:
        events = running_.ask()
    assert [event["event"] for event in events] == ["start", "sources", "error"]
    data = events[-1]["data"]
    assert (data["code"], data["retryable"]) == ("model_rejected", False)
    assert data["request_id"] == events[0]["data"]["answer_id"]
    assert not any(secret in json.dumps(events) for secret in ("script", "sk-ant", "/etc/x"))
    assert "sk-ant-123" in caplog.text
    assert not any("sk-ant-123" in each.getMessage() for each in caplog.records if each.levelno > logging.DEBUG)
    assert "req_000001" in caplog.text


def test_e10_a_citation_of_a_strange_shape_breaks_nothing() -> None:
    """E10: numbers that are words, and kinds that nobody knows, are citations of nothing; the others count."""
    strange = ({"type": "content_block_location", "document_index": "zero"}, {"type": "moon_location"})
    with service(said(SAID, *strange, block_location(0, 0))) as running_:
        events = running_.ask()
    assert events[-1]["data"]["complete"] is True
    assert [event["event"] for event in events].count("citation") == 1


def test_f5_streamed_answers_cite_alike_whatever_the_order() -> None:
    """F5: a citation before its text gives the same sources, citations and figures as one behind it."""
    first = replace(
        GOOD, blocks=(Text(("Net revenue was 4,8", "12 million in 2024."), GOOD.blocks[0].citations, True),)
    )
    with service(GOOD, first) as running_:
        one, two = running_.ask(), running_.ask()
    kept = ("sources", "delta", "citation", "figure", "references")
    seen = [
        [
            (each["event"], {k: v for k, v in each["data"].items() if k != "region_url"})
            for each in events
            if each["event"] in kept
        ]
        for events in (one, two)
    ]
    assert seen[0] == seen[1]


def test_silence_of_the_upstream_is_told() -> None:
    """A model that stops talking: an error that may pass, and a closed upstream."""
    with service(replace(GOOD, silence_after=3), silence=0.4) as running_:
        data = running_.ask()[-1]["data"]
        assert (data["code"], data["retryable"]) == ("model_timeout", True)
        until_closed(running_)


def test_many_answers_at_once_do_not_mix() -> None:
    """Twenty readers with a stream each: every one gets a whole answer of its own."""
    slow = replace(GOOD, pause=0.01)

    async def all_of_them(base: str) -> list[str]:
        async with httpx.AsyncClient(timeout=30) as client:
            posts = [client.post(f"{base}/v1/ask", json={"question": QUESTION}) for _ in range(20)]
            return [response.text for response in await asyncio.gather(*posts)]

    with service(otherwise=slow) as running_:
        bodies = asyncio.run(all_of_them(running_.base))
        until_closed(running_)
    for body in bodies:
        events = events_of(body)
        assert (text_of(events), events[-1]["data"]["complete"]) == (f"{SAID} [1]", True)


def test_metrics_count_what_the_model_took() -> None:
    """Prometheus text with tokens by kind, outcomes, and the share that the cache had."""
    with service(GOOD, HttpFault(401)) as running_:
        before = httpx.get(f"{running_.base}/metrics")
        running_.ask()
        running_.ask()
        after = httpx.get(f"{running_.base}/metrics").text
    assert before.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "kb_qa_prompt_cache_hit_ratio 0\n" in before.text
    assert 'kb_qa_model_calls_total{outcome="ok"} 1\n' in after
    assert 'kb_qa_model_calls_total{outcome="model_access"} 1\n' in after
    assert 'kb_qa_model_tokens_total{kind="output_tokens"}' in after
    assert "kb_qa_documents_ready 1\n" in after
