"""Calls to a Messages API: tried again before the first text, never after; closed when nobody listens any more."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import anthropic
from anthropic.types import Message

from kb_qa.answers import Language, ModelStop
from kb_qa.errors import ModelDeclinedError, ModelEmptyError, ModelInterruptedError
from kb_qa.models.accounts import Accounts
from kb_qa.models.outcomes import FAILURES, asked_wait, failure, is_tried_again, outcome_of
from kb_qa.models.replies import ReplyEvent, ReplyReader, Resolver
from kb_qa.models.request_limits import check_request
from kb_qa.models.requests import MessagesRequest

log = logging.getLogger(__name__)

SILENT_EVENTS = 10  # a host that only pings is given up after so many times the seconds of silence


@dataclass(frozen=True, slots=True)
class Connection:
    """How the host is reached. `silence` seconds without a byte end a call, `connect` seconds without a connection.

    `api_key` None leaves the credentials, and `base_url` None the address, to the SDK.
    """

    api_key: str | None = None
    base_url: str | None = None
    connect: float = 10.0
    silence: float = 60.0
    streaming: bool = True
    tries: int = 3
    first_wait: float = 0.5  # seconds; doubled with each try
    longest_wait: float = 20.0  # a host that asks for more is not waited for

    def client(self) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(
            api_key=self.api_key,
            base_url=self.base_url,
            max_retries=0,  # the SDK would try again after an hour, and never after an error inside a stream
            timeout=anthropic.Timeout(self.silence, connect=self.connect),
            open_telemetry=False,
        )


class Upstream:
    """`events` makes one call. Every failure is a `ModelError`."""

    def __init__(self, connection: Connection, accounts: Accounts) -> None:
        self._connection = connection
        self._accounts = accounts

    async def events(
        self, request: MessagesRequest, resolve: Resolver, language: Language, materials: tuple[str, ...]
    ) -> AsyncGenerator[ReplyEvent]:
        """The reply's events and its stop. `materials` are the ids of what is asked about, for the cache's log.

        The upstream is closed when this generator is. Raises ModelError: before the call where it is too large or too
        dear, at once for what no other try would change, and whenever text has been passed on.
        """
        check_request(request, language)
        reserved = await asyncio.to_thread(self._accounts.reserve, request, language)
        try:
            async with self._connection.client() as client:
                for attempt in range(1, self._connection.tries + 1):
                    reader = ReplyReader(resolve)
                    try:
                        async with aclosing(self._call(client, request, reader)) as events:
                            async for event in events:
                                yield event
                        yield await self._ending(reader, request, language, materials)
                        return
                    except (*FAILURES, ModelInterruptedError) as cause:
                        wait = self._wait(reader, cause, attempt, language)
                    finally:
                        if reader.stop is None and reader.usage:  # a reply that was cut is paid for as well
                            await asyncio.to_thread(self._accounts.settle, request, reader.cut_usage, materials)
                    await asyncio.sleep(wait)
        finally:
            self._accounts.release(reserved)

    async def upload(self, name: str, data: bytes, media_type: str, language: Language) -> str:
        """The host's id of the file. Raises ModelError."""
        try:
            async with self._connection.client() as client:
                return (await client.files.upload(file=(name, data, media_type))).id
        except FAILURES as cause:
            raise outcome_of(cause, language, began=False) from cause

    async def _call(
        self, client: anthropic.AsyncAnthropic, request: MessagesRequest, reader: ReplyReader
    ) -> AsyncGenerator[ReplyEvent]:
        if not self._connection.streaming:
            message = await client.messages.create(**request.body)
            if not isinstance(message, Message):
                raise ValueError(f"no message: {message!r:.200}")
            for event in reader.read(message):
                yield event
            return
        async with await client.messages.create(**request.body, stream=True) as stream:
            events = aiter(stream)
            while reader.stop is None:
                # Pings keep a connection alive and tell nothing: they do so only for a while.
                async with asyncio.timeout(SILENT_EVENTS * self._connection.silence):
                    raw = await anext(events, None)
                if raw is None:
                    return
                for event in reader.feed(raw):
                    yield event

    async def _ending(
        self, reader: ReplyReader, request: MessagesRequest, language: Language, materials: tuple[str, ...]
    ) -> ModelStop:
        """The stop with its usage and cost. Raises ModelError where the reply has no end, or no word."""
        if reader.stop is None:
            raise failure(ModelInterruptedError, language)
        usage = await asyncio.to_thread(self._accounts.settle, request, reader.usage, materials)
        if reader.dropped:
            log.warning("reply %s: %d citations point to nothing that was sent", reader.message_id, reader.dropped)
        if not reader.heard:
            error = failure(ModelDeclinedError if reader.stop.stop_reason == "refusal" else ModelEmptyError, language)
            self._accounts.meter.add("model_calls", outcome=error.code)
            raise error
        self._accounts.meter.add("model_calls", outcome="ok")
        return ModelStop(reader.stop.stop_reason, usage)

    def _wait(self, reader: ReplyReader, cause: Exception, attempt: int, language: Language) -> float:
        """The seconds before the next try. Raises the typed error where there is none."""
        error = outcome_of(cause, language, began=bool(reader.message_id))
        asked = asked_wait(cause)
        last = attempt >= self._connection.tries or not is_tried_again(error, cause)
        too_long = asked is not None and asked > self._connection.longest_wait
        detail = f"{type(cause).__name__}: {cause}"
        if reader.heard or last or too_long:
            self._accounts.meter.add("model_calls", outcome=error.code)
            log.warning("the model failed (%s, request %s)", error.code, error.upstream_id or "?")
            log.debug("the words of the model's host, which may repeat what it was sent: %.500s", detail)
            raise error from cause
        self._accounts.meter.add("model_retries")
        own = self._connection.first_wait * 2 ** (attempt - 1) * random.uniform(0.75, 1)
        wait = own if asked is None else asked
        log.info("try %d failed (%s, request %s), next in %.1f s", attempt, error.code, error.upstream_id or "?", wait)
        return wait
