"""Rows of a table that an answer writes: each cell is read under the header that stands above it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|?\s*")
_MOST = 120  # characters of a header


@dataclass(frozen=True, slots=True)
class Inserted:
    """A text with words put in: `insertions` are (place in the text as it was, words), in order."""

    text: str
    insertions: tuple[tuple[int, str], ...] = ()

    def forward(self, place: int) -> int:
        """Where a place behind a character of the text as it was now stands."""
        return place + sum(len(words) for at, words in self.insertions if at < place)

    def back(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of the text as it was; None for what stands in the insertions alone."""
        first, last = self._back(start), self._back(end)
        return (first, last) if first < last else None

    def _back(self, place: int) -> int:
        shift = 0
        for at, words in self.insertions:
            begin = at + shift
            if place <= begin:
                break
            if place < begin + len(words):
                return at
            shift += len(words)
        return place - shift


@dataclass(frozen=True, slots=True)
class TableSoFar:
    """The rows above a unit: the last one, and the header cells where the rule below them has been seen."""

    last: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()

    def after(self, text: str) -> TableSoFar:
        if _RULE.fullmatch(text) and self.last and not self.headers:
            return TableSoFar(headers=self.last)
        if _ROW.fullmatch(text):
            return TableSoFar(_cells(text), self.headers)
        return TableSoFar()

    def read(self, text: str) -> Inserted:
        """The row with each header before its cell, but for the first, which is the row's own name.

        A semicolon parts the cells: a header is not of the figure before it.
        """
        if not self.headers or not _ROW.fullmatch(text) or len(_cells(text)) != len(self.headers):
            return Inserted(text)
        starts = [match.end() for match in re.finditer(r"\|\s*", text)][: len(self.headers)]
        pairs = [*zip(starts, self.headers, strict=True)][1:]
        insertions = tuple((at, f"; {header}: ") for at, header in pairs if header and len(header) <= _MOST)
        parts, position = [], 0
        for at, words in insertions:
            parts += [text[position:at], words]
            position = at
        return Inserted("".join([*parts, text[position:]]), insertions)


NO_TABLE = TableSoFar()


def _cells(text: str) -> tuple[str, ...]:
    return tuple(cell.strip(" *_") for cell in text.strip().strip("|").split("|"))
