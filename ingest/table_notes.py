"""Footnotes of a table: the lines right below it that begin with `Note:`, `Source:`, `注：` or a mark of its cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingest.drafts import Draft, DraftNote, DraftTable
from ingest.printed import PrintedLine
from kb_qa.elements import FURNITURE
from kb_qa.geometry import BBox

REACH = 40.0  # points below the table within which its notes begin, in text of ten points
BETWEEN = 1.6  # of the type size: white between one note and the next
SMALLER = 0.92  # of the table's type: small print below a table speaks of it

_NAMED = re.compile(
    r"^\s*(?:(?:notes?|sources?|n\.\s?b\.|legend|key|abbreviations?)\s*(?:to\s+(?:the\s+)?table)?\s*(?:[:：.–—-]|\d{1,2}\s*[:：])"
    r"|(?:附?注|備?註|说明|說明|備註|备注)\s*[\d一二三四五六七八九十]*\s*[:：、.．释]"
    r"|(?:资料|資料|数据|數據|信息)?(?:来源|來源)\s*[:：]"
    r"|(?:exhibit|table|figure) reads\b)",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"^\s*(?P<mark>[(（\[]\s*(?:\d{1,2}|[a-z]|[ivx]{1,4})\s*[)）\]]|(?:\d{1,2}|[a-z])[)）]|[*†‡§¶※#]{1,4}|[①-⑳]|[¹²³⁴-⁹]{1,2}|[a-zA-Z\d]\s*/(?=\s))\s*\S"
)
_PLAIN = re.compile(r"^\s*(\d{1,2}|[a-z])\s+\S")  # a mark that is raised in the cells and level before its note
_BRACKETED = re.compile(r"[(（\[]\s*(?:\d{1,2}|[a-z])\s*[)）\]]|[¹²³⁴-⁹]{1,2}|\b[a-zA-Z\d]\s*/(?!\w)")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def starts_note(line: PrintedLine, marks: frozenset[str], *, small: bool = False) -> bool:
    """Whether a line begins a note: by its name, or a mark that the table prints; `small`: in small print any mark."""
    text = line.text
    if _NAMED.match(text):
        return True
    mark = mark_of(line)
    plain = _PLAIN.match(text)
    return bool(mark and (small or mark in marks)) or bool(small and plain and plain[1] in marks)


def mark_of(line: PrintedLine) -> str:
    """The footnote mark that a line begins with, as `marks_in` has it; "" where there is none."""
    if len(line.words) > 1 and _is_raised(line, 0, 1):
        return _bare(line.words[0].text)
    match = _MARK.match(line.text)
    return _bare(match["mark"]) if match else ""


def marks_in(table: DraftTable) -> frozenset[str]:
    """The footnote marks printed in the table's cells and its caption."""
    found: set[str] = set()
    for line in (*table.caption, *(line for cell in table.cells for line in cell.lines)):
        found.update(_bare(mark) for mark in _BRACKETED.findall(line.text))
        found.update(re.findall(r"[①-⑳※†‡§¶#]|\*{1,4}", line.text))
        found.update(
            _bare(word.text) for index, word in enumerate(line.words) if index and _is_raised(line, index, index - 1)
        )
    return frozenset(found)


def _is_raised(line: PrintedLine, index: int, beside: int) -> bool:
    word, other = line.words[index], line.words[beside]
    raised = word.size < 0.82 * other.size and other.baseline - word.baseline > 0.12 * other.size
    return raised and len(word.text) <= 4


def _bare(mark: str) -> str:
    return mark.translate(_SUPERSCRIPTS).strip("()（）[] /.,").casefold()


def notes_below(table: DraftTable, texts: Sequence[Draft], page: int) -> tuple[DraftNote, ...]:
    """The notes of a table among the text of its page, top down: from right below it as far as they follow closely."""
    marks = marks_in(table)
    size = _size_of(table)
    bottom = table.bbox.y1
    notes: list[DraftNote] = []
    for draft in sorted(texts, key=lambda draft: (draft.bbox.y0, draft.bbox.x0)):
        if draft.category in FURNITURE or draft.bbox.center[1] < table.bbox.y1 or not _is_under(draft.bbox, table.bbox):
            continue
        if draft.bbox.y0 - bottom > (BETWEEN * draft.size if notes else REACH):
            break
        small = draft.size < SMALLER * size or draft.category == "Footnote"
        parts = _parted(draft, marks, small=small or bool(notes))
        if parts is None or (draft.category == "Title" and not _NAMED.match(draft.text)):
            break
        notes.extend(DraftNote(page, part) for part in parts)
        bottom = draft.bbox.y1
    return tuple(notes)


def _parted(draft: Draft, marks: frozenset[str], *, small: bool) -> list[tuple[PrintedLine, ...]] | None:
    """The lines of a draft, a part for each note; None where it does not begin with one."""
    parts: list[list[PrintedLine]] = []
    for line in draft.lines:
        if starts_note(line, marks, small=small):
            parts.append([line])
        elif parts:
            parts[-1].append(line)
        else:
            return None
    return [tuple(part) for part in parts]


def _is_under(box: BBox, table: BBox) -> bool:
    return min(box.x1, table.x1) - max(box.x0, table.x0) > 0.5 * min(box.width, table.width)


def _size_of(table: DraftTable) -> float:
    sizes = sorted(line.size for cell in table.cells for line in cell.lines)
    return sizes[len(sizes) // 2] if sizes else 0.0
