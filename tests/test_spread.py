"""A long PDF is read by several children, and is the same document; what fails in one of them fails it once."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from ingest.children import ParserPool
from ingest.kinds import Kind
from ingest.limits import Limits
from ingest.page_ranges import RANGE, ReadRange
from ingest.page_watch import PageWatch
from ingest.pdf import parse_pdf
from ingest.spread import MOST_DEATHS, SpreadingPool
from kb_qa.elements import ParsedDocument
from kb_qa.errors import CrashedParserError, DamagedFileError, LimitExceededError
from kb_qa.quality_reasons import reason_in
from tests.hostile_parsers import with_bad_pages

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


def test_what_has_no_pages_goes_to_one_child() -> None:
    """There is nothing to spread."""
    pool = PatientPool()
    future = SpreadingPool(pool, pool.limits).submit(Path("file"), "d", "text")
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


# Pages on which a child dies


@dataclass(slots=True)
class HostilePool:
    """Real children, whose reader does on some pages what `bad` says."""

    pool: ParserPool
    bad: dict[int, str]
    workers: int = 1

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
        return self.pool.submit(path, document_id, kind)

    def run(self, parse: Callable[..., Any], path: Path, document_id: str, kind: Kind) -> Future[Any]:
        return self.pool.run(functools.partial(with_bad_pages, parse=parse, bad=self.bad), path, document_id, kind)


@pytest.fixture(scope="module")
def children() -> Iterator[ParserPool]:
    with ParserPool(limits=Limits(page_seconds=8, memory_mb=2000), workers=1) as pool:
        yield pool


def pages_of_prose(path: Path, count: int, *, blank: int = 0) -> Path:
    """Page by page its number and prose; on the page numbered `blank` a picture alone."""
    with pymupdf.open() as document:
        for number in range(1, count + 1):
            page = document.new_page(width=595, height=842)
            if number == blank:
                page.draw_rect((100, 100, 400, 400), fill=(0.2, 0.4, 0.6))
            else:
                page.insert_textbox((72, 90, 500, 780), f"Page {number}. {PROSE * 5}", fontsize=10)
        document.save(path)
    return path


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("crash", "it crashed its parser"),
        ("hang", "it took too long (KB_QA_PAGE_SECONDS)"),
        ("loop", "it took too long (KB_QA_PAGE_SECONDS)"),
        ("bloat", "it crashed its parser"),
    ],
)
def test_a_bad_page_3_loses_no_other(children: ParserPool, tmp_path: Path, action: str, reason: str) -> None:
    """Pages 1, 2, 4 and 5 are read; page 3, which holds no text, is told with its reason, and flagged."""
    path = pages_of_prose(tmp_path / "five.pdf", 5, blank=3)
    limits = Limits(page_seconds=8)
    parsed = SpreadingPool(HostilePool(children, {3: action}), limits).submit(path, "d", "pdf").result(300)
    assert [page.number for page in parsed.pages] == [1, 2, 3, 4, 5]
    assert [page.quality.grade for page in parsed.pages] == ["good", "good", "poor", "good", "good"]
    assert parsed.flags == (f"page 3 unreadable: {reason}",)
    assert [element.text[:7] for element in parsed.elements] == [f"Page {number}." for number in (1, 2, 4, 5)]
    assert reason_in("zh", parsed.flags[0]) != parsed.flags[0]


def test_a_page_whose_reading_crashes_keeps_its_text_layer(children: ParserPool, tmp_path: Path) -> None:
    """What a model or the layout dies of need not lose the words; two bad pages in one range, one of them the last."""
    path = pages_of_prose(tmp_path / "long.pdf", PAGES)
    hostile = HostilePool(children, {2: "crash", RANGE: "crash"})
    parsed = SpreadingPool(hostile, Limits()).submit(path, "d", "pdf").result(300)
    poorer = [page.number for page in parsed.pages if page.quality.grade != "good"]
    assert (len(parsed.pages), poorer) == (PAGES, [2, RANGE])
    texts = " ".join(element.text for element in parsed.elements)
    assert all(f"Page {number}." in texts for number in range(1, PAGES + 1))
    assert all("read without layout and tables" in flag for flag in parsed.flags)


def test_a_document_of_which_no_page_can_be_read_fails_with_what_befell_it(
    children: ParserPool, tmp_path: Path
) -> None:
    """It is not called damaged, as the pages may be sound."""
    path = pages_of_prose(tmp_path / "one.pdf", 1, blank=1)
    future = SpreadingPool(HostilePool(children, {1: "crash"}), Limits()).submit(path, "d", "pdf")
    with pytest.raises(CrashedParserError, match="SIGABRT"):
        future.result(300)


@dataclass(slots=True)
class DeadlyPool:
    """Every child dies at once, at the first page that it was to read."""

    limits: Limits = field(default_factory=Limits)
    workers: int = 1
    died: int = 0

    def submit(self, path: Path, document_id: str, kind: Kind) -> Future[ParsedDocument]:
        raise AssertionError("documents with pages are read page by page")

    def run(self, parse: Callable[..., Any], path: Path, document_id: str, kind: Kind) -> Future[Any]:
        assert isinstance(parse, functools.partial)
        pages = parse.keywords.get("pages", range(1000))
        parse.keywords["watch"].mark.write_text(f"{pages[0]} 1000")
        self.died += 1
        future: Future[Any] = Future()
        future.set_exception(CrashedParserError(f"death {self.died}"))
        return future


def test_a_file_made_to_kill_children_is_given_up() -> None:
    """After so many pages, and not after a thousand: each death costs new children."""
    pool = DeadlyPool()
    future = SpreadingPool(pool, pool.limits).submit(Path("file.pdf"), "d", "pdf")
    with pytest.raises(CrashedParserError):
        future.result(0)
    assert pool.died <= 3 * MOST_DEATHS


@pytest.mark.parametrize("mark", ["", "3", "-1 5", "5 5", "1 2 3", "99999999999 5", "x y"])
def test_a_mark_that_makes_no_sense_is_none(tmp_path: Path, mark: str) -> None:
    """A child can write what it likes; then the document fails as a whole."""
    watch = PageWatch(tmp_path / "mark", 1.0)
    assert watch.died_at() is None
    watch.mark.write_text(mark)
    assert watch.died_at() is None
