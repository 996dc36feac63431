"""`kb-qa ingest --watch`: folders are looked at again and again, and read again when something in them changed.

By asking for sizes and times, not by the notices of the system: those do not come from network drives and mounts,
are lost when many come at once, and say nothing of whether a copy is finished, for which one has to look twice anyway.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest.discover import MAX_DEPTH, passed_over, stamp_of
from ingest.ignore_rules import IGNORE_FILE
from kb_qa.errors import EnvironmentProblemError, InputError, LockHeldError
from kb_qa.file_names import display_name


@dataclass(slots=True)
class Watch:
    """`rescan` reads the paths again, but for those files that are still being written; `say` tells a person.

    A file is finished when its size and times were the same for `settle_seconds`.
    """

    paths: Sequence[Path]
    settle_seconds: float
    rescan: Callable[[Sequence[Path], Collection[str]], None]
    say: Callable[[str], None] = field(default=lambda words: None)
    clock: Callable[[], float] = time.monotonic
    _began: float | None = None
    _is_read: bool = False  # there was a round
    _done: dict[str, str] = field(default_factory=dict)  # the stamps of what was read
    _since: dict[str, tuple[str, float]] = field(default_factory=dict)  # a file's stamp, and when it was first seen
    _said: str = ""

    def look(self) -> bool:
        """Whether something had changed, and was read. What could not be read now is tried again by the next look."""
        now = self.clock()
        self._began = now if self._began is None else self._began
        there = [path for path in self.paths if os.path.lexists(path)]
        away = [path for path in self.paths if path not in there]
        stamps = {each: stamp for path in there for each, stamp in _stamps(path)}
        stamps |= {each: stamp for each, stamp in self._done.items() if _lies_in(away, each)}
        self._since = {
            each: self._since[each] if self._since.get(each, ("",))[0] == stamp else (stamp, now)
            for each, stamp in stamps.items()
        }
        changed = {each for each, stamp in stamps.items() if self._done.get(each) != stamp}
        unsettled = {each for each in changed if now - self._since[each][1] < self.settle_seconds}
        is_due = changed - unsettled or self._done.keys() - stamps.keys()
        if not is_due and (self._is_read or now - self._began < self.settle_seconds):
            self._tell(", ".join(f"{str(path)!r} is not there; waiting for it" for path in away))
            return False
        if not self._tried(there, unsettled):
            return False
        kept = {each: self._done[each] for each in unsettled if each in self._done}
        self._done = {each: stamp for each, stamp in stamps.items() if each not in unsettled} | kept
        self._is_read = True
        return True

    def _tried(self, paths: Sequence[Path], unsettled: Collection[str]) -> bool:
        try:
            self.rescan(paths, sorted(unsettled))
        except (EnvironmentProblemError, InputError) as error:
            if not isinstance(error, (LockHeldError, InputError)) and not error.retryable:
                raise
            self._tell(f"{error}; trying again")
            return False
        self._said = ""
        return True

    def _tell(self, words: str) -> None:
        """Once, however often it is the case."""
        if words and words != self._said:
            self.say(words)
        self._said = words


def _stamps(path: Path, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Of a file, or of all files in a folder that a scan would look at. What cannot be opened has none."""
    try:
        if not path.is_dir():
            yield str(path), stamp_of(path.stat())
            return
        with os.scandir(path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in listed:
        if passed_over(entry) and not (depth == 0 and entry.name == IGNORE_FILE):
            continue
        try:
            is_folder, status = entry.is_dir(follow_symlinks=False), entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            yield entry.path, stamp_of(status)
        elif is_folder and depth < MAX_DEPTH:
            yield from _stamps(Path(entry.path), depth + 1)


def _lies_in(folders: Sequence[Path], file: str) -> bool:
    return any(file == str(folder) or file.startswith(f"{folder}/") for folder in folders)


def required_roots(paths: Sequence[Path], remembered: Sequence[str], kb: Path) -> list[Path]:
    """The paths that were given, else the folders that ever were. Raises InputError where there is none."""
    roots = list(paths) or [Path(path) for path in remembered]
    if not roots:
        raise InputError(f"no folder was ever read into {display_name(str(kb))!r}; run kb-qa ingest --watch FOLDER")
    return roots
