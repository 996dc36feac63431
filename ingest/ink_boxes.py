"""Draws boxes of recognised text tight around its ink.

A text detector leaves a margin of a third of the line's height on each side, and gives words in steps of its own coarse
columns. What a reader is shown has to end where the print ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Span = tuple[float, float]

LEAST_CONTRAST = 24.0  # grey levels between print and paper; below it there is no telling


@dataclass(frozen=True, slots=True)
class PixelBox:
    """Pixels of a picture: `x0`, `y0` inside, `x1`, `y1` outside."""

    x0: float
    y0: float
    x1: float
    y1: float


def tight_line(grey: Grey, box: PixelBox) -> PixelBox:
    """The part of the detector's box that holds the line's ink; the box itself where no ink stands out.

    Ink that comes in over the upper or lower edge, with blank rows between it and the line, is of the lines above and
    below.
    """
    ink, left, top = _ink(grey, box)
    if not ink.size:
        return box
    rows = _line_rows(ink)
    if rows is None:
        return box
    columns = np.flatnonzero(ink[rows[0] : rows[1]].any(axis=0))
    if not columns.size:
        return box
    return PixelBox(left + int(columns[0]), top + rows[0], left + int(columns[-1]) + 1, top + rows[1])


def tight_words(grey: Grey, line: PixelBox, words: Sequence[Span]) -> list[Span]:
    """Where each word of the line begins and ends, from left to right.

    `words` are the recogniser's guesses, in order. Two words part at the widest blank between the middle of the one and
    the middle of the other; each then shrinks to its ink.
    """
    ink, left, _ = _ink(grey, line)
    if not ink.size or not words:
        return list(words)
    filled: Flags = np.asarray(ink.any(axis=0))
    spans = [(max(start - left, 0.0), min(end - left, float(len(filled)))) for start, end in words]
    edges = [0]
    for (start, end), (following, after) in itertools.pairwise(spans):
        middles = round((start + end) / 2), round((following + after) / 2)
        edges.append(_widest_blank(filled, *middles, guess=(end + following) / 2))
    edges.append(len(filled))
    result = []
    for index, (start, end) in enumerate(spans):
        found = np.flatnonzero(filled[edges[index] : edges[index + 1]])
        if found.size:
            start, end = edges[index] + int(found[0]), edges[index] + int(found[-1]) + 1
        result.append((left + start, left + end))
    return result


def _ink(grey: Grey, box: PixelBox) -> tuple[Flags, int, int]:
    """Which pixels of the box are print, dark on light or light on dark; with the left and upper edge of the part."""
    left, top = max(int(box.x0), 0), max(int(box.y0), 0)
    part = grey[top : max(int(np.ceil(box.y1)), top), left : max(int(np.ceil(box.x1)), left)]
    if not part.size:
        return np.zeros((0, 0), np.bool_), left, top
    dark, paper, light = (float(level) for level in np.percentile(part, (2, 60, 99)))
    if max(paper - dark, light - paper) < LEAST_CONTRAST:
        return np.zeros((0, 0), np.bool_), left, top
    if paper - dark >= light - paper:
        return part < (paper + dark) / 2, left, top
    return part > (paper + light) / 2, left, top


def _line_rows(ink: Flags) -> tuple[int, int] | None:
    """First and last row of the line's own ink, as [start, stop)."""
    counts = ink.sum(axis=1)
    if not counts.any():
        return None
    height = len(counts)
    filled = counts > 0
    middle = height // 4 + int(np.argmax(counts[height // 4 : max(height - height // 4, height // 4 + 1)]))
    runs = _runs(filled)
    own = [run for run in runs if not (run[0] == 0 and run[1] <= middle) and not (run[1] == height and run[0] > middle)]
    return (own[0][0], own[-1][1]) if own else (runs[0][0], runs[-1][1])


def _runs(filled: Flags) -> list[tuple[int, int]]:
    """Stretches of True as [start, stop)."""
    steps = np.diff(np.concatenate(([0], filled.astype(np.int8), [0])))
    return [(int(a), int(b)) for a, b in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)]


def _widest_blank(filled: Flags, start: int, stop: int, *, guess: float) -> int:
    """The middle of the widest stretch without ink in [start, stop); of equals the one nearest to the guess."""
    blanks = _runs(~filled[start:stop]) if stop > start else []
    if not blanks:
        return min(max(round(guess), 0), len(filled))
    best = max(blanks, key=lambda run: (run[1] - run[0], -abs(start + (run[0] + run[1]) / 2 - guess)))
    return start + (best[0] + best[1]) // 2
