"""Captions that the layout model took for text: "Figure 3: …", "图3 …" beside a picture belong to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Draft
from kb_qa.geometry import BBox

REACH = 30.0  # points between a picture and its caption
MOST_LINES = 4
CATEGORIES = frozenset({"NarrativeText", "Title", "ListItem", "UncategorizedText", "FigureCaption"})
# A number, and then a sign, a capital or nothing: "Figure 3 shows …" and "图3显示…" are sentences about the picture.
CAPTION = re.compile(
    r"(?:(?i:fig(?:ure)?s?\.?|charts?|graphs?|exhibits?|diagrams?|pictures?|photos?|maps?|plates?)\s*|图表?\s*|圖表?\s*)"
    r"(?:[A-Z]?\d+(?:[.\-–—]\d+)*[a-z]?|[IVX]+)(?:\s*[.:：、|—–-]|\s+[^a-z\s]|\s*$)"
)


def with_picture_captions(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, each caption of a figure taken up by the nearest picture that has none."""
    result = list(drafts)
    for caption in [draft for draft in drafts if is_caption(draft)]:
        near = [
            (distance, index)
            for index, draft in enumerate(result)
            if draft.element_type == "image" and not draft.caption and not draft.hidden
            if (distance := _distance(caption.bbox, draft.bbox)) is not None
        ]
        if near:
            picture = result[min(near)[1]]
            joined = replace(picture, bbox=picture.bbox.union(caption.bbox), caption=caption.lines)
            result[min(near)[1]] = joined
            result.remove(caption)
    return result


def is_caption(draft: Draft) -> bool:
    """Whether a text draft names a figure and says little more."""
    if draft.element_type != "text" or draft.hidden or draft.category not in CATEGORIES:
        return False
    return len(draft.lines) <= MOST_LINES and CAPTION.match(draft.text) is not None


def _distance(caption: BBox, picture: BBox) -> float | None:
    """Points between the two where one stands below the other, else None."""
    shared = min(caption.x1, picture.x1) - max(caption.x0, picture.x0)
    gap = max(caption.y0 - picture.y1, picture.y0 - caption.y1, 0.0)
    return gap if shared > 0 and gap <= REACH else None
