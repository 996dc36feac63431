"""Cells of a grid that cuts through a printed phrase become one; a currency sign goes to the figure after it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ingest.drafts import DraftCell
from ingest.printed import PrintedLine, PrintedWord, is_cjk, line_of
from ingest.table_headers import is_value

SPACE, WIDEST_SPACE = 0.42, 0.75  # of the type size, between two words of a phrase: at least, and in wide setting
SIGNS = frozenset({"$", "€", "£", "¥", "₹", "US$", "HK$", "RMB"})
FIRST_OF_FIGURE = frozenset("0123456789(-−–—")
FIGURES = {"none": 0, "one": 1, "both": 2}


def with_signs_at_their_figures(cells: Sequence[DraftCell]) -> list[DraftCell]:
    """The cells, a currency sign that ends one moved to the figure that begins the next: `16 $ | 17` → `16 | $ 17`."""
    result = list(cells)
    places = {(cell.row, cell.column): index for index, cell in enumerate(result)}
    for index in range(len(result)):
        left = result[index]
        following = places.get((left.row, left.column + left.column_span))
        if following is None or left.row_span != result[following].row_span:
            continue
        moved = _sign_moved(left, result[following])
        if moved is not None:
            result[index], result[following] = moved
    return result


def _sign_moved(left: DraftCell, right: DraftCell) -> tuple[DraftCell, DraftCell] | None:
    for number, line in enumerate(left.lines):
        sign = line.words[-1]
        if sign.text not in SIGNS or not _ends_row(sign, left.lines):
            continue
        beside = [other for other in right.lines if _is_level(other.words[0], sign)]
        if not beside or min(beside, key=lambda other: other.bbox.x0).words[0].text[:1] not in FIRST_OF_FIGURE:
            continue
        figure = min(beside, key=lambda other: other.bbox.x0)
        words = [replace(sign, spaced=False), replace(figure.words[0], spaced=True), *figure.words[1:]]
        place = right.lines.index(figure)
        rest = [line_of(line.words[:-1])] if len(line.words) > 1 else []
        return (
            replace(left, lines=(*left.lines[:number], *rest, *left.lines[number + 1 :])),
            replace(right, lines=(*right.lines[:place], line_of(words), *right.lines[place + 1 :])),
        )
    return None


def _ends_row(sign: PrintedWord, lines: Sequence[PrintedLine]) -> bool:
    """Whether the sign is the last word of its row in the cell, with white between it and the word before."""
    row = [word for line in lines for word in line.words if _is_level(word, sign) and word is not sign]
    return bool(row) and max(word.bbox.x1 for word in row) + 0.6 * sign.size < sign.bbox.x0


def _is_level(word: PrintedWord, other: PrintedWord) -> bool:
    return abs(word.baseline - other.baseline) <= 0.1 * other.size


def _space_in(cells: Sequence[DraftCell]) -> float:
    """The widest white, in type sizes, that parts two words of one phrase, by how the words in the cells are set."""
    gaps = sorted(
        (word.bbox.x0 - before.bbox.x1) / word.size
        for cell in cells
        for line in cell.lines
        for before, word in itertools.pairwise(line.words)
        if word.spaced and before.text[-1].isalpha() and word.text[0].isalpha()
    )
    return min(max(1.15 * gaps[len(gaps) // 2], SPACE), WIDEST_SPACE) if gaps else SPACE


def joined_where_text_runs_on(cells: Sequence[DraftCell], header_rows: int) -> list[DraftCell]:
    """Neighbouring cells become one where a printed phrase runs through the line between them."""
    space = _space_in(cells)
    result = sorted(cells, key=lambda cell: (cell.row, cell.column))
    filled = Counter(cell.row for cell in cells if cell.lines)
    index = 0
    while index + 1 < len(result):
        left, right = result[index], result[index + 1]
        adjacent = left.row == right.row and left.row_span == right.row_span
        header = left.row < header_rows
        alone = filled[left.row] <= 2 and left.column == 0  # a heading over rows, longer than its column is wide
        if (
            adjacent
            and left.column + left.column_span == right.column
            and _runs_on(left, right, space, with_figures="both" if alone else "one" if header else "none")
        ):
            filled[left.row] -= 1
            result[index] = replace(
                left,
                column_span=left.column_span + right.column_span,
                bbox=left.bbox.union(right.bbox),
                lines=_rejoined(left.lines, right.lines, space),
            )
            del result[index + 1]
        else:
            index += 1
    return result


def _runs_on(left: DraftCell, right: DraftCell, space: float, *, with_figures: Literal["none", "one", "both"]) -> bool:
    """Whether a phrase runs from one cell into the next; figures stand in it on so many sides at most."""
    for before in left.lines:
        for after in right.lines:
            one, other = before.words[-1], after.words[0]
            size = max(one.size, other.size)
            gap = other.bbox.x0 - one.bbox.x1
            if before.direction != "right" or abs(one.baseline - other.baseline) > 0.1 * size:
                continue
            if not -0.1 * size <= gap < (0.12 if is_cjk(one.text[-1]) or is_cjk(other.text[0]) else space) * size:
                continue
            figures = _has_digit(before) + _has_digit(after)
            if with_figures == "both" and (is_value(before.text) or is_value(after.text)):
                continue
            if figures <= FIGURES[with_figures] and not (_is_aligned(before, left) and _is_aligned(after, right)):
                return True
    return False


def _is_aligned(line: PrintedLine, cell: DraftCell) -> bool:
    """Whether the line is set flush with another of its cell: then it is a part of that heading alone."""
    reach = 0.1 * line.size
    return any(
        min(
            abs(line.bbox.x0 - other.bbox.x0),
            abs(line.bbox.x1 - other.bbox.x1),
            abs(line.bbox.center[0] - other.bbox.center[0]),
        )
        < reach
        for other in cell.lines
        if other is not line
    )


def _has_digit(line: PrintedLine) -> bool:
    return any(char.isdigit() for word in line.words for char in word.text)


def _rejoined(left: Sequence[PrintedLine], right: Sequence[PrintedLine], space: float) -> tuple[PrintedLine, ...]:
    """Lines of two joined cells; pieces of one printed line are put together again."""
    result = list(left)
    for piece in right:
        fitting = [
            index
            for index, line in enumerate(result)
            if abs(line.words[-1].baseline - piece.words[0].baseline) <= 0.1 * piece.size
            and -0.1 * piece.size <= piece.words[0].bbox.x0 - line.words[-1].bbox.x1 < space * piece.size
        ]
        if fitting:
            line = result[fitting[0]]
            first = piece.words[0]
            apart = first.bbox.x0 - line.words[-1].bbox.x1 > 0.15 * first.size
            words = (replace(first, spaced=first.spaced or apart), *piece.words[1:])
            result[fitting[0]] = line_of((*line.words, *words), line.direction, line.vertical)
        else:
            result.append(piece)
    return tuple(result)
