"""What calls cost: refused beforehand without a budget, counted afterwards, misses of the cache explained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kb_qa.answers import COST
from kb_qa.counters import Counters
from kb_qa.errors import BudgetSpentError, InputError
from kb_qa.models.accounts import Budget, estimated_tokens
from kb_qa.models.cache_watch import CacheWatch, Call, call_of, miss_reason
from kb_qa.models.prices import PRICES, Price, price_table
from kb_qa.models.replies import HOUR_TOKENS
from kb_qa.models.requests import cited_request
from kb_qa.testing import InMemorySpending, PromptCache, block_location, said, scripted_messages_api
from kb_qa.testing.prompt_cache import count
from tests.claude_parts import CONTEXT, EN, OPTIONS, accounts, asked, claude, replied, stop_of
from tests.factories import make_chunk, make_context

GOOD = said("Net revenue was 4,812 million in 2024.", block_location(0, 0))
PRICE = Price.of(3.0, 15.0)
DAY = "2026-11-30"
NOON = 1_796_040_000.0


@pytest.mark.parametrize(
    ("usage", "nano"),
    [
        pytest.param({"input_tokens": 1_000_000}, 3_000_000_000, id="input"),
        pytest.param({"output_tokens": 1_000_000}, 15_000_000_000, id="output"),
        pytest.param({"cache_read_input_tokens": 1_000_000}, 300_000_000, id="read"),
        pytest.param({"cache_creation_input_tokens": 1_000_000}, 3_750_000_000, id="written for five minutes"),
        pytest.param(
            {"cache_creation_input_tokens": 1_000_000, HOUR_TOKENS: 1_000_000}, 6_000_000_000, id="written for an hour"
        ),
        pytest.param({"cache_read_input_tokens": 1}, 300, id="one token"),
        pytest.param({}, 0, id="nothing"),
    ],
)
def test_tokens_cost_what_the_table_says(usage: dict[str, int], nano: int) -> None:
    """Each kind by its own price, exactly, in billionths of a dollar."""
    assert PRICE.cost(usage) == nano


def test_the_price_table_is_replaced_and_added_to() -> None:
    """Own prices win; what is not given of the cache follows the usual rates."""
    table = price_table(
        '{"claude-sonnet-5-5": {"input": 2, "output": 4, "cache_read": 1}, "local": {"input": 0, "output": 0}}'
    )
    assert table["claude-sonnet-5-5"] == Price(2.0, 4.0, 2.5, 4.0, 1.0)
    assert table["local"].cost({"input_tokens": 5}) == 0
    assert set(PRICES) < set(table)


@pytest.mark.parametrize(
    "text",
    ["[]", "{", '{"m": {}}', '{"m": {"input": -1, "output": 1}}', '{"m": {"input": "3", "output": 1}}', '{"m": 3}',
     '{"m": {"input": 1, "output": 1, "tax": 1}}', '{"m": {"input": NaN, "output": 1}}'],
)  # fmt: skip
def test_a_price_table_that_is_none_is_an_error(text: str) -> None:
    """It names the setting and the form."""
    with pytest.raises(InputError, match="KB_QA_PRICES"):
        price_table(text)


@pytest.mark.parametrize("text", ["Net revenue was 4,812 million. ", "营业收入为四十八亿元。", "Σύνολο εσόδων: 4 812"])
def test_the_estimate_is_on_the_safe_side(text: str) -> None:
    """No fewer tokens than the scripted API counts for the same request, nor many times as many."""
    body = cited_request(EN, make_context(make_chunk(text * 200)), OPTIONS).body
    assert count(body) * 0.5 < estimated_tokens(body) < count(body) * 6


async def test_an_answer_tells_its_tokens_and_cost() -> None:
    """The stop has each kind of token and the cost; spending and counters have them too."""
    spending, meter = InMemorySpending(), Counters()
    books = accounts(spending=spending, meter=meter, price=PRICE, clock=lambda: NOON)
    with scripted_messages_api(GOOD, GOOD, cache=PromptCache(minimum=1)) as api:
        first = stop_of(await replied(claude(api.url, books))).usage
        second = stop_of(await replied(claude(api.url, books), asked("What were costs?"))).usage
    assert first[COST] == PRICE.cost(first) > second[COST] > 0
    assert spending.days == {DAY: first[COST] + second[COST]}
    assert meter.value("model_cost_usd") == pytest.approx((first[COST] + second[COST]) / 1e9)
    assert meter.value("model_tokens", kind="cache_read_input_tokens") == second["cache_read_input_tokens"] > 0
    assert meter.value("model_calls", outcome="ok") == 2
    assert 0.4 < meter.cache_hit_ratio() < 0.6


@pytest.mark.parametrize(
    ("budget", "spent", "language", "told"),
    [
        pytest.param(Budget(per_answer=1), 0, "en", "the budget of an answer is", id="answer"),
        pytest.param(Budget(per_answer=1), 0, "zh", "每次回答的预算", id="answer, in Chinese"),
        pytest.param(Budget(per_day=10**9), 10**9 - 1, "en", "today's budget", id="day"),
        pytest.param(Budget(per_day=10**9), 10**9 - 1, "zh", "今日预算", id="day, in Chinese"),
    ],
)
async def test_no_budget_no_call(budget: Budget, spent: int, language: Any, told: str) -> None:
    """Over the budget, the question is refused with a clear text before anything is sent."""
    books = accounts(spending=InMemorySpending({DAY: spent}), price=PRICE, budget=budget, clock=lambda: NOON)
    with scripted_messages_api(GOOD) as api:
        with pytest.raises(BudgetSpentError, match=told) as caught:
            await replied(claude(api.url, books), asked("收入是多少？" if language == "zh" else "Revenue?", language))
        assert api.requests == []
    assert (caught.value.code, caught.value.retryable) == ("budget_spent", False)


async def test_within_the_budget_the_call_is_made_and_yesterday_does_not_count() -> None:
    """A new day has a new budget; what a call reserved is free again after it."""
    budget = Budget(per_answer=10**9, per_day=10**9)
    books = accounts(spending=InMemorySpending({"2026-11-29": 10**9}), price=PRICE, budget=budget, clock=lambda: NOON)
    with scripted_messages_api(GOOD) as api:
        await replied(claude(api.url, books))
    assert books.reserved == 0


def test_calls_under_way_count_against_the_day() -> None:
    """Two answers at once cannot both take the last of the budget."""
    request = cited_request(EN, CONTEXT, OPTIONS)
    most = PRICE.most(estimated_tokens(request.body), OPTIONS.max_tokens)
    books = accounts(price=PRICE, budget=Budget(per_day=most + 1), clock=lambda: NOON)
    reserved = books.reserve(request, "en")
    with pytest.raises(BudgetSpentError):
        books.reserve(request, "en")
    books.release(reserved)
    assert books.reserve(request, "en") == most


CALL = Call("claude-sonnet-5-5", "prefix", "tools", at=0.0, ttl=300.0)
READ, WRITTEN, NEITHER = {"cache_read_input_tokens": 9}, {"cache_creation_input_tokens": 9}, {"input_tokens": 9}


@pytest.mark.parametrize(
    ("now", "usage", "reason"),
    [
        pytest.param(CALL, READ, "", id="read"),
        pytest.param(replace(CALL, prefix="other"), WRITTEN, "the prefix changed", id="prefix"),
        pytest.param(replace(CALL, model="claude-haiku-5-5"), WRITTEN, "the model changed", id="model"),
        pytest.param(CALL, NEITHER, "below the minimum length", id="too short"),
        pytest.param(replace(CALL, at=301.0), WRITTEN, "more than the TTL (300 s)", id="too late"),
        pytest.param(replace(CALL, tools="other"), WRITTEN, "the tools or their order", id="tools"),
        pytest.param(replace(CALL, at=299.0), WRITTEN, "evicted", id="none of them"),
    ],
)
def test_a_miss_of_the_cache_has_one_of_five_reasons(now: Call, usage: dict[str, int], reason: str) -> None:
    """S3.5: where the same materials were asked about before and nothing was read, the likely reason is named."""
    found = miss_reason(CALL, now, usage)
    assert reason in found
    assert bool(found) == bool(reason)


def test_only_what_was_asked_before_is_expected_in_the_cache() -> None:
    """The first call with materials misses nothing; the watch forgets the oldest."""
    watch = CacheWatch()
    assert watch.reason(("a",), CALL, WRITTEN) == ""
    assert watch.reason(("a",), CALL, WRITTEN) != ""
    assert watch.reason(("b",), CALL, WRITTEN) == ""
    assert [watch.reason((), CALL, WRITTEN) for _ in range(2)] == ["", ""], "a call about no materials"
    for number in range(300):
        watch.reason((str(number),), CALL, WRITTEN)
    assert len(watch.calls) == 256


def test_the_question_is_no_part_of_the_prefix() -> None:
    """Two questions about the same materials are the same prefix; another material is another one."""
    other = make_context(make_chunk("Something else."))
    one, two = (call_of(cited_request(each, CONTEXT, OPTIONS), 0.0) for each in (EN, asked("Costs?")))
    assert one == two != call_of(cited_request(EN, other, OPTIONS), 0.0)


async def test_the_log_names_the_reason_of_a_miss(caplog: pytest.LogCaptureFixture) -> None:
    """Too short a prefix: the second question is not read from the cache, and the log and the counters say so."""
    books = accounts()
    with scripted_messages_api(GOOD, GOOD, cache=PromptCache(minimum=10_000)) as api:
        await replied(claude(api.url, books))
        assert "prompt cache" not in caplog.text
        await replied(claude(api.url, books), asked("What were costs?"))
    assert "likely reason: the prefix is below the minimum length" in caplog.text
    assert books.meter.value("model_cache_misses") == 1  # type: ignore[attr-defined]
