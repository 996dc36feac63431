"""What calls to a model cost: refused beforehand where there is no budget for them, counted and logged afterwards."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kb_qa.answers import COST, Language
from kb_qa.errors import BudgetSpentError
from kb_qa.meters import Meter, Spending
from kb_qa.models.cache_watch import CacheWatch, call_of
from kb_qa.models.prices import NANO_PER_DOLLAR, Price
from kb_qa.models.replies import TOKEN_KINDS
from kb_qa.models.requests import MessagesRequest

log = logging.getLogger(__name__)

PICTURE_TOKENS = 1600  # what one takes at the most
PAGE_TOKENS = PICTURE_TOKENS + 3000  # a page of PDF is sent as its picture and its text


@dataclass(frozen=True, slots=True)
class Budget:
    """Billionths of a dollar; 0 sets no limit."""

    per_answer: int = 0
    per_day: int = 0


@dataclass(slots=True)
class Accounts:
    """`price` is None for a model without one: its calls cost nothing that we know of, and no budget holds them."""

    spending: Spending
    meter: Meter
    price: Price | None = None
    budget: Budget = Budget()
    clock: Callable[[], float] = time.time
    watch: CacheWatch = field(default_factory=CacheWatch)
    reserved: int = 0  # by calls that are under way
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reserve(self, request: MessagesRequest, language: Language) -> int:
        """Keeps room in the budget for a call, until `release`. Raises BudgetSpentError. Blocking."""
        most = self._most(request)
        with self.lock:
            self._check(most, language)
            self.reserved += most
        return most

    def release(self, reserved: int) -> None:
        with self.lock:
            self.reserved -= reserved

    def settle(self, request: MessagesRequest, usage: Mapping[str, int], materials: tuple[str, ...]) -> dict[str, int]:
        """Counts what the call used, and says why nothing came from the cache. The usage with its cost. Blocking."""
        for kind in TOKEN_KINDS:
            self.meter.add("model_tokens", usage.get(kind, 0), kind=kind)
        told = dict(usage)
        if self.price is not None:
            told[COST] = self.price.cost(usage)
            self.spending.add(self._today(), told[COST])
            self.meter.add("model_cost_usd", told[COST] / NANO_PER_DOLLAR)
        reason = self.watch.reason(materials, call_of(request, self.clock()), usage)
        if reason:
            self.meter.add("model_cache_misses", 1)
            log.warning("the materials were to be read from the prompt cache and were not; likely reason: %s", reason)
        return told

    def _most(self, request: MessagesRequest) -> int:
        if self.price is None:
            return 0
        tokens = estimated_tokens(request.body) + PAGE_TOKENS * request.pdf_pages
        return self.price.most(tokens, int(request.body["max_tokens"]))

    def _check(self, most: int, language: Language) -> None:
        budget, spent = self.budget, 0
        if budget.per_answer and most > budget.per_answer:
            raise BudgetSpentError(_too_dear(most, budget.per_answer, language))
        if budget.per_day:
            spent = self.spending.spent(self._today()) + self.reserved
        if budget.per_day and spent + most > budget.per_day:
            raise BudgetSpentError(_spent(spent, most, budget.per_day, language))

    def _today(self) -> str:
        return datetime.fromtimestamp(self.clock(), UTC).date().isoformat()


def estimated_tokens(value: object) -> int:
    """No fewer tokens than a request has, as a rule: a token for two Latin letters or one of any other script."""
    if isinstance(value, str):
        ascii_letters = sum(character.isascii() for character in value)
        return len(value) - ascii_letters + (ascii_letters + 1) // 2
    if isinstance(value, Mapping):
        if value.get("type") == "image":
            return PICTURE_TOKENS
        if value.get("type") == "base64":
            return 0  # counted by its pages
        return sum(estimated_tokens(each) for each in value.values())
    if isinstance(value, list | tuple):
        return sum(estimated_tokens(each) for each in value)
    return 0


def _dollars(amount: int) -> str:
    return f"${amount / NANO_PER_DOLLAR:.4f}"


def _too_dear(most: int, budget: int, language: Language) -> str:
    if language == "zh":
        return (
            f"回答此问题最多可能花费 {_dollars(most)}，超过每次回答的预算 {_dollars(budget)}（KB_QA_BUDGET_PER_ANSWER）"
        )
    return (
        f"this answer may cost {_dollars(most)}, and the budget of an answer is {_dollars(budget)}; "
        "raise KB_QA_BUDGET_PER_ANSWER, or ask for fewer materials"
    )


def _spent(spent: int, most: int, budget: int, language: Language) -> str:
    if language == "zh":
        return (
            f"今日预算 {_dollars(budget)} 已用 {_dollars(spent)}，不足以回答此问题（最多 {_dollars(most)}）；"
            "请明天再问，或提高 KB_QA_BUDGET_PER_DAY"
        )
    return (
        f"{_dollars(spent)} of today's budget of {_dollars(budget)} are spent, too much for this answer (up to "
        f"{_dollars(most)}); ask tomorrow, or raise KB_QA_BUDGET_PER_DAY"
    )
