"""From lines and the layout model's boxes to drafts: what is a heading, a paragraph, a list item, a picture.

The model is a hint. Its boxes are used where lines agree with them; every line lands in exactly one draft.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pymupdf

from ingest.drafts import Draft, bbox_of, text_draft
from ingest.layout_model import read_layout
from ingest.line_groups import (
    TITLED_CAPTION,
    begins_item,
    group_lines,
    has_value_apart,
    in_reading_order,
    looks_like_columns,
    starts_item,
    visual_rows,
)
from ingest.paragraphs import paragraphs_joined
from ingest.printed import PrintedLine
from ingest.reading_order import reading_order
from kb_qa.elements import Origin
from kb_qa.geometry import BBox

CATEGORIES = {
    "text": "NarrativeText",
    "title": "Title",
    "section-header": "Title",
    "list-item": "ListItem",
    "caption": "FigureCaption",
    "footnote": "Footnote",
    "formula": "Formula",
    "page-header": "Header",
    "page-footer": "Footer",
}
PAGE_NUMBER = re.compile(
    r"^[-–—\s|·•]*(?:page|p\.|第)?\s*(?:\d{1,4}|[ivxlc]{1,7})\s*(?:页)?\s*(?:(?:of|/|／|，|,|共)\s*(?:共)?\s*\d{1,4}\s*页?)?[-–—\s|·•]*$",
    re.IGNORECASE,
)
LEAST_PICTURE = 24.0  # points; below it a picture is an icon or a rule
CAPTION_REACH = 30.0
LONGEST_CAPTION = 300
CAPTION = re.compile(
    r"^(?:(?:figure|fig\.|table|tab\.|chart|exhibit|abbildung|abb\.|tabelle)\s*\d|[图表圖]\s*\d)", re.IGNORECASE
)
BARE_LABEL = re.compile(rf"{CAPTION.pattern}[\d.\-–]*\s*[.:：]?$", re.IGNORECASE)
FIGURE = re.compile(
    r"[+\-−–~约超近]?\s*(?:[$€£¥￥]\s*\d[\d.,]*|\d[\d,]*[.,]\d+|\d{2,})"
    r"(?:\s*[%‰]|[\u4e00-\u9fff]{1,3}|\s*(?:million|billion|thousand|bn|mn|m|k|x|pp))?",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?:19|20)\d\d年")


@dataclass(frozen=True, slots=True)
class LayoutBox:
    """What the layout model says of a part of the page.

    `pieces` are the lines it was made of, `cells` how many cells the table model saw in a table.
    """

    label: str
    bbox: BBox
    pieces: tuple[BBox, ...] = ()
    cells: int = 0


def predict_layout(page: pymupdf.Page, *, look: bool) -> list[LayoutBox]:
    """What the layout model says of an upright page; the table finder uses the same run afterwards.

    `look`: the model is to see the page; without it, it goes by the text where that is enough.
    """
    page.layout_information = read_layout(page, look=look)
    boxes = []
    for group in page.layout_information:
        box = BBox(*(float(value) for value in group["group_bbox"][:4]))
        pieces = tuple(BBox(*(float(value) for value in piece[:4])) for piece in group.get("bboxes", ()))
        grid = group.get("table_grid")
        cells = (len(grid.h_lines) + 1) * (len(grid.v_lines) + 1) if grid is not None else 0
        if box.is_finite and box.area:
            boxes.append(LayoutBox(group["class_name"], box, pieces, cells))
    return boxes


def is_in_pieces(boxes: Sequence[LayoutBox], lines: Sequence[PrintedLine]) -> bool:
    """Whether many boxes are pieces of printed lines: the file sets each word by itself, and the model was misled."""
    pieces = sum(
        any(box.bbox.overlap(line.bbox) > 0.7 and line.bbox.overlap(box.bbox) < 0.6 for line in lines) for box in boxes
    )
    return pieces >= 5 and pieces * 5 > len(boxes)


def leaves_table_out(boxes: Sequence[LayoutBox], tables: Sequence[Draft]) -> bool:
    """Whether the model marked a table where none was made."""
    marked = [box.bbox for box in boxes if box.label == "table"]
    return any(all(box.overlap(table.bbox) <= 0.3 >= table.bbox.overlap(box) for table in tables) for box in marked)


def trusted_boxes(boxes: Sequence[LayoutBox], lines: Sequence[PrintedLine], tables: Sequence[Draft]) -> list[LayoutBox]:
    """The boxes, or none where the model made nonsense of the page.

    Nonsense: most of its tables are none, or its boxes cut through the lines of paragraphs.
    """
    marked = [box for box in boxes if box.label == "table"]
    unfounded = [box for box in marked if not any(box.bbox.overlap(table.bbox) > 0.3 for table in tables)]
    if len(unfounded) >= 3 and len(unfounded) * 2 > len(marked):
        return []
    usable = [box for box in boxes if box.label in CATEGORIES]
    across = [line for line in lines if line.direction == "right" and not line.words[0].hidden]
    cut = pairs = 0
    for row in visual_rows(across):
        for left, right in itertools.pairwise(row):
            if right.bbox.x0 - left.bbox.x1 < max(left.size, right.size):
                pairs += 1
                cut += _cuts_between(_best_box(left, usable), _best_box(right, usable), usable)
    return [] if cut >= 4 and cut * 2 > pairs else list(boxes)


def _cuts_between(left: int | None, right: int | None, boxes: Sequence[LayoutBox]) -> bool:
    """Whether two lines of a row are in two boxes that no straight white line parts, as it parts columns."""
    if left is None or right is None:
        return left != right
    return left != right and boxes[left].bbox.x1 > boxes[right].bbox.x0


def page_drafts(
    lines: Sequence[PrintedLine],
    boxes: Sequence[LayoutBox],
    *,
    tables: Sequence[Draft],
    pictures: Sequence[BBox],
    origin: Origin = "text-layer",
) -> list[Draft]:
    """Drafts of everything on the page, in reading order.

    `lines` are those outside the tables, `pictures` the places of images. Headers come first, footers and page
    numbers last, then text that no reader sees.
    """
    shown = [line for line in lines if not line.words[0].hidden and line.direction != "oblique"]
    oblique = [line for line in lines if not line.words[0].hidden and line.direction == "oblique"]
    hidden = [line for line in lines if line.words[0].hidden]
    frames = _picture_frames(boxes, pictures, shown, tables)
    if origin == "ocr":  # a scan is one picture: what the model calls so is kept only where little is read in it
        frames = [frame for frame in frames if sum(line.bbox.overlap(frame) > 0.7 for line in shown) < 3]
    drafts = [*tables, *_from_boxes(shown, boxes, frames, origin)]
    drafts = _with_page_numbers(paragraphs_joined(_captions_joined(_with_captions(drafts))))
    drafts.extend(text_draft("UncategorizedText", [line], origin=origin) for line in oblique)
    for reason in sorted({line.words[0].hidden for line in hidden}):
        groups = group_lines([line for line in hidden if line.words[0].hidden == reason])
        drafts.extend(text_draft("UncategorizedText", group, hidden=reason, origin=origin) for group in groups)
    return _in_page_order(drafts)


def _from_boxes(
    lines: Sequence[PrintedLine], boxes: Sequence[LayoutBox], frames: Sequence[BBox], origin: Origin
) -> list[Draft]:
    """Drafts for pictures, for the model's boxes, and for what the model left out."""
    usable = [box for box in boxes if box.label in CATEGORIES]
    inside: dict[int, list[PrintedLine]] = {index: [] for index in range(len(frames))}
    assigned: dict[int, list[PrintedLine]] = {}
    left_over: list[PrintedLine] = []
    for line in lines:
        frame = next((index for index, frame in enumerate(frames) if line.bbox.overlap(frame) > 0.7), None)
        box = None if frame is not None else _best_box(line, usable)
        if frame is not None:
            inside[frame].append(line)
        elif box is not None:
            assigned.setdefault(box, []).append(line)
        else:
            left_over.append(line)
    drafts = [_picture(frame, inside[index], origin) for index, frame in enumerate(frames)]
    for index, members in assigned.items():
        if looks_like_columns(members):
            left_over.extend(members)
        else:
            drafts.extend(_categorised(usable[index].label, members, origin))
    drafts.extend(_guessed(group, origin) for group in group_lines(left_over))
    return drafts


def _best_box(line: PrintedLine, boxes: Sequence[LayoutBox]) -> int | None:
    """The box that covers most of the line; between equals, the one the model made of this line, then the smaller."""
    best: tuple[tuple[float, float, float], int] | None = None
    for index, box in enumerate(boxes):
        cover = line.bbox.overlap(box.bbox)
        if cover < 0.5:
            continue
        made_of = max((line.bbox.overlap(piece) for piece in box.pieces), default=0.0)
        rank = (round(made_of, 1), round(cover, 1), -box.bbox.area)
        if best is None or rank > best[0]:
            best = (rank, index)
    return None if best is None else best[1]


def _categorised(label: str, lines: Sequence[PrintedLine], origin: Origin) -> list[Draft]:
    ordered = in_reading_order(lines)
    if label in ("text", "list-item"):
        return [
            text_draft("ListItem" if starts_item(item[0]) else CATEGORIES[label], item, origin=origin)
            for item in _items(ordered)
        ]
    draft = text_draft(CATEGORIES[label], ordered, origin=origin)
    return [draft if draft.category != "Title" or can_head(draft.text) else replace(draft, category="NarrativeText")]


def can_head(text: str) -> bool:
    """Headings have letters, and are no figure in large type (`48.6亿元`, `$4.8 billion`).

    A line of check boxes (`□ 是 √ 否`) answers the line above.
    """
    if FIGURE.fullmatch(text) and not YEAR.match(text):
        return False
    return any(char.isalpha() for char in text) and not any(char in "□√☑☐☒✓" for char in text)


def _items(lines: Sequence[PrintedLine]) -> list[list[PrintedLine]]:
    items: list[list[PrintedLine]] = []
    for line in lines:
        apart = items and (has_value_apart(line) or has_value_apart(items[-1][-1]))
        if (
            items
            and not apart
            and not (begins_item(line, items[-1][-1]) and line.bbox.y0 > items[-1][-1].bbox.center[1])
        ):
            items[-1].append(line)
        else:
            items.append([line])
    return items


def _guessed(lines: Sequence[PrintedLine], origin: Origin) -> Draft:
    """A group of lines the model said nothing usable about."""
    bold = len(lines) == 1 and all(word.bold for word in lines[0].words)
    if bold and len(lines[0].text) <= 80 and lines[0].text[-1] not in ".。;；,，":
        return text_draft("Title", lines, origin=origin)
    category = "ListItem" if starts_item(lines[0]) else "NarrativeText"
    return text_draft(category, lines, origin=origin)


def _picture_frames(
    boxes: Sequence[LayoutBox], pictures: Sequence[BBox], lines: Sequence[PrintedLine], tables: Sequence[Draft]
) -> list[BBox]:
    """Where pictures are: the model's, and images it did not name. None over a table, none full of prose."""
    frames: list[BBox] = []
    named = [box.bbox for box in boxes if box.label == "picture"]
    for frame in [*named, *sorted(pictures, key=lambda box: (-box.area, box.as_tuple()))]:
        if frame.width < LEAST_PICTURE or frame.height < LEAST_PICTURE:
            continue
        if any(frame.overlap(other) > 0.5 for other in frames):
            continue
        if any(table.bbox.overlap(frame) > 0.5 or frame.overlap(table.bbox) > 0.5 for table in tables):
            continue
        if not holds_prose(frame, lines):
            frames.append(frame)
    return frames


def holds_prose(frame: BBox, lines: Iterable[PrintedLine]) -> bool:
    """A picture has labels; a box with several lines of running text is a page background or a shaded box."""
    inside = [line for line in lines if line.bbox.overlap(frame) > 0.7]
    prose = [line for line in inside if len(line.words) >= 6 and line.bbox.width > 12 * line.size]
    return len(prose) >= 3 and len(prose) * 3 >= len(inside)


def _picture(frame: BBox, labels: Sequence[PrintedLine], origin: Origin) -> Draft:
    ordered = [line for group in group_lines(labels) for line in group]
    box = frame if not ordered else frame.union(bbox_of(ordered))
    return Draft(category="Image", bbox=box, lines=tuple(ordered), element_type="image", origin=origin)


def _with_captions(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, what numbers a figure or table and stands beside one, or says no more than its name, a caption."""
    shown = [draft for draft in drafts if draft.element_type in ("image", "table")]
    found = [replace(draft, category="FigureCaption") if _is_caption(draft, shown) else draft for draft in drafts]
    for label in [draft for draft in found if draft.category == "FigureCaption" and BARE_LABEL.match(draft.text)]:
        words = next((draft for draft in found if _is_under_label(draft, label)), None)
        if words is not None:
            found[found.index(label)] = text_draft("FigureCaption", (*label.lines, *words.lines), origin=label.origin)
            found.remove(words)
    return found


def _is_caption(draft: Draft, shown: Sequence[Draft]) -> bool:
    text = draft.text
    if draft.category not in ("NarrativeText", "Title", "ListItem") or len(text) > LONGEST_CAPTION:
        return False
    if not CAPTION.match(text):
        return False
    named = TITLED_CAPTION.match(text) or BARE_LABEL.match(text)
    return bool(named) or any(_caption_distance(draft, other) is not None for other in shown)


def _is_under_label(draft: Draft, label: Draft) -> bool:
    """Whether a line or two stand right under `Table 1`: what the table is called."""
    gap = draft.bbox.y0 - label.bbox.y1
    return (
        draft.category == "NarrativeText"
        and len(draft.lines) <= 2
        and abs(draft.bbox.x0 - label.bbox.x0) <= label.size
        and -0.5 * label.size <= gap <= label.size
    )


def _captions_joined(drafts: Sequence[Draft]) -> list[Draft]:
    """Pictures take up the caption next to them: a picture is cited by what its caption says."""
    result = list(drafts)
    for caption in [draft for draft in drafts if draft.category == "FigureCaption"]:
        near = [
            (distance, index)
            for index, draft in enumerate(result)
            if draft.element_type in ("image", "table") and (distance := _caption_distance(caption, draft)) is not None
        ]
        if not near or result[min(near)[1]].element_type == "table":
            continue
        index = min(near)[1]
        picture = result[index]
        result[index] = Draft(
            category="Image",
            bbox=picture.bbox.union(caption.bbox),
            caption=(*picture.caption, *caption.lines),
            lines=picture.lines,
            element_type="image",
            origin=picture.origin,
        )
        result.remove(caption)
    return result


def _caption_distance(caption: Draft, other: Draft) -> float | None:
    shared = min(caption.bbox.x1, other.bbox.x1) - max(caption.bbox.x0, other.bbox.x0)
    gap = max(caption.bbox.y0 - other.bbox.y1, other.bbox.y0 - caption.bbox.y1, 0.0)
    return gap if shared > 0 and gap <= CAPTION_REACH else None


def _with_page_numbers(drafts: Sequence[Draft]) -> list[Draft]:
    return [
        text_draft("PageNumber", draft.lines, origin=draft.origin)
        if draft.category in ("Header", "Footer") and PAGE_NUMBER.match(draft.text)
        else draft
        for draft in drafts
    ]


def _in_page_order(drafts: Sequence[Draft]) -> list[Draft]:
    """Header, body column by column, what stands askew, footer, page number, hidden text."""
    parts: dict[int, list[Draft]] = {}
    for draft in drafts:
        parts.setdefault(_part(draft), []).append(draft)
    ordered: list[Draft] = []
    for part in sorted(parts):
        members = parts[part]
        ordered.extend(members[index] for index in reading_order([draft.bbox for draft in members]))
    return ordered


def _part(draft: Draft) -> int:
    if draft.hidden:
        return 4
    if draft.lines and draft.lines[0].direction == "oblique":
        return 2
    return {"Header": 0, "Footer": 3, "PageNumber": 3}.get(draft.category, 1)
