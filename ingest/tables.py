"""Finds the tables of a page and puts the printed words into their cells.

The grid comes from PyMuPDF (ruling lines and its table model); the text never does: PyMuPDF's own cell text displaces
separators (12.5% becomes 125% and a dot). What does not hold up as a table stays text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pymupdf

from ingest.cell_joins import joined_where_text_runs_on, with_signs_at_their_figures
from ingest.column_cuts import cut_columns
from ingest.drafts import Draft, DraftCell, DraftTable
from ingest.grid_repairs import repaired, with_bullets
from ingest.header_rows import part_header_rows, part_stacked_labels
from ingest.header_spans import spread_group_headers
from ingest.layout import LayoutBox
from ingest.line_groups import in_reading_order
from ingest.printed import PrintedLine, PrintedWord, is_cjk, line_of
from ingest.prose_between import parted_by_prose
from ingest.shared_reads import shared_reads
from ingest.table_confidence import grid_confidence
from ingest.table_headers import (
    count_header_rows,
    extent,
    header_blocks,
    is_value,
    leading_header_rows,
    slots_of,
)
from ingest.unit_rows import is_right_below, unit_row
from ingest.word_grid import grid_of_words
from kb_qa.elements import Origin
from kb_qa.geometry import BBox, union_of

EDGE = 3.0  # points within which two cell edges are one line
RULES_OF_A_GRID = 3
FILLER = 4  # signs in a row from which they fill a line: `...` and `---` stand for a value that is not known
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
FILLERS = frozenset("._-–—=·…")


@dataclass(frozen=True, slots=True)
class FoundTables:
    """`lines` are what is left outside the tables; `failed` says that detection broke down on this page."""

    drafts: tuple[Draft, ...]
    lines: tuple[PrintedLine, ...]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class _Grid:
    boxes: tuple[BBox, ...]
    header_rows: int
    ruled: bool = False


def find_tables(
    page: pymupdf.Page, lines: Sequence[PrintedLine], boxes: Sequence[LayoutBox], *, origin: Origin = "text-layer"
) -> FoundTables:
    """Tables of an upright page on which the layout model has run, and the lines that belong to none."""
    marked = [box for box in boxes if box.label == "table"]
    if not marked and not _has_rules(page):
        return FoundTables((), tuple(lines))
    candidates, failed = _detected(page, marked, [box.bbox for box in boxes if box.label == "picture"])
    for box in marked:
        frames = [_union(grid.boxes) for grid in candidates]
        if not any(frame.overlap(box.bbox) > 0.3 or box.bbox.overlap(frame) > 0.3 for frame in frames):
            candidates.append(_Grid(tuple(grid_of_words(lines, box.bbox)), 1))
    drafts: list[Draft] = []
    rest = list(lines)
    grids = [part for candidate in candidates for part in _parted(candidate, lines)]
    for grid in _with_their_units(grids, lines):
        table, left = _filled(grid, rest)
        if table is not None and not any(table.bbox.overlap(other.bbox) > 0.3 for other in drafts):
            drafts.append(Draft("Table", table.bbox, element_type="table", table=table, origin=origin))
            rest = left
    return FoundTables(tuple(drafts), tuple(rest), failed)


def _with_their_units(grids: Sequence[_Grid], lines: Sequence[PrintedLine]) -> list[_Grid]:
    """The grids, the last row of one that only says what figures are counted in given to the one right below it."""
    result = list(grids)
    for above, grid in enumerate(result):
        row = unit_row(grid.boxes, lines)
        below = next((at for at, other in enumerate(result) if row and is_right_below(grid.boxes, other.boxes)), None)
        if below is not None:
            other = result[below]
            result[above] = replace(grid, boxes=tuple(box for box in grid.boxes if box not in row))
            result[below] = replace(other, boxes=(*row, *other.boxes), header_rows=other.header_rows + 1)
    return result


def _detected(page: pymupdf.Page, marked: Sequence[LayoutBox], pictures: Sequence[BBox]) -> tuple[list[_Grid], bool]:
    """Grids in order of trust, and whether a search failed: drawn rules first, then the table model's.

    Rules say more than the model where they part a table into as many cells: they show which cells span.
    """
    with shared_reads(page):
        found = _grids(page.find_tables(strategy="lines_strict", use_layout=False, refine=True))
        ruled = [
            replace(grid, ruled=True)
            for grid in found or ()
            if not any(_union(grid.boxes).overlap(picture) > 0.8 for picture in pictures)
        ]
        trusted = [grid for grid in ruled if any(_is_ruled(grid, box) for box in marked)]
        if all(any(_is_ruled(grid, box) for grid in trusted) for box in marked):
            return ruled, found is None
        modelled = _grids(page.find_tables(union=True, refine=True))
        return [*trusted, *(modelled or ())], modelled is None


def _parted(grid: _Grid, lines: Sequence[PrintedLine]) -> list[_Grid]:
    """The grid, as several where paragraphs run through it and no rules say that they are a part of it."""
    first, *others = [grid.boxes] if grid.ruled else parted_by_prose(grid.boxes, lines)
    return [replace(grid, boxes=first), *(_Grid(boxes, 1) for boxes in others)]


def _is_ruled(grid: _Grid, box: LayoutBox) -> bool:
    return box.bbox.overlap(_union(grid.boxes)) > 0.8 and len(grid.boxes) * 2 >= box.cells


def _grids(found: Any) -> list[_Grid] | None:
    """Grids of a search; None where it failed: PyMuPDF reports its own exception as a message."""
    if found is None:
        return None
    grids = []
    for table in found.tables:
        placements = getattr(table, "placements", None)
        if placements:
            boxes = [cell.bbox for row in placements for cell in row if cell.bbox is not None]
        else:
            boxes = [cell for cell in table.cells if cell is not None]
        usable = [box for box in (BBox(*(float(value) for value in box)) for box in boxes) if box.area > 0]
        if usable:  # a table without cells is none
            grids.append(_Grid(tuple(usable), int(getattr(table, "header_rows", 1) or 0)))
    return grids


def _has_rules(page: pymupdf.Page) -> bool:
    """Whether enough straight lines or boxes are drawn to make a grid; cheap beside a search for tables."""
    across: set[int] = set()
    down: set[int] = set()
    for drawing in page.get_cdrawings():
        x0, y0, x1, y1 = drawing["rect"]
        if x1 - x0 > 20 or y1 - y0 > 20:
            if y1 - y0 > 6:
                down.update((round(x0), round(x1)))
            if x1 - x0 > 6:
                across.update((round(y0), round(y1)))
    return len(across) >= RULES_OF_A_GRID and len(down) >= RULES_OF_A_GRID


def _union(boxes: Iterable[BBox]) -> BBox:
    box = union_of(boxes)
    return box if box is not None else BBox(0, 0, 0, 0)


def _filled(grid: _Grid, lines: Sequence[PrintedLine]) -> tuple[DraftTable | None, list[PrintedLine]]:
    """The grid with the words in its cells, and the lines without them; None where it is no table."""
    if len(grid.boxes) < 4:
        return None, list(lines)
    cells = _placed(grid.boxes)
    pieces, left = _sorted_into(cells, lines)
    cells = [replace(cell, lines=tuple(pieces.get(index, ()))) for index, cell in enumerate(cells)]
    cells = joined_where_text_runs_on(cells, grid.header_rows)
    cells = with_signs_at_their_figures(cells)
    proposed = _filled_rows(cells, grid.header_rows)
    cells = _without_empty(cells)
    cells, proposed = part_header_rows(cells, max(proposed, leading_header_rows(cells)))
    cells, proposed = part_header_rows(*cut_columns(cells, proposed))
    cells, outside, proposed = repaired(cells, proposed)
    cells = part_stacked_labels(cells, proposed)
    proposed = _filled_rows(cells, proposed)
    cells = _without_empty(cells)
    if not is_table(cells):
        return None, list(lines)
    headers = header_blocks(cells, count_header_rows(cells, proposed))
    cells = spread_group_headers(cells, headers, ruled=grid.ruled)
    cells = [replace(cell, lines=tuple(in_reading_order(with_bullets(cell.lines)))) for cell in cells]
    confidence = grid_confidence(cells, headers, ruled=grid.ruled)
    table = DraftTable(tuple(cells), headers, _union(cell.bbox for cell in cells), confidence=confidence)
    return table, [*left, *outside]


def _placed(boxes: Sequence[BBox]) -> list[DraftCell]:
    """Cells with row, column and spans, from their rectangles."""
    xs = _clustered([value for box in boxes for value in (box.x0, box.x1)])
    ys = _clustered([value for box in boxes for value in (box.y0, box.y1)])
    cells = []
    taken: set[tuple[int, int]] = set()
    for box in sorted(boxes, key=lambda box: (box.y0, box.x0, -box.area)):
        row, column = _nearest(ys, box.y0), _nearest(xs, box.x0)
        row_span, column_span = max(_nearest(ys, box.y1) - row, 1), max(_nearest(xs, box.x1) - column, 1)
        places = {(r, c) for r in range(row, row + row_span) for c in range(column, column + column_span)}
        if places & taken:
            continue
        taken |= places
        cells.append(DraftCell(row, column, row_span, column_span, box))
    return sorted(cells, key=lambda cell: (cell.row, cell.column))


def _clustered(values: Sequence[float]) -> list[float]:
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > EDGE:
            edges.append(value)
    return edges


def _nearest(edges: Sequence[float], value: float) -> int:
    return min(range(len(edges)), key=lambda index: abs(edges[index] - value))


def _sorted_into(
    cells: Sequence[DraftCell], lines: Sequence[PrintedLine]
) -> tuple[dict[int, list[PrintedLine]], list[PrintedLine]]:
    """Pieces of lines by the cell that holds the middle of each word, and the pieces outside every cell."""
    frame = _union(cell.bbox for cell in cells)
    pieces: dict[int, list[PrintedLine]] = {}
    left: list[PrintedLine] = []
    for line in lines:
        if line.words[0].hidden or line.bbox.intersection(frame) is None:
            left.append(line)
            continue
        for index, words in _runs(line, cells):
            if index is not None and not (words := [*_said(words)]):
                continue
            piece = line_of(words, line.direction, line.vertical)
            if index is None:
                left.append(piece)
            else:
                pieces.setdefault(index, []).append(piece)
    return pieces, left


def _said(words: Iterable[PrintedWord]) -> Iterator[PrintedWord]:
    """The words without control characters, which print nothing, and without those that only fill a line.

    Dots that lead the eye from a label to its figures, and rules typed from signs, say nothing.
    """
    for word in words:
        if not (len(word.text) >= FILLER and not set(word.text) - FILLERS):
            text = CONTROLS.sub("", word.text)
            if text:
                yield word if text == word.text else replace(word, text=text)


def _runs(line: PrintedLine, cells: Sequence[DraftCell]) -> list[tuple[int | None, list[PrintedWord]]]:
    """The line's words in runs of one cell each; None for words outside all of them."""
    runs: list[tuple[int | None, list[PrintedWord]]] = []
    box = line.bbox
    near = [
        (index, cell.bbox)
        for index, cell in enumerate(cells)
        if cell.bbox.y0 <= box.y1 and cell.bbox.y1 >= box.y0 and cell.bbox.x0 <= box.x1 and cell.bbox.x1 >= box.x0
    ]
    for word in line.words:
        x, y = word.bbox.center
        index = next((index for index, box in near if box.contains_point(x, y)), None)
        if runs and runs[-1][0] == index:
            runs[-1][1].append(word)
        else:
            runs.append((index, [word]))
    return runs


def _filled_rows(cells: Sequence[DraftCell], count: int) -> int:
    """How many of the first rows hold text: those that are left of them when empty rows are taken out."""
    return len({cell.row for cell in cells if cell.row < count and cell.text})


def _without_empty(cells: Sequence[DraftCell]) -> list[DraftCell]:
    """Cells, with rows and columns that hold no text taken out."""
    result = list(cells)
    rows, columns = extent(result)
    for column in reversed(range(columns)):
        if all(not cell.text for cell in result if cell.column == column):
            result = [_without_column(cell, column) for cell in result if cell.column != column or cell.column_span > 1]
    for row in reversed(range(rows)):
        if all(not cell.text for cell in result if cell.row == row):
            result = [_without_row(cell, row) for cell in result if cell.row != row or cell.row_span > 1]
    return result


def _without_column(cell: DraftCell, column: int) -> DraftCell:
    if cell.column > column:
        return replace(cell, column=cell.column - 1)
    if cell.column + cell.column_span > column:
        return replace(cell, column_span=cell.column_span - 1)
    return cell


def _without_row(cell: DraftCell, row: int) -> DraftCell:
    if cell.row > row:
        return replace(cell, row=cell.row - 1)
    if cell.row + cell.row_span > row:
        return replace(cell, row_span=cell.row_span - 1)
    return cell


def is_table(cells: Sequence[DraftCell]) -> bool:
    """At least two rows and two columns hold text in two places each, and it is not running text in columns."""
    rows, columns = extent(cells)
    if rows < 2 or columns < 2:
        return False
    slots = slots_of(cells)
    filled = {place for place, cell in slots.items() if cell.text}
    full_rows = sum(sum((row, column) in filled for column in range(columns)) >= 2 for row in range(rows))
    full_columns = sum(sum((row, column) in filled for row in range(rows)) >= 2 for column in range(columns))
    enough = full_rows >= 2 and full_columns >= 2 and len(filled) * 4 >= rows * columns
    return enough and not _is_prose(cells)


def _is_prose(cells: Sequence[DraftCell]) -> bool:
    """Running text cut into rows: cells go on, without a full stop before them, in the middle of a sentence."""
    body = [cell for cell in cells if cell.text]
    if any(is_value(cell.text) for cell in body) and sum(is_value(cell.text) for cell in body) * 5 >= len(body):
        return False
    by_column: dict[int, list[DraftCell]] = {}
    for cell in body:
        by_column.setdefault(cell.column, []).append(cell)
    going_on = pairs = 0
    for members in by_column.values():
        for above, below in itertools.pairwise(members):
            pairs += 1
            going_on += _goes_on(above.text, below.text)
    long = sum(len(cell.text) > 300 or len(cell.lines) > 8 for cell in body)
    return pairs > 0 and (going_on * 2 > pairs or long * 3 >= len(body))


def _goes_on(above: str, below: str) -> bool:
    if len(above) < 20 or re.search(r"[.!?;:。！？；：]\s*$", above):
        return False
    return below[0].islower() or (is_cjk(below[0]) and len(above) > 25 and len(below) > 25)
