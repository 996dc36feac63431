"""Every occurrence of a query in a text, as find-all counts them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kb_qa.folding import Folded, Folding, fold

Range = tuple[int, int]  # [start, end) of a text


@dataclass(frozen=True, slots=True)
class Search:
    """What find-all looks for: folded queries, longest first."""

    needles: tuple[str, ...]
    folding: Folding
    whole_word: bool

    def ranges(self, text: str) -> Iterator[Range]:
        """Ranges of `text`, one after the other, none overlapping; of those that begin at one place, the longest."""
        folded = fold(text, self.folding)
        found = sorted((start, -len(needle)) for needle in self.needles for start in self._starts(text, folded, needle))
        reached = 0
        for start, length in found:
            if start >= reached:
                reached = start - length
                yield folded.origins[start], folded.origins[reached - 1] + 1

    def _starts(self, text: str, folded: Folded, needle: str) -> Iterator[int]:
        start = folded.text.find(needle)
        while start >= 0:
            end = start + len(needle)
            first, last = folded.origins[start], folded.origins[end - 1] + 1
            split = self.whole_word and (_joins_words(text, first) or _joins_words(text, last))
            if split or marks_follow(folded.text, end):
                start = folded.text.find(needle, start + 1)
                continue
            yield start
            start = folded.text.find(needle, end)


def _joins_words(text: str, index: int) -> bool:
    return 0 < index < len(text) and all(side.isalnum() or side == "_" for side in text[index - 1 : index + 1])


def marks_follow(text: str, end: int) -> bool:
    """Whether what comes next belongs to the last letter: `e` is not found in `é`, nor か in が."""
    return end < len(text) and unicodedata.combining(text[end]) != 0
