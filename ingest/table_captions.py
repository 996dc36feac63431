"""What stands around a table and tells what it is: its caption, and the scale and currency of its figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Draft, DraftTable
from ingest.table_headers import extent, in_blocks
from ingest.table_scale import read_scale
from kb_qa.elements import ScaleSource
from kb_qa.geometry import BBox, Region

NUMBERED = re.compile(
    r"^\s*(?:(?:table|tab\.|exhibit|schedule)\s*[A-Z]?\d+|(?:table)\s+[IVXLC]+\b|(?:附?表|表格|圖表|图表)\s*[\d一二三四五六七八九十]+|표\s*\d+)",
    re.IGNORECASE,
)
CAPTION_REACH = 45.0
SCALE_REACH = 70.0
BELOW_REACH = 25.0


def with_surroundings(drafts: Sequence[Draft], page: int) -> list[Draft]:
    """The drafts of a page, their tables with caption, scale and currency."""
    texts = [draft for draft in drafts if draft.element_type == "text" and not draft.hidden]
    return [
        replace(draft, table=_surrounded(draft.table, texts, page)) if draft.table is not None else draft
        for draft in drafts
    ]


def _surrounded(table: DraftTable, texts: Sequence[Draft], page: int) -> DraftTable:
    caption = _caption(table.bbox, texts)
    scale = _scale_in_headers(table, page) or _scale_above(table.bbox, texts, page)
    found = replace(table, caption=caption.text if caption is not None else "")
    if scale is None:
        return found
    power, unit, source = scale
    return replace(found, scale=power, unit=unit, scale_source=source)


def _caption(box: BBox, texts: Sequence[Draft]) -> Draft | None:
    """The nearest numbered or so labelled caption above or below; else a heading right above."""
    ranked = []
    for index, draft in enumerate(texts):
        if not _over_or_under(draft.bbox, box):
            continue
        above, below = box.y0 - draft.bbox.y1, draft.bbox.y0 - box.y1
        named = NUMBERED.match(draft.text) is not None or draft.category == "FigureCaption"
        gap = max(above, below)
        if named and -5 <= gap <= CAPTION_REACH:
            ranked.append((0, gap, index))
        elif draft.category == "Title" and -5 <= above <= CAPTION_REACH:
            ranked.append((1, above, index))
    return texts[min(ranked)[2]] if ranked else None


def _over_or_under(one: BBox, other: BBox) -> bool:
    return min(one.x1, other.x1) - max(one.x0, other.x0) > 0


def _scale_in_headers(table: DraftTable, page: int) -> tuple[int, str, ScaleSource] | None:
    """From header cells that speak for the whole table: over the stub, or over most columns."""
    _, columns = extent(table.cells)
    for cell in table.cells:
        if cell.row > 0 and not in_blocks(cell.row, table.headers):
            continue
        wide = cell.column_span * 2 >= columns - 1
        if not (wide or cell.column == 0 or _alone_in_row(table, cell.row)):
            continue
        found = read_scale(cell.text)
        if found is not None:
            return *found, ScaleSource(cell.text, Region(page, cell.bbox.rounded()))
    return None


def _alone_in_row(table: DraftTable, row: int) -> bool:
    return sum(bool(cell.text) for cell in table.cells if cell.row == row) == 1


def _scale_above(box: BBox, texts: Sequence[Draft], page: int) -> tuple[int, str, ScaleSource] | None:
    """From the nearest short line above, or right below, that states one."""
    ranked = []
    for index, draft in enumerate(texts):
        above, below = box.y0 - draft.bbox.y1, draft.bbox.y0 - box.y1
        near = -5 <= above <= SCALE_REACH or -5 <= below <= BELOW_REACH
        if near and len(draft.text) <= 160 and _over_or_under(draft.bbox, box):
            found = read_scale(draft.text)
            if found is not None:
                ranked.append((above < -5, max(above, below), index, found))
    if not ranked:
        return None
    _, _, index, found = min(ranked)
    draft = texts[index]
    return *found, ScaleSource(draft.text, Region(page, draft.bbox.rounded()))
