"""From printed lines to the text that is read, searched and cited, and the printed words with their places in it.

One space between lines, none between Chinese or Japanese lines; a word broken by a line-end hyphen is whole again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ingest.line_groups import same_row
from ingest.page_text import SOFT_HYPHEN
from ingest.printed import PrintedLine, PrintedWord, is_cjk, joins_without_space
from kb_qa.elements import Word

HYPHENS = "-\u2010\u2011"
KEPT_PREFIXES = frozenset({"non", "self", "well", "ex", "quasi", "semi", "cross", "post", "mid", "all", "so"})
KEPT_ENDS = frozenset(
    "term based related owned backed weighted denominated looking adjusted linked driven bearing".split()
)
# After these the hyphen before stands for a part that follows later: `long- and short-term`.
SUSPENDING = frozenset({"and", "or", "to", "und", "oder", "et", "ou", "y", "o"})
# A part left open before it: what follows `light- and heavy-` is spelled as that part is.
SUSPENDED = re.compile(rf"\w[{HYPHENS}] (?:and|or|to|und|oder|et|ou) [^{HYPHENS}\s]+[{HYPHENS}]$")
OPEN_PREFIXES = frozenset({"anti", "intra", "infra", "multi", "semi", "ultra"})  # their hyphen keeps two vowels apart
_BROKEN_NUMBER = re.compile(r"(?a)[.,]\d|[%‰％]")  # no line begins so but in the middle of a figure
_EDGES = re.compile(r"^\W+|\W+$")


def _clash(stem: str, rest: str) -> bool:
    """Whether two vowels would meet that English spelling keeps apart: `intra-interviewer`, `anti-inflammatory`."""
    if stem not in OPEN_PREFIXES or rest[:1] not in set("aeiou"):
        return False
    return stem[-1] == "a" or stem[-1] == rest[0]


@dataclass(slots=True)
class Vocabulary:
    """The words of the document that stand whole in a line, in lower case, compounds with their hyphens."""

    words: set[str] = field(default_factory=set)

    def add(self, lines: Iterable[PrintedLine]) -> None:
        for line in lines:
            for word in _strings(line.words)[:-1]:
                bare = _EDGES.sub("", word).lower().replace(SOFT_HYPHEN, "")
                if bare:
                    self.words.add(bare)


def _strings(words: Sequence[PrintedWord]) -> list[str]:
    strings: list[str] = []
    for word in words:
        if strings and not word.spaced:
            strings[-1] += word.text
        else:
            strings.append(word.text)
    return strings


def build_text(
    lines: Sequence[PrintedLine],
    page: int,
    vocabulary: Vocabulary,
    *,
    offset: int = 0,
    rest: Sequence[tuple[int, Sequence[PrintedLine]]] = (),
    verbatim: bool = False,
) -> tuple[str, list[Word]]:
    """The reading text of lines in reading order, and a `Word` for each printed word; ranges start at `offset`.

    `rest` are the lines of the same text in later columns and on later pages, with their page. `verbatim`: line breaks,
    indents and hyphens stay, as in a program.
    """
    builder = _Builder(vocabulary, offset)
    for number, part in ((page, lines), *rest):
        left = min((line.bbox.x0 for line in part), default=0.0)
        for line in part:
            builder.add(line, number, left if verbatim else None)
    return builder.text, builder.words


def _blanks(line: PrintedLine, start: float) -> str:
    """A space for each character that would stand between `start` and the line in a font of one width."""
    first = line.words[0]
    return " " * round((line.bbox.x0 - start) * len(first.text) / max(first.bbox.width, 1.0))


class _Builder:
    def __init__(self, vocabulary: Vocabulary, offset: int) -> None:
        self.text = ""
        self.words: list[Word] = []
        self._page = 0
        self._vocabulary = vocabulary
        self._offset = offset
        self._soft = False  # whether the last printed word ends with a soft hyphen

    def add(self, line: PrintedLine, page: int, left: float | None = None) -> None:
        """`left`: where the lines of a verbatim text begin, of which each is a line of the text, too."""
        self._page = page
        for index, word in enumerate(line.words):
            if index == 0 and left is not None:
                self._start_verbatim(line, left)
            elif index == 0:
                self._start_line(line)
                continue
            elif word.spaced and not self._spurious(line.words[index - 1], word):
                self.text += " "
            self._append(word)

    def _start_verbatim(self, line: PrintedLine, left: float) -> None:
        """A line of a program, or what stands in the row of the last word, as beside a line number."""
        last = self.words[-1].bbox if self.words else None
        if last is not None and last.x1 <= line.bbox.x0 and same_row(last, line.bbox):
            self.text += _blanks(line, last.x1) or " "
        else:
            self.text += ("\n" if self.text else "") + _blanks(line, left)

    def _spurious(self, before: PrintedWord, word: PrintedWord) -> bool:
        """A gap that justified setting opened between two Chinese characters is no space."""
        close = abs(word.bbox.x0 - before.bbox.x1) < 0.5 * word.size
        return (
            close
            and joins_without_space(before.text[-1], word.text[0])
            and is_cjk(before.text[-1])
            and is_cjk(word.text[0])
        )

    def _append(self, word: PrintedWord) -> None:
        printed = word.text.replace(SOFT_HYPHEN, "")
        start = self._offset + len(self.text)
        self.text += printed
        self._soft = word.text.endswith(SOFT_HYPHEN)
        if printed:
            self.words.append(self._word(word, printed, start, start + len(printed)))

    def _word(self, word: PrintedWord, printed: str, start: int, end: int) -> Word:
        return Word(self._page, word.bbox.rounded(), printed, start, end, word.confidence)

    def _start_line(self, line: PrintedLine) -> None:
        first = line.words[0]
        if not self.text:
            self._append(first)
            return
        how = self._junction(line)
        if how == "join":
            self._join(first)
            return
        if how == "space":
            self.text += " "
        self._append(first)

    def _junction(self, line: PrintedLine) -> str:
        """`join`: the hyphen was set by the line break; `none`: nothing stands for the break; else `space`."""
        before, after = self.text[-1], line.words[0].text[0]
        if self._soft:
            return "join"
        if before in HYPHENS and len(self.text) > 1 and self.text[-2].isalnum() and not is_cjk(self.text[-2]):
            return self._after_hyphen(_strings(line.words)[0])
        is_number_broken = before.isdigit() and _BROKEN_NUMBER.match(_strings(line.words)[0]) is not None
        return "none" if is_number_broken or joins_without_space(before, after) else "space"

    def _after_hyphen(self, following: str) -> str:
        stem = re.split(r"\s", self.text)[-1][:-1]
        bare_stem, bare_rest = _EDGES.sub("", stem).lower(), _EDGES.sub("", following).lower()
        if bare_rest in SUSPENDING:
            return "space"
        if not following[0].islower() or not stem[-1].isalpha():
            return "none"
        if f"{bare_stem}-{bare_rest}" in self._vocabulary.words:
            return "none"
        if bare_stem + bare_rest in self._vocabulary.words:
            return "join"
        if SUSPENDED.search(self.text) or _clash(bare_stem, bare_rest):
            return "none"
        is_compound = "-" in stem or len(bare_stem) == 1 or bare_stem in KEPT_PREFIXES or bare_rest in KEPT_ENDS
        return "none" if is_compound else "join"

    def _join(self, word: PrintedWord) -> None:
        """Both halves stand for the whole word: one range."""
        last = self.words.pop()
        if self.text[-1] in HYPHENS:
            self.text = self.text[:-1]
        printed = word.text.replace(SOFT_HYPHEN, "")
        self._soft = word.text.endswith(SOFT_HYPHEN)
        self.text += printed
        end = self._offset + len(self.text)
        halves = [last]
        while self.words and self.words[-1].start == last.start:  # a word broken twice
            halves.insert(0, self.words.pop())
        self.words.extend(Word(half.page, half.bbox, half.text, half.start, end, half.confidence) for half in halves)
        self.words.append(self._word(word, printed, last.start, end))
