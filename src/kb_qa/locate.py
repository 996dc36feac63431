"""Where a quote stands, from the stored words alone: rectangles of exactly the quoted words, or `found: False`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from kb_qa.answers import Located, LocatedRegion
from kb_qa.approximate import approximate_match
from kb_qa.elements import FURNITURE, Element
from kb_qa.folding import (
    NUMBER_SEPARATORS,
    QUOTE,
    RAISED,
    SIGN,
    Folded,
    Folding,
    fold,
    is_cjk,
    is_ignored,
    is_space,
    plain_punctuation,
)
from kb_qa.geometry import union_of
from kb_qa.glyphs import Glyph, PrintedElement, is_right_to_left, lines
from kb_qa.occurrences import Range, Search, marks_follow
from kb_qa.page_parts import on_pages

NOT_FOUND = Located(found=False)

# Stand between the parts of a passage that goes on over a column or page, and are not part of it.
_INTERRUPTIONS = frozenset({"Footnote", "FigureCaption"})

# Looking for a place that cuts no word in two ends after so many that do: repetitive text stays cheap.
_MOST_CANDIDATES = 1000
_VERBATIM = 4  # the best agreement of a place with a quote

_DIGITS = re.compile(r"[0-9]*")
_WITHIN_NUMBER = frozenset(f"0123456789{NUMBER_SEPARATORS}")
_BEFORE_DIGITS = _WITHIN_NUMBER | {RAISED}


def locate(quote: str, elements: Sequence[Element], *, prefer: str = "", pages: Collection[int] = ()) -> Located:
    """The place of the whole `quote` in `elements` (in reading order): a rectangle for each line of print.

    Where it stands several times, in the element with the id `prefer`, else first. `pages` (from 1) are where it must
    stand; none means anywhere. For many quotes, build one `PrintedText`.
    """
    return PrintedText(on_pages(elements, pages) if pages else elements).locate(quote, prefer=prefer)


def find_all(
    query: str | Sequence[str],
    elements: Sequence[Element],
    *,
    case: bool = False,
    whole_word: bool = False,
    diacritics: bool = False,
    pages: Collection[int] = (),
) -> tuple[Located, ...]:
    """Every occurrence of the query, or of any of several, in order; where two overlap, the first and longest.

    Unlike for a quote, punctuation and blanks between words count, and digits do not bind. A word cut at a line's end
    counts in one piece; with its hyphen only where nothing else is found. `case` and `diacritics` say what must agree;
    with `whole_word`, neither end is within a word, and no word of it is cut at a line's end: it is printed whole, as
    in the viewers that have this option. `pages` (from 1) are where to look, none means anywhere.
    """
    folding = Folding(case=case, diacritics=diacritics, punctuation=True)
    queries = [query] if isinstance(query, str) else query
    return PrintedText(on_pages(elements, pages) if pages else elements).find_all(
        queries, folding, whole_word=whole_word
    )


def block_rects(element: Element, start: int, end: int) -> Located:
    """The rectangles of range `[start, end)` of the element's text; not found where nothing there has a place."""
    glyphs = PrintedElement(element).glyphs(max(start, 0), max(end, 0))
    return _located(glyphs, "range") if glyphs else NOT_FOUND


class PrintedText:
    """Elements in reading order, made ready for looking up any number of quotes.

    A passage may run over several elements. Running headers and footers and hidden text never stand inside one, and
    are searched by themselves, last.
    """

    def __init__(self, elements: Sequence[Element]) -> None:
        elements = [element for element in elements if element.origin != "caption"]  # a model's words, printed nowhere
        body = [element for element in elements if element.category not in FURNITURE and not element.hidden]
        prose = [item for item in body if item.element_type == "text" and item.category not in _INTERRUPTIONS]
        kept = {id(element) for element in body}
        self._order = {id(element): position for position, element in enumerate(elements)}
        self._bodies = [_Stream(body)] + ([_Stream(prose)] if len(prose) < len(body) else [])
        self._loners = [_Stream([element]) for element in elements if id(element) not in kept]

    def locate(self, quote: str, *, prefer: str = "") -> Located:
        """The whole quote, or `found: False`.

        Whitespace, letter case, punctuation, line-end hyphens and character shapes do not matter; numbers match whole,
        with their separators and sign. Of several places, one in the element `prefer` comes first, then the
        first. `method` is "exact", "text" (in the text, which has no geometry: no regions) or "ocr-fuzzy": up to one
        character in ten differs from a recognised text, and no digit; the confidence is lowered by as much.
        """
        needle = _Needle(" ".join(quote.split()))
        if not needle.folded.text:
            return NOT_FOUND
        located = self._exactly(needle, prefer)
        if not located.found and is_right_to_left(quote):
            # as it comes from a reader that goes through lines by position
            located = self._exactly(_Needle(" ".join(reversed(quote.split()))), prefer)
        return located if located.found else self._approximately(needle.folded, prefer)

    def find_all(self, queries: Sequence[str], folding: Folding, *, whole_word: bool = False) -> tuple[Located, ...]:
        """In order, none overlapping. What stands nowhere in the reading text is looked for with line-end hyphens."""
        needles = [needle for query in queries if (needle := fold(query, folding).text)]
        search = Search(tuple(sorted(needles, key=len, reverse=True)), folding, whole_word)
        streams = [self._bodies[0], *self._loners]
        for occurrences in (_Stream.occurrences, _Stream.printed_occurrences):
            found = [
                (self._order[id(stream.elements[position])], located)
                for stream in streams
                for position, located in occurrences(stream, search)
            ]
            if found:
                return tuple(located for _, located in sorted(found, key=lambda pair: pair[0]))
        return ()

    def _exactly(self, needle: _Needle, prefer: str) -> Located:
        for stream, within in self._places(prefer, len(needle.folded.text)):
            place = stream.find(needle, within)
            if place is not None:
                return stream.located(place, "exact")
        return NOT_FOUND

    def _places(self, prefer: str, length: int) -> Iterator[tuple[_Stream, Range | None]]:
        streams = self._bodies + self._loners
        if prefer:
            for stream in streams:
                inside = stream.range_of(prefer)
                if inside is not None:
                    yield stream, inside
                    yield stream, (max(inside[0] - length, 0), inside[1] + length)
        for stream in streams:
            yield stream, None

    def _approximately(self, needle: Folded, prefer: str) -> Located:
        stream = self._recognised
        if not stream.elements:
            return NOT_FOUND
        inside = stream.range_of(prefer) if prefer else None
        for start, end in ([inside] if inside is not None else []) + [(0, len(stream.folded.text))]:
            match = approximate_match(needle.text, stream.folded.text[start:end])
            if match is not None:
                first, last = stream.origin(start + match[0]), stream.origin(start + match[1] - 1)
                located = stream.located((first, last + 1), "ocr-fuzzy")
                share = 1 - match[2] / len(needle.text)
                return replace(located, confidence=(1.0 if located.confidence is None else located.confidence) * share)
        return NOT_FOUND

    @cached_property
    def _recognised(self) -> _Stream:
        return _Stream([element for element in self._bodies[0].elements if element.origin == "ocr"])


@dataclass(frozen=True, slots=True)
class _Needle:
    """A quote with single blanks, and as it is compared."""

    quote: str
    folded: Folded = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folded", fold(self.quote))


class _Stream:
    """Elements joined into one text, folded when first asked for."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements
        self.text = "\n".join(element.text for element in elements)
        self._starts: list[int] = []
        start = 0
        for element in elements:
            self._starts.append(start)
            start += len(element.text) + 1
        self._printed: dict[int, PrintedElement] = {}

    @cached_property
    def folded(self) -> Folded:
        return fold(self.text, QUOTE)

    def origin(self, index: int) -> int:
        return self.folded.origins[index]

    def range_of(self, element_id: str) -> Range | None:
        """Where the element stands in the folded text; None where it is not in this stream."""
        for start, element in zip(self._starts, self.elements, strict=True):
            if element.id == element_id:
                origins = self.folded.origins
                return bisect_left(origins, start), bisect_left(origins, start + len(element.text))
        return None

    def find(self, needle: _Needle, within: Range | None) -> Range | None:
        """Of the places of the needle, in this stream's text, the first of those that agree best with the quote."""
        folded, wanted = self.folded, needle.folded
        low, high = within if within is not None else (0, len(folded.text))
        best, best_agreement = None, -1
        for count, start in enumerate(_candidates(folded.text, wanted.text, low, high)):
            end = start + len(wanted.text)
            if _numbers_agree(folded, wanted, start) and not marks_follow(folded.text, end):
                place, agreement = self._agreement(needle, start, end)
                if agreement > best_agreement:
                    best, best_agreement = place, agreement
            if best_agreement == _VERBATIM or (best is not None and count > _MOST_CANDIDATES):
                break
        return best

    def _agreement(self, needle: _Needle, start: int, end: int) -> tuple[Range, int]:
        """Where a match stands, and how well it agrees: word by word, not as a part of `a-b`, to the letter.

        One that cuts a word in two does not agree at all (-1) unless its blanks stand where the quote has them.
        """
        first, last = self.origin(start), self.origin(end - 1) + 1
        place = _widened(self.text, first, last, needle)
        if _cuts(self.text, first) or _cuts(self.text, last):
            same = self.folded.breaks[start + 1 : end] == needle.folded.breaks[1:]
            return place, 0 if same else -1
        verbatim = (
            self.text[slice(*place)] == needle.quote or " ".join(self.text[slice(*place)].split()) == needle.quote
        )
        return place, 1 + 2 * (not (_hyphenates(self.text, first) or _hyphenates(self.text, last))) + verbatim

    def located(self, place: Range, method: str) -> Located:
        glyphs: list[Glyph] = []
        for position, start, end in self._parts(*place):
            element = self.printed(position)
            glyphs += element.glyphs(start, end)
        return _located(glyphs, method if glyphs else "text")

    def printed(self, position: int) -> PrintedElement:
        if position not in self._printed:
            self._printed[position] = PrintedElement(self.elements[position])
        return self._printed[position]

    def occurrences(self, search: Search) -> Iterator[tuple[int, Located]]:
        """Each with the position of the element that it begins in."""
        for start, end in search.ranges(self.text):
            parts = list(self._parts(start, end))
            if search.whole_word and any(self.printed(position).is_cut(*range_) for position, *range_ in parts):
                continue
            yield parts[0][0], self.located((start, end), "exact")

    def printed_occurrences(self, search: Search) -> Iterator[tuple[int, Located]]:
        """The same in the text as printed, with its line-end hyphens."""
        for position in range(len(self.elements)):
            element = self.printed(position)
            for start, end in search.ranges(element.printed):
                glyphs = element.printed_glyphs(start, end)
                if glyphs:
                    yield position, _located(glyphs, "exact")

    def _parts(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The elements that range `[start, end)` of the joined text runs over, with the range in each."""
        position = bisect_right(self._starts, start) - 1
        while position < len(self._starts) and self._starts[position] < end:
            offset = self._starts[position]
            yield position, max(start - offset, 0), min(end - offset, len(self.elements[position].text))
            position += 1


def _candidates(text: str, needle: str, low: int, high: int) -> Iterator[int]:
    """Every place of `needle`; of the many inside a run of digits, only the one where the run begins."""
    numeric = needle[0].isdecimal()
    start = text.find(needle, low, high)
    while start >= 0:
        inside = numeric and start > 0 and text[start - 1].isdecimal()
        if not inside:
            yield start
        following = _end_of_digits(text, start) if inside else start + 1
        start = text.find(needle, following, high)


def _end_of_digits(text: str, start: int) -> int:
    match = _DIGITS.match(text, start)
    return match.end() if match is not None else start


def _numbers_agree(text: Folded, needle: Folded, start: int) -> bool:
    """Whether no number is cut at either end, and none has a minus on one side only."""
    end = start + len(needle.text)
    if needle.text[0].isdecimal() and text.text[start - 1 : start] in _BEFORE_DIGITS:
        return False
    if needle.text[-1].isdecimal() and text.text[end : end + 1] in _WITHIN_NUMBER:
        return False
    signs = text.signs[start:end]
    return signs == needle.signs or all(
        {here, there} != {0, SIGN} for here, there in zip(signs, needle.signs, strict=True)
    )


def _cuts(text: str, index: int) -> bool:
    """Whether a word or a code such as `Q2` goes on over `index`."""
    sides = text[max(index - 1, 0) : index + 1] if index > 0 else ""
    return len(sides) == 2 and all(side.isalnum() and not is_cjk(side) for side in sides)


def _hyphenates(text: str, index: int) -> bool:
    """Whether a hyphen stands at `index`, with a letter or digit on its far side: `all` in `all-round`."""
    return any(
        plain_punctuation(text[at]) == "-" and 0 <= beyond < len(text) and text[beyond].isalnum()
        for at, beyond in ((index - 1, index - 2), (index, index + 1))
        if 0 <= at < len(text)
    )


def _widened(text: str, start: int, end: int, needle: _Needle) -> Range:
    """The range with the punctuation that the quote has at its ends and the text has there, too."""
    counted = needle.folded.origins
    first = _reach(text, start - 1, needle.quote[: counted[0]][::-1], -1) + 1
    return first, _reach(text, end, needle.quote[counted[-1] + 1 :], 1)


def _reach(text: str, position: int, marks: str, step: int) -> int:
    """From `position` on, the last place up to which the text has the marks, blanks aside; never over a line break."""
    reached = at = position
    for mark in marks:
        if _is_blank(mark):
            continue
        while 0 <= at < len(text) and text[at] != "\n" and _is_blank(text[at]):
            at += step
        if not 0 <= at < len(text) or plain_punctuation(text[at]) != plain_punctuation(mark):
            break
        at += step
        reached = at
    return reached


def _is_blank(character: str) -> bool:
    return is_space(character) or is_ignored(character)


def _located(glyphs: Sequence[Glyph], method: str) -> Located:
    """Regions in the order in which the passage reaches their pages."""
    rects = lines(glyphs)
    regions = []
    for page in dict.fromkeys(rect.page for rect in rects):
        boxes = tuple(rect.bbox for rect in rects if rect.page == page)
        union = union_of(boxes)
        if union is not None:
            regions.append(LocatedRegion(page, union, boxes))
    read = [glyph.confidence for glyph in glyphs if glyph.confidence is not None]
    return Located(True, tuple(regions), method, min(read, default=None))
