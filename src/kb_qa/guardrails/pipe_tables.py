"""Given texts as elements: pipe tables with their caption lines become tables with header paths; the rest is text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kb_qa.elements import Cell, Element, Origin, Table
from kb_qa.geometry import BBox, Region

_RULE = re.compile(r"(?a)\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_YEAR = re.compile(r"(?a)\D{0,3}(?:19|20)\d\d(?:\D{0,2}|\s?\(\d\)|\s?[¹²³]|[*†])")
_VALUE = re.compile(
    r"(?ai)[\s(（+~<>≈-]*(?:US|HK|NT|A|C|R)?[$€£¥]?\s*[(（-]?\s*[.]?\d[\d,.\s]*(?:[%‰)）*]|\(\d\)|[⁰¹²³⁴-⁹]|x|pp|bps|[KMB]"
    r"|[万亿千]*[元股人件]?|\s(?:million|billion|thousand|years?|days?))*\s*"
)
_BLANKS = frozenset({"", "-", "–", "—", "--", "n/a", "na", "nm", "n/m", "/", "不适用", "$ —", "$—", "$-"})
_PERIOD_LIKE = re.compile(
    r"(?ai)[^|]{0,24}(?:(?:19|20)\d\d|\b(?:FY|F|Q|H)\d{1,2}\b|\d{1,2}\s?(?:月|年|季)|季度|半年|月\d{1,2}日)[^|]{0,16}"
)


@dataclass(slots=True)
class _Layout:
    """Rows read so far. Lives only inside `_cells`."""

    headers: list[list[str]]
    section: tuple[str, ...] = ()
    begun: bool = False  # whether a row of the body was read

    def starts_panel(self, row: _Row) -> bool:
        """A period alone in its row begins a second panel, below one that another period stands over."""
        return not row.cells[0] or any(_is_span(line) for line in self.headers)


def elements_of(
    source_id: str,
    text: str,
    *,
    page: int | None = None,
    bbox: BBox | None = None,
    origin: Origin = "text-layer",
    confidence: float | None = None,
) -> tuple[Element, ...]:
    """The elements of one given source: text, and pipe tables with the lines above as caption, below as notes."""
    regions = (Region(page, bbox),) if page is not None else ()
    parts = [*_parts(text.splitlines())]
    elements = []
    for number, (before, rows, after) in enumerate(parts):
        plain = Element(
            id=source_id if number == 0 else f"{source_id}.{number + 1}",
            document_id=source_id,
            order=number,
            element_type="text",
            category="NarrativeText",
            text="\n".join(before),
            regions=regions,
            origin=origin,
            confidence=confidence,
        )
        if not rows:
            elements.append(plain)
            continue
        cells, captions = _cells(rows, page)
        table = Table(cells=cells, caption="\n".join((*before, *captions)), notes=tuple(after))
        said = "\n".join((*before, *(" | ".join(row.cells) for row in rows), *after))
        elements.append(replace(plain, element_type="table", category="Table", text=said, table=table))
    return tuple(elements)


@dataclass(frozen=True, slots=True)
class _Row:
    cells: tuple[str, ...]
    header: bool  # a rule stands below it


def _parts(lines: Sequence[str]) -> Iterator[tuple[list[str], list[_Row], list[str]]]:
    """(lines above, rows, lines below) of each table, or (lines, [], []) where there is none."""
    above: list[str] = []
    rows: list[_Row] = []
    found = False
    for line in [*lines, None]:
        if line is not None and line.count("|") >= (2 if not rows else 1):
            if _RULE.fullmatch(line):
                rows[:] = [replace(row, header=True) for row in rows]
            else:
                rows.append(_Row(tuple(_split(line)), header=False))
            continue
        if rows and (line is None or line.strip() or len(rows) > 1):
            yield above, rows, []
            above, rows, found = [], [], True
        if line is not None and line.strip():
            above.append(line)
    if above or not found:
        yield above, [], []


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _cells(rows: Sequence[_Row], page: int | None) -> tuple[tuple[Cell, ...], list[str]]:
    """The cells with their header paths, and what the table says above or beside its columns."""
    layout = _Layout(headers=[])
    cells: list[Cell] = []
    captions: list[str] = []
    for number, row in enumerate(rows):
        if _is_header(row, layout):
            if layout.begun and layout.headers:
                layout.headers, layout.begun = [], False
            captions += [row.cells[0]] if row.cells[0] else []
            layout.headers.append(_spread(row.cells))
            cells += _plain_cells(number, row, page, header=True)
            continue
        named = [cell for cell in row.cells if cell]
        if len(named) == 1 and layout.begun and _PERIOD_LIKE.fullmatch(named[0]) and layout.starts_panel(row):
            rest = [line for line in layout.headers if not _is_span(line)]
            layout.headers = [["", *(named[0] for _ in row.cells[1:])], *rest]
            cells += _plain_cells(number, row, page, header=True)
            continue
        if len(named) == 1 and not _VALUE.fullmatch(named[0]):
            layout.section = (named[0],)
            cells += _plain_cells(number, row, page, header=True)
            continue
        layout.begun = True
        cells += _body(number, row, layout, page)
    return tuple(cells), captions


def _is_header(row: _Row, layout: _Layout) -> bool:
    if row.header:
        return True
    named = [cell for cell in row.cells[1:] if cell.lower() not in _BLANKS]
    if not named or any(_VALUE.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in named):
        return False
    if not layout.begun:
        return len(named) > 1 or not row.cells[0]
    known = {cell for line in layout.headers for cell in line}
    said = [cell in known or _PERIOD_LIKE.fullmatch(cell) is not None for cell in named]
    return len(named) > 1 and (all(said) or (any(said) and 2 * sum(said) >= len(said) and bool(known & {*named})))


def _is_span(line: Sequence[str]) -> bool:
    """Whether one period stands over all columns."""
    said = {cell for cell in line[1:] if cell}
    return len(said) == 1 and _PERIOD_LIKE.fullmatch(next(iter(said))) is not None


def _spread(cells: Sequence[str]) -> list[str]:
    """A header text also stands over the empty cells behind it; alone in its row, over all columns."""
    starts = [column for column, cell in enumerate(cells) if cell and column]
    if not starts:
        return [*cells]
    if len(starts) == 1:
        return [cells[0], *(cells[starts[0]] for _ in cells[1:])]
    # The last text is no wider than the widest before it: `F19 | F18 | | ` leaves two columns without it.
    spans = [second - first for first, second in pairwise(starts)]
    spread = [cells[0], *("" for _ in cells[1:])]
    for start, span in zip(starts, [*spans, max(spans, default=1)], strict=True):
        for column in range(start, min(start + span, len(cells))):
            spread[column] = cells[start]
    return spread


def _plain_cells(number: int, row: _Row, page: int | None, *, header: bool) -> list[Cell]:
    return [
        Cell(number, column, 1, 1, text, page, None, header=header) for column, text in enumerate(row.cells) if text
    ]


def _body(number: int, row: _Row, layout: _Layout, page: int | None) -> Iterator[Cell]:
    label: list[str] = []
    for column, text in enumerate(row.cells):
        if not text:
            continue
        if (column == 0 or (not _VALUE.fullmatch(text) and len(label) == column)) and text.lower() not in _BLANKS:
            label.append(text)
            yield Cell(number, column, 1, 1, text, page, None, header=column == 0)
            continue
        headers = (line[column] for line in layout.headers if column < len(line) and line[column])
        yield Cell(
            number,
            column,
            1,
            1,
            text,
            page,
            None,
            row_headers=(*layout.section, *label),
            column_headers=tuple(dict.fromkeys(headers)),
        )
