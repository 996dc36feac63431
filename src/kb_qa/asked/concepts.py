"""What the question's measures and things are called elsewhere, in English and in Chinese: the table `concepts.tsv`.

For finding only. What the guard takes for the same label is decided by its own, narrower table (`guardrails.labels`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from kb_qa.terms import terms

Pairs = tuple[tuple[str, str], ...]

CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LONGEST_CJK = 16  # characters of a Chinese name


@dataclass(frozen=True, slots=True)
class Concept:
    """`own` are the index terms by which the question says it, `others` those of each other name.

    Of an amount the words behind the number say nothing without it.
    """

    said: str
    own: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]
    is_amount: bool = False


class ConceptBook:
    """Names by what they name. `aliases` are pairs of what is said and what is meant, beside the table."""

    def __init__(self, lines: Sequence[Sequence[str]], aliases: Pairs = ()) -> None:
        self._names: dict[str, list[str]] = {}  # a name → the other names of its things
        for names in [*lines, *aliases]:
            for name in names:
                others = self._names.setdefault(name, [])
                others += [other for other in names if other != name and other not in others]
        self._english: dict[tuple[str, ...], str] = {}
        for name in self._names:
            if not CJK.search(name):
                self._english.setdefault(tuple(terms(name)), name)
        self._english.pop((), None)
        self._most = max(map(len, self._english), default=0)

    def found(self, question: str, question_terms: Sequence[str]) -> tuple[Concept, ...]:
        """The things that the question names, a longer name before those inside it."""
        return (*self._found_english(question_terms), *self._found_chinese(question.lower()))

    def _found_english(self, wanted: Sequence[str]) -> Iterator[Concept]:
        start = 0
        while start < len(wanted):
            for stop in range(min(start + self._most, len(wanted)), start, -1):
                name = self._english.get(tuple(wanted[start:stop]))
                if name is not None:
                    yield self._concept(name)
                    start = stop - 1
                    break
            start += 1

    def _found_chinese(self, text: str) -> Iterator[Concept]:
        start = 0
        while start < len(text):
            for stop in range(min(start + _LONGEST_CJK, len(text)), start, -1) if CJK.match(text[start]) else ():
                if text[start:stop] in self._names:
                    yield self._concept(text[start:stop])
                    start = stop - 1
                    break
            start += 1

    def _concept(self, name: str) -> Concept:
        return Concept(name, _terms_of(name), tuple(map(_terms_of, self._names[name])))


@lru_cache(maxsize=8)
def concept_book(aliases: Pairs = ()) -> ConceptBook:
    """The package's table and the aliases of one knowledge base."""
    text = (files("kb_qa.asked") / "concepts.tsv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return ConceptBook([_names(line) for line in lines], aliases)


def _names(line: str) -> Sequence[str]:
    return [name.strip() for part in line.split("\t") for name in part.split(";") if name.strip()]


@lru_cache(maxsize=4096)
def _terms_of(name: str) -> tuple[str, ...]:
    return tuple(terms(name))
