"""Forms that OCR read: a column of labels and, apart from it, a column of what stands for each.

Read as two columns neither says anything, so a label and its value are one line. Only where the two columns are plainly
that: two addresses side by side, or two columns of text, are read one after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from ingest.line_groups import visual_rows
from ingest.printed import PrintedLine, line_of

LEAST_ROWS = 3
APART = 1.5  # of the type size, between the longest label and the values
FLUSH = 0.8  # of the type size, by which the starts of a column may differ
LONGEST_LABEL, LONGEST_VALUE = 30, 60  # characters
SENTENCE_ENDS = ".。!?！？;；,，"

_Pair = tuple[PrintedLine, PrintedLine]


def with_form_rows(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """The lines, with label and value of one row as one line where several rows under one another are a form."""
    rows = visual_rows([line for line in lines if line.direction == "right"])
    joined: list[PrintedLine] = []
    for _, run in itertools.groupby(_runs(rows), key=lambda pair: pair[0]):
        members = [row for _, row in run]
        pairs = [(row[0], row[1]) for row in members if len(row) == 2]
        if len(pairs) == len(members) >= LEAST_ROWS and _is_form(pairs):
            joined.extend(_joined(*pair) for pair in pairs)
        else:
            joined.extend(line for row in members for line in row)
    return [*joined, *(line for line in lines if line.direction != "right")]


def _runs(rows: Sequence[Sequence[PrintedLine]]) -> list[tuple[int, Sequence[PrintedLine]]]:
    """Each row with the number of its run: rows of a label and a value whose two columns are flush."""
    numbered: list[tuple[int, Sequence[PrintedLine]]] = []
    number = 0
    for row in rows:
        before = numbered[-1][1] if numbered else ()
        if not (len(row) == len(before) == 2 and all(map(_flush, row, before))):
            number += 1
        numbered.append((number, row))
    return numbered


def _flush(one: PrintedLine, other: PrintedLine) -> bool:
    return abs(one.bbox.x0 - other.bbox.x0) <= FLUSH * max(one.size, other.size)


def _is_form(pairs: Sequence[_Pair]) -> bool:
    """Short labels without figures, or with a colon each; values of which most have figures where there is no colon."""
    labels, values = [label.text for label, _ in pairs], [value.text for _, value in pairs]
    size = max(label.size for label, _ in pairs)
    gap = min(value.bbox.x0 for _, value in pairs) - max(label.bbox.x1 for label, _ in pairs)
    short = max(map(len, labels)) <= LONGEST_LABEL and max(map(len, values)) <= LONGEST_VALUE
    if gap < APART * size or not short or any(label[-1] in SENTENCE_ENDS for label in labels):
        return False
    if all(label[-1] in ":：" for label in labels):
        return True
    figured = sum(any(char.isdigit() for char in value) for value in values)
    return figured * 2 >= len(values) and not any(char.isdigit() for label in labels for char in label)


def _joined(label: PrintedLine, value: PrintedLine) -> PrintedLine:
    return line_of([*label.words, replace(value.words[0], spaced=True), *value.words[1:]])
