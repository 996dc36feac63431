"""Tables from grids: cells at rows and columns with spans become a `Table` with headers, and its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingest.passages import Passage
from ingest.table_scale import read_scale
from kb_qa.elements import Cell, ScaleSource, Table
from kb_qa.errors import LimitExceededError

SEPARATOR = " | "
MAX_CELLS = 2_000_000  # grid positions of one document's table; past this, spans are an attack

# What a line of a cell may break at. A no-break space is a printed separator (`4 812`) and stays.
_BREAKS = re.compile(r"[ \t\r\n\f\v\x85\u2028\u2029]+")
_QUANTITY = re.compile(r"[^\w%‰]*\d[\d\s.,'’·]*[^\w]*(?:[%‰]|[a-zA-Z]{1,3}|[\u4e00-\u9fff]{1,3})?[^\w]*")
_YEAR = re.compile(r"\D{0,3}(?:19|20)\d\d\D{0,3}")


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell at its first row and column, from 0. `header` is what the file itself says, None where it says nothing."""

    row: int
    column: int
    text: str
    row_span: int = 1
    column_span: int = 1
    header: bool | None = None
    address: str = ""


def one_line(text: str) -> str:
    return _BREAKS.sub(" ", text).strip(" ")


def is_quantity(text: str) -> bool:
    """Whether a cell holds a value, as `4,812`, `(1.2)`, `12.5%` or `3 万元` do; a year heads a column instead."""
    return bool(_QUANTITY.fullmatch(text)) and not _YEAR.fullmatch(text)


def table_passage(
    cells: Sequence[GridCell], *, caption: str = "", page: int | None = None, hidden: str = ""
) -> Passage | None:
    """The table as a passage; None where no cell has text."""
    table, text = lay_out(cells, caption=caption, page=page)
    return Passage("Table", text, table=table, page=page, hidden=hidden) if table.cells else None


def lay_out(cells: Sequence[GridCell], *, caption: str = "", page: int | None = None) -> tuple[Table, str]:
    """The `Table` and its text: a line per row, cells joined by ` | `, `start` and `end` of each cell in it.

    Empty cells are left out: what a value belongs to is said by its headers, not by its place in the line.
    """
    grid = _Grid(cells)
    placed = [
        Cell(
            row=cell.row,
            column=cell.column,
            row_span=cell.row_span,
            column_span=cell.column_span,
            text=cell.text,
            page=page,
            bbox=None,
            row_headers=grid.row_headers(cell),
            column_headers=grid.column_headers(cell),
            header=grid.is_header(cell),
            address=cell.address,
        )
        for cell in grid.cells
        if cell.text
    ]
    return with_text(Table(cells=tuple(placed), caption=one_line(caption)))


def with_text(table: Table) -> tuple[Table, str]:
    """The table with the ranges of its cells, and the text that they refer to."""
    cells: list[Cell] = []
    lines: list[str] = []
    offset = 0
    for row in table.rows:
        for cell in row:
            cells.append(replace(cell, start=offset, end=offset + len(cell.text)))
            offset += len(cell.text) + len(SEPARATOR)
        if row:
            lines.append(SEPARATOR.join(cell.text for cell in row))
            offset += 1 - len(SEPARATOR)
    return replace(table, cells=tuple(cells)), "\n".join(lines)


def with_scale(table: Table, texts: Iterable[str]) -> Table:
    """The table with the scale and unit that the first of its caption, its corner and `texts` states."""
    corner = [cell.text for cell in table.cells if cell.row == 0 and cell.column == 0 and cell.header]
    for text in (table.caption, *corner, *texts):
        if (found := read_scale(text)) is not None:
            return replace(table, scale=found[0], unit=found[1], scale_source=ScaleSource(text, None))
    return table


def has_header_row(cells: Sequence[GridCell]) -> bool:
    """Whether the first row of the cells, wherever they stand on their sheet, heads the columns below it."""
    top, left = min(cell.row for cell in cells), min(cell.column for cell in cells)
    return _Grid([replace(cell, row=cell.row - top, column=cell.column - left) for cell in cells]).header_rows > 0


class _Grid:
    """Which cell covers which position, and which rows and columns are headers."""

    def __init__(self, cells: Sequence[GridCell]) -> None:
        self.rows = max((cell.row + 1 for cell in cells), default=0)
        self.cells = sorted((_fitted(cell, self.rows) for cell in cells), key=lambda cell: (cell.row, cell.column))
        if sum(cell.row_span * cell.column_span for cell in self.cells) > MAX_CELLS:
            raise LimitExceededError(f"a table has more than {MAX_CELLS:,} cells; split the file")
        self.columns = max((cell.column + cell.column_span for cell in self.cells), default=0)
        self._at: dict[tuple[int, int], GridCell] = {}
        self._below: dict[int, list[GridCell]] = {}  # by column, what stands there below the first row
        for cell in self.cells:
            for row in range(cell.row, cell.row + cell.row_span):
                for column in range(cell.column, cell.column + cell.column_span):
                    if self._at.setdefault((row, column), cell) is cell and row and cell.text:
                        self._below.setdefault(column, []).append(cell)
        self.header_rows = self._count_header_rows()
        self.header_columns = self._count_header_columns()

    def is_header(self, cell: GridCell) -> bool:
        return cell.row < self.header_rows or cell.column < self.header_columns or cell.header is True

    def column_headers(self, cell: GridCell) -> tuple[str, ...]:
        """The labels above the cell's first column, outermost first."""
        above = (self._at.get((row, cell.column)) for row in range(min(self.header_rows, cell.row)))
        # A label that reaches into the body stands beside its rows, not above them.
        return _path(found for found in above if found is not None and found.row + found.row_span <= self.header_rows)

    def row_headers(self, cell: GridCell) -> tuple[str, ...]:
        """The labels left of the cell's first row; a header row has none."""
        if cell.row < self.header_rows:
            return ()
        last = min(self.header_columns, cell.column)
        return _path(self._at.get((cell.row, column)) for column in range(last))

    def _row(self, row: int) -> list[GridCell]:
        return [cell for column in range(self.columns) if (cell := self._at.get((row, column))) and cell.text]

    def _count_header_rows(self) -> int:
        """The leading rows that the file marks as headers; else the first row unless it holds values, and the rows
        that a spanning label of it reaches over."""
        if any(cell.header for cell in self.cells):
            count = 0
            while count < self.rows and (row := self._row(count)) and all(cell.header for cell in row):
                count += 1
            if count or any(cell.header and cell.row == 0 for cell in self.cells):
                return min(count, self.rows - 1) if count < self.rows or self.columns > 1 else 0
        if self.rows < 2 or not self._heads_columns():
            return 0
        count = 1
        while count < self.rows - 1 and self._spans_on(count - 1) and not self._has_values(count):
            count += 1
        return count

    def _heads_columns(self) -> bool:
        """Whether the first row reads as labels: it holds no value above a column of values."""
        first = self._row(0)
        if len(first) < 2 and not any(cell.column_span > 1 for cell in first):
            return False
        valued = [column for column in self._below if self._is_value_column(column)]
        if not valued:
            return not any(is_quantity(cell.text) for cell in first)
        return not any((cell := self._at.get((0, column))) and is_quantity(cell.text) for column in valued)

    def _is_value_column(self, column: int) -> bool:
        below = self._below[column]
        return sum(is_quantity(cell.text) for cell in below) > len(below) / 2

    def _spans_on(self, row: int) -> bool:
        """Whether the header goes on below `row`: a label spans several columns, or reaches down."""
        return any(cell.column_span > 1 or cell.row + cell.row_span > row + 1 for cell in self._row(row))

    def _has_values(self, row: int) -> bool:
        return any(is_quantity(cell.text) for cell in self._row(row))

    def _count_header_columns(self) -> int:
        """The first column, where it holds labels beside values; more columns where labels of it span them."""
        if self.columns < 2 or self.rows <= self.header_rows:
            return 0
        body = [cell for row in range(self.header_rows, self.rows) if (cell := self._at.get((row, 0))) and cell.text]
        if not body or sum(is_quantity(cell.text) for cell in body) > len(body) / 2:
            return 0
        spanning = [cell for cell in body if cell.row_span > 1 and cell.row_span < self.rows - self.header_rows]
        return 2 if spanning and self.columns > 2 and self._is_label_column(1) else 1

    def _is_label_column(self, column: int) -> bool:
        cells = [self._at.get((row, column)) for row in range(self.header_rows, self.rows)]
        texts = [cell.text for cell in cells if cell is not None and cell.text]
        return bool(texts) and not any(is_quantity(text) for text in texts)


def _fitted(cell: GridCell, rows: int) -> GridCell:
    """The cell with its text on one line and its spans cut to the grid."""
    return GridCell(
        row=cell.row,
        column=cell.column,
        text=one_line(cell.text),
        row_span=max(min(cell.row_span, rows - cell.row), 1),
        column_span=max(cell.column_span, 1),
        header=cell.header,
        address=cell.address,
    )


def _path(cells: Iterable[GridCell | None]) -> tuple[str, ...]:
    """The texts of the distinct cells, in order."""
    path: list[GridCell] = []
    for cell in cells:
        if cell is not None and cell.text and (not path or path[-1] is not cell):
            path.append(cell)
    return tuple(cell.text for cell in path)
