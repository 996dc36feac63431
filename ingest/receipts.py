"""Receipts: a label on the left, its amount far to the right, and nothing but the row that holds them together.

Apart neither says anything, so what stands in one row of a receipt is one line. Only where OCR read a narrow strip of
print, whatever the paper it lies on: in wide print the same picture is a table, which the table finder knows better,
and in a narrow column of prose what stands apart is a table in the text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from ingest.line_groups import has_value_apart, visual_rows
from ingest.printed import PrintedLine, line_of

WIDEST = 30  # of the usual type size; the print of a till roll is 20 to 30 wide, that of a page of A4 36 and more
LEAST_ROWS = 3
FILLED = 0.8  # of the print's width: a line of prose

# An amount, count, percentage or code, with a currency or unit of up to three letters; or the sign between two of them.
VALUE = re.compile(r"^\W{0,2}(?:[A-Za-z]{1,3}\W{0,2})?\d[\d\s.,:/%-]*\W{0,2}(?:[A-Za-z]{1,3})?$|^[xX×@=]$")


def with_receipt_rows(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """The lines, with what stands in one row as one line where they are a receipt's."""
    rows = visual_rows([line for line in lines if line.direction == "right"])
    if not is_receipt([line for row in rows for line in _joined(row, values_only=True)]):
        return list(lines)
    return [*(line for row in rows for line in _joined(row)), *(line for line in lines if line.direction != "right")]


def is_receipt(lines: Sequence[PrintedLine]) -> bool:
    """Whether the print is narrow, and lines that are a label and an amount apart from it outnumber lines of prose."""
    apart = sum(has_value_apart(line) for line in lines)
    if apart < LEAST_ROWS:
        return False
    width = max(line.bbox.x1 for line in lines) - min(line.bbox.x0 for line in lines)
    prose = sum(line.bbox.width >= FILLED * width and not has_value_apart(line) for line in lines)
    return apart >= prose and width <= WIDEST * median(line.size for line in lines)


def _joined(row: Sequence[PrintedLine], *, values_only: bool = False) -> list[PrintedLine]:
    """The row as one line, where its parts stand side by side; `values_only`: and are a label and its values."""
    ordered = sorted(row, key=lambda part: part.bbox.x0)
    apart = all(left.bbox.x1 <= right.bbox.x0 for left, right in itertools.pairwise(ordered))
    valued = all(VALUE.match(part.text) for part in ordered[1:])
    if len(ordered) < 2 or not apart or (values_only and not valued):
        return list(row)
    words = list(ordered[0].words)
    for part in ordered[1:]:
        words.extend((replace(part.words[0], spaced=True), *part.words[1:]))
    return [line_of(words)]
