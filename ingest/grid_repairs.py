"""Corrects a table's grid by what is printed in it: cells that are several, rows that are one, titles and notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import DraftCell, bbox_of
from ingest.line_groups import visual_rows
from ingest.printed import PrintedLine, PrintedWord, line_of
from ingest.table_captions import NUMBERED
from ingest.table_headers import extent, is_value, slots_of
from ingest.table_periods import is_period
from kb_qa.geometry import BBox

NOTES = re.compile(
    r"^\s*(?:(?:see )?(?:foot)?notes?\b|sources?\b|abbreviations?\s*:|(?:exhibit|table|figure) reads\b"
    r"|注[:：释]|附注|(?:资料|数据)来源|[*†‡])",
    re.IGNORECASE,
)
OPEN_END = re.compile(r"(?:[-–,&/(]|\b(?:of|and|or|the|to|in|for|by|per|from|with|at|on|than|a))$", re.IGNORECASE)
GOES_ON = re.compile(r"^[a-z(&]")
BULLETS = frozenset("•‣▪■□●○◦◆◇►▶➢➤✓✔·∙\uf0b7\uf0a7")
FEWEST_ROWS = 4  # under one another in a cell beside as many rows, each in its own: not a label that wraps
LONG_LABEL = 12  # characters from which a text may go on in the next row
LONG_TEXT = 20
TIGHT = 0.5  # of the type size: white between two lines of one text


def repaired(cells: Sequence[DraftCell], header_rows: int) -> tuple[list[DraftCell], list[PrintedLine], int]:
    """The cells, the lines of titles and notes that are none of them, and the number of header rows left."""
    inside, outside, header_rows = _without_banners(cells, header_rows)
    inside = [part for cell in inside for part in _split_by_rows(cell, inside)]
    inside = [part for cell in inside for part in _split_by_columns(cell, inside, header_rows)]
    inside, header_rows = _wrapped_headers_joined(inside, header_rows)
    return _wrapped_rows_joined(inside, header_rows), outside, header_rows


def with_bullets(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Lines, each bullet that stands alone put before the line with its baseline: its glyph is often as tall as two."""
    bullets = [line for line in lines if len(line.words) == 1 and line.text in BULLETS]
    result = [line for line in lines if line not in bullets]
    for bullet in bullets:
        height = bullet.words[0].baseline
        beside = [
            (abs(line.words[0].baseline - height), index)
            for index, line in enumerate(result)
            if line.direction == bullet.direction == "right" and line.bbox.x0 >= bullet.bbox.x1 - 1
        ]
        if not beside or min(beside)[0] > 0.4 * result[min(beside)[1]].size:
            result.append(bullet)
            continue
        line = result[min(beside)[1]]
        words = (bullet.words[0], replace(line.words[0], spaced=True), *line.words[1:])
        # The tall glyph's own box would make the line overlap its neighbours: the line keeps its height.
        level = BBox(bullet.bbox.x0, line.bbox.y0, line.bbox.x1, line.bbox.y1)
        result[min(beside)[1]] = replace(line, words=words, bbox=level)
    return result


def _without_banners(cells: Sequence[DraftCell], header_rows: int) -> tuple[list[DraftCell], list[PrintedLine], int]:
    """Cells without a numbered title in the first row and without notes in the last ones."""
    result = list(cells)
    outside: list[PrintedLine] = []
    while (only := _only_cell(result, 0)) is not None and NUMBERED.match(only.text):
        outside.extend(only.lines)
        result = [replace(cell, row=cell.row - 1) for cell in result if cell.row > 0]
        header_rows = max(header_rows - 1, 1)
    while (last := extent(result)[0] - 1) > 1 and (lines := _note_lines(result, last)):
        outside.extend(lines)
        result = [cell for cell in result if cell.row < last]
    return result, outside, header_rows


def _note_lines(cells: Sequence[DraftCell], row: int) -> list[PrintedLine]:
    """The lines of a row that is a note, whole again where the grid cut them; none where it is none."""
    members = [cell for cell in cells if cell.row <= row < cell.row + cell.row_span]
    filled = [cell for cell in members if cell.text]
    if not filled or filled[0].column or any(cell.row_span > 1 for cell in members):
        return []
    if not NOTES.match(filled[0].text) or any(is_value(cell.text) for cell in filled[1:]):
        return []
    if len(filled) == 1:
        return list(filled[0].lines)
    rows = visual_rows([line for cell in filled for line in cell.lines])
    return [_one_line(line_row) for line_row in rows]


def _one_line(pieces: Sequence[PrintedLine]) -> PrintedLine:
    """Pieces of a printed row as one line, a space between them."""
    first, *others = pieces
    words = [word for piece in others for word in (replace(piece.words[0], spaced=True), *piece.words[1:])]
    return line_of([*first.words, *words])


def _only_cell(cells: Sequence[DraftCell], row: int) -> DraftCell | None:
    """The cell that alone holds text in the row, from its left end on; None where a cell reaches into other rows."""
    members = [cell for cell in cells if cell.row <= row < cell.row + cell.row_span]
    filled = [cell for cell in members if cell.text]
    level = all(cell.row_span == 1 for cell in members)
    return filled[0] if level and len(filled) == 1 and filled[0].column == 0 and extent(cells)[0] > 2 else None


def _split_by_rows(cell: DraftCell, cells: Sequence[DraftCell]) -> list[DraftCell]:
    """A cell beside many rows that holds a line in each of them becomes as many cells."""
    if cell.row_span < FEWEST_ROWS:
        return [cell]
    bands: dict[int, tuple[float, float]] = {}
    for other in cells:
        if other.row_span == 1 and cell.row <= other.row < cell.row + cell.row_span:
            bands[other.row] = (other.bbox.y0, other.bbox.y1)
    rows: dict[int, list[PrintedLine]] = {}
    for line in cell.lines:
        middle = line.bbox.center[1]
        row = next((row for row, (y0, y1) in bands.items() if y0 <= middle < y1), None)
        if row is None:
            return [cell]
        rows.setdefault(row, []).append(line)
    going_on = sum(GOES_ON.match(lines[0].text) is not None for lines in rows.values())
    if len(rows) < max(FEWEST_ROWS, cell.row_span * 0.8) or going_on * 4 > len(rows) or len(bands) < cell.row_span:
        return [cell]
    return [
        replace(
            cell,
            row=row,
            row_span=1,
            bbox=BBox(cell.bbox.x0, bands[row][0], cell.bbox.x1, bands[row][1]),
            lines=tuple(rows.get(row, ())),
        )
        for row in range(cell.row, cell.row + cell.row_span)
    ]


def _split_by_columns(cell: DraftCell, cells: Sequence[DraftCell], header_rows: int) -> list[DraftCell]:
    """A header over several columns that is several headings far apart becomes a cell for each."""
    if cell.row >= header_rows or cell.column_span < 2 or not cell.lines:
        return [cell]
    pieces = _stacks(cell.lines)
    edges = {other.column: other.bbox for other in cells if other.column_span == 1 and other.row > cell.row}
    columns = range(cell.column, cell.column + cell.column_span)
    if len(pieces) < 2 or any(column not in edges for column in columns):
        return [cell]
    groups: dict[int, list[int]] = {}
    for column in columns:
        middle = edges[column].center[0]
        nearest = min(range(len(pieces)), key=lambda index: abs(bbox_of(pieces[index]).center[0] - middle))
        groups.setdefault(nearest, []).append(column)
    if len(groups) < len(pieces):
        return [cell]
    parts = []
    for index, group in sorted(groups.items()):
        box = BBox(edges[group[0]].x0, cell.bbox.y0, edges[group[-1]].x1, cell.bbox.y1)
        if bbox_of(pieces[index]).overlap(box) < 0.6:
            return [cell]
        parts.append(replace(cell, column=group[0], column_span=len(group), bbox=box, lines=pieces[index]))
    return parts


def _stacks(lines: Sequence[PrintedLine]) -> list[tuple[PrintedLine, ...]]:
    """The pieces of printed rows by what they stand under one another with, from left to right."""
    stacks: list[tuple[PrintedLine, ...]] = []
    for row in visual_rows(lines):
        for piece in _far_pieces(row):
            own = [stack for stack in stacks if any(_is_under(piece, line) for line in stack)]
            stacks = [stack for stack in stacks if stack not in own]
            stacks.append((*(line for stack in own for line in stack), piece))
    return sorted(stacks, key=lambda stack: bbox_of(stack).x0)


def _is_under(piece: PrintedLine, line: PrintedLine) -> bool:
    return piece.bbox.x0 < line.bbox.x1 and piece.bbox.x1 > line.bbox.x0


def _far_pieces(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """The words of one printed row, parted where the white between them is far wider than a space."""
    words = sorted((word for line in lines for word in line.words), key=lambda word: word.bbox.x0)
    runs: list[list[PrintedWord]] = []
    for word in words:
        if runs and word.bbox.x0 - runs[-1][-1].bbox.x1 <= 1.5 * word.size:
            runs[-1].append(word)
        else:
            runs.append([word])
    return [line_of(run, lines[0].direction, lines[0].vertical) for run in runs]


def _wrapped_headers_joined(cells: Sequence[DraftCell], header_rows: int) -> tuple[list[DraftCell], int]:
    """Header cells cut between the lines of one heading are one; a row in which nothing else stands goes."""
    result = list(cells)
    row = 0
    while row + 1 < header_rows or (row + 1 == header_rows and _header_goes_on(result, row)):
        header_rows = max(header_rows, row + 2)
        for upper in [cell for cell in result if cell.row + cell.row_span == row + 1 and cell.text]:
            below = _right_below(result, upper)
            lower = next((cell for cell in below if cell.text), None)
            if lower is not None and _wraps(upper, lower) and not _heads_periods(result, lower):
                result = [cell for cell in result if cell not in below]
                result[result.index(upper)] = _stacked(upper, lower, row_span=upper.row_span + lower.row_span)
        filled = [cell for cell in result if cell.row == row and cell.text]
        if filled and all(cell.row_span > 1 for cell in filled):
            result = _row_taken_out(result, row)
            header_rows -= 1
        else:
            row += 1
    return sorted(result, key=lambda cell: (cell.row, cell.column)), header_rows


def _heads_periods(cells: Sequence[DraftCell], lower: DraftCell) -> bool:
    """Whether what stands over a header goes on in none: that is one of several periods, and not all have it.

    `December 31,` over each of two years is a part of both; over one of them it stands over the middle of both.
    """
    periods = [cell for cell in cells if cell.row == lower.row and is_period(cell.text)]
    above = [cell for cell in cells if cell.row + cell.row_span == lower.row and cell.text]
    headed = {column for cell in above for column in range(cell.column, cell.column + cell.column_span)}
    return lower in periods and any(cell.column not in headed for cell in periods)


def _header_goes_on(cells: Sequence[DraftCell], row: int) -> bool:
    """Whether the row after the last header row holds nothing but the ends of its headings, such as their units."""
    following = [cell for cell in cells if cell.row == row + 1 and cell.text]
    ends = 0
    for cell in following:
        above = [upper for upper in cells if upper.row + upper.row_span == row + 1 and upper.column == cell.column]
        filled = [upper for upper in above if upper.text]
        ends += any(_wraps(upper, cell) for upper in filled)
        if is_value(cell.text) or (not filled and cell.column == 0) or (filled and not _wraps(filled[0], cell)):
            return False
    return ends * 2 >= max(len(following), 1) and row + 2 < extent(cells)[0]


def _right_below(cells: Sequence[DraftCell], upper: DraftCell) -> list[DraftCell]:
    """The cells right under one, over no more than its columns, where one of them holds text; else none."""
    first, last = upper.column, upper.column + upper.column_span
    below = [
        cell
        for cell in cells
        if cell.row == upper.row + upper.row_span and cell.column < last and cell.column + cell.column_span > first
    ]
    within = all(first <= cell.column and cell.column + cell.column_span <= last for cell in below)
    level = len({cell.row_span for cell in below}) == 1
    return below if within and level and sum(bool(cell.text) for cell in below) == 1 else []


def _row_taken_out(cells: Sequence[DraftCell], row: int) -> list[DraftCell]:
    """The cells without a row of which all that is filled reaches down into the next."""
    result = []
    for cell in cells:
        if cell.row <= row < cell.row + cell.row_span:
            if cell.row_span > 1:
                result.append(replace(cell, row_span=cell.row_span - 1))
        else:
            result.append(replace(cell, row=cell.row - 1) if cell.row > row else cell)
    return result


def _wraps(upper: DraftCell, lower: DraftCell) -> bool:
    """Whether the text of the upper cell goes on in the lower one: little white, and no new beginning."""
    if not upper.text or not lower.text:
        return False
    size = max(line.size for line in (*upper.lines, *lower.lines))
    same = abs(upper.lines[-1].size - lower.lines[0].size) <= 0.1 * size
    tight = bbox_of(lower.lines).y0 - bbox_of(upper.lines).y1 < TIGHT * size
    return same and tight and bool(GOES_ON.match(lower.text) or OPEN_END.search(upper.text))


def _stacked(upper: DraftCell, lower: DraftCell, row_span: int = 1) -> DraftCell:
    return replace(upper, row_span=row_span, bbox=upper.bbox.union(lower.bbox), lines=(*upper.lines, *lower.lines))


def _wrapped_rows_joined(cells: Sequence[DraftCell], header_rows: int) -> list[DraftCell]:
    """Body rows between which a label, or all of the row's text, only wraps are one row."""
    result = list(cells)
    row = header_rows
    while row + 1 < extent(result)[0]:
        joined = _joined_rows(result, row) if _row_wraps(result, row) else None
        if joined is None:
            row += 1
        else:
            result = joined
    return result


def _row_wraps(cells: Sequence[DraftCell], row: int) -> bool:
    slots = slots_of(cells)
    columns = range(extent(cells)[1])
    pairs = [(slots.get((row, column)), slots.get((row + 1, column))) for column in columns]
    above = [column for column, (cell, _) in zip(columns, pairs, strict=True) if cell is not None and cell.text]
    below = [column for column, (_, cell) in zip(columns, pairs, strict=True) if cell is not None and cell.text]
    if not above or not below:
        return False
    shared = [pairs[column] for column in below if column in above]
    if not all(one is not None and other is not None and _wraps(one, other) for one, other in shared):
        return False
    lengths = [len(one.text) for one, _ in shared if one is not None]
    if above == [0] and shared:
        return lengths[0] >= LONG_LABEL
    if len(shared) < len(below):
        return False
    return all(length >= (LONG_LABEL if len(below) < len(above) else LONG_TEXT) for length in lengths)


def _joined_rows(cells: Sequence[DraftCell], row: int) -> list[DraftCell] | None:
    """Rows `row` and the next as one; None where their cells do not stand under one another."""
    upper = {(cell.column, cell.column_span): cell for cell in cells if cell.row == row and cell.row_span == 1}
    lower = {(cell.column, cell.column_span): cell for cell in cells if cell.row == row + 1 and cell.row_span == 1}
    if upper.keys() != lower.keys():
        return None
    result = []
    for cell in cells:
        last = cell.row + cell.row_span - 1
        if cell.row > row + 1:
            result.append(replace(cell, row=cell.row - 1))
        elif last < row:
            result.append(cell)
        elif cell.row_span == 1:
            if cell.row == row:
                key = (cell.column, cell.column_span)
                result.append(_stacked(cell, lower[key]))
        elif cell.row <= row and last > row:
            result.append(replace(cell, row_span=cell.row_span - 1))
        else:
            return None
    return result
