"""A table grid from the alignment of words alone, where no rules are drawn and no model gave a grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ingest.line_groups import visual_rows
from ingest.printed import PrintedLine, PrintedWord
from kb_qa.geometry import BBox

LEAST_GAP = 0.9  # of the type size: white that runs down through all rows and parts two columns


def grid_of_words(lines: Sequence[PrintedLine], area: BBox) -> list[BBox]:
    """Cell rectangles for the lines inside `area`, row by row; empty where they do not line up in columns."""
    inside = [line for line in lines if line.bbox.overlap(area) > 0.5 and line.direction == "right"]
    rows = visual_rows(inside)
    columns = _columns([[word for line in row for word in line.words] for row in rows], area)
    if len(rows) < 2 or len(columns) < 2:
        return []
    tops = [min(line.bbox.y0 for line in row) for row in rows]
    bottoms = [max(line.bbox.y1 for line in row) for row in rows]
    edges = [tops[0], *((low + high) / 2 for low, high in zip(bottoms, tops[1:], strict=False)), bottoms[-1]]
    return [BBox(x0, y0, x1, y1) for y0, y1 in itertools.pairwise(edges) for x0, x1 in columns if y1 > y0 and x1 > x0]


def _columns(rows: Sequence[Sequence[PrintedWord]], area: BBox) -> list[tuple[float, float]]:
    """Left and right edge of each column: cut where white runs through (nearly) all rows."""
    words = [word for row in rows for word in row]
    if not words:
        return []
    size = sorted(word.size for word in words)[len(words) // 2]
    spans = sorted((word.bbox.x0, word.bbox.x1) for row in rows if len(row) > 1 for word in row)
    cuts: list[float] = []
    end = None
    for x0, x1 in spans:
        if end is not None and x0 - end > LEAST_GAP * size:
            cuts.append((end + x0) / 2)
        end = x1 if end is None else max(end, x1)
    left, right = min(word.bbox.x0 for word in words), max(word.bbox.x1 for word in words)
    edges = [min(left, area.x0), *cuts, max(right, area.x1)]
    return list(itertools.pairwise(edges))
