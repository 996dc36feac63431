"""`How many states …`: whether a sentence has a number by the noun that it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from kb_qa.extraction.notions import Notion, notions_of, reading
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quantities import PERIOD_KINDS

# What is counted ends where the verb, a preposition or a participle begins.
_COUNTED = re.compile(
    r"(?ai)\b(?:how many|number of) (?P<noun>[^\s,.?]+(?: (?!(?:did|do|does|is|are|was|were|has|have|had|can|could|will"
    r"|would|should|must|may|made|took|took|got|of|in|at|on|by|for|from|with|to|than|that|who|which|there|per|as|be|been"
    r"|and|or|[a-z]+ed)\b)[^\s,.?]+){0,4})"
)
_NOT_COUNTS = PERIOD_KINDS | {"percent", "pp", "money", "id", "ref", "marker", "enum"}
_NEAR = 6  # words between a number and what it counts
_NO_HEAD = re.compile(r"(?a)^(?:worldwid|global|overal|altogeth|total|today|annual|year|current|now|there|countrywid)")
_WORD = re.compile(r"\S+")
_CLAUSE_END = re.compile(r"[;；。]|(?<![A-Z])[.:]\s")


@lru_cache(maxsize=512)
def counted_in(question: str) -> tuple[Notion, ...]:
    """The nouns of which a question asks the number; empty where it asks for none, or not in English."""
    match = _COUNTED.search(question)
    return notions_of(match["noun"]) if match else ()


def is_counted(nouns: Sequence[Notion], sentence: str) -> bool:
    """Whether a number stands by the noun, in one clause with it, or is said to be `the number of` them.

    The noun is the last of the words (`ordinary shares`), but for one that ends as an adverb or names a place at large.
    """
    heads = [noun for noun in nouns if not _NO_HEAD.search(noun.said)][-1:] or nouns
    if any(_is_named(heads, f"{match['noun']}") for match in _COUNTED.finditer(sentence)):
        return True
    return any(_is_named(heads, around) for around in _around_numbers(sentence))


def _is_named(nouns: Sequence[Notion], text: str) -> bool:
    return any(noun.name_in(reading(text)) is not None for noun in nouns)


def _around_numbers(sentence: str) -> Iterator[str]:
    """The words around each number, up to the ends of its clause."""
    for quantity in lex(sentence):
        is_part = sentence[quantity.end :].startswith("-")  # of `3- and 4-year-olds`
        is_whole = quantity.quantum >= 1  # nobody counts 2.3 of anything
        if quantity.role == "figure" and quantity.kind not in _NOT_COUNTS and is_whole and not is_part:
            before = _CLAUSE_END.split(sentence[: quantity.start])[-1]
            behind = _CLAUSE_END.split(sentence[quantity.end :])[0]
            # `45 years` count years, and nobody beside them.
            around = () if quantity.unit else (*_WORD.findall(before)[-_NEAR:], *_WORD.findall(behind)[:_NEAR])
            yield " ".join((quantity.raw, *around))
