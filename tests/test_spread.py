"""A long PDF is read by several children, and is the same document; what fails in one of them fails it once."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from ingest.kinds import Kind
from ingest.limits import Limits
from ingest.page_ranges import RANGE, ReadRange
from ingest.pdf import parse_pdf
from ingest.spread import SpreadingPool
from kb_qa.elements import ParsedDocument
from kb_qa.errors import CrashedParserError, DamagedFileError, LimitExceededError

PROSE = "the board has approved the annual budget for the coming year and will review it again in autumn, and "
PAGES = RANGE + 2


@dataclass(slots=True)
class PatientPool:
    """Calls in this process when the test says so, the call made last first."""

    limits: Limits = field(default_factory=Limits)
    workers: int = 2
    waiting: list[tuple[Future[Any], Callable[[], Any]]] = field(default_factory=list)

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
        return self.run(lambda *file, limits: f"whole {file[0].name}", path, document_id, kind)

    def run(self, parse: Callable[..., Any], path: Path, document_id: str, kind: Kind) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, lambda: parse(path, document_id, kind, limits=self.limits)))
        return future

    def go_on(self) -> None:
        future, call = self.waiting.pop()
        if not future.cancelled():
            try:
                future.set_result(call())
            except Exception as error:  # noqa: BLE001  # what a child sends back
                future.set_exception(error)

    def finish(self) -> None:
        while self.waiting:
            self.go_on()


@pytest.fixture(scope="module")
def long_pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of plain prose that runs on from page to page, under one running header."""
    path = tmp_path_factory.mktemp("long") / "long.pdf"
    with pymupdf.open() as document:
        for number in range(PAGES):
            page = document.new_page(width=595, height=842)
            page.insert_text((72, 40), "Annual report", fontsize=10)
            page.insert_textbox((72, 90, 500, 780), PROSE * 38, fontsize=10, align=pymupdf.TEXT_ALIGN_JUSTIFY)
            page.insert_text((290, 820), str(number + 1), fontsize=10)
        document.save(path)
    return path


def test_a_document_read_in_ranges_is_the_same(long_pdf: Path) -> None:
    """Elements, pages and flags are those of one reading, in whatever order the ranges come."""
    pool = PatientPool()
    future = SpreadingPool(pool, pool.limits).submit(long_pdf, "d", "pdf")
    pool.go_on()
    assert len(pool.waiting) == 2
    pool.finish()
    whole = parse_pdf(long_pdf, "d", limits=Limits())
    assert future.result(0) == whole
    assert any(len({region.page for region in element.regions}) > 1 for element in whole.elements)


def test_a_short_document_is_one_task(tmp_path: Path) -> None:
    """Counting it is reading it."""
    path = tmp_path / "short.pdf"
    with pymupdf.open() as document:
        document.new_page().insert_textbox((72, 72, 500, 780), PROSE * 38, fontsize=10)
        document.save(path)
    pool = PatientPool()
    future = SpreadingPool(pool, pool.limits).submit(path, "d", "pdf")
    pool.go_on()
    assert not pool.waiting
    assert len(future.result(0).pages) == 1


@pytest.mark.parametrize(("kind", "workers"), [("text", 2), ("pdf", 1)], ids=["no-pdf", "one-child"])
def test_what_cannot_be_spread_goes_to_one_child(kind: Kind, workers: int) -> None:
    """Other formats, and every file where there is one child only."""
    pool = PatientPool(workers=workers)
    future = SpreadingPool(pool, pool.limits).submit(Path("file"), "d", kind)
    pool.finish()
    assert str(future.result(0)) == "whole file"


def test_a_range_that_fails_fails_the_document(long_pdf: Path) -> None:
    """With the range's own error; the ranges that wait are not read any more."""
    pool = PatientPool()
    future = SpreadingPool(pool, pool.limits).submit(long_pdf, "d", "pdf")
    pool.go_on()
    pool.waiting[-1][0].set_exception(DamagedFileError("broken"))
    with pytest.raises(DamagedFileError):
        future.result(0)
    assert all(waiting.cancelled() for waiting, _ in pool.waiting[:-1])


def test_a_range_that_is_nonsense_fails_the_document(long_pdf: Path) -> None:
    """It does not hang: what the callbacks raise would be swallowed."""
    pool = PatientPool()
    future = SpreadingPool(pool, pool.limits).submit(long_pdf, "d", "pdf")
    pool.go_on()
    pool.waiting[-1][0].set_result("nonsense")
    with pytest.raises(CrashedParserError):
        future.result(0)


def test_the_time_of_all_ranges_counts(long_pdf: Path) -> None:
    """A document takes no more seconds in pieces than in one piece."""
    pool = PatientPool(limits=Limits(seconds=10))
    future = SpreadingPool(pool, pool.limits).submit(long_pdf, "d", "pdf")
    pool.go_on()
    pool.waiting[-1][0].set_result(ReadRange(b"", 6.0))
    assert not future.done()
    pool.waiting[-2][0].set_result(ReadRange(b"", 6.0))
    with pytest.raises(LimitExceededError, match="10 s"):
        future.result(0)


def test_cancelling_stops_every_child(long_pdf: Path) -> None:
    """Nothing is read for a document that nobody waits for."""
    pool = PatientPool()
    future = SpreadingPool(pool, pool.limits).submit(long_pdf, "d", "pdf")
    pool.go_on()
    started = time.monotonic()
    assert future.cancel()
    assert all(waiting.cancelled() for waiting, _ in pool.waiting)
    assert time.monotonic() - started < 1
