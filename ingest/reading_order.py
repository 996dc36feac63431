"""The order in which a reader takes the boxes of a page: a column whole before the next one, banners in between."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.line_groups import LEAST_GUTTER
from kb_qa.geometry import BBox

TOUCH = 2.0  # boxes of neighbouring lines may overlap this much and still be one under the other


def reading_order(boxes: Sequence[BBox]) -> list[int]:
    """Indices of the boxes, first read first."""
    return _ordered(list(range(len(boxes))), boxes, depth=0)


def _ordered(indices: list[int], boxes: Sequence[BBox], depth: int) -> list[int]:
    if len(indices) < 2 or depth > 40:
        return sorted(indices, key=lambda index: (boxes[index].y0, boxes[index].x0))
    bands = _bands(indices, boxes)
    if len(bands) == 1:
        columns = _columns(indices, boxes)
        if len(columns) == 1:
            return _by_rows(indices, boxes)
        return [index for column in columns for index in _ordered(column, boxes, depth + 1)]
    return [index for band in bands for index in _ordered(band, boxes, depth + 1)]


def _by_rows(indices: Sequence[int], boxes: Sequence[BBox]) -> list[int]:
    """Boxes that overlap in both directions: nothing cuts them, so their tops decide."""
    return sorted(indices, key=lambda index: (round(boxes[index].y0 / 4), boxes[index].x0, boxes[index].y0))


def _bands(indices: Sequence[int], boxes: Sequence[BBox]) -> list[list[int]]:
    """Horizontal bands, top to bottom; what lies under columns and keeps to one side of their gutter joins them."""
    bands: list[list[int]] = []
    pieces = _cut(indices, boxes, horizontal=True)
    for place, piece in enumerate(pieces):
        following = pieces[place + 1] if place + 1 < len(pieces) else None
        if bands and _joins_columns(bands[-1], piece, following, boxes):
            bands[-1] = bands[-1] + piece
        else:
            bands.append(piece)
    return bands


def _joins_columns(
    band: Sequence[int], piece: Sequence[int], following: Sequence[int] | None, boxes: Sequence[BBox]
) -> bool:
    if len(_columns(band, boxes)) < 2 or len(_columns([*band, *piece], boxes)) < 2:
        return False
    if following is None or len(_columns(piece, boxes)) > 1 or len(_columns([*band, *piece, *following], boxes)) > 1:
        return True
    # A banner follows: what stands nearer to the banner than to the columns is the banner's heading.
    above = min(boxes[index].y0 for index in piece) - max(boxes[index].y1 for index in band)
    below = min(boxes[index].y0 for index in following) - max(boxes[index].y1 for index in piece)
    return above <= below


def _columns(indices: Sequence[int], boxes: Sequence[BBox]) -> list[list[int]]:
    return _cut(indices, boxes, horizontal=False)


def _cut(indices: Sequence[int], boxes: Sequence[BBox], *, horizontal: bool) -> list[list[int]]:
    """Pieces between which a straight white line runs right through."""
    spans = {
        index: (boxes[index].y0, boxes[index].y1) if horizontal else (boxes[index].x0, boxes[index].x1)
        for index in indices
    }
    gap = -TOUCH if horizontal else LEAST_GUTTER
    pieces: list[list[int]] = []
    end = float("-inf")
    for index in sorted(indices, key=lambda index: (spans[index], index)):
        start, stop = spans[index]
        if pieces and start < end + gap:
            pieces[-1].append(index)
        else:
            pieces.append([index])
        # A box thinner than the tolerance must not reach back over its own start.
        end = max(end, stop if not horizontal else max(stop, start + TOUCH))
    return pieces
