"""Which rows and columns of a table are headers, and the full header path of each cell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ingest.drafts import DraftCell

NUMBER = re.compile(
    r"^[\s$€£¥￥₹~≈<>±(（+\-–−—]*(?:US|HK|RMB|R\$|CHF|EUR|USD|GBP)?\$?\s*\d[\d\s.,'’]*[%％‰xX)）]*[\s\d()*†‡a-z]{0,4}$"
)
PERIOD = re.compile(
    r"^(?:FY|CY|H[12]|Q[1-4])?\s*'?(?:19|20)\d{2}(?:年.*|[AE]|/\d{2,4}|[-–]\d{2,4})?\s*(?:\(?\d?\)?)?$"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b",
    re.IGNORECASE,
)
THOUSANDS = re.compile(r"\W*(?:[A-Z]{1,3}\$?|[$€£¥])?\s*['’‘]?000['’‘]?s?\W*")
BLANK_VALUES = frozenset({"", "-", "–", "—", "n/a", "na", "n.a.", "nm", "n.m.", "不适用", "无", "/"})

Slots = Mapping[tuple[int, int], DraftCell]


def is_value(text: str) -> bool:
    """A figure, as in a table's body; a year, a date or `$000` is not: it can head a column."""
    text = text.strip()
    return bool(NUMBER.match(text)) and not PERIOD.search(text) and not THOUSANDS.fullmatch(text)


def is_blank(text: str) -> bool:
    return text.strip().lower() in BLANK_VALUES


def slots_of(cells: Sequence[DraftCell]) -> dict[tuple[int, int], DraftCell]:
    """The cell over each (row, column), spans filled in."""
    slots: dict[tuple[int, int], DraftCell] = {}
    for cell in cells:
        for row in range(cell.row, cell.row + cell.row_span):
            for column in range(cell.column, cell.column + cell.column_span):
                slots.setdefault((row, column), cell)
    return slots


def extent(cells: Sequence[DraftCell]) -> tuple[int, int]:
    """Rows and columns."""
    return (
        max((cell.row + cell.row_span for cell in cells), default=0),
        max((cell.column + cell.column_span for cell in cells), default=0),
    )


def leading_header_rows(cells: Sequence[DraftCell]) -> int:
    """Rows of words at the top, over figures, of which no more than one names the stub; 0 where that says nothing.

    One row that names the stub says so alone where every other column has a name in it, and figures below.
    """
    rows, columns = extent(cells)
    slots = slots_of(cells)
    stubs: set[tuple[int, int]] = set()
    empty = count = 0
    while count < rows - 1:
        texts = [cell.text for column in range(1, columns) if (cell := slots.get((count, column))) is not None]
        stub = slots.get((count, 0))
        named = stubs | ({(stub.row, stub.column)} if stub is not None and stub.text else set())
        if not any(texts) or any(is_value(text) for text in texts) or len(named) > 1:
            break
        empty += stub is None or not stub.text
        stubs, count = named, count + 1
    if not empty:
        return int(_heads_figures(slots, rows, columns))
    body = [cell.text for cell in cells if cell.row >= count and cell.column and not is_blank(cell.text)]
    return count if sum(is_value(text) for text in body) * 2 >= len(body) else 0


def _heads_figures(slots: Slots, rows: int, columns: int) -> bool:
    """Whether each column but the first begins with words of its own, over more figures than words."""
    for column in range(1, columns):
        texts = [cell.text for row in range(rows) if (cell := slots.get((row, column))) is not None]
        below = [text for text in texts[1:] if not is_blank(text)]
        if not texts or is_blank(texts[0]) or is_value(texts[0]) or sum(map(is_value, below)) * 2 <= len(below):
            return False
    return rows > 2 and columns > 1


def count_header_rows(cells: Sequence[DraftCell], proposed: int) -> int:
    """The proposed number of header rows, corrected by what the rows say."""
    rows, columns = extent(cells)
    slots = slots_of(cells)
    by_row = [[slots[row, column].text for column in range(columns) if (row, column) in slots] for row in range(rows)]
    count = min(max(proposed, 0), max(rows - 1, 0))
    if count and any(is_value(text) for text in by_row[0][1:]):
        return 0
    while count > 1 and sum(is_value(text) for text in by_row[count - 1][1:]) * 2 > _filled(by_row[count - 1][1:]):
        count -= 1
    while count and count < rows - 1 and _completes_header(slots, count, columns, by_row):
        count += 1
    return count


def _filled(texts: Sequence[str]) -> int:
    return sum(bool(text.strip()) for text in texts)


def _completes_header(slots: Slots, row: int, columns: int, by_row: Sequence[Sequence[str]]) -> bool:
    """Whether `row` names the columns that a spanning header of the row above groups."""
    above = [slots.get((row - 1, column)) for column in range(columns)]
    spanned = [column for column, cell in enumerate(above) if cell is not None and cell.column_span > 1 and cell.text]
    if not spanned or (len(spanned) >= columns and columns > 2):
        return False
    below = [slots[row, column].text for column in spanned if (row, column) in slots]
    if len(below) < len(spanned) or any(is_value(text) or not text.strip() for text in below):
        return False
    later = [texts[1:] for texts in by_row[row + 1 :]]
    values = sum(is_value(text) for texts in later for text in texts)
    return values * 2 > sum(_filled(texts) for texts in later) or not any(
        cell.column_span > 1 for cell in _row(slots, row)
    )


def _row(slots: Slots, row: int) -> list[DraftCell]:
    return [cell for (slot_row, _), cell in sorted(slots.items()) if slot_row == row]


def header_blocks(cells: Sequence[DraftCell], top: int) -> tuple[tuple[int, int], ...]:
    """Runs of header rows as [start, stop): the top ones, and those that begin a new part further down.

    A row further down is a header where it holds words over columns of figures, and its stub is empty, it says again
    what the top header says, or a heading over the whole width stands right above it.
    """
    rows, columns = extent(cells)
    slots = slots_of(cells)
    blocks = [(0, top)] if top else []
    row = max(top, 1)
    while row < rows - 1:
        if not _heads_a_part(slots, row, columns, top):
            row += 1
            continue
        start, stop = row, row + 1
        while start > max(top, blocks[-1][1] if blocks else 0) and _only_names(slots, start - 1, columns):
            start -= 1
        while stop < rows - 1 and _names_columns(slots, stop, columns):
            stop += 1
        blocks.append((start, stop))
        row = stop
    return tuple(blocks)


def _texts_right_of_stub(slots: Slots, row: int, columns: int) -> dict[int, str]:
    return {
        column: cell.text
        for column in range(1, columns)
        if (cell := slots.get((row, column))) is not None and cell.column > 0 and not is_blank(cell.text)
    }


def _heads_a_part(slots: Slots, row: int, columns: int, top: int) -> bool:
    if not _names_columns(slots, row, columns):
        return False
    stub, above = slots.get((row, 0)), slots.get((row - 1, 0))
    repeats = any(
        slots[header, column].text == text
        for column, text in _texts_right_of_stub(slots, row, columns).items()
        for header in range(top)
        if (header, column) in slots
    )
    under_banner = above is not None and above.column_span >= columns and above.row < row
    return stub is None or not stub.text or repeats or under_banner


def _names_columns(slots: Slots, row: int, columns: int) -> bool:
    """Whether the row holds nothing but words, over columns that hold figures further down."""
    texts = _texts_right_of_stub(slots, row, columns)
    if len(texts) < 2 or len(texts) * 2 < columns - 1 or any(is_value(text) for text in texts.values()):
        return False
    rows = 1 + max(place[0] for place in slots)
    below = [_texts_right_of_stub(slots, later, columns) for later in range(row + 1, rows)]
    under = [texts_below[column] for texts_below in below for column in texts if column in texts_below]
    figures = sum(is_value(text) for text in under)
    return 0 < len(under) <= figures * 2


def _only_names(slots: Slots, row: int, columns: int) -> bool:
    """A row with an empty stub and one heading over the columns, such as `(in thousands)`."""
    texts = set(_texts_right_of_stub(slots, row, columns).values())
    stub = slots.get((row, 0))
    return len(texts) == 1 and not any(is_value(text) for text in texts) and (stub is None or not stub.text)


def count_stub_columns(cells: Sequence[DraftCell], blocks: Sequence[tuple[int, int]]) -> int:
    """Leading columns that name the rows: at least the first, more while they hold words and figures follow."""
    rows, columns = extent(cells)
    slots = slots_of(cells)
    body = [row for row in range(rows) if not in_blocks(row, blocks)]
    shares = []
    for column in range(columns):
        texts = [slots[row, column].text for row in body if (row, column) in slots]
        filled = [text for text in texts if not is_blank(text)]
        shares.append(sum(is_value(text) for text in filled) / len(filled) if filled else 0.0)
    if not shares or shares[0] > 0.5:
        return 0
    count = 1
    while count < min(3, columns - 1) and shares[count] == 0.0 and max(shares[count + 1 :]) > 0.5:
        count += 1
    return count


def column_path(
    slots: Slots, cell: DraftCell, blocks: Sequence[tuple[int, int]], texts: Mapping[tuple[int, int], str]
) -> tuple[str, ...]:
    """The headers above a cell, outermost first, each once however many rows it spans: those of the nearest block."""
    above = [block for block in blocks if block[0] <= cell.row]
    path: list[str] = []
    seen: set[tuple[int, int]] = set()
    for row in range(above[-1][0], min(above[-1][1], cell.row)) if above else ():
        header = slots.get((row, cell.column))
        if header is None or (header.row, header.column) in seen:
            continue
        seen.add((header.row, header.column))
        text = texts[header.row, header.column]
        if text:
            path.append(text)
    return tuple(path)


def row_path(
    slots: Slots,
    cell: DraftCell,
    stub_columns: int,
    groups: Mapping[int, tuple[str, ...]],
    texts: Mapping[tuple[int, int], str],
) -> tuple[str, ...]:
    """The headings of the groups that the row is in, outermost first, then the row's own labels."""
    path = list(groups.get(cell.row, ()))
    seen: set[tuple[int, int]] = set()
    for column in range(min(stub_columns, cell.column)):
        label = slots.get((cell.row, column))
        if label is None or (label.row, label.column) in seen:
            continue
        seen.add((label.row, label.column))
        text = texts[label.row, label.column]
        if text:
            path.append(text)
    return tuple(path)


def in_blocks(row: int, blocks: Sequence[tuple[int, int]]) -> bool:
    return any(start <= row < stop for start, stop in blocks)
