"""Figures, periods and dates as index terms in normal form: `4.1 billion` and `41亿` meet in `4100000000`.

The guard's lexer reads them, so that what it calls equal is found as equal. What is printed stays a term beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.periods import parts_of
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity, plain
from kb_qa.terms import terms

_SHARES = frozenset({"percent", "pp"})
AMOUNTS = frozenset({"money", "count", "measure", "number"})
_MOST_DIGITS = 40  # of a figure that anybody looks for
_YEARS = 12  # of a range that is named year by year


def question_terms(question: str) -> list[str]:
    """Every term that a question looks for, once: its words, and its figures and dates in every reading."""
    found = [*terms(question)]
    for quantity in lex(question):
        found += quantity_terms(quantity, asked=True)
    return [*dict.fromkeys(found)]


def figure_terms(text: str, *, locale: str = "") -> Iterator[str]:
    """The normal forms of the figures, periods and dates of `text`, in order."""
    for quantity in lex(text, locale=locale):
        yield from quantity_terms(quantity)


def amounts_in_other_forms(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The amounts of `text` as they stand in it, each with its normal forms where these are no words of it."""
    for quantity in lex(text):
        if quantity.kind in AMOUNTS:
            said = terms(quantity.raw)
            forms = [term for term in quantity_terms(quantity) if term not in said]
            if said and forms:
                yield quantity.raw, forms


def quantity_terms(quantity: Quantity, *, asked: bool = False) -> Iterator[str]:
    """The normal forms of one quantity: an amount without its sign and unit, a period whole and in parts.

    Of a question every reading of an ambiguous grouping (`1.234`), and of a date not its month. None for ids, marks
    and what has no single value.
    """
    if quantity.role != "figure" or quantity.soft:
        return
    if quantity.kind in PERIOD_KINDS:
        yield from _period_terms(quantity, asked)
    elif quantity.kind in _SHARES | AMOUNTS:
        mark = "%" if quantity.kind in _SHARES else ""
        values: Iterable[Decimal | str] = dict.fromkeys((quantity.value, *(quantity.readings if asked else ())))
        for value in values:
            if isinstance(value, Decimal) and value and abs(value.adjusted()) < _MOST_DIGITS:
                yield plain(abs(value)) + mark


def _period_terms(quantity: Quantity, asked: bool) -> Iterator[str]:
    """`2024-09-30` → itself, `2024-09`, `2024`; `2024Q3` → itself, `2024`, `q3`; a range of years, its years."""
    parts = parts_of(quantity)
    years = sorted(part[1:] for part in parts if part[0] == "y")[:_YEARS]
    others = sorted(part for part in parts if part[0] not in "ymd")
    whole = str(quantity.value).lower()
    if "/" not in whole and not (others and whole.startswith("--")):
        yield whole
    if len(years) == 1 and whole.count("-") == 2 and not asked:
        yield whole.rpartition("-")[0]
    yield from years
    yield from (part.lower() for part in others)
