"""Receipts: a label on the left, its amount far to the right, and nothing but the row that holds them together.

Apart neither says anything, so what stands in one row of a receipt is one line. Only on narrow pages that OCR read: on
a wide page the same picture is a table, which the table finder knows better.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from ingest.line_groups import has_value_apart, visual_rows
from ingest.printed import PrintedLine, line_of

WIDEST = 40  # of the usual type size; a page of A4 in 12 points is 50 wide, a till roll 25 to 35
LEAST_ROWS = 3

# An amount, count, percentage or code, with a currency or unit of up to three letters; or the sign between two of them.
VALUE = re.compile(r"^\W{0,2}(?:[A-Za-z]{1,3}\W{0,2})?\d[\d\s.,:/%-]*\W{0,2}(?:[A-Za-z]{1,3})?$|^[xX×@=]$")


def with_receipt_rows(lines: Sequence[PrintedLine], width: float) -> list[PrintedLine]:
    """The lines, with label and amounts of one row as one line where the page (`width` in points) is a receipt."""
    across = [line for line in lines if line.direction == "right"]
    joined = [line for row in visual_rows(across) for line in _joined(row)]
    rest = [line for line in lines if line.direction != "right"]
    return [*joined, *rest] if is_receipt(joined, width) else list(lines)


def is_receipt(lines: Sequence[PrintedLine], width: float) -> bool:
    """Whether the page is narrow and several of its lines are a label and an amount apart from it."""
    if sum(has_value_apart(line) for line in lines) < LEAST_ROWS:
        return False
    return width <= WIDEST * median(line.size for line in lines)


def _joined(row: Sequence[PrintedLine]) -> list[PrintedLine]:
    ordered = sorted(row, key=lambda part: part.bbox.x0)
    apart = all(left.bbox.x1 <= right.bbox.x0 for left, right in itertools.pairwise(ordered))
    if len(ordered) < 2 or not apart or not all(VALUE.match(part.text) for part in ordered[1:]):
        return list(row)
    words = list(ordered[0].words)
    for part in ordered[1:]:
        words.extend((replace(part.words[0], spaced=True), *part.words[1:]))
    return [line_of(words)]
