"""Markers in a model's text that comes in pieces: `[n](id=k)`, and short forms: `[n]`, `【n】`, `[1, 2]`, `[1-3]`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_letters, digits

# No marker is longer, and no text is held back for longer, than this many characters.
HOLD_BACK = 32

_OPENING, _CLOSING = "[【", "]】"
_LONG = re.compile(r"[\[【]-?\d{1,6}[\]】]\(id=(-?\d{1,6})\)")
_LONG_START = re.compile(r"[\[【]-?\d{0,6}(?:[\]】](?:\((?:i(?:d(?:=-?\d{0,6})?)?)?)?)?")
# Four digits are a year.
_SHORT = re.compile(r"[\[【](-\d{1,3}|\d{1,3}(?: ?[,，、;；–—~～-] ?\d{1,3})*)[\]】]")
_SHORT_START = re.compile(r"[\[【]\d{1,3}(?: ?[,，、;；–—~～-] ?\d{1,3})*(?: |(?: ?[,，、;；–—~～-] ?))?")
_RANGE = re.compile(r"(\d+)(?: ?[–—~～-] ?(\d+))?", re.ASCII)
_FULL_WIDTH_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")
_LONGEST_RANGE = 50

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})")
_TILDES = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?~{3}")
# What a short marker may be attached to: a word of prose or a code such as `Q2`. Any other name has an index.
_NAME_CHARACTERS = f"{ascii_letters}{digits}_"
_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]{2,}|[A-Z]{1,4}\d{1,4}|\d+(?:st|nd|rd|th|m|bn|k)")
_URL = re.compile(r"[a-z]://\S*$")
_LOOK = 200  # characters at a line's ends that are looked at where a marker may begin


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker of the model for the material `id` (from 1)."""

    id: int


Part = str | Mark


class MarkerStream:
    """Finds markers in text that comes in pieces cut anywhere; the result does not depend on the cuts.

    Everything else passes unchanged, at most `HOLD_BACK` characters late. In code spans, code fences and link targets,
    and after `[` or a backslash, there are no markers. A short form is none either where it is a link's text, a year,
    the index of a name (`a[0]`, `f(x)[1]`) or part of a web address. A marker whose id is not in `known` is dropped
    and counted in `dropped`.
    """

    def __init__(self, known: Collection[int]) -> None:
        self.dropped = 0
        self._known = known
        self._markdown = _Markdown()
        self._held = ""  # the beginning of what may become a marker
        self._place = _Place()  # where it stands
        self._after_mark = False

    def feed(self, delta: str) -> list[Part]:
        """What is certain by now: texts and marks in order, never two texts in a row."""
        return _joined(part for character in delta for part in self._push(character))

    def close(self) -> list[Part]:
        """What was held back: a last marker, or the beginning of one that never came."""
        return _joined(self._released())

    def _push(self, character: str) -> Iterator[Part]:
        place = self._markdown.advance(character)
        if self._held:
            candidate = self._held + character
            if (marker := _LONG.fullmatch(candidate)) is not None:
                self._held = ""
                yield from self._marks([_number(marker[1])])
                return
            if _may_go_on(candidate):
                self._held = candidate
                return
            yield from self._released(character)
        if place.opens:
            self._held, self._place = character, place
        else:
            self._after_mark = False
            yield character

    def _released(self, following: str = "") -> Iterator[Part]:
        """What the held text is, now that `following` comes next (empty: nothing does)."""
        held, self._held = self._held, ""
        ids = self._short_ids(held, following) if held else []
        if ids:
            yield from self._marks(ids)
        elif held:
            self._after_mark = False
            yield held

    def _short_ids(self, held: str, following: str) -> Sequence[int]:
        """The ids of a short marker; none where it is text."""
        match = _SHORT.fullmatch(held)
        place = self._place
        defines = place.begins_line and following == ":"
        if match is None or following == "(" or defines or place.in_url or (place.indexes and not self._after_mark):
            return ()
        ids = _ids(match[1].translate(_FULL_WIDTH_DIGITS))
        return () if place.attached and not self._after_mark and not self._known_all(ids) else ids

    def _known_all(self, ids: Sequence[int]) -> bool:
        return all(number in self._known for number in ids)

    def _marks(self, ids: Sequence[int]) -> Iterator[Mark]:
        self._after_mark = True
        for number in ids:
            if number in self._known:
                yield Mark(number)
            else:
                self.dropped += 1


def _may_go_on(candidate: str) -> bool:
    if len(candidate) > HOLD_BACK:
        return False
    return any(shape.fullmatch(candidate) for shape in (_LONG_START, _SHORT_START, _SHORT))


def _number(text: str) -> int:
    """-1, which no material has, for digits that are not ours."""
    plain = text.translate(_FULL_WIDTH_DIGITS)
    return int(plain) if plain.isascii() else -1


def _ids(inner: str) -> Sequence[int]:
    """The ids of `1`, `1, 2` or `1-3`; none for what is no such list, such as the interval `0, 1`."""
    if re.fullmatch(r"-?\d+", inner):
        return (_number(inner),)
    ids: list[int] = []
    for part in re.split(r" ?[,，、;；] ?", inner):
        match = _RANGE.fullmatch(part)
        if match is None:
            return ()
        first, last = int(match[1]), int(match[2] or match[1])
        if first < 1 or not 0 <= last - first < _LONGEST_RANGE:
            return ()
        ids += range(first, last + 1)
    return tuple(dict.fromkeys(ids))


def _joined(parts: Iterator[Part]) -> list[Part]:
    out: list[Part] = []
    text: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
            continue
        out += [joined] if (joined := "".join(text)) else []
        out.append(part)
        text.clear()
    return [*out, joined] if (joined := "".join(text)) else out


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a character stands: whether a marker may begin with it, and what stands right before it."""

    opens: bool = False
    begins_line: bool = False
    attached: bool = False  # to a word
    indexes: bool = False  # a name, a call or a link's text
    in_url: bool = False


_NO_PLACE = _Place()


class _Markdown:
    """Where in Markdown a character stands, as far as that decides whether a marker can begin with it.

    A code span that is still open at the end of its line counts as closed, so that a stray backtick does not take the
    markers of all that follows.
    """

    def __init__(self) -> None:
        self._fence = ""  # what the open code fence began with
        self._line: list[str] = []  # the characters of the line so far
        self._span = 0  # backticks that opened the code span
        self._run = 0  # backticks in a row up to here
        self._depth = 0  # of round brackets inside a link's target
        self._escaped = False

    def advance(self, character: str) -> _Place:
        """Takes the next character."""
        if character == "\n":
            self._end_line()
            return _NO_PLACE
        before, escaped = self._line[-1] if self._line else "", self._escaped
        self._count_backticks(character)
        inside = bool(self._fence or self._span or self._depth or escaped or before in ("[", "【"))
        if not self._span:
            opens = character == "(" and (before == "]" or self._depth > 0)
            closes = character == ")" and self._depth > 0
            self._depth += opens - closes
        self._escaped = character == "\\" and not escaped and not self._span
        place = self._place() if character in _OPENING and not inside else _NO_PLACE
        self._line.append(character)
        return place

    def _place(self) -> _Place:
        if _TILDES.match("".join(self._line[:_LOOK])):
            return _NO_PLACE
        tail = "".join(self._line[-_LOOK:])
        name = tail[len(tail.rstrip(_NAME_CHARACTERS)) :]
        attached = _WORD.fullmatch(name) is not None
        return _Place(
            opens=True,
            begins_line=not tail.strip(),
            attached=attached,
            indexes=not attached and not name.isdigit() and (name != "" or tail[-1:] in {")", "]"}),
            in_url=_URL.search(tail) is not None,
        )

    def _count_backticks(self, character: str) -> None:
        if character == "`" and (self._span or not self._escaped):
            self._run += 1
        elif self._run:
            if not self._span:
                self._span = self._run
            elif self._run == self._span:
                self._span = 0
            self._run = 0

    def _end_line(self) -> None:
        """Lines open and close fences as CommonMark has it, also in lists and quotations."""
        line = "".join(self._line)
        match = _FENCE.match(line)
        if match is not None:
            rest = line[match.end() :]
            if not self._fence:
                self._fence = match[1] if match[1][0] == "~" or "`" not in rest else ""
            elif match[1].startswith(self._fence) and not rest.strip():
                self._fence = ""
        self._line.clear()
        self._span, self._run, self._depth, self._escaped = 0, 0, 0, False
