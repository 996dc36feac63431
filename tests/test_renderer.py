"""Drawing happens in child processes: errors come back typed, and a stuck or crashed child harms nothing else."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from kb_qa.errors import (
    DamagedFileError,
    EnvironmentProblemError,
    InvalidRegionError,
    LimitExceededError,
    NotFoundError,
)
from kb_qa.geometry import BBox
from kb_qa.marks import MarkedClaim, PageMarks
from kb_qa.pages import picture_png
from kb_qa.picture import Picture
from kb_qa.renderer import Renderer, forget_pictures

pytestmark = pytest.mark.anyio

DOCUMENT = "d" * 64
BOX = BBox(40, 80, 200, 120)


@pytest.fixture(scope="module")
def pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a figure on it."""
    document = pymupdf.open()
    document.new_page(width=400, height=600).insert_text((50, 100), "Net revenue 4,812", fontsize=12)
    path = tmp_path_factory.mktemp("pdf") / "a.pdf"
    document.save(path)
    return path


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that takes minutes to draw: one square a great many times, a few kilobytes in the file."""
    document = pymupdf.open()
    page = document.new_page()
    page.draw_rect(page.rect, fill=(1, 0, 0))
    document.update_stream(page.get_contents()[0], b"0 0 500 500 re f\n" * 50_000)
    path = tmp_path_factory.mktemp("endless") / "a.pdf"
    document.save(path, deflate=True)
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def shared(cache: Path) -> Iterator[Renderer]:
    """One renderer for the tests that do no harm to it: a child takes a second to start."""
    with Renderer(cache) as renderer:
        yield renderer


async def test_pictures_are_those_of_pages(shared: Renderer, pdf: Path, cache: Path) -> None:
    """What a child draws is byte for byte what `pages` draws, and is the same from the cache."""
    assert await shared.picture(pdf, DOCUMENT, Picture(1, dpi=72)) == picture_png(pdf, Picture(1, dpi=72))
    region = await shared.picture(pdf, DOCUMENT, Picture(1, BOX, 72, 4))
    assert region == picture_png(pdf, Picture(1, BOX, 72, 4))
    gone = pdf.with_name("gone.pdf")
    assert await shared.picture(gone, DOCUMENT, Picture(1, BOX, 72, 4)) == region
    with pytest.raises(NotFoundError):
        await shared.picture(gone, DOCUMENT, Picture(1, BOX, 73, 4))
    forget_pictures(cache, DOCUMENT)
    with pytest.raises(NotFoundError):
        await shared.picture(gone, DOCUMENT, Picture(1, BOX, 72, 4))


async def test_errors_of_the_child_come_back_as_they_are(shared: Renderer, pdf: Path, tmp_path: Path) -> None:
    """Type and message cross the process border."""
    with pytest.raises(InvalidRegionError, match="inverted"):
        await shared.picture(pdf, DOCUMENT, Picture(1, BBox(10, 10, 5, 20)))
    with pytest.raises(NotFoundError, match="has 1"):
        await shared.picture(pdf, DOCUMENT, Picture(7))
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"hello world")
    with pytest.raises(DamagedFileError, match="this document cannot"):  # never its name on disk
        await shared.picture(broken, "other", Picture(1))


async def test_a_page_that_takes_too_long_is_given_up(tmp_path: Path, pdf: Path, endless: Path) -> None:
    """The child is killed at the limit; the loop stays awake meanwhile, and the next picture is drawn."""
    with Renderer(tmp_path, seconds=2) as renderer:
        await renderer.picture(pdf, DOCUMENT, Picture(1))
        started = time.monotonic()
        stuck = asyncio.create_task(renderer.picture(endless, "endless", Picture(1)))
        await asyncio.sleep(0.1)
        assert not stuck.done()
        with pytest.raises(LimitExceededError, match="2 seconds"):
            await stuck
        assert time.monotonic() - started < 5
        assert await renderer.picture(pdf, DOCUMENT, Picture(1, dpi=36))


async def test_a_child_that_dies_fails_one_picture_only(tmp_path: Path, pdf: Path, endless: Path) -> None:
    """A crash is an error of that page; the pool is whole again for the next one."""
    with Renderer(tmp_path) as renderer:
        others = {child.pid for child in multiprocessing.active_children()}
        await renderer.picture(pdf, DOCUMENT, Picture(1))
        (own,) = {child.pid for child in multiprocessing.active_children() if child.pid is not None} - others
        stuck = asyncio.create_task(renderer.picture(endless, "endless", Picture(1)))
        await asyncio.sleep(0.3)
        assert os.getsid(own) == own  # a session of its own
        os.kill(own, signal.SIGKILL)
        with pytest.raises(DamagedFileError, match="process ended"):
            await stuck
        assert await renderer.picture(pdf, DOCUMENT, Picture(1, dpi=36))


async def test_a_child_without_a_parent_ends(endless: Path) -> None:
    """Where the service was killed nobody times its children: the kernel does, also in the middle of MuPDF."""
    program = (
        "import sys; from functools import partial; from pathlib import Path; from kb_qa.pages import picture_png\n"
        "from kb_qa.picture import Picture; from kb_qa.renderer import within\n"
        "print(within(lambda: 'drawn', 60), flush=True)\n"
        "within(partial(picture_png, Path(sys.argv[1]), Picture(1)), 0.2)"
    )
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program, str(endless)], capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (-signal.SIGPROF, b"drawn\n")


async def test_a_cancelled_picture_stops_its_child(tmp_path: Path, pdf: Path, endless: Path) -> None:
    """A reader who leaves frees the child for others."""
    with Renderer(tmp_path, workers=1) as renderer:
        await renderer.picture(pdf, DOCUMENT, Picture(1))
        stuck = asyncio.create_task(renderer.picture(endless, "endless", Picture(1)))
        await asyncio.sleep(0.3)
        stuck.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stuck
        async with asyncio.timeout(10):
            assert await renderer.picture(pdf, DOCUMENT, Picture(1, dpi=36))


async def test_the_cache_keeps_the_latest_within_its_size(tmp_path: Path, pdf: Path) -> None:
    """Pictures beyond the size go, the least recently used first; no partial file is left, and none elsewhere.

    So go halves of files that a child left long ago, which was ended while it wrote.
    """
    left = tmp_path / "a" / "cache" / "b" / ".left"
    left.mkdir(parents=True)
    (left.parent / ".picture.part").write_bytes(b"half of a picture")
    (left / "marked.pdf.part").write_bytes(b"half of a document")
    for path in (left, left.parent / ".picture.part"):
        os.utime(path, (0, 0))
    with Renderer(tmp_path / "a" / "cache", cache_mb=0.02) as renderer:
        for dpi in range(72, 84):
            await renderer.picture(pdf, "../../escaped", Picture(1, dpi=dpi))
    assert [path.name for path in (*tmp_path.iterdir(), *(tmp_path / "a").iterdir())] == ["a", "cache"]
    files = list(tmp_path.rglob("*"))
    pictures = {path.read_bytes() for path in files if path.suffix == ".png"}
    assert sum(map(len, pictures)) <= 20_000
    assert picture_png(pdf, Picture(1, dpi=83)) in pictures
    assert picture_png(pdf, Picture(1, dpi=72)) not in pictures
    assert not [path for path in files if path.suffix == ".part"]


async def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path, pdf: Path) -> None:
    """A full or read-only disk fails no picture."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with Renderer(blocked) as renderer:
        assert await renderer.picture(pdf, DOCUMENT, Picture(1, dpi=36)) == picture_png(pdf, Picture(1, dpi=36))


async def test_a_closed_renderer_says_so(tmp_path: Path, pdf: Path) -> None:
    """After the end there are no more pictures, and no hanging."""
    renderer = Renderer(tmp_path)
    renderer.close()
    with pytest.raises(EnvironmentProblemError, match="closed"):
        await renderer.picture(pdf, DOCUMENT, Picture(1))


async def test_many_at_once_are_the_same_as_one_by_one(tmp_path: Path, pdf: Path) -> None:
    """B17: twenty pictures of two documents at once, drawn by two children, are byte for byte the serial ones."""
    other = tmp_path / "other.pdf"
    document = pymupdf.open()
    document.new_page(width=300, height=300).insert_text((50, 100), "4,913 costs", fontsize=14)
    document.save(other)
    asked = [
        (path, Picture(1, BBox(30 + n, 60, 220, 130), 100 + n, marks=(BOX,) * (n % 2)))
        for n in range(10)
        for path in (pdf, other)
    ]
    with Renderer(tmp_path / "cache", workers=2) as renderer:
        drawn = await asyncio.gather(*(renderer.picture(path, str(path), picture) for path, picture in asked))
    assert drawn == [picture_png(path, picture) for path, picture in asked]


async def test_a_file_that_was_replaced_is_opened_anew(
    shared: Renderer, pdf: Path, cache: Path, tmp_path: Path
) -> None:
    """Children keep documents open, but never show what a file held before."""
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf.read_bytes())
    first = await shared.picture(path, "replaced", Picture(1, dpi=72))
    document = pymupdf.open()
    document.new_page(width=200, height=100)
    document.save(tmp_path / "b.pdf")
    (tmp_path / "b.pdf").replace(path)
    forget_pictures(cache, "replaced")
    again = await shared.picture(path, "replaced", Picture(1, dpi=72))
    assert again == picture_png(path, Picture(1, dpi=72)) != first


def open_files() -> list[str]:
    return [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells what a process has open")
async def test_a_file_that_is_gone_is_closed(tmp_path: Path, pdf: Path) -> None:
    """The next drawing lets go of a deleted document; a picture that was drawn of it meanwhile is not kept."""
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf.read_bytes())
    with Renderer(tmp_path / "cache") as renderer:
        png = await renderer.picture(path, "gone", Picture(1, dpi=72))
        assert str(path) in await renderer._made(open_files, "what is open")
        path.unlink()
        forget_pictures(tmp_path / "cache", "gone")
        renderer._keep(path, "gone", Picture(1, dpi=72), png)
        assert renderer.kept("gone", Picture(1, dpi=72)) is None
        await renderer.picture(pdf, DOCUMENT, Picture(1, dpi=72))
        assert not [each for each in await renderer._made(open_files, "what is open") if str(path) in each]


async def test_a_marked_copy_is_written_once(shared: Renderer, pdf: Path, cache: Path) -> None:
    """The copy is kept like a picture and forgotten with its document; the original stays as it is."""
    before = pdf.read_bytes()
    claim = MarkedClaim(1, "Net revenue was 4,812.", (1,), (PageMarks(1, (BOX,)),))
    written = await shared.highlighted(pdf, DOCUMENT, [claim])
    with pymupdf.open(written) as document:
        assert [annotation.info["content"] for annotation in document[0].annots()] == ["Net revenue was 4,812."]
    first = written.stat()
    assert (await shared.highlighted(pdf, DOCUMENT, [claim])).stat().st_ino == first.st_ino
    assert await shared.highlighted(pdf, DOCUMENT, [replace(claim, ordinal=2)]) != written
    assert pdf.read_bytes() == before
    forget_pictures(cache, DOCUMENT)
    assert not written.exists()


async def test_a_marked_copy_that_cannot_be_written_is_told(tmp_path: Path, pdf: Path) -> None:
    """Without a place to write to there is no copy, and a clear error."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with Renderer(blocked) as renderer, pytest.raises(EnvironmentProblemError, match="cannot be written"):
        await renderer.highlighted(pdf, DOCUMENT, [MarkedClaim(1, "x", (1,), (PageMarks(1, (BOX,)),))])


def environment_names() -> list[str]:
    return sorted(os.environ)


async def test_a_child_has_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens the renderer may hold the model's key; what a document does to a child cannot read it there."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush")
    with Renderer(tmp_path) as renderer:
        assert "ANTHROPIC_API_KEY" not in await renderer._made(environment_names, "the environment")
