"""A growth that no one printed, from two printed figures of one row, with the expression that proves it."""

from __future__ import annotations

import re
from decimal import Decimal

from kb_qa.extraction.request import Request
from kb_qa.extraction.rows import Pair, year_of
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quantities import CONTEXT

_SHARE = re.compile(r"%|％|percent", re.IGNORECASE)
_PLACES = Decimal("0.1")


def computed_growth(pairs: tuple[Pair, ...], question: Request, *, chinese: bool) -> str:
    """A sentence with the growth from one year of a row to the next, its expression in marks behind the figure.

    Empty where a rate is printed, where it is not clear which two figures are meant, or where one is not above 0.
    """
    if not (question.wants_growth or question.arithmetic == "relative") or len(pairs) < 3:
        return ""
    if any(_SHARE.search(f"{header} {cell}") for header, cell in pairs[1:]):
        return ""
    columns = [(year_of(header), cell) for header, cell in pairs[1:]]
    figures = dict(columns)
    if len(figures) != len(columns) or not all(figures):
        return ""
    asked = sorted({year for anchor in question.periods if (year := year_of(anchor.text))})
    later = asked[-1] if asked else max(figures)
    earlier = asked[0] if len(asked) > 1 else later - 1
    if len(asked) > 2 or earlier not in figures or later not in figures:
        return ""
    first, last = _plain_figure(figures[earlier]), _plain_figure(figures[later])
    if first is None or last is None or first[1] == last[1]:
        return ""
    rate = CONTEXT.divide((last[1] - first[1]) * 100, first[1]).quantize(_PLACES)
    expression = f"⟦=({last[0]}-{first[0]})/{first[0]}⟧"
    label = pairs[0][1].rpartition(" / ")[2]
    if chinese:
        return f"{label}从{earlier}年到{later}年{'增长' if rate > 0 else '下降'}{abs(rate)}%{expression}。"
    moved = "rose" if rate > 0 else "fell"
    return f"{label} {moved} {abs(rate)}%{expression} from {earlier} to {later}."


def _plain_figure(cell: str) -> tuple[str, Decimal] | None:
    """The printed digits and the value of a cell's only figure, where it is above 0."""
    found = [each for each in lex(cell, locale="en") if each.role == "figure"]
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", cell)
    if len(found) != 1 or digits is None or not isinstance(found[0].value, Decimal) or found[0].value <= 0:
        return None
    return digits[0], Decimal(digits[0].replace(",", ""))
