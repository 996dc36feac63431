"""What the units before one say for it: its heading, and what an elliptic sentence goes on about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kb_qa.guardrails.claims import Asked
from kb_qa.guardrails.labels import Aliases, tokens
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity
from kb_qa.guardrails.row_headers import NO_TABLE, TableSoFar
from kb_qa.guardrails.windows import masked

_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*[:：]?)\s*")
_LEAD = re.compile(r".*[:：][*_\s]*", re.DOTALL)
_ITEM = re.compile(r"(?a)\s*(?:[-*•|]|\d{1,3}[.)、])")


@dataclass(frozen=True, slots=True)
class Said:
    """Words and periods of one unit."""

    words: frozenset[str] = frozenset()
    periods: tuple[Quantity, ...] = ()


@dataclass(frozen=True, slots=True)
class Carried:
    """`heading` holds until the next one, `lead` (`Revenue by year:`) for the list items and rows below it.

    `last` is the unit before, `table` the rows above; `enumerator` the last list number, so that no figure passes for
    the next one.
    """

    heading: Said = Said()
    lead: Said = Said()
    last: Said = Said()
    enumerator: int = 0
    table: TableSoFar = NO_TABLE

    def asked_for(self, text: str, asked: Asked, *, locale: str, aliases: Aliases) -> Asked:
        """The question as one unit answers it: with its heading, and with the unit before where it has no words."""
        own = _said(text, locale, aliases)
        above = [self.heading, *([self.lead] if _ITEM.match(text) else []), *([] if own.words else [self.last])]
        words = asked.words.union(*(each.words for each in above))
        # The question's own periods come first: a heading's stand in only where it names none.
        named = any(each.kind in PERIOD_KINDS for each in asked.quantities)
        nearest = next((each.periods for each in reversed(above) if each.periods), ())
        return replace(asked, words=words, quantities=asked.quantities if named else (*asked.quantities, *nearest))

    def after(self, text: str, numbers: Sequence[int], *, locale: str, aliases: Aliases) -> Carried:
        """What is carried on behind this unit; `numbers` are its list numbers."""
        said = _said(text, locale, aliases)
        enumerator = numbers[-1] if numbers else self.enumerator
        return replace(self._after(text, said), enumerator=enumerator, table=self.table.after(text))

    def _after(self, text: str, said: Said) -> Carried:
        if _HEADING.fullmatch(text):
            return Carried(heading=said)
        if _ITEM.match(text):
            return replace(self, last=said)
        return Carried(self.heading, said if _LEAD.fullmatch(text) else Said(), said)


@lru_cache(maxsize=64)
def _said(text: str, locale: str, aliases: Aliases) -> Said:
    quantities = lex(text, locale=locale or "en")
    words = tokens(masked(text, quantities).replace("\x00", " ").replace("\x01", " "), aliases)
    return Said(words, tuple(each for each in quantities if each.kind in PERIOD_KINDS))
