"""What one key may take: requests a minute, streams at a time, tokens of language models a day."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from kb_qa.access_keys import AccessKeys
from kb_qa.answers import AnswerEvent
from kb_qa.errors import TooManyRequestsError
from kb_qa.service.key_ring import Caller

STREAM_RETRY_SECONDS: Final = 5
TOKENS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


@dataclass(slots=True)
class _Bucket:
    """Requests that may still come at once; it fills up again within a minute."""

    level: float
    at: float


@dataclass(slots=True)
class KeyLimits:
    """0 sets no limit. Requests without a key, which only this machine can send, have none."""

    keys: AccessKeys | None = None
    requests: int = 0  # a minute
    streams: int = 0  # at a time
    tokens: int = 0  # a day, UTC
    _buckets: dict[str, _Bucket] = field(default_factory=dict)
    _open: Counter[str] = field(default_factory=Counter)

    def count(self, caller: Caller) -> None:
        """One request more. Raises TooManyRequestsError."""
        if not caller.key_id or not self.requests:
            return
        now = time.monotonic()
        bucket = self._buckets.setdefault(caller.key_id, _Bucket(self.requests, now))
        rate = self.requests / 60
        bucket.level = min(self.requests, bucket.level + (now - bucket.at) * rate)
        bucket.at = now
        if bucket.level < 1:
            seconds = math.ceil((1 - bucket.level) / rate)
            raise TooManyRequestsError(f"this key may send {self.requests} requests a minute", retry_after=seconds)
        bucket.level -= 1

    @contextmanager
    def stream(self, caller: Caller) -> Iterator[None]:
        """While a stream is open. Raises TooManyRequestsError where the key has as many as it may."""
        if caller.key_id and self.streams and self._open[caller.key_id] >= self.streams:
            raise TooManyRequestsError(
                f"this key may have {self.streams} streams at a time", retry_after=STREAM_RETRY_SECONDS
            )
        self._open[caller.key_id] += 1
        try:
            yield
        finally:
            self._open[caller.key_id] -= 1

    async def require_tokens(self, caller: Caller) -> None:
        """Raises TooManyRequestsError where the day's tokens are spent; the answer that spends the last is finished."""
        if self.keys is None or not caller.key_id or not self.tokens:
            return
        now = datetime.now(UTC)
        if await asyncio.to_thread(self.keys.tokens, caller.key_id, _day(now)) >= self.tokens:
            tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
            seconds = math.ceil((tomorrow - now).total_seconds())
            raise TooManyRequestsError(
                f"this key has used its {self.tokens} tokens of today (UTC)", retry_after=seconds
            )

    async def charged(self, caller: Caller, events: AsyncGenerator[AnswerEvent]) -> AsyncGenerator[AnswerEvent]:
        """The same events; the tokens that they tell of are the key's."""
        async with aclosing(events):
            async for event in events:
                if event.event == "usage" and self.keys is not None and caller.key_id:
                    amount = sum(_whole(event.data.get(kind)) for kind in TOKENS)
                    if amount:
                        await asyncio.to_thread(self.keys.add_tokens, caller.key_id, _day(datetime.now(UTC)), amount)
                yield event


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _day(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d")
