"""References as a human would number them: in order of first use, one number a source, only what was used.

A model writes `[<number>](id=<number of the material>)`; what becomes of it is decided here (S4).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

Fragment = TypeVar("Fragment")

_MARKER = re.compile(r"\[-?\d{1,6}\]\(id=(-?\d{1,6})\)")
_MARKER_START = re.compile(r"\[-?\d{0,6}(?:\](?:\((?:i(?:d(?:=-?\d{0,6})?)?)?)?)?")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})")
_TILDES = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?~{3}")
_SCHEME = re.compile(r"[^:/?#]*:")
_UNSAFE = re.compile(r"[\x00-\x20\x7f()<>\"'\\]")


class Numbering(Generic[Fragment]):
    """Numbers from 1 in order of first use. `source` says which fragments are one source (default: equal ones)."""

    def __init__(self, source: Callable[[Fragment], Hashable] | None = None) -> None:
        self._source = source
        self._numbers: dict[Hashable, int] = {}
        self._first: list[Fragment] = []

    def number(self, fragment: Fragment) -> int:
        """The fragment's number; a new one for a source not seen before."""
        key: Hashable = fragment if self._source is None else self._source(fragment)
        if key not in self._numbers:
            self._first.append(fragment)
            self._numbers[key] = len(self._first)
        return self._numbers[key]

    @property
    def used(self) -> tuple[tuple[int, Fragment], ...]:
        """Every number with the fragment that got it."""
        return tuple(enumerate(self._first, 1))


@dataclass(frozen=True, slots=True)
class Reference:
    """A numbered source: `title` is its name or label, `quote` what was cited of it (may be empty), `url` its link."""

    number: int
    title: str
    quote: str = ""
    url: str = ""


class Style(Protocol):
    """How references are written. A style of one's own needs these two."""

    def marker(self, reference: Reference) -> str:
        """What stands after the claim."""
        ...

    def listing(self, items: Sequence[Reference]) -> str:
        """What stands below the answer; empty for no items."""
        ...


class NoStyle:
    """Neither markers nor a list."""

    def marker(self, reference: Reference) -> str:
        return ""

    def listing(self, items: Sequence[Reference]) -> str:
        return ""


class TextStyle:
    """For a console: `[1]`, and `[1] "quoted text" found in "document title"` (S1.3)."""

    def marker(self, reference: Reference) -> str:
        return f"[{reference.number}]"

    def listing(self, items: Sequence[Reference]) -> str:
        return "\n".join(map(self._line, items))

    def _line(self, item: Reference) -> str:
        title, quote = collapsed(item.title), collapsed(item.quote)
        return f'[{item.number}] "{quote}" found in "{title}"' if quote else f"[{item.number}] {title}"


class MarkdownStyle:
    """`<sup>[[1](url)]</sup>`, and a list of `- **1** [Title](url)` (S4.4)."""

    def marker(self, reference: Reference) -> str:
        url = _linkable(reference.url)
        return f"<sup>[[{reference.number}]({url})]</sup>" if url else f"<sup>[{reference.number}]</sup>"

    def listing(self, items: Sequence[Reference]) -> str:
        return "\n".join(map(self._line, items))

    def _line(self, item: Reference) -> str:
        title, url = _plain_markdown(item.title), _linkable(item.url)
        line = f"- **{item.number}** [{title}]({url})" if url else f"- **{item.number}** {title}"
        return f"{line}: “{_plain_markdown(item.quote)}”" if collapsed(item.quote) else line


class HtmlStyle:
    """The same as HTML; everything from outside is escaped."""

    def marker(self, reference: Reference) -> str:
        return f"<sup>[{self._linked(str(reference.number), reference.url)}]</sup>"

    def listing(self, items: Sequence[Reference]) -> str:
        return "\n".join(["<ul>", *map(self._line, items), "</ul>"]) if items else ""

    def _line(self, item: Reference) -> str:
        title = self._linked(html.escape(collapsed(item.title)), item.url)
        quote = f": <q>{html.escape(collapsed(item.quote))}</q>" if collapsed(item.quote) else ""
        return f"<li><b>{item.number}</b> {title}{quote}</li>"

    def _linked(self, content: str, url: str) -> str:
        link = _linkable(url)
        return f'<a href="{html.escape(link)}" rel="noopener">{content}</a>' if link else content


STYLES: Mapping[str, Style] = {
    "none": NoStyle(),
    "text": TextStyle(),
    "markdown": MarkdownStyle(),
    "html": HtmlStyle(),
}


def references(style: str | Style, items: Sequence[Reference]) -> str:
    """The list below an answer. Items come as they were used: what was not used is not among them.

    Raises KeyError for the name of no style.
    """
    return (STYLES[style] if isinstance(style, str) else style).listing(items)


def collapsed(text: str) -> str:
    """Blanks and line breaks as one blank each, and no control characters."""
    return " ".join("".join(character for character in text if character.isprintable() or character.isspace()).split())


def _linkable(url: str) -> str:
    """The URL where it is a web address or has no scheme; nothing else becomes a link.

    Brackets, quotation marks, blanks and controls are escaped, so that nothing in it ends the link.
    """
    scheme = _SCHEME.match(url)
    if scheme is not None and scheme[0].lower() not in ("http:", "https:"):
        return ""
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", url)


def _plain_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]()<>#|!~&])", r"\\\1", collapsed(text))


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker of the model for the material `id` (from 1)."""

    id: int


class MarkerStream:
    """Finds `[n](id=k)` in text that comes in pieces cut anywhere; the result does not depend on the cuts.

    Everything else passes unchanged, and at most as late as a marker is long. In code spans, code fences and link
    targets, and after `[` or a backslash, there are no markers. One whose `id` is not in `known` is dropped and
    counted in `dropped`.
    """

    def __init__(self, known: Collection[int]) -> None:
        self.dropped = 0
        self._known = known
        self._markdown = _Markdown()
        self._held = ""  # the beginning of what may become a marker

    def feed(self, delta: str) -> list[str | Mark]:
        """What is certain by now: texts and marks in order, never two texts in a row."""
        out: list[str | Mark] = []
        text: list[str] = []
        for character in delta:
            for part in self._push(character):
                if isinstance(part, Mark):
                    out += [joined] if (joined := "".join(text)) else []
                    out.append(part)
                    text.clear()
                else:
                    text.append(part)
        return [*out, joined] if (joined := "".join(text)) else out

    def close(self) -> list[str | Mark]:
        """What was held back: the beginning of a marker that never came."""
        held, self._held = self._held, ""
        return [held] if held else []

    def _push(self, character: str) -> list[str | Mark]:
        opens = self._markdown.advance(character)
        released = ""
        if self._held:
            candidate = self._held + character
            if (marker := _MARKER.fullmatch(candidate)) is not None:
                self._held = ""
                return self._marked(marker[1])
            if _MARKER_START.fullmatch(candidate):
                self._held = candidate
                return []
            released, self._held = self._held, ""
        if opens:
            self._held = character
            return [released] if released else []
        return [released + character]

    def _marked(self, digits: str) -> list[str | Mark]:
        if digits.isascii() and int(digits) in self._known:
            return [Mark(int(digits))]
        self.dropped += 1
        return []


class _Markdown:
    """Where in Markdown a character stands, as far as that decides whether a marker can begin with it.

    A code span that is still open at the end of its line counts as closed, so that a stray backtick does not take the
    markers of all that follows.
    """

    def __init__(self) -> None:
        self._fence = ""  # what the open code fence began with
        self._line = ""
        self._span = 0  # backticks that opened the code span
        self._run = 0  # backticks in a row up to here
        self._depth = 0  # of round brackets inside a link's target
        self._escaped = False

    def advance(self, character: str) -> bool:
        """Takes the next character; says whether a marker may begin with it."""
        if character == "\n":
            self._end_line()
            return False
        before, escaped = self._line[-1:], self._escaped
        self._count_backticks(character)
        inside = bool(self._fence or self._span or self._depth or escaped or before == "[")
        if not self._span:
            opens = character == "(" and (before == "]" or self._depth > 0)
            closes = character == ")" and self._depth > 0
            self._depth += opens - closes
        self._escaped = character == "\\" and not escaped and not self._span
        self._line += character
        return character == "[" and not inside and not _TILDES.match(self._line)

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
        match = _FENCE.match(self._line)
        if match is not None:
            rest = self._line[match.end() :]
            if not self._fence:
                self._fence = match[1] if match[1][0] == "~" or "`" not in rest else ""
            elif match[1].startswith(self._fence) and not rest.strip():
                self._fence = ""
        self._line, self._span, self._run, self._depth, self._escaped = "", 0, 0, 0, False


class ReferenceStream:
    """A model's text with its markers numbered and written in a style, and the list of what was used as its end.

    `fragments` by id, their numbers not yet given; `source` says which of them are one source (default: those of one
    URL, or one title where they have none).
    """

    def __init__(
        self,
        fragments: Mapping[int, Reference],
        *,
        style: str | Style = "text",
        source: Callable[[Reference], Hashable] | None = None,
    ) -> None:
        self._fragments = fragments
        self._style = STYLES[style] if isinstance(style, str) else style
        self._markers = MarkerStream(fragments)
        self._numbering: Numbering[Reference] = Numbering(source or (lambda item: item.url or item.title))

    @property
    def dropped(self) -> int:
        """Markers of fragments that were never given."""
        return self._markers.dropped

    @property
    def items(self) -> tuple[Reference, ...]:
        """The sources used so far, numbered."""
        return tuple(replace(fragment, number=number) for number, fragment in self._numbering.used)

    def feed(self, delta: str) -> str:
        return "".join(map(self._written, self._markers.feed(delta)))

    def close(self) -> tuple[str, str]:
        """What was held back, and the reference list: the last of the text (S4.5)."""
        held = "".join(map(self._written, self._markers.close()))
        return held, references(self._style, self.items)

    def _written(self, part: str | Mark) -> str:
        if isinstance(part, str):
            return part
        fragment = self._fragments[part.id]
        return self._style.marker(replace(fragment, number=self._numbering.number(fragment)))
