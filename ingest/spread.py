"""Spreads the pages of a long document over the parser children, and goes on without a page on which they die.

One document keeps every core busy so, and a page that crashes, hangs or bloats its child loses no other page.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from ingest.kinds import Kind
from ingest.limits import Limits, took_too_long
from ingest.page_ranges import RANGE, LostPage, Part, join_ranges, parse_or_count, read_plainly, read_range
from ingest.page_watch import PageWatch
from kb_qa.elements import ParsedDocument
from kb_qa.errors import CrashedParserError, OverrunError
from kb_qa.scratch import Scratch

_log = logging.getLogger(__name__)

MOST_DEATHS = 10  # pages of one document; each costs new children, and a file made to kill them has thousands
_DEADLY = (CrashedParserError, OverrunError)
_IN_PAGES: frozenset[Kind] = frozenset({"pdf", "image"})


class Children(Protocol):
    """What is asked of `children.ParserPool`."""

    @property
    def workers(self) -> int: ...

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]: ...

    def run(self, parse: Callable[..., Any], path: Path, document_id: str, kind: Kind) -> Future[Any]: ...


class SpreadingPool:
    """A pool of the same children, which read a document with pages page by page. Does not own the pool."""

    def __init__(self, pool: Children, limits: Limits) -> None:
        self._pool = pool
        self._limits = limits

    @property
    def workers(self) -> int:
        return self._pool.workers

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
        """As `ParserPool.submit`; the limit on time counts what all children spend on the document.

        A page on which its child dies is flagged in the document; the future raises where it is the only one.
        """
        if kind not in _IN_PAGES:
            return self._pool.submit(path, document_id, kind)
        return _Spreading(self._pool, path, document_id, kind, self._limits).future


class _Spreading:
    """One document on its way. Every callback runs in a thread of the pool, one at a time."""

    def __init__(self, pool: Children, path: Path, document_id: str, kind: Kind, limits: Limits) -> None:
        self._pool = pool
        self._file = path, document_id, kind
        self._limits = limits
        self._lock = threading.RLock()
        self._running: list[Future[Any]] = []
        self._seconds = 0.0
        self._parts: dict[int, Part | None] = {}  # by the place of their first page; None: not yet
        self._deaths = 0
        self._first_death: BaseException | None = None
        self._marks = Scratch()
        self.future: Future[ParsedDocument] = Future()
        self.future.add_done_callback(self._stop_the_rest)
        watch = self._watch("whole")
        parse = functools.partial(parse_or_count, watch=watch)
        self._start(parse, self._counted, functools.partial(self._died, watch, 0, None))

    def _watch(self, name: str) -> PageWatch:
        return PageWatch(self._marks.path / name, self._limits.page_limit)

    def _start(
        self, parse: Callable[..., Any], then: Callable[[Any], None], failed: Callable[[BaseException], None]
    ) -> None:
        running = self._pool.run(parse, *self._file)
        self._running.append(running)
        running.add_done_callback(functools.partial(self._ended, then, failed))

    def _ended(
        self, then: Callable[[Any], None], failed: Callable[[BaseException], None], running: Future[Any]
    ) -> None:
        try:
            with self._lock:
                if running.cancelled():
                    self.future.cancel()
                elif self.future.done():
                    return
                elif (error := running.exception()) is not None:
                    failed(error)
                else:
                    then(running.result())
        except Exception as error:  # noqa: BLE001  # a future swallows what callbacks raise; the document would hang
            _log.exception("the pages of %r could not be spread", self._name)
            self._fail(CrashedParserError(f"parsing {self._name!r} failed: {type(error).__name__}"))

    @property
    def _name(self) -> str:
        return self._file[0].name

    def _counted(self, found: ParsedDocument | int) -> None:
        if isinstance(found, ParsedDocument):
            self._settle(self.future.set_result, found)
        else:
            self._read(0, found)

    def _read(self, start: int, stop: int) -> None:
        """The pages at these places, in ranges."""
        starts = range(start, stop, RANGE)
        self._parts.update(dict.fromkeys(starts))  # all expected before the first can be done
        for first in starts:
            last = min(first + RANGE, stop)
            watch = self._watch(str(first))
            parse = functools.partial(read_range, watch=watch, pages=range(first, last))
            died = functools.partial(self._died, watch, first, last)
            self._start(parse, functools.partial(self._arrived, first), died)

    def _died(self, watch: PageWatch, start: int, stop: int | None, error: BaseException) -> None:
        """Goes on without the page at which the child died. No death, or a death at no page, is the document's error.

        `stop` None: all pages were to be read.
        """
        place = watch.died_at() if isinstance(error, _DEADLY) else None
        if place is None or not start <= place[0] < (stop or place[1]):
            self._fail(error)
            return
        index, count = place
        _log.warning("page %d of %r: %s", index + 1, self._name, error)
        self._first_death = self._first_death or error
        self._deaths += 1
        if self._deaths > MOST_DEATHS:
            self._fail(error)
            return
        too_long = isinstance(error, OverrunError)
        self._seconds += self._limits.page_limit if too_long else 0.0
        reason = "it took too long (KB_QA_PAGE_SECONDS)" if too_long else "it crashed its parser"
        self._parts[index] = None
        self._read(start, index)
        self._read(index + 1, stop or count)
        lost = LostPage(index, reason)
        parse = functools.partial(read_plainly, watch=self._watch(f"{index}-plain"), lost=lost)
        self._start(parse, functools.partial(self._arrived, index), functools.partial(self._lost, lost))

    def _lost(self, page: LostPage, error: BaseException) -> None:
        if isinstance(error, _DEADLY):
            self._arrived(page.index, page)
        else:
            self._fail(error)

    def _arrived(self, start: int, part: Part) -> None:
        self._parts[start] = part
        self._seconds += 0.0 if isinstance(part, LostPage) else part.seconds
        parts = [self._parts[place] for place in sorted(self._parts)]
        if self._seconds > self._limits.seconds:
            self._fail(took_too_long(self._file[0], self._limits))
        elif self._first_death is not None and all(isinstance(part, LostPage) for part in parts):
            self._fail(self._first_death)
        elif all(part is not None for part in parts):
            ranges = [part if isinstance(part, LostPage) else part.packed for part in parts if part is not None]
            join = functools.partial(join_ranges, ranges=ranges)
            self._start(join, functools.partial(self._settle, self.future.set_result), self._fail)

    def _fail(self, error: BaseException) -> None:
        self._settle(self.future.set_exception, error)

    def _settle(self, setter: Callable[[Any], None], value: Any) -> None:
        with suppress(InvalidStateError):  # settled or cancelled meanwhile
            setter(value)

    def _stop_the_rest(self, future: Future[ParsedDocument]) -> None:
        for running in tuple(self._running):
            running.cancel()
        self._marks.remove()
