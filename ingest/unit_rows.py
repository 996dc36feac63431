"""The last row of a grid that only says what figures are counted in: it belongs to the table right below."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.printed import PrintedLine
from ingest.table_periods import states_scale
from kb_qa.geometry import BBox, union_of

EDGE = 3.0  # points within which two edges are one


def unit_row(boxes: Sequence[BBox], lines: Sequence[PrintedLine]) -> tuple[BBox, ...]:
    """The rectangles of the last row, where one line alone is printed in it and states a scale; else none."""
    frame = union_of(boxes)
    if frame is None:
        return ()
    last = tuple(box for box in boxes if box.y1 > frame.y1 - EDGE)
    row = union_of(last)
    is_row = row is not None and len(last) < len(boxes) and all(abs(box.y0 - row.y0) < EDGE for box in last)
    said = [line for line in lines if row is not None and line.bbox.overlap(row) > 0.5]
    return last if is_row and len(said) == 1 and states_scale(said[0].text) else ()


def is_right_below(boxes: Sequence[BBox], others: Sequence[BBox]) -> bool:
    """Whether the `others` go on where the `boxes` end, as wide as they are."""
    above, below = union_of(boxes), union_of(others)
    if above is None or below is None:
        return False
    return all(
        abs(one - other) < EDGE for one, other in ((above.y1, below.y0), (above.x0, below.x0), (above.x1, below.x1))
    )
