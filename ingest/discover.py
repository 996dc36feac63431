"""Finds the documents in files and folders. Nothing is dropped silently: what is not found is skipped or rejected."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from ingest.ignore_rules import IGNORE_FILE, NO_RULES, IgnoreRules, ignore_rules
from ingest.kinds import Kind, kind_of
from ingest.limits import BYTES_PER_MB, Limits
from kb_qa.errors import InputError, LimitExceededError, NoDocumentsError, RejectedFileError
from kb_qa.file_names import display_name

_UNFINISHED = (".part", ".partial", ".filepart", ".crdownload", ".opdownload")  # how programs name what they still copy
_SYSTEM_NAMES = frozenset({"thumbs.db", "desktop.ini", "__macosx", "lost+found"})
MAX_DEPTH = 64


Meaning = Literal["gone", "stands", "unknown"]


@dataclass(frozen=True, slots=True)
class Found:
    """A document to parse. `name` is relative to the given folder, POSIX, and safe to store and print."""

    path: Path
    name: str
    kind: Kind
    size: int
    modified: float = 0.0  # seconds since 1970
    given: str = ""  # of an upload: what it is called; it lies in no folder
    stamp: str = ""  # of its size, times and place on the disk, as `stamp_of` tells them

    @property
    def folder(self) -> str:
        """Where the file lies, as stored beside its own name: `2023/report.pdf` and `2024/report.pdf` are two."""
        return "" if self.given else display_name(self.path.absolute().parent.as_posix())

    @property
    def file_name(self) -> str:
        return display_name(self.given or self.path.name)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A file somebody meant to be read, and the typed reason why it cannot be."""

    path: Path
    name: str
    error: RejectedFileError


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is no document by its nature: a link, a device, a hidden or a lock file.

    `meaning` is what it says of a document that had this name: nothing stands there any more ("gone"), the same as
    before ("stands"), or that nobody knows, not even of what lies below it ("unknown").
    """

    path: Path
    name: str
    reason: str
    meaning: Meaning = "gone"


@dataclass(frozen=True, slots=True)
class Discovery:
    found: tuple[Found, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    @property
    def count(self) -> int:
        return len(self.found) + len(self.rejected) + len(self.skipped)


def discover(paths: Sequence[Path], *, limits: Limits) -> Discovery:
    """Every document in the files and folders, in sorted order, each once.

    A path that is given itself may be a link or hidden; what lies in a folder may not. Raises InputError for a path
    that does not exist, NoDocumentsError where there is neither a document nor a rejected file.
    """
    discovery = scanned(paths, limits=limits)
    require_documents(discovery, paths)
    return discovery


def scanned(paths: Sequence[Path], *, limits: Limits, unsettled: Collection[str] = ()) -> Discovery:
    """As `discover`, and an empty folder is one. `unsettled` are paths of files that are still being written."""
    scan = _Scan(limits, frozenset(unsettled))
    for path in paths:
        scan.add(path)
    return Discovery(tuple(scan.found), tuple(scan.rejected), tuple(scan.skipped))


def require_documents(discovery: Discovery, paths: Sequence[Path]) -> None:
    """Raises NoDocumentsError where there is neither a document nor a rejected file."""
    if not discovery.found and not discovery.rejected:
        names = ", ".join(repr(display_name(str(path))) for path in paths) or "nothing"
        raise NoDocumentsError(f"no document found in {names}; {len(discovery.skipped)} entries skipped")


def stamp_of(status: os.stat_result) -> str:
    """Equal for a file that nobody wrote to: size, times of content and entry (ns), device and inode."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_dev} {status.st_ino}"


def received(uploads: Sequence[tuple[Path, str]], *, limits: Limits) -> Discovery:
    """Files that were handed in, each under the name that its reader gave it; one that is gone is skipped."""
    scan = _Scan(limits)
    for path, name in uploads:
        scan.add_upload(path, name)
    return Discovery(tuple(scan.found), tuple(scan.rejected), tuple(scan.skipped))


@dataclass
class _Scan:
    limits: Limits
    unsettled: frozenset[str] = frozenset()
    rules: IgnoreRules = NO_RULES  # of the given folder that is read
    found: list[Found] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    seen: dict[tuple[int, int], str] = field(default_factory=dict)  # (device, inode) → name

    def add(self, path: Path) -> None:
        try:
            status = path.stat()
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise InputError(f"{display_name(str(path))!r} cannot be opened: no such file or folder") from error
        if stat.S_ISDIR(status.st_mode):
            self.rules = ignore_rules(path)
            self._folder(path, "", depth=0)
        else:
            self._entry(path, display_name(path.name), status)

    def add_upload(self, path: Path, name: str) -> None:
        try:
            status = path.stat()
        except OSError as error:
            self._skip(path, display_name(name), f"cannot be opened: {error.strerror}")
        else:
            own = PurePosixPath(name.replace("\\", "/")).name
            given = own if own.strip(". ") else "document"
            self._file(path, display_name(given), status, given)

    def _folder(self, folder: Path, prefix: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            self._skip(folder, prefix, f"deeper than {MAX_DEPTH} folders", "unknown")
            return
        for entry in self._entries(folder, prefix):
            name = display_name(f"{prefix}{entry.name}")
            path = Path(entry.path)
            if reason := passed_over(entry):
                self._skip(path, name, reason)
                continue
            try:
                is_folder, status = entry.is_dir(follow_symlinks=False), entry.stat(follow_symlinks=False)
            except OSError as error:
                gone = isinstance(error, FileNotFoundError)  # between the listing and this
                self._skip(path, name, f"cannot be opened: {error.strerror}", "gone" if gone else "unknown")
                continue
            own = f"{prefix}{entry.name}" + ("/" if is_folder else "")
            if self.rules.ignores(own):
                self._skip(path, name, f"ignored by {IGNORE_FILE}")
            elif not is_folder:
                self._entry(path, name, status)
            elif not self._repeats(path, name, status):
                self._folder(path, own, depth + 1)

    def _entries(self, folder: Path, prefix: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            self._skip(folder, display_name(prefix), f"the folder cannot be opened: {error.strerror}", "unknown")
            return iter(())
        return iter(listed)

    def _entry(self, path: Path, name: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, name, f"{_type_name(status.st_mode)}, not a file")
        elif str(path) in self.unsettled:
            self._skip(path, name, "still being written", "stands")
        elif not self._repeats(path, name, status):
            self._file(path, name, status)

    def _file(self, path: Path, name: str, status: os.stat_result, given: str = "") -> None:
        size = status.st_size
        try:
            if size > self.limits.max_file_mb * BYTES_PER_MB:
                most = self.limits.max_file_mb
                raise LimitExceededError(
                    f"{name!r} has {size / BYTES_PER_MB:,.0f} MB; the limit is {most} MB (KB_QA_MAX_FILE_MB)"
                )
            kind = kind_of(path, name)
            self.found.append(Found(path, name, kind, size, status.st_mtime, given, stamp_of(status)))
        except RejectedFileError as error:
            self.rejected.append(Rejected(path, name, error))
        except OSError as error:
            self._skip(path, name, f"cannot be opened: {error.strerror}", "unknown")

    def _repeats(self, path: Path, name: str, status: os.stat_result) -> bool:
        """Whether this file or folder was met before: through a hard link, a mount or another given path."""
        key = (status.st_dev, status.st_ino)
        if key in self.seen:
            self._skip(path, name, f"the same file as {self.seen[key]!r}", "stands")
            return True
        self.seen[key] = name
        return False

    def _skip(self, path: Path, name: str, reason: str, meaning: Meaning = "gone") -> None:
        self.skipped.append(Skipped(path, name, reason, meaning))


def passed_over(entry: os.DirEntry[str]) -> str:
    """Why an entry of a folder is skipped by its name or by being a link; "" where it is not."""
    if entry.is_symlink():
        return "a symbolic link"
    if entry.name.startswith("."):
        return "hidden"
    if entry.name.startswith("~$"):
        return "an Office lock file"
    if entry.name.lower().endswith(_UNFINISHED):
        return "an unfinished copy"
    if entry.name.lower() in _SYSTEM_NAMES:
        return "a file of the operating system"
    return ""


def _type_name(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
