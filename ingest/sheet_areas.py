"""Which cells of a sheet form one table: sheets hold several, below and beside one another, with gaps inside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ingest.grids import GridCell, has_header_row, is_quantity

_BLANK_ROWS = 2  # as many may stand inside a table, between a group of rows and the next
_BLANK_COLUMNS = 3  # a lone column farther from the others than this belongs to none of them
_TITLE_ROWS = 4
_TITLE_LENGTH = 120  # characters; a longer line above a table is prose


def areas(cells: Iterable[GridCell]) -> list[list[GridCell]]:
    """The cells, table by table, from top to bottom, each with its title and with the rows that go on below gaps."""
    found: list[list[GridCell]] = []
    for area in _apart(sorted(cells, key=lambda cell: (cell.row, cell.column))):
        above = next((other for other in reversed(found) if _stands_over(other, area)), None)
        if above is not None and (_is_title_of(above, area) or _goes_on(above, area)):
            above += area
        else:
            found.append(area)
    return found


def split_titles(cells: Sequence[GridCell]) -> tuple[list[GridCell], list[GridCell]]:
    """Leading rows of one cell above a wider table are its title; they stay citable as cells of their own."""
    rows: dict[int, list[GridCell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    leading: list[GridCell] = []
    for row in sorted(rows):
        if len(rows[row]) > 1:
            break
        leading += rows[row]
    if len(leading) == len(rows):
        return [], list(cells)
    below = list(cells[len(leading) :])
    top = below[0].row
    return leading, [replace(cell, row=cell.row - top) for cell in below]


def _apart(cells: Sequence[GridCell]) -> Iterator[list[GridCell]]:
    """Groups with blank rows between them, and those with blank columns between them where each reads as a table."""
    for band in _bands(cells):
        parts = _side_by_side(band)
        if len(parts) == 1:
            yield band
        else:
            for part in parts:
                yield from _apart(part)


def _bands(cells: Sequence[GridCell]) -> Iterator[list[GridCell]]:
    band: list[GridCell] = []
    end = 0
    for cell in cells:
        if band and cell.row > end:
            yield band
            band = []
        band.append(cell)
        end = max(end, cell.row + cell.row_span)
    if band:
        yield band


def _side_by_side(band: Sequence[GridCell]) -> list[list[GridCell]]:
    parts: list[list[GridCell]] = []
    end = 0
    for cell in sorted(band, key=lambda cell: cell.column):
        if not parts or (cell.column > end and _is_apart(parts[-1], _from(band, cell.column), cell.column - end)):
            parts.append([])
        parts[-1].append(cell)
        end = max(end, cell.column + cell.column_span)
    return [sorted(part, key=lambda cell: (cell.row, cell.column)) for part in parts]


def _from(band: Sequence[GridCell], column: int) -> list[GridCell]:
    """The cells from `column` on, up to the next blank column."""
    run: list[GridCell] = []
    end = column
    for cell in sorted(band, key=lambda cell: cell.column):
        if cell.column < column:
            continue
        if run and cell.column > end:
            break
        run.append(cell)
        end = max(end, cell.column + cell.column_span)
    return run


def _is_apart(left: Sequence[GridCell], right: Sequence[GridCell], gap: int) -> bool:
    """Whether the cells behind a blank column are a table of their own: with labels of their own beside values.

    Columns of figures behind a blank one, and notes beside each row, belong to what stands left of them.
    """
    columns = {cell.column for cell in right}
    if len(columns) == 1:
        return gap >= _BLANK_COLUMNS
    first = [cell.text for cell in right if cell.column == min(columns)]
    labelled = sum(is_quantity(text) for text in first) <= len(first) / 2
    return labelled and (bool(_value_columns(right)) or min(map(_row, right)) != min(map(_row, left)))


def _row(cell: GridCell) -> int:
    return cell.row


def _value_columns(cells: Iterable[GridCell]) -> set[int]:
    return {cell.column for cell in cells if is_quantity(cell.text)}


def _stands_over(above: Sequence[GridCell], area: Sequence[GridCell]) -> bool:
    """Whether the two share columns, with no more blank rows between them than a table may have."""
    left, right = _columns(above)
    start, end = _columns(area)
    bottom = max(cell.row + cell.row_span for cell in above)
    return left < end and start < right and 0 <= min(map(_row, area)) - bottom <= _BLANK_ROWS


def _columns(area: Sequence[GridCell]) -> tuple[int, int]:
    return min(cell.column for cell in area), max(cell.column + cell.column_span for cell in area)


def _is_title_of(above: Sequence[GridCell], area: Sequence[GridCell]) -> bool:
    rows = {cell.row for cell in above}
    short = all(len(cell.text) <= _TITLE_LENGTH and not is_quantity(cell.text) for cell in above)
    return len(rows) == len(above) <= _TITLE_ROWS and short and len({cell.column for cell in area}) > 1


def _goes_on(above: Sequence[GridCell], area: Sequence[GridCell]) -> bool:
    """Whether the rows below a gap are the table's: no header of their own, and figures in its columns of figures."""
    left, right = _columns(above)
    start, end = _columns(area)
    if start < left or end > right or has_header_row(area) or not has_header_row(split_titles(above)[1]):
        return False
    theirs, ours = _value_columns(above), _value_columns(area)
    return bool(ours) and ours <= theirs and len(ours) >= len(theirs) / 2
