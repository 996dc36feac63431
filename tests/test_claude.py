"""Claude with native citations, over real HTTP: what is sent, what comes back, and what becomes of failures."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from kb_qa.answers import BlockCitation, ModelEvent, WholeFile
from kb_qa.errors import (
    ModelAccessError,
    ModelDeclinedError,
    ModelEmptyError,
    ModelError,
    ModelInterruptedError,
    ModelOverloadedError,
    ModelRateLimitedError,
    ModelRejectedError,
    ModelTimeoutError,
    ModelTooLargeError,
    ModelUnavailableError,
    ModelUnreachableError,
    RejectedFileError,
)
from kb_qa.geometry import Region
from kb_qa.models.claude import PictureBudget
from kb_qa.models.requests import cited_request
from kb_qa.testing import (
    HttpFault,
    Reply,
    Text,
    Thinking,
    block_location,
    said,
    scripted_messages_api,
)
from tests.claude_parts import CONTEXT, EN, OPTIONS, accounts, asked, claude, replied, spans, stop_of, text_of
from tests.factories import make_chunk, make_context

SAID = "Net revenue was 4,812 million in 2024."
GOOD = said(SAID, block_location(0, 0))


async def test_a_citation_is_known_by_its_numbers() -> None:
    """A block range of a document becomes the blocks of the material, without a look at any text."""
    with scripted_messages_api(said("Both.", block_location(0, 0, 2, "other words altogether"))) as api:
        events = await replied(claude(api.url))
    assert spans(events) == [("Both.", (BlockCitation(1, 0), BlockCitation(1, 1)))]
    assert stop_of(events).stop_reason == "end_turn"


F5_REPLIES = [
    pytest.param(Reply((Text((SAID,), (block_location(0, 0),)),)), id="text first"),
    pytest.param(Reply((Text((SAID,), (block_location(0, 0),), citations_first=True),)), id="citation first"),
    pytest.param(Reply((Text(("Net rev", "enue."), (block_location(0, 0), block_location(1, 0)), True),)), id="two"),
    pytest.param(
        Reply((Text(("Uncited. ",)), Thinking(), Text((SAID,), (block_location(0, 0),)), Text((" Yes.",)))), id="mixed"
    ),
    pytest.param(Reply((Text((SAID,)), Text((), (block_location(0, 0),)), Text((" Yes.",)))), id="citation-only block"),
    pytest.param(Reply((Text((), (block_location(0, 0),)), Text((SAID,)))), id="citation-only block first"),
]


@pytest.mark.parametrize("reply", F5_REPLIES)
@pytest.mark.parametrize("noise", [{}, {"pings": True, "unknown_deltas": True}, {"byte_by_byte": True}], ids=str)
async def test_f5_the_same_reply_streamed_and_in_one_piece_cites_the_same(reply: Reply, noise: dict[str, Any]) -> None:
    """F5: citations before, after and without text, pings, unknown deltas: equal spans, both ways."""
    with scripted_messages_api(reply, replace(reply, **noise)) as api:
        whole = await replied(claude(api.url, streaming=False))
        streamed = await replied(claude(api.url))
    assert spans(streamed) == spans(whole)
    assert stop_of(streamed).stop_reason == stop_of(whole).stop_reason
    assert sum(len(cited) for _, cited in spans(whole)) == sum(
        len(block.citations) for block in reply.blocks if isinstance(block, Text)
    )


async def test_f5_a_citation_of_a_block_stays_with_its_text() -> None:
    """F5: the uncited text before and behind a cited block takes nothing of its citation."""
    reply = Reply((Text(("First. ",)), Text((SAID,), (block_location(0, 0),), True), Text((" Last.",))))
    with scripted_messages_api(reply) as api:
        events = await replied(claude(api.url))
    assert spans(events) == [("First. ", ()), (SAID, (BlockCitation(1, 0),)), (" Last.", ())]


async def test_a_citation_of_what_was_never_sent_is_dropped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Numbers out of range point nowhere: the text comes uncited."""
    with scripted_messages_api(said(SAID, block_location(7, 0), block_location(0, 9))) as api:
        events = await replied(claude(api.url))
    assert spans(events) == [(SAID, ())]
    assert "2 citations point to nothing" in caplog.text


async def test_e6_characters_survive_any_cut_of_the_bytes() -> None:
    """E6: the upstream's bytes come one at a time, and no character is lost."""
    text = "营业收入 4,812 万元 🙂。"
    with scripted_messages_api(said(text, block_location(0, 0), byte_by_byte=True)) as api:
        events = await replied(claude(api.url))
    assert text_of(events) == text


RETRIED = [
    pytest.param(HttpFault(429, "rate_limit_error"), ModelRateLimitedError, id="429"),
    pytest.param(HttpFault(529, "overloaded_error"), ModelOverloadedError, id="529"),
    pytest.param(HttpFault(500), ModelUnavailableError, id="500"),
    pytest.param(
        HttpFault(502, body="<html><script>alert(1)</script></html>", content_type="text/html"),
        ModelUnavailableError,
        id="HTML 502",
    ),
    pytest.param(said(SAID, error_after=0), ModelOverloadedError, id="an error as the first event"),
    pytest.param(said(SAID, error_after=2, error_type="api_error"), ModelUnavailableError, id="an error before text"),
    pytest.param(said(SAID, drop_after=1), ModelInterruptedError, id="dropped before text"),
    pytest.param(said(SAID, end_after=2), ModelInterruptedError, id="ended before text"),
    pytest.param(
        HttpFault(200, body="<html>hello</html>", content_type="text/html"), ModelInterruptedError, id="HTML 200"
    ),
    pytest.param(
        HttpFault(200, body="event: ping\n\nevent: x\ndata: {\n\n", content_type="text/event-stream"),
        ModelInterruptedError,
        id="no JSON",
    ),
]


@pytest.mark.parametrize(("fault", "kind"), RETRIED)
async def test_what_may_pass_is_tried_three_times(fault: Reply | HttpFault, kind: type[ModelError]) -> None:
    """Two failures before any text are not noticed by a reader; the third is a typed error, worth asking again."""
    with scripted_messages_api(fault, fault, GOOD) as api:
        assert spans(await replied(claude(api.url))) == [(SAID, (BlockCitation(1, 0),))]
        assert len(api.asked) == 3
    with scripted_messages_api(otherwise=fault) as api, pytest.raises(kind) as caught:
        await replied(claude(api.url))
    assert len(api.asked) == 3
    assert (type(caught.value), caught.value.retryable) == (kind, True)
    assert "alert" not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(HttpFault(400, "invalid_request_error", "secret detail"), ModelRejectedError, id="400"),
        pytest.param(HttpFault(401, "authentication_error", "secret detail"), ModelAccessError, id="401"),
        pytest.param(HttpFault(403, "permission_error"), ModelAccessError, id="403"),
        pytest.param(HttpFault(404, "not_found_error"), ModelRejectedError, id="404"),
        pytest.param(HttpFault(413, "request_too_large"), ModelTooLargeError, id="413"),
        pytest.param(HttpFault(529, headers={"x-should-retry": "false"}), ModelOverloadedError, id="told not to"),
    ],
)
async def test_what_no_other_try_would_change_is_tried_once(
    fault: HttpFault, kind: type[ModelError], caplog: pytest.LogCaptureFixture
) -> None:
    """One call; the reader gets our words, the log the host's and its request id."""
    with scripted_messages_api(otherwise=fault) as api, pytest.raises(kind) as caught:
        await replied(claude(api.url))
    assert len(api.asked) == 1
    assert caught.value.upstream_id == "req_000001"
    assert "req_000001" in caplog.text
    assert "secret" not in str(caught.value)


async def test_a_wait_that_the_host_asks_for_is_honoured() -> None:
    """`retry-after` decides when the next try comes."""
    with scripted_messages_api(HttpFault(429, headers={"retry-after": "0.6"}), GOOD) as api:
        assert text_of(await replied(claude(api.url))) == SAID
        first, second = api.asked
    assert second.at - first.at >= 0.6


async def test_a_host_that_asks_for_an_hour_is_not_waited_for() -> None:
    """A reader is told at once instead."""
    began = time.monotonic()
    with (
        scripted_messages_api(HttpFault(429, headers={"retry-after": "3600"})) as api,
        pytest.raises(ModelRateLimitedError),
    ):
        await replied(claude(api.url))
    assert time.monotonic() - began < 10
    assert len(api.asked) == 1


async def test_a_refused_connection_is_an_unreachable_host() -> None:
    """Nobody listens there: three tries, then a typed error that may pass."""
    with scripted_messages_api() as api:
        url = api.url
    with pytest.raises(ModelUnreachableError) as caught:
        await replied(claude(url))
    assert caught.value.retryable


# The events of GOOD: start, block start, text, citation, block stop, delta, stop.
@pytest.mark.parametrize("after", [3, 4, 5, 6])
@pytest.mark.parametrize("how", ["drop_after", "end_after", "error_after"])
async def test_e1_e2_no_second_try_once_there_was_text(how: str, after: int) -> None:
    """E1, E2: cut after event k, by a drop, a silent end or an error event: text so far, one call, a typed error."""
    heard: list[ModelEvent] = []
    with scripted_messages_api(replace(GOOD, **{how: after}), GOOD) as api, pytest.raises(ModelError) as caught:
        async for event in claude(api.url).generate(EN, CONTEXT):
            heard.append(event)
    assert len(api.asked) == 1
    assert text_of(heard) == "Net revenue was 4,812 million in "
    assert type(caught.value) is (ModelOverloadedError if how == "error_after" else ModelInterruptedError)
    assert caught.value.retryable


async def test_an_error_event_carries_its_request_id() -> None:
    """E1: the SDK raises it with status 200; its own type says what it is, and the request id is kept."""
    with scripted_messages_api(replace(GOOD, error_after=3)) as api, pytest.raises(ModelOverloadedError) as caught:
        await replied(claude(api.url))
    assert caught.value.upstream_id == "req_000001"


@pytest.mark.parametrize("after", [0, 3], ids=["before text", "after text"])
async def test_silence_ends_the_call(after: int) -> None:
    """Nothing for longer than the timeout: one call, a typed error, and the upstream is closed."""
    with scripted_messages_api(replace(GOOD, silence_after=after)) as api:
        with pytest.raises(ModelTimeoutError):
            await replied(claude(api.url, silence=0.3))
        assert len(api.asked) == 1
        assert await _closed(api)


async def test_pings_alone_do_not_keep_a_call_open_for_ever() -> None:
    """A host that only pings is given up after ten times the silence."""
    began = time.monotonic()
    with scripted_messages_api(replace(GOOD, silence_after=3, endless_pings=True)) as api:
        with pytest.raises(ModelTimeoutError):
            await replied(claude(api.url, silence=0.15))
        assert await _closed(api)
    assert 1.4 < time.monotonic() - began < 6


async def _closed(api: Any, seconds: float = 1.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if api.open_streams == 0 and api.left == 1:
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.mark.parametrize("heard", [0, 1, 3])
async def test_e3_the_upstream_is_closed_when_nobody_listens(heard: int) -> None:
    """E3: the generator closed, or its task cancelled before the first event: the upstream ends within a second."""
    slow = Reply((Text(tuple(f"Word{number}. " for number in range(400)), (block_location(0, 0),)),), pause=0.02)
    books = accounts()
    with scripted_messages_api(slow) as api:
        if heard:
            async with aclosing(claude(api.url, books).generate(EN, CONTEXT)) as events:
                for _ in range(heard):
                    await anext(events)
        else:
            task = asyncio.create_task(replied(claude(api.url, books)))
            while not api.open_streams:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await _closed(api)
    assert books.meter.value("model_tokens", kind="output_tokens") > 0  # type: ignore[attr-defined]  # it is paid for


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
async def test_e8_a_cut_reply_says_so_and_shows_no_half_figure(reason: str) -> None:
    """E8: the stop tells why; what may be the first half of a figure is not passed on."""
    with scripted_messages_api(said("Net revenue was 4,8", block_location(0, 0), stop_reason=reason)) as api:
        events = await replied(claude(api.url))
    assert spans(events) == [("Net revenue was ", (BlockCitation(1, 0),))]
    assert stop_of(events).stop_reason == reason


@pytest.mark.parametrize(
    ("reason", "kind", "retryable"),
    [
        pytest.param("max_tokens", ModelEmptyError, True, id="cut while thinking"),
        pytest.param("end_turn", ModelEmptyError, True, id="nothing to say"),
        pytest.param("refusal", ModelDeclinedError, False, id="declined"),
    ],
)
async def test_e8_no_text_is_an_error_and_not_a_blank_answer(
    reason: str, kind: type[ModelError], retryable: bool
) -> None:
    """E8: thinking alone, or nothing at all, is told."""
    with scripted_messages_api(Reply((Thinking(),), stop_reason=reason)) as api, pytest.raises(kind) as caught:
        await replied(claude(api.url))
    assert caught.value.retryable is retryable
    assert len(api.asked) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("Not found in the materials.", "no_evidence", id="English"),
        pytest.param("材料中未找到相关信息。", "no_evidence", id="Chinese"),
        pytest.param("Not found in the materials. But costs were 900 million.", "end_turn", id="more than that"),
    ],
)
async def test_the_refusal_that_the_prompt_asks_for_is_one(text: str, reason: str) -> None:
    """A model that says only the refusal has no evidence; one that says more has spoken."""
    with scripted_messages_api(said(text)) as api:
        events = await replied(claude(api.url))
    assert stop_of(events).stop_reason == reason
    assert text_of(events) == ("" if reason == "no_evidence" else text)


@pytest.mark.parametrize(("language", "shown"), [("en", "overloaded"), ("zh", "过载")])
async def test_a_reader_is_told_in_the_questions_language(language: str, shown: str) -> None:
    """Failures speak English or Chinese, like the question."""
    question = asked("Revenue?" if language == "en" else "收入是多少？", language)  # type: ignore[arg-type]
    with scripted_messages_api(otherwise=HttpFault(529)) as api, pytest.raises(ModelOverloadedError, match=shown):
        await replied(claude(api.url), question)


async def test_f7_a_request_of_33_mb_never_leaves() -> None:
    """F7: too many bytes is a clear error before the call; the next question works."""
    large = make_context(make_chunk("x" * (33 * 1024 * 1024)))
    with scripted_messages_api(GOOD) as api:
        with pytest.raises(ModelTooLargeError, match=r"33\.\d MB"):
            await replied(claude(api.url), EN, large)
        assert api.requests == []
        assert text_of(await replied(claude(api.url))) == SAID


async def test_f7_a_request_of_601_pages_never_leaves() -> None:
    """F7: too many pages of PDF is a clear error before the call, in the question's language."""
    long = replace(CONTEXT, whole=WholeFile("ab" * 32, "application/pdf", b"%PDF-1.7", 601))
    with scripted_messages_api(GOOD) as api:
        with pytest.raises(ModelTooLargeError, match="601 pages"):
            await replied(claude(api.url), EN, long)
        with pytest.raises(ModelTooLargeError, match="601 页"):
            await replied(claude(api.url), asked("收入？", "zh"), long)
        assert api.requests == []


class Pictures:
    """Every region is a picture of so many bytes; those of `broken` documents cannot be drawn."""

    def __init__(self, size: int, broken: str = "") -> None:
        self.size, self.broken, self.drawn = size, broken, 0

    async def png(self, document_id: str, region: Region) -> bytes:
        if document_id == self.broken:
            raise RejectedFileError("damaged")
        self.drawn += 1
        return b"\x89PNG" + b"0" * (self.size - 4)


TABLES = make_context(*(make_chunk("P5 | 22000", ordinal=number, element_type="table") for number in range(4)))


@pytest.mark.parametrize(
    ("budget", "sent"),
    [
        pytest.param(PictureBudget(0), 0, id="off"),
        pytest.param(PictureBudget(2), 2, id="count"),
        pytest.param(PictureBudget(9, 2500), 2, id="bytes"),
    ],
)
async def test_pictures_go_along_as_far_as_the_budget_goes(budget: PictureBudget, sent: int) -> None:
    """The best tables' pictures stand beside their text, and what is cited is still the text."""
    reply = said("22000.", block_location(0, 1 if sent else 0))
    with scripted_messages_api(reply) as api:
        events = await replied(claude(api.url, pictures=Pictures(1000), budget=budget), EN, TABLES)
        documents = [block for block in api.asked[0].json["messages"][0]["content"] if block["type"] == "document"]
    kinds = [[inner["type"] for inner in document["source"]["content"]] for document in documents]
    assert kinds == [["image", "text"]] * sent + [["text"]] * (4 - sent)
    assert spans(events) == [("22000.", (BlockCitation(1, 0),))]


async def test_a_region_that_cannot_be_drawn_goes_without_a_picture() -> None:
    """Its text is sent all the same."""
    pictures = Pictures(1000, broken=TABLES.materials[0].chunk.document_id)
    with scripted_messages_api(GOOD) as api:
        assert text_of(await replied(claude(api.url, pictures=pictures, budget=PictureBudget(9)), EN, TABLES)) == SAID


async def test_what_a_reader_should_know_of_a_document_goes_along_uncitable() -> None:
    """S1.4: a document's flags stand in its `context`, in the question's language."""
    notes = ["page 3: unreadable: its content is damaged"]
    with scripted_messages_api(GOOD, GOOD) as api:
        await replied(claude(api.url, notes_of=lambda _: notes))
        await replied(claude(api.url, notes_of=lambda _: notes), asked("收入？", "zh"))
        first, second = (request.json["messages"][0]["content"][0] for request in api.asked)
    assert first["context"] == "Note: page 3: unreadable: its content is damaged"
    assert second["context"] == "注意：第 3 页：无法读取：内容已损坏"


async def test_a_reply_that_was_cut_is_paid_for(caplog: pytest.LogCaptureFixture) -> None:
    """Tokens of a call that failed after it began count; a second try counts too."""
    caplog.set_level(logging.INFO)
    books = accounts()
    with scripted_messages_api(said(SAID, drop_after=1), GOOD) as api:
        events = await replied(claude(api.url, books))
    used = stop_of(events).usage["input_tokens"] + stop_of(events).usage["cache_creation_input_tokens"]
    kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counted = sum(books.meter.value("model_tokens", kind=kind) for kind in kinds)  # type: ignore[attr-defined]
    assert counted > used
    assert books.meter.value("model_retries") == 1  # type: ignore[attr-defined]
    assert "try 1 failed" in caplog.text


async def test_the_body_on_the_wire_is_as_large_as_was_checked() -> None:
    """The size that is checked is that of the encoded body, give or take the flag that asks for a stream."""
    from kb_qa.models.request_limits import encoded_size

    with scripted_messages_api(GOOD) as api:
        await replied(claude(api.url))
        sent = api.asked[0].body
    assert abs(len(sent) - encoded_size(cited_request(EN, CONTEXT, OPTIONS))) <= len(b',"stream":true') + 2
    assert json.loads(sent)["stream"] is True
