"""Spreads the pages of a long PDF over the parser children, so that one document keeps every core busy."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from ingest.children import took_too_long
from ingest.kinds import Kind
from ingest.limits import Limits
from ingest.page_ranges import RANGE, ReadRange, join_ranges, parse_or_count, read_range
from kb_qa.elements import ParsedDocument
from kb_qa.errors import CrashedParserError

_log = logging.getLogger(__name__)


class Children(Protocol):
    """What is asked of `children.ParserPool`."""

    @property
    def workers(self) -> int: ...

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]: ...

    def run(self, parse: Callable[..., Any], path: Path, document_id: str, kind: Kind) -> Future[Any]: ...


class SpreadingPool:
    """A pool of the same children, in which several read one long PDF. Does not own the pool."""

    def __init__(self, pool: Children, limits: Limits) -> None:
        self._pool = pool
        self._limits = limits

    @property
    def workers(self) -> int:
        return self._pool.workers

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
        """As `ParserPool.submit`; the limit on time counts what all children spend on the document."""
        if kind != "pdf" or self.workers < 2:
            return self._pool.submit(path, document_id, kind)
        return _Spreading(self._pool, path, document_id, self._limits).future


class _Spreading:
    """One document on its way: counted, read in ranges, joined."""

    def __init__(self, pool: Children, path: Path, document_id: str, limits: Limits) -> None:
        self._pool = pool
        self._path = path
        self._document_id = document_id
        self._limits = limits
        self._lock = threading.Lock()
        self._running: list[Future[Any]] = []
        self._ranges: list[ReadRange | None] = []
        self.future: Future[ParsedDocument] = Future()
        self.future.add_done_callback(self._stop_the_rest)
        self._start(parse_or_count, self._counted)

    def _start(self, parse: Callable[..., Any], then: Callable[[Any], None]) -> None:
        running = self._pool.run(parse, self._path, self._document_id, "pdf")
        self._running.append(running)
        running.add_done_callback(functools.partial(self._ended, then))

    def _ended(self, then: Callable[[Any], None], running: Future[Any]) -> None:
        """Runs in a thread of the pool."""
        try:
            if running.cancelled():
                self.future.cancel()
            elif (error := running.exception()) is not None:
                self._settle(self.future.set_exception, error)
            elif not self.future.done():
                then(running.result())
        except Exception as error:  # noqa: BLE001  # a future swallows what callbacks raise; the document would hang
            _log.exception("the pages of %r could not be spread", self._path.name)
            failed = CrashedParserError(f"parsing {self._path.name!r} failed: {type(error).__name__}")
            self._settle(self.future.set_exception, failed)

    def _counted(self, found: ParsedDocument | int) -> None:
        if isinstance(found, ParsedDocument):
            self._settle(self.future.set_result, found)
            return
        starts = range(0, found, RANGE)
        self._ranges = [None] * len(starts)
        for index, start in enumerate(starts):
            parse = functools.partial(read_range, start=start, stop=min(start + RANGE, found))
            self._start(parse, functools.partial(self._read, index))

    def _read(self, index: int, part: ReadRange) -> None:
        with self._lock:
            self._ranges[index] = part
            ranges = [part for part in self._ranges if part is not None]
        if sum(part.seconds for part in ranges) > self._limits.seconds:
            self._settle(self.future.set_exception, took_too_long(self._path, self._limits))
        elif len(ranges) == len(self._ranges):
            parse = functools.partial(join_ranges, ranges=[part.packed for part in ranges])
            self._start(parse, functools.partial(self._settle, self.future.set_result))

    def _settle(self, setter: Callable[[Any], None], value: Any) -> None:
        with suppress(InvalidStateError):  # settled or cancelled meanwhile
            setter(value)

    def _stop_the_rest(self, future: Future[ParsedDocument]) -> None:
        for running in tuple(self._running):
            running.cancel()
