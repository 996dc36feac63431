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
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import Self

import pymupdf
from pebble import ProcessExpired, ProcessPool

from kb_qa.elements import content_id
from kb_qa.errors import DamagedFileError, EnvironmentProblemError, LimitExceededError
from kb_qa.geometry import BBox
from kb_qa.pages import DPI, MAX_MEGAPIXELS, Draw, page_png, region_png, write_atomically

log = logging.getLogger(__name__)

# Part of every name in the cache: raise it when the same request is to give another picture.
_PICTURE_VERSION = 1

# A child is replaced after so many pictures, whatever MuPDF has kept by then.
_PICTURES_PER_CHILD = 200

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

    async def page_png(self, path: Path, document_id: str, page: int, *, dpi: int = DPI) -> bytes:
        """The page's picture: `pages.page_png`, in a child. Raises LimitExceededError where it takes too long."""
        draw = partial(page_png, path, page, dpi=dpi, max_megapixels=self._max_megapixels)
        return await self._picture(document_id, ("page", page, dpi), draw)

    async def region_png(
        self, path: Path, document_id: str, page: int, bbox: BBox, *, dpi: int = DPI, margin: float = 0
    ) -> bytes:
        """The region's picture: `pages.region_png`, in a child. Raises LimitExceededError where it takes too long."""
        draw = partial(region_png, path, page, bbox, dpi=dpi, margin=margin, max_megapixels=self._max_megapixels)
        return await self._picture(document_id, ("region", page, bbox.rounded().as_tuple(), dpi, margin), draw)

    def forget(self, document_id: str) -> None:
        """Removes the pictures of a document: those of a deleted one must not stay."""
        self._kept.forget(document_id)

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

    async def _picture(self, document_id: str, request: tuple[object, ...], draw: Draw) -> bytes:
        name = content_id(_PICTURE_VERSION, self._max_megapixels, *request)
        kept = await asyncio.to_thread(self._kept.get, document_id, name)
        if kept is not None:
            return kept
        png = await self._drawn(draw, page=request[1])
        await asyncio.to_thread(self._kept.put, document_id, name, png)
        return png

    async def _drawn(self, draw: Draw, *, page: object) -> bytes:
        """Errors of the child come back as they are. Cancelling this ends the child's work."""
        try:
            future = self._pool.schedule(draw, timeout=self._seconds)
        except RuntimeError as error:
            raise EnvironmentProblemError("the renderer is closed; start the service again") from error
        try:
            png: bytes = await asyncio.wrap_future(future)
        except TimeoutError as error:
            raise LimitExceededError(f"page {page} takes more than {self._seconds:g} seconds to draw") from error
        except ProcessExpired as error:
            log.warning("A child that drew page %s ended with code %s", page, error.exitcode)
            raise DamagedFileError(f"page {page} cannot be drawn: its process ended") from error
        return png


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
    """Files `<folder of the document>/<name>.png`. A cache: what cannot be written or read is drawn again."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._bytes: int | None = None  # counted when first needed
        self._lock = threading.Lock()

    def get(self, document_id: str, name: str) -> bytes | None:
        path = self._path(document_id, name)
        try:
            png = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return png

    def put(self, document_id: str, name: str, png: bytes) -> None:
        path = self._path(document_id, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, png)
            with self._lock:
                self._make_room(len(png))
        except OSError as error:
            log.warning("A picture could not be kept: %s", error)

    def forget(self, document_id: str) -> None:
        with self._lock:
            shutil.rmtree(self._path(document_id, "").parent, ignore_errors=True)
            self._bytes = None

    def _path(self, document_id: str, name: str) -> Path:
        # The id comes from outside: hashed, it can name no other folder.
        return self._folder / content_id(document_id) / f"{name}.png"

    def _make_room(self, added: int) -> None:
        if self._bytes is not None:
            self._bytes += added
            if self._bytes <= self._most_bytes:
                return
        files = sorted((stat.st_mtime_ns, stat.st_size, path) for path, stat in self._files())
        self._bytes = sum(size for _, size, _ in files)
        for _, size, path in files:
            if self._bytes <= self._most_bytes:
                break
            path.unlink(missing_ok=True)
            self._bytes -= size

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        return [(path, path.stat()) for path in self._folder.glob("*/*.png")]
