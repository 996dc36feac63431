"""Parts columns of a table's grid that hold several columns of figures: white runs down between them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.drafts import DraftCell
from ingest.line_groups import visual_rows
from ingest.page_text import PrintedLine, PrintedWord, line_of
from ingest.table_headers import PERIOD, is_value
from kb_qa.geometry import BBox

WHITE = 1.0  # of the type size, that runs down between two columns
FEWEST = 3  # cells that hold something on both sides
RULE = frozenset("-–—_=.·… ")

Cuts = Mapping[int, Sequence[float]]


def cut_columns(cells: Sequence[DraftCell], header_rows: int) -> tuple[list[DraftCell], int]:
    """The cells, columns parted where the figures in them are; and the number of header rows, new ones with them."""
    columns = {cell.column for cell in cells if cell.column_span == 1}
    cuts = {column: found for column in columns if (found := _cuts(cells, column, header_rows))}
    if not cuts:
        return list(cells), header_rows
    result = list(cells)
    row = 0
    while row < header_rows:
        if any(cell.row == row and cell.row_span == 1 and _is_mixed(cell, cuts) for cell in result):
            result = [part for cell in result for part in _with_row_below(cell, row, cuts)]
            header_rows += 1
            row += 1
        row += 1
    parted = [part for cell in result for part in _parted(cell, cuts)]
    return sorted(parted, key=lambda cell: (cell.row, cell.column)), header_rows


def _cuts(cells: Sequence[DraftCell], column: int, header_rows: int) -> list[float]:
    body = [
        [word for line in cell.lines for word in line.words if set(word.text) - RULE]
        for cell in cells
        if cell.column == column and cell.column_span == cell.row_span == 1 and cell.row >= max(header_rows, 1)
    ]
    body = [words for words in body if words]
    if len(body) < FEWEST or any(line.direction != "right" for cell in cells for line in cell.lines):
        return []
    spans = sorted((word.bbox.x0, word.bbox.x1) for words in body for word in words)
    size = sorted(word.size for words in body for word in words)[len(spans) // 2]
    found: list[float] = []
    end = spans[0][1]
    for x0, x1 in spans:
        if x0 - end > WHITE * size:
            found.append((end + x0) / 2)
        end = max(end, x1)
    while (wrong := next((cut for cut in found if not _parts_figures(body, cut, found)), None)) is not None:
        found.remove(wrong)
    return found


def _parts_figures(body: Sequence[Sequence[PrintedWord]], cut: float, cuts: Sequence[float]) -> bool:
    """Whether most cells hold something on both sides, and figures stand on one of them; a currency sign is nothing."""
    place = list(cuts).index(cut)
    edges = [float("-inf"), *cuts, float("inf")]
    sides = [[_between(words, edges[index], edges[index + 1]) for words in body] for index in (place, place + 1)]
    both = [pair for pair in zip(*sides, strict=True) if all(any(char.isalnum() for char in text) for text in pair)]
    if len(both) < FEWEST or len(both) * 2 < len(body):
        return False
    return any(2 * sum(_is_figure(pair[side]) for pair in both) >= len(both) for side in (0, 1))


def _between(words: Sequence[PrintedWord], x0: float, x1: float) -> str:
    return " ".join(word.text for word in words if x0 < word.bbox.center[0] < x1)


def _is_figure(text: str) -> bool:
    return is_value(text) or PERIOD.search(text) is not None


def _is_mixed(cell: DraftCell, cuts: Cuts) -> bool:
    """A heading over all the parts, and under it one for each, in one cell."""
    rows = visual_rows(cell.lines)
    if cell.column_span > 1 or cell.column not in cuts or len(rows) < 2:
        return False
    return _runs_through(rows[0], cuts[cell.column]) and not _runs_through(rows[-1], cuts[cell.column])


def _runs_through(row: Sequence[PrintedLine], cuts: Sequence[float]) -> bool:
    """Whether a phrase of the row stands over a cut."""
    words = sorted((word for line in row for word in line.words), key=lambda word: word.bbox.x0)
    if any(word.bbox.x0 < cut < word.bbox.x1 for word in words for cut in cuts):
        return True
    return any(
        one.bbox.center[0] < cut < other.bbox.center[0] and other.bbox.x0 - one.bbox.x1 < 0.6 * one.size
        for one, other in itertools.pairwise(words)
        for cut in cuts
    )


def _with_row_below(cell: DraftCell, row: int, cuts: Cuts) -> list[DraftCell]:
    """The cell in a grid where a row more begins under the headings of `row` that stand over several columns."""
    if cell.row > row:
        return [replace(cell, row=cell.row + 1)]
    if cell.row + cell.row_span <= row:
        return [cell]
    if cell.row < row or cell.row_span > 1 or not _is_mixed(cell, cuts):
        return [replace(cell, row_span=cell.row_span + 1)]
    rows = visual_rows(cell.lines)
    over = [line for members in rows if _runs_through(members, cuts[cell.column]) for line in members]
    under = [line for members in rows if not _runs_through(members, cuts[cell.column]) for line in members]
    middle = (max(line.bbox.y1 for line in over) + min(line.bbox.y0 for line in under)) / 2
    middle = min(max(middle, cell.bbox.y0), cell.bbox.y1)
    upper = BBox(cell.bbox.x0, cell.bbox.y0, cell.bbox.x1, middle)
    lower = BBox(cell.bbox.x0, middle, cell.bbox.x1, cell.bbox.y1)
    return [
        replace(cell, bbox=upper, lines=tuple(over)),
        replace(cell, row=row + 1, bbox=lower, lines=tuple(under)),
    ]


def _parted(cell: DraftCell, cuts: Cuts) -> list[DraftCell]:
    """The cell in the columns after the cuts: as it is over all of its own, or a cell for each."""
    first = _place(cell.column, cuts)
    span = _place(cell.column + cell.column_span, cuts) - first
    own = cuts.get(cell.column, ())
    if span == 1 or cell.column_span > 1 or any(_runs_through(row, own) for row in visual_rows(cell.lines)):
        return [replace(cell, column=first, column_span=span)]
    edges = [cell.bbox.x0, *own, cell.bbox.x1]
    return [
        replace(
            cell,
            column=first + index,
            bbox=BBox(x0, cell.bbox.y0, x1, cell.bbox.y1),
            lines=tuple(piece for line in cell.lines if (piece := _piece(line, x0, x1)) is not None),
        )
        for index, (x0, x1) in enumerate(itertools.pairwise(edges))
    ]


def _place(column: int, cuts: Cuts) -> int:
    return column + sum(len(found) for cut, found in cuts.items() if cut < column)


def _piece(line: PrintedLine, x0: float, x1: float) -> PrintedLine | None:
    words = [word for word in line.words if x0 <= word.bbox.center[0] < x1]
    return line_of(words, line.direction, line.vertical) if words else None
