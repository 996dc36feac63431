"""Rows of a grid that hold text printed at two heights become two: headings over one another, stacked labels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import DraftCell, bbox_of
from ingest.line_groups import visual_rows
from ingest.printed import PrintedLine
from ingest.table_headers import extent, is_value
from ingest.table_periods import brackets_a_scale, is_period
from kb_qa.geometry import BBox

WHITE = 0.8  # of the type size, between two headings that stand over one another; lines of one heading stand closer
LEVEL = 0.3  # of the type size: lines whose middles differ by less stand at one height
SAME_LEADING = 0.06  # of the type size, by which the white between the lines of one heading varies
OUTDENT = 0.5  # of the type size: a line that begins as far to the left of the first is no part of its label


def part_header_rows(cells: Sequence[DraftCell], header_rows: int) -> tuple[list[DraftCell], int]:
    """The cells, each header row with white right through it parted there; and the number of header rows.

    Without white it is parted above and below periods over several columns, and above a unit below several headings.
    """
    result = list(cells)
    figures = len({cell.column for cell in cells if cell.row >= header_rows and cell.column and is_value(cell.text)})
    row = 0
    while row < header_rows:
        height = _white_through(result, row)
        if height is None:
            height = _beside_periods(result, row, figures)
            lowered = None if height is None or row + 1 >= header_rows else _first_lines_lowered(result, row, height)
            result, height = (result, height) if lowered is None else (lowered, None)
            height = _above_unit(result, row) if height is None and lowered is None else height
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


def _beside_periods(cells: Sequence[DraftCell], row: int, figures: int) -> float | None:
    """The height above or below the periods that stand in a row over several columns each, amid other lines.

    What every one of them has above it is a part of it, as `December 31,` is of `2022`.
    """
    members = [cell for cell in cells if cell.row == row and cell.row_span == 1 and cell.lines]
    level = _lowest_periods(members)
    periods = [line for lines in level.values() for line in lines]
    if not periods or len(periods) * 2 > figures or any(line.direction != "right" for line in periods):
        return None
    y0, y1 = min(line.bbox.y0 for line in periods), max(line.bbox.y1 for line in periods)
    above = {index: [line for line in cell.lines if line.bbox.center[1] < y0] for index, cell in enumerate(members)}
    below = {index: [line for line in cell.lines if line.bbox.center[1] > y1] for index, cell in enumerate(members)}
    whole = {index: len(cell.lines) for index, cell in enumerate(members)}
    over = [line for index, lines in above.items() if index in level or len(lines) == whole[index] for line in lines]
    if over and not all(len(above[index]) >= len(lines) for index, lines in level.items()):
        return (max(line.bbox.y1 for line in over) + y0) / 2
    under = [line for index, lines in below.items() if index in level or len(lines) == whole[index] for line in lines]
    return (y1 + min(line.bbox.y0 for line in under)) / 2 if under else None


def _lowest_periods(members: Sequence[DraftCell]) -> dict[int, list[PrintedLine]]:
    """The lowest two periods or more that are all that their cells print at one height, by the place of the cell."""
    periods = [line for cell in members for line in cell.lines if is_period(line.text)]
    for lowest in sorted(periods, key=lambda line: -line.bbox.center[1]):
        level = {}
        for index, cell in enumerate(members):
            lines = [line for line in cell.lines if _is_level(line, lowest)]
            if lines and all(is_period(line.text) for line in lines):
                level[index] = lines
        if sum(map(len, level.values())) > 1:
            return level
    return {}


def _is_level(line: PrintedLine, other: PrintedLine) -> bool:
    return abs(line.bbox.center[1] - other.bbox.center[1]) < LEVEL * line.size


def _above_unit(cells: Sequence[DraftCell], row: int) -> float | None:
    """The height above a bracketed unit that alone ends the row, below several headings in its cell."""
    members = [cell for cell in cells if cell.row == row and cell.row_span == 1 and cell.lines]
    lines = [line for cell in members for line in cell.lines]
    for cell in (cell for cell in members if cell.column_span > 1 and len(cell.lines) > 1):
        *above, unit = sorted(cell.lines, key=lambda line: line.bbox.center[1])
        y0 = unit.bbox.y0
        alone = all(line.bbox.center[1] < y0 for line in lines if line is not unit)
        if alone and len(visual_rows(above)[-1]) > 1 and unit.text[0] in "([（【" and brackets_a_scale(unit.text):
            return (max(line.bbox.y1 for line in above) + y0) / 2
    return None


def _first_lines_lowered(cells: Sequence[DraftCell], row: int, height: float) -> list[DraftCell] | None:
    """The cells, what is printed below a height in a row moved to the headings below whose first lines that is.

    It is as near to them as their own lines are to each other; None where not all of it is.
    """
    below = {(cell.column, cell.column_span): cell for cell in cells if cell.row == row + 1 and cell.row_span == 1}
    leading = [
        lower.bbox.y0 - upper.bbox.y1
        for cell in below.values()
        for upper, lower in itertools.pairwise(sorted(cell.lines, key=lambda line: line.bbox.y0))
        if not _is_level(upper, lower)
    ]
    moved: dict[DraftCell, list[PrintedLine]] = {}
    for cell in cells:
        lines = [line for line in cell.lines if cell.row == row and line.bbox.center[1] >= height]
        if not lines:
            continue
        heading = below.get((cell.column, cell.column_span))
        if heading is None or not heading.lines or not leading:
            return None
        white = bbox_of(heading.lines).y0 - bbox_of(lines).y1
        if white > min(leading) + SAME_LEADING * lines[0].size:
            return None
        moved[cell], moved[heading] = lines, lines
    if not moved:
        return None
    return [_with_lines(cell, moved[cell], up=cell.row == row) if cell in moved else cell for cell in cells]


def _with_lines(cell: DraftCell, lines: Sequence[PrintedLine], *, up: bool) -> DraftCell:
    """The upper cell without the lines, or the lower one with them."""
    if up:
        edge = bbox_of(lines).y0
        return replace(
            cell,
            lines=tuple(line for line in cell.lines if line not in lines),
            bbox=replace(cell.bbox, y1=max(min(cell.bbox.y1, edge), cell.bbox.y0)),
        )
    return replace(cell, lines=(*lines, *cell.lines), bbox=replace(cell.bbox, y0=min(cell.bbox.y0, bbox_of(lines).y0)))


def _at_height(cell: DraftCell, row: int, height: float) -> list[DraftCell]:
    """The cell in a grid where row `row` is two: in the upper, the lower or both, by where its lines stand."""
    if cell.row != row:
        if cell.row < row < cell.row + cell.row_span:
            return [replace(cell, row_span=cell.row_span + 1)]
        return [replace(cell, row=cell.row + 1) if cell.row > row else cell]
    above = tuple(line for line in cell.lines if line.bbox.center[1] < height)
    below = tuple(line for line in cell.lines if line.bbox.center[1] >= height)
    stacked = (
        above
        and below
        and (
            below[0].bbox.y0 - bbox_of(above).y1 > WHITE * below[0].size
            or (cell.row_span == 1 and (is_period(above[-1].text) or is_period(below[0].text)))
            or (cell.row_span == 1 and brackets_a_scale(below[0].text))
        )
    )
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
