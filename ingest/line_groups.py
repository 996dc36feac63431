"""Groups lines into paragraphs by geometry alone, and puts the lines of a group into reading order."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from ingest.glyph_order import FIRST_RIGHT_TO_LEFT
from ingest.printed import PrintedLine
from kb_qa.geometry import BBox

BULLET = re.compile(r"^(?:[•‣▪■□●○◦◆◇►▶➢➤✓✔·∙*–—-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])$")
TICKED = re.compile("[√☑☒✓]")  # boxes to tick, one of them ticked, are an answer
LEAST_GUTTER = 5.0  # points of white between two columns
GUTTER_ROWS = 4
BULLETS_BEFORE_WORDS = "•▪■●►▶➢➤✓✔◆"
NUMERALS = "一二三四五六七八九十"
# `（一）`, `①`, `1、`, `一、`; but not `一、二线城市` and `１．５倍`
CHINESE_ITEM = re.compile(
    rf"^(?:[（(](?:[{NUMERALS}]{{1,3}}|\d{{1,2}})[）)]|[①-⑳⑴-⒛]|(?:\d{{1,2}}[、．]|[{NUMERALS}]{{1,3}}、)(?![\d{NUMERALS}]))"
)

# `Total: RM 8.20`, `GST No.: 000800589824`, `Date: 12/02/2018`
LABELLED_VALUE = re.compile(r"^[^:：]{2,40}[:：]\W{0,2}(?:[A-Za-z]{1,3}\W{0,2})?\d[\d\s.,:/%-]*$")
# `Table 2. Employees` and `图3-1 产量` name what is beside them; `Table 2 shows that …` tells of it.
TITLED_CAPTION = re.compile(r"^(?:[^\W\d]+\.?\s*\d[\d.\-–]*\s*[.:|：—–]|[图表圖]\s*\d[\d.\-–]*[^。]*$)")


def starts_item(line: PrintedLine) -> bool:
    """Whether the line begins with a bullet or an enumerator."""
    if len(line.words) < 2:
        return False
    first, start = line.words[0].text, "".join(word.text for word in line.words[:5])
    if first[0] in "□☐" and TICKED.search(line.text):
        return False
    return bool(BULLET.match(first) or CHINESE_ITEM.match(start)) or first[0] in BULLETS_BEFORE_WORDS


def begins_item(line: PrintedLine, before: PrintedLine) -> bool:
    """The same where a line stands before it: in `(n =`, `71) of the incidents` the bracket only ends."""
    if not starts_item(line):
        return False
    is_open = before.text.count("(") > before.text.count(")")
    return not (is_open and line.words[0].text.endswith(")") and "(" not in line.words[0].text)


def same_row(one: BBox, other: BBox) -> bool:
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    return shared > 0.5 * min(one.height, other.height)


def visual_rows(lines: Sequence[PrintedLine]) -> list[list[PrintedLine]]:
    """Lines by the row they stand in, top to bottom, each row in the order in which it is read."""
    boxes = _row_boxes(lines)
    rows: list[list[int]] = []
    for index in sorted(range(len(lines)), key=lambda index: (boxes[index].y0 + boxes[index].y1, boxes[index].x0)):
        row = next((row for row in reversed(rows[-3:]) if any(same_row(boxes[it], boxes[index]) for it in row)), None)
        if row is None:
            rows.append([index])
        else:
            row.append(index)
    found = [[lines[index] for index in row] for row in rows]
    return [sorted(row, key=lambda line: line.bbox.x0, reverse=_right_to_left(row)) for row in found]


def _row_boxes(lines: Sequence[PrintedLine]) -> list[BBox]:
    """The boxes; of a letter several lines tall (a drop cap) only the part beside its first line."""
    if not lines:
        return []
    usual = sorted(line.bbox.height for line in lines)[len(lines) // 2]
    return [
        BBox(box.x0, box.y0, box.x1, min(box.y1, box.y0 + usual)) if box.height > 1.7 * usual else box
        for box in (line.bbox for line in lines)
    ]


def _right_to_left(row: Sequence[PrintedLine]) -> bool:
    text = "".join(word.text for line in row for word in line.words)
    if text.isascii() or max(text) < FIRST_RIGHT_TO_LEFT:  # nearly every row
        return False
    letters = [char for char in text if char.isalpha()]
    return sum("\u0590" <= char <= "\u08ff" or "\ufb1d" <= char <= "\ufeff" for char in letters) * 2 > len(letters)


def in_reading_order(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """The lines of one paragraph: rows top to bottom; top-down writing right to left."""
    across = [line for line in lines if line.direction in ("right", "left", "oblique")]
    along = [line for line in lines if line.direction in ("up", "down")]
    ordered = [line for row in visual_rows(across) for line in row]
    for direction, sign in (("down", -1), ("up", 1)):
        running = [line for line in along if line.direction == direction]
        ordered.extend(sorted(running, key=lambda line: (round(sign * line.bbox.x0), -sign * line.bbox.y0)))
    return ordered


def group_lines(lines: Sequence[PrintedLine]) -> list[list[PrintedLine]]:
    """Paragraphs: lines of one size and direction, under one another, without a gap; a bullet starts a new one."""
    groups: list[list[PrintedLine]] = []
    gutters = _gutters(lines)
    for line in sorted(lines, key=lambda line: (line.bbox.y0, line.bbox.x0)):
        fitting = [group for group in groups[-40:] if _fits(group, line) and not _is_across(group[-1], line, gutters)]
        if fitting:
            min(fitting, key=lambda group: line.bbox.y0 - group[-1].bbox.y1).append(line)
        else:
            groups.append([line])
    return [in_reading_order(group) for group in groups]


def _gutters(lines: Sequence[PrintedLine]) -> list[float]:
    """Places where a white line runs down between the lines of several rows: columns stand on its sides."""
    pairs = [
        (left.bbox.x1, right.bbox.x0)
        for row in visual_rows([line for line in lines if line.direction == "right"])
        for left, right in itertools.pairwise(row)
        if right.bbox.x0 - left.bbox.x1 >= LEAST_GUTTER
    ]
    middles = [(start + end) / 2 for start, end in pairs]
    return [middle for middle in middles if sum(start < middle < end for start, end in pairs) >= GUTTER_ROWS]


def _is_across(last: PrintedLine, line: PrintedLine, gutters: Sequence[float]) -> bool:
    return any(last.bbox.x1 <= gutter <= line.bbox.x0 for gutter in gutters)


def _fits(group: Sequence[PrintedLine], line: PrintedLine) -> bool:
    last = group[-1]
    if line.direction != last.direction or line.direction == "oblique":
        return False
    if line.direction != "right":
        return _fits_beside(last, line)
    if _says_by_itself(line) or _says_by_itself(last):
        return False
    size = max(line.size, last.size)
    if same_row(last.bbox, line.bbox):
        return -0.5 * size <= line.bbox.x0 - last.bbox.x1 <= 1.5 * size
    if abs(line.size - last.size) > 0.15 * size or begins_item(line, last):
        return False
    shared = min(line.bbox.x1, last.bbox.x1) - max(line.bbox.x0, last.bbox.x0)
    gap = line.bbox.y0 - last.bbox.y1
    return shared > 0.5 * min(line.bbox.width, last.bbox.width) and -0.6 * size < gap < 0.55 * size


def _says_by_itself(line: PrintedLine) -> bool:
    """Whether OCR read a row that is a label and its value, near it or far."""
    return has_value_apart(line) or (line.words[0].confidence is not None and bool(LABELLED_VALUE.match(line.text)))


def has_value_apart(line: PrintedLine) -> bool:
    """Whether OCR read a line that is a label and, far from it, its value: a row that says something by itself."""
    if line.words[0].confidence is None:
        return False
    return any(right.bbox.x0 - left.bbox.x1 > 1.5 * line.size for left, right in itertools.pairwise(line.words))


def _fits_beside(last: PrintedLine, line: PrintedLine) -> bool:
    size = max(line.size, last.size)
    shared = min(line.bbox.y1, last.bbox.y1) - max(line.bbox.y0, last.bbox.y0)
    gap = max(line.bbox.x0 - last.bbox.x1, last.bbox.x0 - line.bbox.x1)
    return shared > 0 and gap < 1.2 * size and abs(line.size - last.size) <= 0.15 * size


def looks_like_columns(lines: Sequence[PrintedLine]) -> bool:
    """Whether a supposed paragraph is two columns side by side.

    Most of its rows have a wide gap; or some have, at one place that no line crosses: one column may be shorter.
    """
    rows = [row for row in visual_rows(lines) if row]
    gaps = [pair for row in rows for pair in itertools.pairwise(row) if _far_apart(*pair)]
    split = [row for row in rows if any(_far_apart(left, right) for left, right in itertools.pairwise(row))]
    if len(split) >= 2 and len(split) * 2 > len(rows):
        return True
    if len(split) < GUTTER_ROWS:
        return False
    start, end = max(left.bbox.x1 for left, _ in gaps), min(right.bbox.x0 for _, right in gaps)
    middle = (start + end) / 2
    return end - start >= LEAST_GUTTER and not any(line.bbox.x0 < middle < line.bbox.x1 for line in lines)


def _far_apart(left: PrintedLine, right: PrintedLine) -> bool:
    return right.bbox.x0 - left.bbox.x1 > 1.5 * max(left.size, right.size)
