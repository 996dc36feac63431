"""What stands around a table and tells what it is: its caption, its notes, what is said of the scale of its figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Draft, DraftTable, PageDraft
from ingest.table_measures import measure_of
from ingest.table_notes import notes_below
from ingest.table_scale import Stated, stated
from kb_qa.elements import MeasureScope, ScaleSource
from kb_qa.geometry import BBox, Region

NUMBERED = re.compile(
    r"^\s*(?:(?:table|tab\.|exhibit|schedule)\s*[A-Z]?[.-]?\d+|(?:table)\s+[IVXLC]+\b|(?:附?表|表格|圖表|图表)\s*[\d一二三四五六七八九十]+|표\s*\d+)",
    re.IGNORECASE,
)
CAPTION_REACH = 45.0
SCALE_REACH = 70.0
BELOW_REACH = 25.0
ONE_LEVEL = 14.0  # points: unit lines as near as that to one another stand at one level
UNIT_LINE = 160  # characters of the longest line that is taken for a unit line

# A sentence on the page, or anywhere in the document, that speaks of its tables; not any mention of millions.
_FOR_TABLES = re.compile(
    r"\b(?:in|expressed in|stated in)\s+(?:[A-Z]{2,3}\$?\s+|[$€£₹]\s*)?(?:thousands|millions|billions)\b"
    r"(?!\s+of\s+(?!US|HK|dollars|euros|pounds|yen|yuan|renminbi|RMB|[$€£]))"
    r"|(?:RMB|US\$|HK\$|[$€£])\s*['’‘]?000|\b(?:RMB|CNY|USD|EUR|GBP|HKD|US\$|HK\$|€|£)\s*(?:in\s+)?(?:thousand|million|billion)s?\b"
    r"|(?:单位|單位)\s*(?:均)?[为為:：]",
    re.IGNORECASE,
)
_THROUGHOUT = re.compile(
    r"\b(?:unless|except where|except as)\s+otherwise\s+(?:stated|noted|indicated|specified|mentioned)"
    r"|^\W*(?:all|the|tabular)?\s*(?:dollar |currency |monetary )?(?:amounts|figures)\b[^.]*\bin\b"
    r"|除(?:特别|特別|另有|非特别|非另有)?(?:注明|說明|说明|指明|标明|標明)[^。]{0,8}外|如无特别说明|(?:除非|若无)[^。]{0,6}(?:注明|说明)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"[(（][^()（）]+[)）]")
_SENTENCES = re.compile(r"(?<=[.;。；])\s+|(?<=[。；])|\n")


def with_surroundings(drafts: Sequence[Draft], page: int) -> list[Draft]:
    """The drafts of a page, their tables with caption, notes and what is stated around them."""
    texts = [draft for draft in drafts if draft.element_type == "text" and not draft.hidden]
    tables = [draft.bbox for draft in drafts if draft.table is not None]
    return [
        replace(draft, table=_surrounded(draft.table, texts, tables, page)) if draft.table is not None else draft
        for draft in drafts
    ]


def with_document_measures(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, each table knowing what the document says of all of its tables, as the last that counts."""
    found = [
        (each, source)
        for page in pages
        for draft in page.drafts
        if draft.element_type == "text" and not draft.hidden and _THROUGHOUT.search(draft.text)
        for each, source in _sentences(draft, page.page.number, throughout=True)
    ]
    if not found:
        return list(pages)
    measure = measure_of(found, "document")
    return [
        replace(
            page,
            drafts=tuple(
                draft
                if draft.table is None
                else replace(draft, table=replace(draft.table, stated=(*draft.table.stated, measure)))
                for draft in page.drafts
            ),
        )
        for page in pages
    ]


def _surrounded(table: DraftTable, texts: Sequence[Draft], tables: Sequence[BBox], page: int) -> DraftTable:
    caption = _caption(table.bbox, texts)
    found = replace(table, caption=caption.lines if caption is not None else ())
    near = _unit_lines(table.bbox, texts, tables)
    beside = [] if caption is None or caption in near else [caption]
    levels: tuple[tuple[MeasureScope, list[tuple[Stated, ScaleSource]]], ...] = (
        ("caption", [each for draft in (*beside, *near) for each in _whole(draft, page)]),
        ("page", _on_page(table.bbox, texts, tables, page)),
    )
    # A currency alone says nothing of a scale: it counts where nothing else is said.
    levels = tuple(sorted(levels, key=lambda level: not any(each.counted for each, _ in level[1])))
    measures = tuple(measure_of(stated_there, scope) for scope, stated_there in levels if stated_there)
    return replace(found, notes=notes_below(found, texts, page), stated=measures)


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


def _unit_lines(box: BBox, texts: Sequence[Draft], tables: Sequence[BBox]) -> list[Draft]:
    """The nearest short line above, or right below, that states a scale, and those beside it."""
    ranked = []
    for index, draft in enumerate(texts):
        above, below = box.y0 - draft.bbox.y1, draft.bbox.y0 - box.y1
        near = -5 <= above <= SCALE_REACH or -5 <= below <= BELOW_REACH
        states = near and len(draft.text) <= UNIT_LINE and _over_or_under(draft.bbox, box) and stated(draft.text)
        if states and not _belongs_to_another(draft.bbox, box, tables):
            ranked.append((above < -5, max(above, below), index))
    if not ranked:
        return []
    side, gap, _ = min(ranked)
    return [texts[index] for other, far, index in sorted(ranked) if other == side and far - gap <= ONE_LEVEL]


def _belongs_to_another(line: BBox, box: BBox, tables: Sequence[BBox]) -> bool:
    """Whether another table stands between the line and the table, or the line is right above another one."""
    others = [other for other in tables if other != box and _over_or_under(other, line)]
    if line.y1 <= box.y0 + 5:
        return any(line.y1 <= other.y0 + 5 and other.y1 <= box.y0 + 5 for other in others)
    return any(line.y0 <= other.y0 and other.y0 - line.y1 <= SCALE_REACH for other in others)


def _on_page(box: BBox, texts: Sequence[Draft], tables: Sequence[BBox], page: int) -> list[tuple[Stated, ScaleSource]]:
    """What the nearest text above the table on its page says of tables."""
    above = [draft for draft in texts if draft.bbox.y1 <= box.y0 + 5 and _FOR_TABLES.search(draft.text)]
    for draft in sorted(above, key=lambda draft: -draft.bbox.y1):
        own_line = len(draft.text) <= UNIT_LINE and _belongs_to_another(draft.bbox, box, tables)
        if not own_line and (found := _sentences(draft, page)):
            return found
    return []


def _sentences(draft: Draft, page: int, *, throughout: bool = False) -> list[tuple[Stated, ScaleSource]]:
    """What the first sentence of a draft states that speaks of tables, with that sentence."""
    region = Region(page, draft.bbox.rounded())
    for sentence in _SENTENCES.split(draft.text):
        speaks = _FOR_TABLES.search(sentence) and (not throughout or _THROUGHOUT.search(sentence))
        if speaks and (found := [each for each in stated(sentence) if each.counted]):
            return [(each, ScaleSource(sentence.strip(), region)) for each in found]
    return []


def _whole(draft: Draft, page: int) -> list[tuple[Stated, ScaleSource]]:
    """What a draft states, with the line of it that says so, and of that the words in brackets; with all of it where
    they alone do not say it.
    """
    found = stated(draft.text)
    line = next((line for line in draft.lines if len(draft.lines) > 1 and stated(line.text) == found), None)
    text, bbox = (draft.text, draft.bbox) if line is None else (line.text, line.bbox)
    said = next((part for part in _BRACKETED.findall(text) if stated(part) == found), text)
    return [(each, ScaleSource(said, Region(page, bbox.rounded()))) for each in found]
