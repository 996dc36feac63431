"""What each cell's figures are counted in: the words nearest to it that state a scale or a currency.

Nearest wins: the cell, its column's header, its row's label, the section or the stub's head, then what stands around
the table: its caption and unit line, what another column brackets that differs in its period alone, the page, the
document. Percentages, figures per share, heads and days inherit none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.table_headers import is_value
from ingest.table_periods import brackets_a_scale, period_said
from ingest.table_scale import Stated, own_scale, printed_currency, stated
from kb_qa.elements import Cell, Measure, MeasureScope, ScaleSource, Table
from kb_qa.geometry import Region

EXEMPT = re.compile(
    r"[%％‰]|\bpercent|\bper (?:[a-z]+ )?(?:share|unit|employee|capita|barrel|tonne|ton|ads|head|hour)s?\b|\bEPS\b"
    r"|\bratios?\b|\b(?:growth|tax|interest|exchange|discount|utili[sz]ation|occupancy) rates?\b|\bnumber of\b"
    r"|\bhead\s?count\b|\bFTEs?\b|\bfull-time equivalents?\b|\bemployees\b(?! (?:benefit|cost|expense|comp|stock|sal))"
    r"|(?<!\d )(?<!\d)\bdays\b|\((?:times|x)\)"
    r"|每股|每人|人均|市盈率|比率|比例|占比|比重|率(?=$|[（(\s])|人数|员工数|户数|家数|天数|倍数"
    r"|[（(](?:天|人|次|家|倍|个|户|日)[)）]",
    re.IGNORECASE,
)
SHARES = re.compile(r"\bshares\b|股数|股份数", re.IGNORECASE)
EXCEPT_SHARES = re.compile(r"\bexcept[^)）]*\bshares?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Label:
    """A cell whose words may speak for others."""

    cell: Cell
    found: tuple[Stated, ...]

    @property
    def counts(self) -> bool:
        """Whether it states a scale, and not a currency alone."""
        return any(each.counted for each in self.found)


def with_measures(table: Table, around: Sequence[Measure]) -> Table:
    """The table with what its cells and the table at large are counted in; `around`: stated outside, nearest first."""
    reader = _Reader(table, around)
    places: dict[Measure, int] = {}
    cells = []
    for cell in table.cells:
        measure = reader.measure(cell)
        cells.append(replace(cell, measure=None if measure is None else places.setdefault(measure, len(places))))
    found = replace(table, cells=tuple(cells), measures=tuple(places))
    large = reader.at_large()
    if large is None or large.ambiguous:
        return found
    return replace(found, scale=large.scale, unit=large.unit, scale_source=large.source)


def measure_of(sources: Sequence[tuple[Stated, ScaleSource]], scope: MeasureScope) -> Measure:
    """What is stated at one level; ambiguous where that is two scales."""
    first, source = sources[0]
    ambiguous = len({each.scale for each, _ in sources}) > 1
    return Measure(first.scale, first.unit, scope, source, ambiguous=ambiguous)


class _Reader:
    """Looks up the labels of a table's cells."""

    def __init__(self, table: Table, around: Sequence[Measure]) -> None:
        self._cells = table.cells
        self._around = around
        self._slots = {
            (row, column): cell
            for cell in table.cells
            for row in range(cell.row, cell.row + cell.row_span)
            for column in range(cell.column, cell.column + cell.column_span)
        }
        self._columns = 1 + max((column for _, column in self._slots), default=0)
        self._header_rows = sorted({cell.row for cell in table.cells if cell.header})
        self._sections: dict[int, list[Cell]] = {}
        self._labels: dict[tuple[int, int], _Label] = {}
        self._bracketed = any(cell.header and brackets_a_scale(cell.text) for cell in table.cells)
        self._siblings: dict[tuple[int, int], Measure | None] = {}
        self._currencies: dict[int, tuple[str, ScaleSource] | None] = {}

    def measure(self, cell: Cell) -> Measure | None:
        """What the figures of a cell are counted in; None for words, and for what is exempt."""
        own = own_scale(cell.text)
        if cell.header or not (is_value(cell.text) or (own is not None and cell.column > 0)):
            return None
        if own is not None:
            return Measure(own, printed_currency(cell.text), "cell", _source(cell))
        levels = self._levels(cell)
        everything = [label for _, labels in levels for label in labels]
        for scope, labels in levels:
            speaking = [label for label in labels if label.counts]
            if speaking:
                if _is_exempt(cell, [label for label in everything if label not in speaking]):
                    return None
                sources = [(each, _source(label.cell)) for label in speaking for each in label.found]
                return self._with_currency(measure_of(sources, scope), cell, everything)
        if _is_exempt(cell, everything):
            return None
        nearest = self._nearest(cell, everything)
        if nearest is None:
            return self._currency_alone(cell, everything)
        if EXCEPT_SHARES.search(nearest.source.text) and any(SHARES.search(label.cell.text) for label in everything):
            return None
        return self._with_currency(nearest, cell, everything)

    def _nearest(self, cell: Cell, labels: Sequence[_Label]) -> Measure | None:
        """What no label of the cell states: the caption, the headers of sibling columns, the page, the document."""
        nearest = self._around[0] if self._around else None
        if nearest is not None and nearest.scope == "caption":
            return nearest
        return (None if any(label.found for label in labels) else self._of_siblings(cell)) or nearest

    def _of_siblings(self, cell: Cell) -> Measure | None:
        """The one scale that is bracketed over columns which differ from the cell's in their period alone."""
        block = bisect_left(self._header_rows, cell.row), cell.column
        if block not in self._siblings:
            self._siblings[block] = self._read_siblings(cell) if self._bracketed else None
        return self._siblings[block]

    def _read_siblings(self, cell: Cell) -> Measure | None:
        own = period_said(self._header_text(cell, cell.column))
        if own is None:
            return None
        found: list[tuple[Stated, ScaleSource]] = []
        for column in range(1, self._columns):
            text = self._header_text(cell, column)
            if brackets_a_scale(text) and period_said(text) not in {None, own}:
                heads = [self._label(each) for each in self._header_cells(cell, column)]
                found += [(each, _source(label.cell)) for label in heads for each in label.found if each.counted]
        measure = measure_of(found, "section") if found else None
        return None if measure is None or measure.ambiguous else measure

    def _header_text(self, cell: Cell, column: int) -> str:
        return " ".join(each.text for each in reversed([*self._header_cells(cell, column)]))

    def at_large(self) -> Measure | None:
        """What is said for the table as a whole: over the stub or over most columns, else around it."""
        columns = self._columns
        filled: dict[int, int] = {}
        for cell in self._cells:
            filled[cell.row] = filled.get(cell.row, 0) + bool(cell.text)
        for cell in self._cells:
            wide = cell.column_span * 2 >= columns - 1
            if cell.header and (wide or cell.column == 0 or filled[cell.row] == 1):
                found = [(each, _source(cell)) for each in stated(cell.text)]
                if found:
                    return measure_of(found, "section" if cell.column == 0 else "column")
        return self._around[0] if self._around else None

    def _levels(self, cell: Cell) -> tuple[tuple[MeasureScope, list[_Label]], ...]:
        above = list(self._header_cells(cell, cell.column))
        beside = list(self._row_labels(cell))
        stub = min((label.column for label in beside), default=0)
        heads = [head for head in self._header_cells(cell, stub) if stub < cell.column and head not in above]
        sections = [*self._section_cells(cell, beside), *heads]
        levels: tuple[tuple[MeasureScope, list[Cell]], ...] = (
            ("column", above),
            ("row", beside),
            ("section", sections),
        )
        return tuple((scope, [self._label(each) for each in cells]) for scope, cells in levels)

    def _header_cells(self, cell: Cell, column: int) -> Iterator[Cell]:
        """The header cells over a column: those of the nearest block of header rows above the cell."""
        nearest = bisect_left(self._header_rows, cell.row) - 1
        row = self._header_rows[nearest] if nearest >= 0 else -1
        seen: set[tuple[int, int]] = set()
        while nearest >= 0 and self._header_rows[nearest] == row:
            header = self._slots.get((row, column))
            if header is not None and header.text and (header.row, header.column) not in seen:
                seen.add((header.row, header.column))
                yield header
            row, nearest = row - 1, nearest - 1

    def _row_labels(self, cell: Cell) -> Iterator[Cell]:
        """The cells left of a cell that name its row."""
        seen: set[tuple[int, int]] = set()
        for column in range(cell.column):
            label = self._slots.get((cell.row, column))
            if label is None or (label.row, label.column) in seen or label.text not in cell.row_headers:
                continue
            seen.add((label.row, label.column))
            yield label

    def _section_cells(self, cell: Cell, beside: Sequence[Cell]) -> list[Cell]:
        """The headings of the groups that the cell's row is in, nearest first."""
        if cell.row not in self._sections:
            own = {label.text for label in beside}
            found: list[Cell] = []
            for text in reversed([text for text in cell.row_headers if text not in own]):
                stubs = (self._slots.get((row, 0)) for row in range(cell.row - 1, -1, -1))
                found += [each for each in stubs if each is not None and each.text == text][:1]
            self._sections[cell.row] = found
        return self._sections[cell.row]

    def _label(self, cell: Cell) -> _Label:
        place = cell.row, cell.column
        if place not in self._labels:
            self._labels[place] = _Label(cell, stated(cell.text))
        return self._labels[place]

    def _with_currency(self, measure: Measure, cell: Cell, labels: Sequence[_Label]) -> Measure:
        if measure.unit:
            return measure
        found = self._currency(cell, labels)
        return measure if found is None else replace(measure, unit=found[0], unit_source=found[1])

    def _currency_alone(self, cell: Cell, labels: Sequence[_Label]) -> Measure | None:
        found = self._currency(cell, labels)
        return None if found is None else Measure(0, found[0], "column", found[1])

    def _currency(self, cell: Cell, labels: Sequence[_Label]) -> tuple[str, ScaleSource] | None:
        """The currency that a label names, else the one printed on any cell of the column."""
        named = ((each.unit, label.cell) for label in labels for each in label.found if each.unit and not each.counted)
        first = next(named, None)
        if first is not None:
            return first[0], _source(first[1])
        if cell.column not in self._currencies:
            printed = (
                (unit, each)
                for each in self._cells
                if each.column == cell.column and not each.header and (unit := printed_currency(each.text))
            )
            found = next(printed, None)
            self._currencies[cell.column] = None if found is None else (found[0], _source(found[1]))
        return self._currencies[cell.column]


def _is_exempt(cell: Cell, labels: Sequence[_Label]) -> bool:
    return EXEMPT.search(cell.text) is not None or any(_exempts(label.cell.text) for label in labels)


def _exempts(text: str) -> bool:
    """Whether a label says that its figures are no amounts; what it says it excepts does not count."""
    return EXEMPT.search(re.sub(r"\bexcept[^()（）]*", "", text, flags=re.IGNORECASE)) is not None


def _source(cell: Cell) -> ScaleSource:
    return ScaleSource(cell.text, None if cell.page is None else Region(cell.page, cell.bbox))
