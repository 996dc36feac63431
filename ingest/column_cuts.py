"""Parts columns of a table's grid that hold several columns of figures: white runs down between them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.drafts import DraftCell
from ingest.line_groups import visual_rows
from ingest.printed import PrintedLine, PrintedWord, line_of
from ingest.table_headers import PERIOD, is_value
from kb_qa.geometry import BBox

WHITE = 1.0  # of the type size, that runs down between two columns
NARROW = 0.18  # of the type size: enough where nearly every cell holds a figure on either side
PHRASE = 0.7  # of the type size: less white than that between two words makes them one phrase
FEWEST = 3  # cells that hold something on both sides
RULE = frozenset("-–—_=.·… ")
_GROUP = re.compile(r"\d{3}(?:[.,]\d+)?")  # the end of `1 234`, and of `1 234,50`
_LEAD = re.compile(r"[-−–(]?\d{1,3}")
_ASIDE = re.compile(r"[(\[].*[)\]]|\d{1,2}/\d{1,2}")  # belongs to the figure before it: `12.3 (0.4)`, `5 1/2`

Cuts = Mapping[int, Sequence[float]]


def cut_columns(cells: Sequence[DraftCell], header_rows: int) -> tuple[list[DraftCell], int]:
    """The cells, columns parted where the figures in them are; and the number of header rows, new ones with them."""
    columns = {cell.column for cell in cells if cell.column_span == 1}
    cuts = {column: found for column in columns if (found := _cuts(cells, column, header_rows))}
    walls = _walls(cells)
    if not cuts and not any(cell.row < header_rows and _is_mixed(cell, cuts, walls) for cell in cells):
        return list(cells), header_rows
    result = list(cells)
    row = 0
    while row < header_rows:
        mixed = [cell for cell in result if cell.row == row and cell.row_span == 1 and _is_mixed(cell, cuts, walls)]
        if mixed:
            height = min(_middle(cell, cuts, walls) for cell in mixed)
            result = [part for cell in result for part in _with_row_below(cell, row, height, cuts, walls)]
            header_rows += 1
            row += 1
        row += 1
    parted = [part for cell in result for part in _parted(cell, cuts)]
    return sorted(parted, key=lambda cell: (cell.row, cell.column)), header_rows


def _walls(cells: Sequence[DraftCell]) -> dict[int, float]:
    """The right edge of each column, where cells that stand in it alone and in the next one meet."""
    left: dict[int, float] = {}
    right: dict[int, float] = {}
    for cell in cells:
        if cell.column_span == 1:
            left[cell.column] = min(left.get(cell.column, cell.bbox.x0), cell.bbox.x0)
            right[cell.column] = max(right.get(cell.column, cell.bbox.x1), cell.bbox.x1)
    return {column: (edge + left[column + 1]) / 2 for column, edge in right.items() if column + 1 in left}


def _cuts(cells: Sequence[DraftCell], column: int, header_rows: int) -> list[float]:
    body = [
        [word for line in cell.lines for word in line.words]
        for cell in cells
        if cell.column == column and cell.column_span == cell.row_span == 1 and cell.row >= max(header_rows, 1)
    ]
    dashes = [word for words in body for word in words if not set(word.text) - RULE]
    body = [kept for words in body if (kept := [word for word in words if set(word.text) - RULE])]
    if len(body) < FEWEST or any(line.direction != "right" for cell in cells for line in cell.lines):
        return []
    spans = sorted((word.bbox.x0, word.bbox.x1) for words in body for word in words)
    size = sorted(word.size for words in body for word in words)[len(spans) // 2]
    found: list[float] = []
    narrow: set[float] = set()
    end = spans[0][1]
    for x0, x1 in spans:
        middle = (end + x0) / 2
        if x0 - end > WHITE * size:
            found.append(middle)
        elif x0 - end > NARROW * size and not any(end <= dash.bbox.center[0] <= x0 for dash in dashes):
            found.append(middle)
            narrow.add(middle)
        end = max(end, x1)
    while wrong := [cut for cut in found if not _parts_figures(body, cut, found, narrow=cut in narrow)][:1]:
        found.remove(wrong[0])
    return found


def _parts_figures(body: Sequence[Sequence[PrintedWord]], cut: float, cuts: Sequence[float], *, narrow: bool) -> bool:
    """Whether most cells hold something on both sides, and figures stand on one of them; a currency sign is nothing.

    Beside little white nearly all cells must hold a whole figure on either side.
    """
    place = list(cuts).index(cut)
    edges = [float("-inf"), *cuts, float("inf")]
    sides = [[_between(words, edges[index], edges[index + 1]) for words in body] for index in (place, place + 1)]
    both = [pair for pair in zip(*sides, strict=True) if all(any(char.isalnum() for char in text) for text in pair)]
    if len(both) < FEWEST or len(both) * 2 < len(body):
        return False
    if narrow:
        figures = sum(is_value(left) and is_value(right) for left, right in both)
        return len(both) * 5 >= len(body) * 4 and figures * 10 >= len(both) * 9 and not _is_one_figure(both)
    return any(2 * sum(_is_figure(pair[side]) for pair in both) >= len(both) for side in (0, 1))


def _is_one_figure(pairs: Sequence[tuple[str, ...]]) -> bool:
    """Whether what stands on the right goes on with the figure on the left, in every cell."""
    grouped = all(_LEAD.fullmatch(left.split()[-1]) and _GROUP.fullmatch(right.split()[0]) for left, right in pairs)
    return grouped or all(_ASIDE.fullmatch(right) for _, right in pairs)


def _between(words: Sequence[PrintedWord], x0: float, x1: float) -> str:
    return " ".join(word.text for word in words if x0 < word.bbox.center[0] < x1)


def _is_figure(text: str) -> bool:
    return is_value(text) or PERIOD.search(text) is not None


def _edges(cell: DraftCell, cuts: Cuts, walls: Mapping[int, float]) -> list[float]:
    """What parts the cell: the cuts in its columns, and the walls between those."""
    columns = range(cell.column, cell.column + cell.column_span)
    between = [walls[column] for column in columns[:-1] if column in walls]
    return sorted([*between, *(cut for column in columns for cut in cuts.get(column, ()))])


def _is_mixed(cell: DraftCell, cuts: Cuts, walls: Mapping[int, float]) -> bool:
    """A heading over all the parts, and under it one for each, in one cell."""
    rows = visual_rows(cell.lines)
    edges = _edges(cell, cuts, walls)
    if not edges or len(rows) < 2:
        return False
    last = rows[-1]
    sides = {sum(edge < line.bbox.center[0] for edge in edges) for line in last}
    return _runs_through(rows[0], edges) and not _runs_through(last, edges) and len(sides) > 1


def _runs_through(row: Sequence[PrintedLine], cuts: Sequence[float]) -> bool:
    """Whether a phrase of the row stands over a cut."""
    words = sorted((word for line in row for word in line.words), key=lambda word: word.bbox.x0)
    if any(word.bbox.x0 < cut < word.bbox.x1 for word in words for cut in cuts):
        return True
    return any(
        one.bbox.center[0] < cut < other.bbox.center[0]
        and other.bbox.x0 - one.bbox.x1 < PHRASE * one.size
        and not (is_value(one.text) and is_value(other.text))
        for one, other in itertools.pairwise(words)
        for cut in cuts
    )


def _middle(cell: DraftCell, cuts: Cuts, walls: Mapping[int, float]) -> float:
    """The height between the heading over all the parts and those under it."""
    rows = visual_rows(cell.lines)
    edges = _edges(cell, cuts, walls)
    over = [line.bbox.y1 for members in rows if _runs_through(members, edges) for line in members]
    under = [line.bbox.y0 for members in rows if not _runs_through(members, edges) for line in members]
    return min(max((max(over) + min(under)) / 2, cell.bbox.y0), cell.bbox.y1)


def _with_row_below(
    cell: DraftCell, row: int, height: float, cuts: Cuts, walls: Mapping[int, float]
) -> list[DraftCell]:
    """The cell in a grid where a row more begins under the headings of `row` that stand over several columns.

    What is printed below that height alone is in the new row, and can have a heading above it.
    """
    if cell.row > row:
        return [replace(cell, row=cell.row + 1)]
    if cell.row + cell.row_span <= row:
        return [cell]
    if cell.row < row or cell.row_span > 1 or not _is_mixed(cell, cuts, walls):
        if cell.row < row or not cell.lines or any(line.bbox.center[1] < height for line in cell.lines):
            return [replace(cell, row_span=cell.row_span + 1)]
        edge = min(max(height, cell.bbox.y0), cell.bbox.y1)
        empty = replace(cell, bbox=BBox(cell.bbox.x0, cell.bbox.y0, cell.bbox.x1, edge), lines=())
        return [empty, replace(cell, row=row + 1, bbox=BBox(cell.bbox.x0, edge, cell.bbox.x1, cell.bbox.y1))]
    rows = visual_rows(cell.lines)
    edges = _edges(cell, cuts, walls)
    over = [line for members in rows if _runs_through(members, edges) for line in members]
    under = [line for members in rows if not _runs_through(members, edges) for line in members]
    middle = _middle(cell, cuts, walls)
    upper = BBox(cell.bbox.x0, cell.bbox.y0, cell.bbox.x1, middle)
    lower = replace(cell, row=row + 1, bbox=BBox(cell.bbox.x0, middle, cell.bbox.x1, cell.bbox.y1), lines=tuple(under))
    return [replace(cell, bbox=upper, lines=tuple(over)), *_by_column(lower, walls)]


def _by_column(cell: DraftCell, walls: Mapping[int, float]) -> list[DraftCell]:
    """A cell for each of the columns that the cell stands in."""
    columns = range(cell.column, cell.column + cell.column_span)
    if any(column not in walls for column in columns[:-1]):
        return [cell]
    edges = [cell.bbox.x0, *(walls[column] for column in columns[:-1]), cell.bbox.x1]
    return [_slice(cell, column, x0, x1) for column, (x0, x1) in zip(columns, itertools.pairwise(edges), strict=True)]


def _parted(cell: DraftCell, cuts: Cuts) -> list[DraftCell]:
    """The cell in the columns after the cuts: as it is over all of its own, or a cell for each."""
    first = _place(cell.column, cuts)
    span = _place(cell.column + cell.column_span, cuts) - first
    own = cuts.get(cell.column, ())
    if span == 1 or cell.column_span > 1 or any(_runs_through(row, own) for row in visual_rows(cell.lines)):
        return [replace(cell, column=first, column_span=span)]
    edges = [cell.bbox.x0, *own, cell.bbox.x1]
    return [_slice(cell, first + index, x0, x1) for index, (x0, x1) in enumerate(itertools.pairwise(edges))]


def _slice(cell: DraftCell, column: int, x0: float, x1: float) -> DraftCell:
    """The part of the cell between two edges, as a cell of `column`."""
    lines = tuple(piece for line in cell.lines if (piece := _piece(line, x0, x1)) is not None)
    return replace(cell, column=column, column_span=1, bbox=BBox(x0, cell.bbox.y0, x1, cell.bbox.y1), lines=lines)


def _place(column: int, cuts: Cuts) -> int:
    return column + sum(len(found) for cut, found in cuts.items() if cut < column)


def _piece(line: PrintedLine, x0: float, x1: float) -> PrintedLine | None:
    words = [word for word in line.words if x0 <= word.bbox.center[0] < x1]
    return line_of(words, line.direction, line.vertical) if words else None
