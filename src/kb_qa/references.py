"""References as a human would number them: in order of first use, one number a source, only what was used.

A model writes `[<number>](id=<number of the material>)`; what becomes of it is decided here (S4).

>>> fragments = {
...     1: Reference(0, "briefing.pdf", url="/briefing.pdf#page=4"),
...     2: Reference(0, "Travel policy", url="https://e.x/policy"),
... }
>>> stream = ReferenceStream(fragments, style="markdown")
>>> "".join(map(stream.feed, ["Fares are refunded [1](i", "d=2). P5 earns 22000 [1]."]))
'Fares are refunded <sup>[[1](https://e.x/policy)]</sup>. P5 earns 22000 <sup>[[2](/briefing.pdf#page=4)]</sup>.'
>>> held, listing = stream.close()
>>> print(listing)
- **1** [Travel policy](https://e.x/policy)
- **2** [briefing.pdf](/briefing.pdf#page=4)
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from kb_qa.markers import MarkerStream, Part

Fragment = TypeVar("Fragment")

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
    """A numbered source: `title` is its name or label, `quote` what was cited of it (may be empty), `url` its link.

    `document`, `page` (from 1) and `row` say where it stands, for the functions that tell sources apart.
    """

    number: int
    title: str
    quote: str = ""
    url: str = ""
    document: str = ""
    page: int | None = None
    row: int | None = None


SourceOf = Callable[[Reference], Hashable]

# What makes two fragments one source. A user may give a function of his own instead.
SOURCES: Mapping[str, SourceOf] = {
    "document": lambda item: item.document or item.title,
    "page": lambda item: (item.document or item.title, item.page),
    "url": lambda item: item.url or item.title,
    "row": lambda item: (item.document or item.title, item.row),  # file#row
}


class Style(Protocol):
    """How references are written: `STYLES` has four; one of one's own needs these two methods."""

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
        url = linkable(reference.url)
        return f"<sup>[[{reference.number}]({url})]</sup>" if url else f"<sup>[{reference.number}]</sup>"

    def listing(self, items: Sequence[Reference]) -> str:
        return "\n".join(map(self._line, items))

    def _line(self, item: Reference) -> str:
        title, url = plain_markdown(item.title), linkable(item.url)
        line = f"- **{item.number}** [{title}]({url})" if url else f"- **{item.number}** {title}"
        return f"{line}: “{plain_markdown(item.quote)}”" if collapsed(item.quote) else line


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
        link = linkable(url)
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


def linkable(url: str) -> str:
    """The URL where it is a web address or has no scheme; nothing else becomes a link.

    Brackets, quotation marks, blanks and controls are escaped, so that nothing in it ends the link.
    """
    scheme = _SCHEME.match(url)
    if scheme is not None and scheme[0].lower() not in ("http:", "https:"):
        return ""
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", url)


def plain_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]()<>#|!~&])", r"\\\1", collapsed(text))


class ReferenceStream:
    """A model's text with its markers numbered and written in a style, and the list of what was used as its end.

    `fragments` by id, their numbers not yet given. `style` is the name of one of `STYLES` or one's own; `source` says
    which fragments share a number: the name of one of `SOURCES` (default: those of one URL, or of one title where they
    have none) or a function. Text comes at most `markers.HOLD_BACK` characters late, and the result does not depend on
    how the stream is cut. Raises KeyError for a name of no style or source.
    """

    def __init__(
        self,
        fragments: Mapping[int, Reference],
        *,
        style: str | Style = "text",
        source: str | SourceOf = "url",
    ) -> None:
        self._fragments = fragments
        self._style = STYLES[style] if isinstance(style, str) else style
        self._markers = MarkerStream(fragments)
        self._numbering: Numbering[Reference] = Numbering(SOURCES[source] if isinstance(source, str) else source)
        self._together: set[int] = set()  # numbers of the markers that follow one another without text

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

    def _written(self, part: Part) -> str:
        """Of several markers in a row, one a source."""
        if isinstance(part, str):
            self._together.clear()
            return part
        fragment = self._fragments[part.id]
        number = self._numbering.number(fragment)
        if number in self._together:
            return ""
        self._together.add(number)
        return self._style.marker(replace(fragment, number=number))
