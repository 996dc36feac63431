"""A request's bytes on their way to a temporary file: bounded in size and time, gone unless the file is taken."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from starlette.exceptions import HTTPException

from kb_qa.blobs import UPLOADS
from kb_qa.errors import LimitExceededError, NoRoomError
from kb_qa.signatures import HEAD_BYTES, TAIL_BYTES

PREFIX: Final = ".receiving-"
STALL_SECONDS: Final = 30.0
LEAST_BYTES: Final = 16 * 1024  # in so many seconds; less is no progress
FULL_SECONDS: Final = 60  # after which a full disk may have room again
_PIECE: Final = 1 << 20
_DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class Room:
    """What uploads may take. `most` bytes a file; `keep_free` bytes are left on the disk of `kb`."""

    kb: Path
    most: int
    keep_free: int

    def require(self, size: int) -> None:
        """Raises LimitExceededError for a file that is too large, NoRoomError where the disk has no room for it."""
        if size > self.most:
            raise LimitExceededError(
                f"the upload is larger than {self.most >> 20} MB, the limit of a file (KB_QA_MAX_FILE_MB)"
            )
        self.kb.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.kb).free - size < self.keep_free:
            raise _full()


@dataclass(slots=True)
class ReceivedFile:
    """A file while it is received. Use it as a context: what was not taken by then is removed.

    `document_id` and `size` are of the bytes so far.
    """

    room: Room
    size: int = 0
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    _waiting: bytearray = field(default_factory=bytearray)
    _file: BinaryIO | None = None
    _path: Path | None = None

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    @property
    def document_id(self) -> str:
        return self._digest.hexdigest()

    async def write(self, data: bytes) -> None:
        """Raises LimitExceededError at the first byte too many, NoRoomError where the disk is full."""
        self.size += len(data)
        self._digest.update(data)
        self._waiting += data
        if self.size > self.room.most:
            self.room.require(self.size)
        if len(self._waiting) >= _PIECE:
            await self._flush()

    async def finish(self) -> tuple[bytes, bytes]:
        """Written through to the disk; the file's first and last bytes."""
        await self._flush()
        return await asyncio.to_thread(self._settle)

    def take(self, place: Path) -> None:
        """Moves the finished file to its place, whole or not at all."""
        assert self._path is not None
        self._path.replace(place)
        self._path = None

    async def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = bytes(self._waiting), bytearray()
            await asyncio.to_thread(self._write, waiting)

    def _open(self) -> None:
        folder = self.room.kb / UPLOADS
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=folder, prefix=PREFIX)
        except OSError as error:
            raise _told(error) from error
        self._path = Path(name)
        self._file = os.fdopen(handle, "w+b")

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        self.room.require(min(self.size, self.room.most) - self._file.tell())
        try:
            self._file.write(data)
        except OSError as error:
            raise _told(error) from error

    def _settle(self) -> tuple[bytes, bytes]:
        assert self._file is not None
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _told(error) from error
        self._file.seek(0)
        head = self._file.read(HEAD_BYTES)
        self._file.seek(max(self.size - TAIL_BYTES, 0))
        return head, self._file.read(TAIL_BYTES)

    def _remove(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)


async def in_time(pieces: AsyncIterator[bytes], *, stall: float = STALL_SECONDS) -> AsyncIterator[bytes]:
    """The same pieces. HTTPException 408 where `stall` seconds bring next to nothing."""
    loop = asyncio.get_running_loop()
    deadline, since = loop.time() + stall, 0
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                piece = await anext(pieces, None)
        except TimeoutError as error:
            raise HTTPException(408, f"the upload made no progress for {stall:g} seconds") from error
        if piece is None:
            return
        since += len(piece)
        if since >= LEAST_BYTES:
            deadline, since = loop.time() + stall, 0
        yield piece


def _told(error: OSError) -> Exception:
    return _full() if error.errno in _DISK_FULL else error


def _full() -> NoRoomError:
    return NoRoomError("the disk has no room for uploads; make room and send it again", retry_after=FULL_SECONDS)
