"""How sure a table's grid is, by what the printed words say of it, and what that means for the grade of its page."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.drafts import Draft, DraftCell
from ingest.line_groups import visual_rows
from ingest.table_headers import count_stub_columns, in_blocks, is_blank, is_value
from kb_qa.geometry import Quality

SURE, UNSURE = 0.8, 0.5  # from the first on nothing is said of a table; below the second its page is poor
TOUCH = 1.0  # points by which a word may reach over the edge of its cell


def grid_confidence(cells: Sequence[DraftCell], headers: Sequence[tuple[int, int]], *, ruled: bool) -> float:
    """0..1: the share of cells that hold what one cell holds, less where no rules are drawn.

    Against a cell speak words that reach over its edges and several figures, or several rows of them, in one cell;
    against the table, columns of figures in which other things stand, and many rows with next to nothing in them.
    """
    filled = [cell for cell in cells if cell.text]
    if not filled:
        return 0.0
    doubtful = sum(_is_cut(cell) or _holds_several(cell, headers) for cell in filled)
    whole = 1 - doubtful / len(filled)
    return round((1.0 if ruled else 0.97) * whole * (0.6 + 0.4 * _uniform(cells, headers)), 3)


def _is_cut(cell: DraftCell) -> bool:
    return any(
        word.bbox.x0 < cell.bbox.x0 - TOUCH - 0.3 * word.bbox.width
        or word.bbox.x1 > cell.bbox.x1 + TOUCH + 0.3 * word.bbox.width
        for line in cell.lines
        for word in line.words
    )


def _holds_several(cell: DraftCell, headers: Sequence[tuple[int, int]]) -> bool:
    """Whether a body cell holds more than one figure: side by side with white between them, or under one another."""
    if in_blocks(cell.row, headers):
        return False
    rows = visual_rows(cell.lines)
    figures = [row for row in rows if all(is_value(line.text) for line in row)]
    if len(figures) > 1 and cell.row_span == 1:
        return True
    return any(len(row) > 1 for row in figures)


def _uniform(cells: Sequence[DraftCell], headers: Sequence[tuple[int, int]]) -> float:
    """Of the columns of figures, the share of cells that are figures or blank; 1 where there are no such columns."""
    stub = count_stub_columns(cells, headers)
    columns: dict[int, list[str]] = {}
    for cell in cells:
        if cell.column >= stub and cell.column_span == 1 and not in_blocks(cell.row, headers):
            columns.setdefault(cell.column, []).append(cell.text)
    held = fitting = 0
    for texts in columns.values():
        filled = [text for text in texts if not is_blank(text)]
        values = sum(is_value(text) for text in filled)
        if values * 2 > len(filled):
            held += len(filled)
            fitting += values
    return fitting / held if held else 1.0


def with_table_grade(quality: Quality, drafts: Sequence[Draft]) -> Quality:
    """The quality of a page with what its tables add: a reason for each whose grid is not sure."""
    unsure = [
        table.confidence
        for draft in drafts
        if (table := draft.table) is not None and table.confidence is not None and table.confidence < SURE
    ]
    if not unsure:
        return quality
    reasons = tuple(f"the rows and columns of a table are not sure (confidence {each:.2f})" for each in unsure)
    poor = quality.grade == "poor" or min(unsure) < UNSURE
    return Quality("poor" if poor else "fair", (*quality.reasons, *reasons))
