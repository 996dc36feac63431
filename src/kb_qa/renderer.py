"""Pictures for the service: drawn in child processes that can be killed, kept on disk.

PyMuPDF is not thread-safe, and a page can make it hang, crash or grow: only a child process suffers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import shutil
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from kb_qa.elements import content_id
from kb_qa.errors import DamagedFileError, EnvironmentProblemError, LimitExceededError
from kb_qa.highlight import write_highlighted
from kb_qa.marks import MarkedClaim
from kb_qa.mupdf import pymupdf
from kb_qa.pages import MAX_MEGAPIXELS, drawn, open_checked, shown_page, write_atomically
from kb_qa.picture import MAX_DPI, Picture

log = logging.getLogger(__name__)

Made = TypeVar("Made")

# Part of every name in the cache: raise it when the same request is to give another picture.
PICTURE_VERSION = 2

# A child is replaced after so many pictures, whatever MuPDF has kept by then. The next one takes a second to start.
_PICTURES_PER_CHILD = 2000

# What messages call a file whose name on disk means nothing to a reader.
SUBJECT = "this document"

_HALF_SECONDS = 3600  # after which what a child was writing when it was ended is left over

# Times the seconds of a picture, after which a child that is still at it ends by itself: nobody is left to end it.
_ORPHAN_PATIENCE = 2

_OPEN_DOCUMENTS = 4  # kept open by a child: crops of one answer are of few documents

# All that a child needs of the environment; keys stay outside.
_KEPT_VARIABLES = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH"})


class Renderer:
    """Draws in at most `workers` child processes, each picture in at most `seconds` and `memory_mb`.

    Pictures are kept under `cache`, a folder a document, up to `cache_mb` in all; the least recently used go first.
    Children start with the first picture. Close it, or use it as a context manager.
    """

    def __init__(
        self,
        cache: Path,
        *,
        workers: int = 1,
        seconds: float = 30,
        memory_mb: int = 3000,
        max_megapixels: float = MAX_MEGAPIXELS,
        cache_mb: float = 500,
    ) -> None:
        self._kept = _KeptPictures(cache, int(cache_mb * 1_000_000))
        self._seconds = seconds
        self._max_megapixels = max_megapixels
        self._pool = ProcessPool(
            max_workers=workers,
            max_tasks=_PICTURES_PER_CHILD,
            initializer=_prepare_child,
            initargs=[memory_mb],
            context=get_context("spawn"),
        )

    async def picture(self, path: Path, document_id: str, picture: Picture, *, subject: str = SUBJECT) -> bytes:
        """The PNG of `picture` of the file, as `pages.picture_png` draws it, in a child.

        `subject` is what messages call the file. Raises LimitExceededError where it takes too long.
        """
        kept = await asyncio.to_thread(self.kept, document_id, picture)
        if kept is not None:
            return kept
        draw = partial(_draw, path, picture, max_megapixels=self._max_megapixels, subject=subject)
        png = await self._made(draw, f"page {picture.page}")
        await asyncio.to_thread(self._keep, path, document_id, picture, png)
        return png

    def _keep(self, path: Path, document_id: str, picture: Picture, png: bytes) -> None:
        if path.exists():  # else it was deleted meanwhile, and its pictures with it
            self._kept.put(document_id, self._name(picture), png)

    def kept(self, document_id: str, picture: Picture) -> bytes | None:
        """The picture, where it was drawn before. Reads the disk: not for an event loop."""
        return self._kept.get(document_id, self._name(picture))

    def _name(self, picture: Picture) -> str:
        return content_id(PICTURE_VERSION, self._max_megapixels, *_key(picture)) + ".png"

    async def highlighted(
        self, path: Path, document_id: str, claims: Sequence[MarkedClaim], *, subject: str = SUBJECT
    ) -> Path:
        """A PDF of the file in which the claims' passages are marked, written in a child and kept like a picture.

        Raises EnvironmentProblemError where it cannot be written, and what `highlight.write_highlighted` does.
        """
        name = content_id(PICTURE_VERSION, *claims) + ".pdf"
        kept = await asyncio.to_thread(self._kept.find, document_id, name)
        if kept is not None:
            return kept
        try:
            target = await asyncio.to_thread(self._kept.place, document_id, name)
            write = partial(write_highlighted, path, tuple(claims), target, subject=subject)
            size = await self._made(write, subject)
            await asyncio.to_thread(self._kept.count, size)
        except OSError as error:
            raise EnvironmentProblemError(f"the marked copy cannot be written: {error.strerror}") from error
        return target

    def warm_up(self) -> None:
        """Starts a child now, so that the first picture does not wait for it."""
        self._pool.schedule(int)

    def close(self) -> None:
        """Ends the children, whatever they are drawing."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # not annotated in pebble
        self._pool.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def _made(self, make: Callable[[], Made], what: str) -> Made:
        """Errors of the child come back as they are. Cancelling this ends the child's work."""
        try:
            bounded = partial(within, make, _ORPHAN_PATIENCE * self._seconds)
            future = self._pool.schedule(bounded, timeout=self._seconds)
        except RuntimeError as error:
            raise EnvironmentProblemError("the renderer is closed; start the service again") from error
        try:
            made: Made = await asyncio.wrap_future(future)
        except TimeoutError as error:
            raise LimitExceededError(f"{what} takes more than {self._seconds:g} seconds to draw") from error
        except ProcessExpired as error:
            log.warning("A child that drew %s ended with code %s", what, error.exitcode)
            raise DamagedFileError(f"{what} cannot be drawn: its process ended") from error
        return made


def forget_pictures(cache: Path, document_id: str) -> None:
    """Removes the pictures of a document from a renderer's `cache`: those of a deleted one must not stay."""
    _KeptPictures(cache, 0).forget(document_id)


def _key(picture: Picture) -> tuple[object, ...]:
    """What tells pictures of a document apart."""
    bbox = None if picture.bbox is None else picture.bbox.rounded().as_tuple()
    marks = [mark.rounded().as_tuple() for mark in picture.marks]
    return picture.page, bbox, min(picture.dpi, MAX_DPI), picture.margin, marks


class _OpenDocuments:
    """The documents that a child used last, open. A file that was replaced is opened anew, one that is gone closed."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[object, ...], pymupdf.Document] = OrderedDict()

    def get(self, path: Path, subject: str) -> pymupdf.Document:
        self._close_deleted()
        try:
            stat = path.stat()
        except OSError:
            return open_checked(path, subject)  # which tells what is wrong
        key = (path, stat.st_ino, stat.st_mtime_ns, stat.st_size)
        document = self._open.pop(key, None) or open_checked(path, subject)
        self._open[key] = document
        while len(self._open) > _OPEN_DOCUMENTS:
            self._open.popitem(last=False)[1].close()
        return document

    def _close_deleted(self) -> None:
        for key in [key for key in self._open if not Path(str(key[0])).exists()]:
            self._open.pop(key).close()

    def drop_all(self) -> None:
        while self._open:
            self._open.popitem()[1].close()


_documents = _OpenDocuments()  # of this child


def _draw(path: Path, picture: Picture, *, max_megapixels: float, subject: str) -> bytes:
    try:
        with shown_page(_documents.get(path, subject), picture.page) as page:
            return drawn(page, picture, max_megapixels=max_megapixels)
    except (DamagedFileError, LimitExceededError):
        _documents.drop_all()  # a document that failed, or the room that others take up, must not spoil the next
        raise


def within(make: Callable[[], Made], seconds: float) -> Made:
    """In a child: what it makes, in at most so many seconds of processor time; then the kernel ends this process."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return make()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _prepare_child(memory_mb: int) -> None:
    """Its own session, no keys, a limit on memory, and silence about what is wrong with a file."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # pebble's own handler waits for MuPDF to return, which it may not
    for name in set(os.environ) - _KEPT_VARIABLES:
        del os.environ[name]
    limit = memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)


class _KeptPictures:
    """Files `<folder of the document>/<name>`. A cache: what cannot be written or read is drawn again."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._bytes: int | None = None  # counted when first needed
        self._lock = threading.Lock()

    def get(self, document_id: str, name: str) -> bytes | None:
        path = self.find(document_id, name)
        try:
            return None if path is None else path.read_bytes()
        except OSError:
            return None

    def find(self, document_id: str, name: str) -> Path | None:
        """The file, which now counts as used last."""
        path = self._path(document_id, name)
        try:
            os.utime(path)
        except OSError:
            return None
        return path

    def put(self, document_id: str, name: str, png: bytes) -> None:
        try:
            write_atomically(self.place(document_id, name), png)
            self.count(len(png))
        except OSError as error:
            log.warning("A picture could not be kept: %s", error)

    def place(self, document_id: str, name: str) -> Path:
        """Where a file is to be written. Raises OSError where its folder cannot be made."""
        path = self._path(document_id, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def count(self, size: int) -> None:
        """A file of this size was written; others go where there is no room for it."""
        with self._lock:
            self._make_room(size)

    def forget(self, document_id: str) -> None:
        with self._lock:
            shutil.rmtree(self._path(document_id, "x").parent, ignore_errors=True)
            self._bytes = None

    def _path(self, document_id: str, name: str) -> Path:
        # The id comes from outside: hashed, it can name no other folder.
        return self._folder / content_id(document_id) / name

    def _make_room(self, added: int) -> None:
        if self._bytes is not None:
            self._bytes += added
            if self._bytes <= self._most_bytes:
                return
        self._remove_halves()
        files = sorted((stat.st_mtime_ns, stat.st_size, path) for path, stat in self._files())
        self._bytes = sum(size for _, size, _ in files)
        for _, size, path in files[:-1]:  # the latest is about to be read
            if self._bytes <= self._most_bytes:
                break
            path.unlink(missing_ok=True)
            self._bytes -= size

    def _remove_halves(self) -> None:
        for left in self._folder.glob("*/.*"):
            with suppress(OSError):  # one that takes its place just now
                if left.stat().st_mtime < time.time() - _HALF_SECONDS:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        return [(path, path.stat()) for path in self._folder.glob("*/[!.]*")]
