"""Printed words, lines and cells of tables for tests, made without a page: a letter is half as wide as its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.drafts import Draft, DraftCell, DraftTable, text_draft
from ingest.printed import PrintedLine, PrintedWord, line_of
from ingest.reading_text import Vocabulary
from ingest.table_elements import build_table
from kb_qa.elements import Cell, Measure, Table
from kb_qa.geometry import BBox, union_of

COLUMN, ROW = 120.0, 20.0


def word(text: str, x: float, y: float, *, size: float = 10.0, spaced: bool = False, bold: bool = False) -> PrintedWord:
    """A word whose box begins at (x, y)."""
    box = BBox(x, y, x + 0.5 * size * len(text), y + size)
    return PrintedWord(box, text, size, y + 0.8 * size, spaced=spaced, bold=bold)


def line(text: str, x: float, y: float, *, size: float = 10.0, bold: bool = False, gap: float = 0.3) -> PrintedLine:
    """A line of words, `gap` type sizes between them; `  ` between two words is a wide gap of twenty points."""
    words: list[PrintedWord] = []
    for index, part in enumerate(text.split(" ")):
        if not part:
            x += 20
            continue
        words.append(word(part, x, y, size=size, spaced=index > 0, bold=bold))
        x = words[-1].bbox.x1 + gap * size
    return line_of(words)


def cell(
    row: int,
    column: int,
    *lines: PrintedLine | str,
    rows: int = 1,
    columns: int = 1,
    indent: float = 0.0,
    top: float = 0.0,
) -> DraftCell:
    """A cell of a grid with columns of 120 points and rows of 20, from `top` on; strings are printed as its lines."""
    x, y = column * COLUMN, top + row * ROW
    printed = tuple(
        line(each, x + 4 + indent, y + 4 + 10 * index) if isinstance(each, str) else each
        for index, each in enumerate(lines)
        if each
    )
    return DraftCell(row, column, rows, columns, BBox(x, y, x + columns * COLUMN, y + rows * ROW), printed)


def grid(
    texts: Sequence[Sequence[str]], indents: Mapping[int, float] | None = None, *, top: float = 0.0
) -> list[DraftCell]:
    """A cell for each text; `indents` are points by which the labels of rows are set in."""
    return [
        cell(row, column, text, indent=(indents or {}).get(row, 0.0) if column == 0 else 0.0, top=top)
        for row, parts in enumerate(texts)
        for column, text in enumerate(parts)
    ]


def lowered(cells: Sequence[DraftCell], rows: int) -> list[DraftCell]:
    """The cells, with what is printed in them, so many rows further down."""

    def down(box: BBox) -> BBox:
        return BBox(box.x0, box.y0 + rows * ROW, box.x1, box.y1 + rows * ROW)

    return [
        replace(
            each,
            row=each.row + rows,
            bbox=down(each.bbox),
            lines=tuple(
                line_of(
                    [replace(word, bbox=down(word.bbox), baseline=word.baseline + rows * ROW) for word in printed.words]
                )
                for printed in each.lines
            ),
        )
        for each in cells
    ]


def texts_of(cells: Sequence[DraftCell]) -> list[list[str]]:
    """The texts by row, of the cells that start in it."""
    rows: dict[int, list[str]] = {}
    for each in sorted(cells, key=lambda each: (each.row, each.column)):
        rows.setdefault(each.row, []).append(each.text)
    return [rows[row] for row in sorted(rows)]


def draft_table(cells: Sequence[DraftCell], *, header_rows: int = 1, stated: Sequence[Measure] = ()) -> DraftTable:
    frame = union_of(each.bbox for each in cells)
    assert frame is not None
    return DraftTable(tuple(cells), ((0, header_rows),) if header_rows else (), frame, stated=tuple(stated))


def table_draft(table: DraftTable) -> Draft:
    return Draft("Table", table.bbox, element_type="table", table=table)


def paragraph(text: str, y: float, *, size: float = 10.0, category: str = "NarrativeText", x: float = 0.0) -> Draft:
    return text_draft(category, [line(text, x, y, size=size)])


def built(table: DraftTable, page: int = 1) -> Table:
    """The finished table."""
    return build_table(table, page, Vocabulary())[0]


def cell_named(table: Table, label: str, header: str) -> Cell:
    """The one cell in the row of a label and the column of a header."""
    (found,) = [
        each
        for each in table.cells
        if not each.header and each.row_headers[-1:] == (label,) and header in each.column_headers
    ]
    return found
