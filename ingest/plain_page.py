"""Recognises pages that need no layout model: one column of paragraphs under bold headings, and nothing else.

The signs are strict. Wherever a person could hesitate (a second line in a row, a short line that is not bold, an
enumeration, a drawing), the answer is None and the model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingest.drafts import bbox_of
from ingest.layout import PAGE_NUMBER, LayoutBox
from ingest.line_groups import group_lines, starts_item, visual_rows
from ingest.printed import PrintedLine, is_cjk
from kb_qa.geometry import BBox

FEWEST_LINES = 12
MOST_DRAWN = 8  # lines and boxes: an underlined heading, a rule over the footer
PROSE_WORDS = 8  # a line has so many in the middle of the page's lines
BODY_SHARE = 0.9  # of the characters are of one size
HEADER, FOOTER = 0.08, 0.92  # shares of the height
BOLD_HEADER = 0.06  # a bold line below is rather a heading
NUMBER_FROM = 0.55  # of the height: a page number stands below, also where text fills the upper part of the paper only
FOLIO = re.compile(r"^[A-Z]{1,2}-\d{1,3}$")  # page F-25
ENUMERATED = re.compile(r"^[(\[]?(?:\d|[a-zA-Z]{1,4}[.)\]]|[^\w\s\"'“‘(\[$€£¥])")
SENTENCE_END = (".", ";", ":", ".”", ".’", '."', ".)", ",")


def plain_boxes(lines: Sequence[PrintedLine], page: BBox, *, drawn: int, pictures: int) -> list[LayoutBox] | None:
    """What the layout model would say of a plain page, or None where the page is not certainly plain.

    `drawn` counts the lines, curves and boxes on the page, `pictures` its images.
    """
    if pictures or drawn > MOST_DRAWN or not _is_prose(lines):
        return None
    boxes = []
    for group in _parted_by_weight(lines):
        label = _label(group, page)
        if label is None:
            return None
        boxes.append(LayoutBox(label, bbox_of(group), tuple(line.bbox for line in group)))
    return boxes


def _is_prose(lines: Sequence[PrintedLine]) -> bool:
    """Lines of running text in one size, one line to a row."""
    if len(lines) < FEWEST_LINES or any(len(row) > 1 for row in visual_rows(lines)):
        return False
    if any(line.direction != "right" or line.words[0].hidden or line.words[0].mono for line in lines):
        return False
    if any(is_cjk(word.text[0]) for line in lines for word in line.words):
        return False
    sizes = [(round(line.size, 1), len(line.text)) for line in lines]
    total = sum(count for _, count in sizes)
    body = max({size for size, _ in sizes}, key=lambda size: sum(count for other, count in sizes if other == size))
    if sum(count for size, count in sizes if abs(size - body) <= 0.5) < BODY_SHARE * total:
        return False
    return sorted(len(line.words) for line in lines)[len(lines) // 2] >= PROSE_WORDS


def _is_bold(line: PrintedLine) -> bool:
    return all(word.bold for word in line.words)


def _parted_by_weight(lines: Sequence[PrintedLine]) -> list[list[PrintedLine]]:
    """Paragraphs; a bold line is none with a line below that is not, however near it stands."""
    parts: list[list[PrintedLine]] = []
    for group in group_lines(lines):
        start = 0
        for index in range(1, len(group) + 1):
            if index == len(group) or _is_bold(group[index]) != _is_bold(group[start]):
                parts.append(group[start:index])
                start = index
    return parts


def _label(group: Sequence[PrintedLine], page: BBox) -> str | None:
    first, last = group[0], group[-1]
    height = max(page.height, 1.0)
    bold = _is_bold(first)
    if len(group) == 1:
        if PAGE_NUMBER.match(first.text) or FOLIO.match(first.text):
            return "page-footer" if first.bbox.y0 > NUMBER_FROM * height else None
        if first.bbox.y1 < (BOLD_HEADER if bold else HEADER) * height and len(first.text) <= 60:
            return "page-header"
        if first.bbox.y0 > FOOTER * height and len(first.text) <= 60:
            return "page-footer"
    if first.bbox.y0 < HEADER * height and len(group) < 3 and (bold or len(group) == 1):
        return None
    if last.bbox.y1 > FOOTER * height and len(group) < 3:
        return None
    if bold:
        return "section-header" if len(group) <= 3 and any(char.isalpha() for char in first.text) else None
    if starts_item(first) or ENUMERATED.match(first.text):
        return None
    is_long = len(group) > 1 and max(len(line.words) for line in group) >= PROSE_WORDS
    return "text" if is_long or (len(first.words) >= 6 and last.text.endswith(SENTENCE_END)) else None
