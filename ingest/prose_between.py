"""Two tables that a model took for one, and the paragraphs between them: the grid is parted where running text is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ingest.drafts import bbox_of
from ingest.line_groups import visual_rows
from ingest.printed import PrintedLine
from ingest.table_headers import is_value
from kb_qa.geometry import BBox, union_of

WIDE = 0.75  # of the width of the grid, that a line of a paragraph runs through
WHITE = 1.0  # of the type size: more between two words parts columns, more between two lines ends a paragraph
ALIGNED = 0.5  # of the type size, by which the lines of a paragraph begin apart
FEWEST_WORDS = 5  # of the last line of a paragraph
FEWEST_LINES = 2  # that run through the grid, of a paragraph
FEWEST_ROWS = 2  # of figures, of a table
LEAST_HEIGHT = 3.0  # points, of what is left of a cell


def parted_by_prose(boxes: Sequence[BBox], lines: Sequence[PrintedLine]) -> list[tuple[BBox, ...]]:
    """The grid's rectangles, in two or more grids where whole paragraphs run through it between rows of figures.

    Only above a table with headings of its own: a remark in the middle of a table does not end it.
    """
    frame = union_of(boxes)
    if frame is None:
        return [tuple(boxes)]
    rows = visual_rows([line for line in lines if line.direction == "right" and line.bbox.overlap(frame) > 0.5])
    for start, stop in _paragraphs(rows, frame):
        if _figure_rows(rows[:start]) >= FEWEST_ROWS and _is_table(rows[stop:]):
            top = bbox_of(line for row in rows[start:stop] for line in row)
            above = [box for each in boxes if (box := _clipped(each, frame.y0, top.y0)) is not None]
            below = [box for each in boxes if (box := _clipped(each, top.y1, frame.y1)) is not None]
            return [tuple(above), *parted_by_prose(below, lines)]
    return [tuple(boxes)]


def _paragraphs(rows: Sequence[Sequence[PrintedLine]], frame: BBox) -> list[tuple[int, int]]:
    """Runs of rows that hold nothing but running text, as [start, stop)."""
    found = []
    row = 0
    while row < len(rows):
        stop = row
        while stop < len(rows) and _goes_on(rows, row, stop, frame):
            stop += 1
        if _has_paragraph(rows[row:stop], frame):
            found.append((row, stop))
        row = max(stop, row + 1)
    return found


def _goes_on(rows: Sequence[Sequence[PrintedLine]], start: int, row: int, frame: BBox) -> bool:
    """Whether the row runs through the grid, or ends the paragraph above it."""
    if _runs_through(rows[row], frame):
        return True
    line = rows[row][0]
    if row == start or len(rows[row]) > 1 or len(line.words) < FEWEST_WORDS or not _is_running(line):
        return False
    before = rows[row - 1][0]
    return _is_next(before, line) and abs(line.bbox.x0 - before.bbox.x0) < ALIGNED * line.size


def _has_paragraph(rows: Sequence[Sequence[PrintedLine]], frame: BBox) -> bool:
    return any(
        all(_runs_through(row, frame) for row in rows[start : start + FEWEST_LINES])
        and all(_is_next(one[0], other[0]) for one, other in itertools.pairwise(rows[start : start + FEWEST_LINES]))
        for start in range(len(rows) - FEWEST_LINES + 1)
    )


def _runs_through(row: Sequence[PrintedLine], frame: BBox) -> bool:
    return len(row) == 1 and row[0].bbox.width >= WIDE * frame.width and _is_running(row[0])


def _is_running(line: PrintedLine) -> bool:
    """Words, not figures, without white between them that would part columns."""
    words = line.words
    apart = any(word.bbox.x0 - before.bbox.x1 > WHITE * word.size for before, word in itertools.pairwise(words))
    return not apart and sum(any(char.isalpha() for char in word.text) for word in words) * 3 >= len(words) * 2


def _is_next(before: PrintedLine, line: PrintedLine) -> bool:
    return line.bbox.y0 - before.bbox.y1 < WHITE * line.size


def _figures(row: Sequence[PrintedLine]) -> list[BBox]:
    """The figures of a row; the day of a date is none."""
    lines = [line for line in row if not any(char.isalpha() for char in line.text)]
    return [word.bbox for line in lines for word in line.words if is_value(word.text)]


def _figure_rows(rows: Sequence[Sequence[PrintedLine]]) -> int:
    return sum(bool(_figures(row)) for row in rows)


def _is_table(rows: Sequence[Sequence[PrintedLine]]) -> bool:
    """Whether rows of figures follow, the first of them under a heading of its own."""
    first = next((index for index, row in enumerate(rows) if _figures(row)), 0)
    headings = [line.bbox for row in rows[:first] for line in row]
    headed = any(
        box.x0 < figure.x1 and box.x1 > figure.x0
        for box in headings
        for figure in (_figures(rows[first]) if rows else ())
    )
    return headed and _figure_rows(rows) >= FEWEST_ROWS


def _clipped(box: BBox, y0: float, y1: float) -> BBox | None:
    """What of the box is between two heights; None where that is next to nothing."""
    top, bottom = max(box.y0, y0), min(box.y1, y1)
    return BBox(box.x0, top, box.x1, bottom) if bottom - top > LEAST_HEIGHT else None
