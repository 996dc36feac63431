"""`.kbqaignore` in a folder that is given: what in it is not read, in the syntax of `.gitignore`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kb_qa.errors import InputError
from kb_qa.file_names import display_name

IGNORE_FILE = ".kbqaignore"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """`ignores` takes a path below the folder, with `/` between its parts, and at its end where it is a folder."""

    ignores: Callable[[str], bool]


NO_RULES = IgnoreRules(lambda path: False)


def ignore_rules(folder: Path) -> IgnoreRules:
    """Raises InputError for a file of rules that cannot be read: without it, what is to stay out would be let in."""
    place = folder / IGNORE_FILE
    try:
        # Neither a link out of the folder nor a pipe that never ends.
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return NO_RULES
    except OSError as error:
        raise InputError(f"{_shown(place)} cannot be opened: {error.strerror}") from error
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            raise InputError(f"{_shown(place)} is no file of at most {_MOST_BYTES:,} bytes")
        data = file.read(_MOST_BYTES)
    try:
        return _read_rules(data.decode("utf-8-sig"))
    except ValueError as error:  # bytes that are no text, or a pattern that is none
        raise InputError(f"{_shown(place)} cannot be read: {error}") from error


def _read_rules(text: str) -> IgnoreRules:
    from pathspec import GitIgnoreSpec  # loads only where there are rules

    rules = GitIgnoreSpec.from_lines(text.splitlines())
    return IgnoreRules(lambda path: bool(rules.match_file(path)))


def _shown(place: Path) -> str:
    return repr(display_name(str(place)))
