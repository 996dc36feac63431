"""Rows of a grid that hold text printed at two heights become two: headings over one another, stacked labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import DraftCell, bbox_of
from ingest.printed import PrintedLine
from ingest.table_headers import extent
from kb_qa.geometry import BBox

WHITE = 0.8  # of the type size, between two headings that stand over one another; lines of one heading stand closer
OUTDENT = 0.5  # of the type size: a line that begins as far to the left of the first is no part of its label


def part_header_rows(cells: Sequence[DraftCell], header_rows: int) -> tuple[list[DraftCell], int]:
    """The cells, each header row with white right through it parted there; and the number of header rows."""
    result = list(cells)
    row = 0
    while row < header_rows:
        height = _white_through(result, row)
        if height is not None:
            result = [part for cell in result for part in _at_height(cell, row, height)]
            header_rows += 1
        row += 1
    return sorted(result, key=lambda cell: (cell.row, cell.column)), header_rows


def _white_through(cells: Sequence[DraftCell], row: int) -> float | None:
    """The height at which white runs through the row; None where its headings stand at one height."""
    lines = [line for cell in cells if cell.row == row and cell.row_span == 1 for line in cell.lines]
    if not lines or any(line.direction != "right" for line in lines):
        return None
    ordered = sorted(lines, key=lambda line: line.bbox.y0)
    end = ordered[0].bbox.y1
    for line in ordered[1:]:
        if line.bbox.y0 - end > WHITE * line.size:
            return (end + line.bbox.y0) / 2
        end = max(end, line.bbox.y1)
    return None


def _at_height(cell: DraftCell, row: int, height: float) -> list[DraftCell]:
    """The cell in a grid where row `row` is two: in the upper, the lower or both, by where its lines stand."""
    if cell.row != row:
        if cell.row < row < cell.row + cell.row_span:
            return [replace(cell, row_span=cell.row_span + 1)]
        return [replace(cell, row=cell.row + 1) if cell.row > row else cell]
    above = tuple(line for line in cell.lines if line.bbox.center[1] < height)
    below = tuple(line for line in cell.lines if line.bbox.center[1] >= height)
    stacked = above and below and below[0].bbox.y0 - bbox_of(above).y1 > WHITE * below[0].size
    if above and below and not stacked:
        return [replace(cell, row_span=cell.row_span + 1)]
    if not cell.lines and cell.row_span > 1:
        return [replace(cell, row_span=cell.row_span + 1)]
    edge = min(max(height, cell.bbox.y0), cell.bbox.y1)
    upper = replace(cell, row_span=1, lines=above, bbox=BBox(cell.bbox.x0, cell.bbox.y0, cell.bbox.x1, edge))
    lower = replace(cell, row=row + 1, lines=below, bbox=BBox(cell.bbox.x0, edge, cell.bbox.x1, cell.bbox.y1))
    return [upper, lower]


def part_stacked_labels(cells: Sequence[DraftCell], header_rows: int) -> list[DraftCell]:
    """The cells, a heading over rows that shares a cell with the label above it in a row of its own."""
    result = list(cells)
    row = header_rows
    while row < extent(result)[0]:
        label = next((cell for cell in result if (cell.row, cell.column) == (row, 0)), None)
        count = 0 if label is None else _own_lines(label, result)
        if label is not None and 0 < count < len(label.lines):
            result = _with_label_below(result, label, count)
        row += 1
    return sorted(result, key=lambda cell: (cell.row, cell.column))


def _own_lines(label: DraftCell, cells: Sequence[DraftCell]) -> int:
    """How many of the label's lines are its own: up to one set further left or, of a heading, to one set otherwise."""
    if label.row_span > 1 or any(line.direction != "right" for line in label.lines):
        return 0
    alone = not any(cell.text for cell in cells if cell.row <= label.row < cell.row + cell.row_span and cell != label)
    for count in range(1, len(label.lines)):
        before, line = label.lines[count - 1], label.lines[count]
        if line.bbox.y0 < before.bbox.center[1]:
            return 0
        if line.bbox.x0 < label.lines[0].bbox.x0 - OUTDENT * line.size:
            return count
        if alone and (before.text.rstrip()[-1:] in ":：" or _is_bold(before) != _is_bold(line)):
            return count
    return 0


def _is_bold(line: PrintedLine) -> bool:
    return all(word.bold for word in line.words)


def _with_label_below(cells: Sequence[DraftCell], label: DraftCell, count: int) -> list[DraftCell]:
    own, rest = label.lines[:count], label.lines[count:]
    edge = (bbox_of(own).y1 + bbox_of(rest).y0) / 2
    result = []
    for cell in cells:
        if cell.row > label.row:
            result.append(replace(cell, row=cell.row + 1))
        elif cell == label:
            upper = BBox(cell.bbox.x0, cell.bbox.y0, cell.bbox.x1, edge)
            lower = BBox(cell.bbox.x0, edge, cell.bbox.x1, cell.bbox.y1)
            result += [replace(cell, lines=own, bbox=upper), replace(cell, row=cell.row + 1, lines=rest, bbox=lower)]
        elif cell.row <= label.row < cell.row + cell.row_span and cell.row_span > 1:
            result.append(replace(cell, row_span=cell.row_span + 1))
        elif cell.row == label.row:
            upper = BBox(cell.bbox.x0, cell.bbox.y0, cell.bbox.x1, max(edge, cell.bbox.y0))
            lower = BBox(cell.bbox.x0, edge, cell.bbox.x1, max(cell.bbox.y1, edge))
            result += [replace(cell, bbox=upper), replace(cell, row=cell.row + 1, lines=(), bbox=lower)]
        else:
            result.append(cell)
    return result
