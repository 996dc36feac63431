"""Headings over several columns of a table without rules get the columns on whose middle they are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.drafts import DraftCell, bbox_of
from ingest.table_headers import Slots, extent, slots_of
from kb_qa.geometry import BBox, union_of

CENTRED = 0.12  # of the width of the columns, by which a heading over them may stand off their middle
AS_WELL = 0.03  # farther, at most, where it stands over the middle of several columns already

Ink = Mapping[int, tuple[float, float]]


def spread_group_headers(
    cells: Sequence[DraftCell], blocks: Sequence[tuple[int, int]], *, ruled: bool = False
) -> list[DraftCell]:
    """Cells, with a heading that stands over the middle of several empty header cells spanning them.

    Without ruling lines a heading such as `Year ended` belongs to all columns that it is centred on. In the last row of
    a header only a heading that stands alone in its row does, such as `(in millions)`.
    """
    result = list(cells)
    ink = _column_ink(cells)
    for row, stop in ((row, block[1]) for block in blocks for row in reversed(range(*block))):
        if row == stop - 1 and sum(bool(cell.text) for cell in result if cell.row == row) > 1:
            continue
        if not ruled:
            result = _realigned(result, row, stop, ink)
        result = _spread(result, row, stop, ink)
    return sorted(result, key=lambda cell: (cell.row, cell.column))


def _headings(cells: Sequence[DraftCell], row: int) -> list[DraftCell]:
    return [cell for cell in cells if cell.row == row and cell.column > 0 and cell.text and cell.row_span == 1]


def _spread(cells: Sequence[DraftCell], row: int, stop: int, ink: Ink) -> list[DraftCell]:
    """The cells, each heading of the row widened over the empty cells that it stands over the middle of."""
    result = list(cells)
    headings = _headings(result, row)
    for cell in headings:
        wider = _widened(cell, slots_of(result), stop, ink, alone=len(headings) == 1)
        if wider is not None:
            covered = range(wider.column, wider.column + wider.column_span)
            result = [other for other in result if not (other.row == row and other.column in covered)]
            result.append(wider)
    return result


def _realigned(cells: Sequence[DraftCell], row: int, stop: int, ink: Ink) -> list[DraftCell]:
    """The cells, a row of headings that do not stand over the middle of their columns given those on whose they do.

    One of several whose columns' names begin again does not either. Only where all of them then head several columns,
    and these are all columns that are named, or name the same.
    """
    wide = [cell for cell in _headings(cells, row) if cell.column_span > 1]
    alone, slots = len(_headings(cells, row)) == 1, slots_of(cells)
    aside = [
        cell
        for cell in wide
        if not _stands_on_middle(cell, ink)
        or (not alone and _begins_again(slots, row + 1, cell.column, cell.column + cell.column_span - 1))
    ]
    if not aside:
        return list(cells)
    freed = [part for cell in cells for part in (_narrowed(cell, cells, ink) if cell in aside else [cell])]
    result = _spread(freed, row, stop, ink)
    headings = _headings(result, row)
    if any(cell.column_span < 2 or not _stands_on_middle(cell, ink) for cell in headings):
        return list(cells)
    slots = slots_of(result)
    named = {column for column in range(1, extent(result)[1]) if _text(slots, row + 1, column)}
    columns = [range(cell.column, cell.column + cell.column_span) for cell in headings]
    names = {tuple(_text(slots, row + 1, column) for column in covered) for covered in columns}
    of_one_kind = len(headings) > 1 and len(names) == 1
    return result if of_one_kind or named <= {column for covered in columns for column in covered} else list(cells)


def _text(slots: Slots, row: int, column: int) -> str:
    cell = slots.get((row, column))
    return cell.text if cell is not None else ""


def _stands_on_middle(cell: DraftCell, ink: Ink) -> bool:
    first, last = cell.column, cell.column + cell.column_span - 1
    if first not in ink or last not in ink:
        return False
    return _is_centred(_middle(cell), ink[first][0], ink[last][1])


def _middle(cell: DraftCell) -> float:
    box = bbox_of(cell.lines)
    return (box.x0 + box.x1) / 2


def _narrowed(cell: DraftCell, cells: Sequence[DraftCell], ink: Ink) -> list[DraftCell]:
    """The heading in those of its columns that it is printed over, and empty cells in the others."""
    columns = [column for column in range(cell.column, cell.column + cell.column_span) if column in ink]
    boxes = {other.column: other.bbox for other in cells if other.column_span == 1 and other.row > cell.row}
    if len(columns) < cell.column_span or any(column not in boxes for column in columns):
        return [cell]
    box, middle = bbox_of(cell.lines), _middle(cell)
    over = [column for column in columns if ink[column][0] < box.x1 and ink[column][1] > box.x0]
    over = over or [min(columns, key=lambda column: abs(sum(ink[column]) / 2 - middle))]
    parts = []
    for start, stop in [(over[0], over[-1]), *((column, column) for column in columns if column not in over)]:
        frame = BBox(boxes[start].x0, cell.bbox.y0, boxes[stop].x1, cell.bbox.y1)
        lines = cell.lines if start in over else ()
        parts.append(replace(cell, column=start, column_span=stop - start + 1, bbox=frame, lines=lines))
    return parts


def _column_ink(cells: Sequence[DraftCell]) -> Ink:
    """Left and right end of what is printed in each column; cells that span columns do not count."""
    ink: dict[int, tuple[float, float]] = {}
    for cell in cells:
        if cell.column_span == 1:
            for line in cell.lines:
                x0, x1 = ink.get(cell.column, (line.bbox.x0, line.bbox.x1))
                ink[cell.column] = (min(x0, line.bbox.x0), max(x1, line.bbox.x1))
    return ink


def _widened(cell: DraftCell, slots: Slots, stop: int, ink: Ink, *, alone: bool) -> DraftCell | None:
    """The heading over the most columns on whose middle it stands; None where that is the cell it is in.

    Over the middle of several, it gets more only where it stands on theirs as well.
    One of several headings in its row covers no two columns of one name: where the names begin again, the next begins.
    """
    first, last = cell.column, cell.column + cell.column_span - 1
    low, high = first, last
    while _is_free(slots, cell.row, low - 1, stop):
        low -= 1
    while _is_free(slots, cell.row, high + 1, stop):
        high += 1
    middle = _middle(cell)
    within = CENTRED
    if last > first and _stands_on_middle(cell, ink):
        x0, x1 = ink[first][0], ink[last][1]
        within = min(CENTRED, abs((x0 + x1) / 2 - middle) / (x1 - x0) + AS_WELL)
    ranges = [
        (start, end)
        for start in range(low, first + 1)
        for end in range(last, high + 1)
        if start in ink and end in ink and _is_centred(middle, ink[start][0], ink[end][1], within)
        if alone or not _begins_again(slots, cell.row + 1, start, end)
    ]
    if not ranges:
        return None
    start, end = max(ranges, key=lambda ends: (ends[1] - ends[0], -ends[0]))
    if (start, end) == (first, last):
        return None
    box = union_of(slots[cell.row, column].bbox for column in range(start, end + 1))
    return replace(cell, column=start, column_span=end - start + 1, bbox=box or cell.bbox)


def _begins_again(slots: Slots, row: int, start: int, stop: int) -> bool:
    """Whether two of the cells in a part of a row say the same."""
    cells = {id(cell): cell.text for column in range(start, stop + 1) if (cell := slots.get((row, column))) is not None}
    texts = [text for text in cells.values() if text]
    return len(set(texts)) < len(texts)


def _is_centred(middle: float, x0: float, x1: float, within: float = CENTRED) -> bool:
    return abs((x0 + x1) / 2 - middle) <= within * (x1 - x0)


def _is_free(slots: Slots, row: int, column: int, stop: int) -> bool:
    """An empty single header cell, outside the stub, with something named below it, before the header stops."""
    cell = slots.get((row, column))
    if column < 1 or cell is None or cell.text or cell.row_span > 1 or cell.column_span > 1:
        return False
    return any(_text(slots, below, column) for below in range(row + 1, max(stop, row + 2)))
