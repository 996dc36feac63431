"""Facts: every quantity of an element with what it is about, where it stands, and where its scale was read.

Pure functions of an element and the lines around it, so that facts are computed once, when a document is read, and kept
beside the element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from kb_qa.elements import Cell, Element, Table
from kb_qa.geometry import BBox
from kb_qa.guardrails.counters import LEAD, TAIL, beside, is_day_of_month
from kb_qa.guardrails.directions import LEVEL, Direction, direction_at, direction_of_cell, is_naturally_negative
from kb_qa.guardrails.labels import DEFAULT_ALIASES, Aliases, tokens, union
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.periods import Parts, parts_of
from kb_qa.guardrails.quantities import Kind, Quantity, scaled_by
from kb_qa.guardrails.scopes import Stated, is_currency, nearest, stated_in_caption, stated_in_header
from kb_qa.guardrails.units import split_units
from kb_qa.guardrails.windows import is_counted, masked, own_periods, windows, without_periods
from kb_qa.guardrails.word_places import WordPlaces

# The number of this reading of facts: facts that were stored under another one are read again.
READING = "3"

_POINTS_BACK = re.compile(
    r"(?ai)[\s\"“‘'（(]*(?:该|此|其|这|上述|前者|后者|同期|当[日天年月]|本次"
    r"|(?:it|its|this|these|those|they|their|he|she|the (?:former|latter|same)|of (?:these|which|them))\b)"
)
_TOTAL = "total"  # what a row of figures without a label is

_SCALED_KINDS: frozenset[Kind] = frozenset({"number", "money", "count"})


@dataclass(frozen=True, slots=True)
class Fact:
    """A quantity that a source prints. `quantity` has the scale and currency of its surroundings applied.

    Its span is a range of the element's text, or of the caption or the notes where it stands `around` a table.
    `labels` are the tokens of its own row and column, or of its window in a sentence; `context` those of the section,
    caption or sentence around it. `scale_source` and `currency_source` are the words they were read from, empty where
    the figure prints them itself. `cell` is (row, column), None in text. `ambiguous` scales match nothing.
    """

    quantity: Quantity
    element_id: str
    document_id: str
    page: int | None = None
    bbox: BBox | None = None
    cell: tuple[int, int] | None = None
    row: str = ""
    column: str = ""
    section: str = ""
    sentence: tuple[int, int] = (0, 0)
    labels: frozenset[str] = frozenset()
    row_labels: frozenset[str] = frozenset()
    context: frozenset[str] = frozenset()
    periods: tuple[Parts, ...] = ()
    direction: Direction = LEVEL
    neutral: bool = False
    scale_source: str = ""
    currency_source: str = ""
    ambiguous: bool = False
    confidence: float | None = None
    lead: str = ""  # what stands before and behind a figure in text: 胜 and 平 of `3胜1平` count different things
    tail: str = ""
    calendar: bool = False  # `3日` is the day of a month
    body: bool = False  # a cell of the table's body, and not a header's own numeral
    around: bool = False  # in the caption or the notes of a table

    @property
    def printed(self) -> str:
        return self.quantity.raw

    @property
    def label(self) -> str:
        """How a reader finds it: row and column, or the words around it."""
        return " ".join(part for part in (self.row, self.column) if part)

    @property
    def number(self) -> Decimal | None:
        return self.quantity.value if isinstance(self.quantity.value, Decimal) else None


def facts_of(
    element: Element, *, around: Sequence[str] = (), locale: str = "", aliases: Aliases = DEFAULT_ALIASES
) -> tuple[Fact, ...]:
    """The facts of one element. `around` are texts near it, nearest first: a table may take its scale from them.

    `locale` is the document's (`locales.locale_of` over its whole text); empty leaves `1.234` with two readings.
    A text that a model wrote (`origin` caption) has no facts.
    """
    if element.origin == "caption":
        return ()
    if element.table is None:
        return tuple(_text_facts(element, locale, aliases))
    return tuple(_Grid(element, element.table, around, locale, aliases).facts())


@lru_cache(maxsize=4096)
def _lexed(text: str, locale: str) -> tuple[Quantity, ...]:
    """Headers repeat from cell to cell."""
    return lex(text, locale=locale)


def _text_facts(element: Element, locale: str, aliases: Aliases) -> Iterator[Fact]:
    section = tokens(" ".join(element.section), aliases)
    places = WordPlaces(element)
    dated = False
    before = ""  # `该调查的对象为…`: what a sentence is of may stand in the one before it
    for start, end in split_units(element.text):
        sentence = element.text[start:end]
        quantities = lex(sentence, locale=locale)
        own = windows(sentence, quantities)
        blank = masked(sentence, quantities) if own else ""
        around = section
        if quantities:
            said = without_periods(sentence, quantities)
            around = tokens(said, aliases) | section
            if _POINTS_BACK.match(sentence):
                around |= tokens(before, aliases)
        before = sentence
        named = own_periods(sentence, quantities)
        carried: frozenset[str] = frozenset()
        for quantity in quantities:
            window = own.get(quantity.start)
            carried = (tokens(window.text, aliases) if window else carried) or carried
            page, bbox, confidence = places.find(quantity.start + start, quantity.end + start)
            lead = sentence[max(0, quantity.start - LEAD) : quantity.start]
            tail = sentence[quantity.end : quantity.end + TAIL]
            dated = dated or quantity.kind in {"date", "monthday"}
            yield Fact(
                quantity=replace(quantity, start=quantity.start + start, end=quantity.end + start),
                element_id=element.id,
                document_id=element.document_id,
                page=page,
                bbox=bbox,
                row=sentence.strip()[:160],
                section=" > ".join(element.section),
                sentence=(start, end),
                labels=carried if window else frozenset(),
                context=around,
                periods=(window.periods or named) if window else (),
                direction=direction_at(blank, quantity.start, quantity.end) if window else LEVEL,
                neutral=is_naturally_negative(window.text) if window else False,
                confidence=confidence,
                lead=lead,
                tail=tail,
                calendar=dated and is_day_of_month(quantity, beside(lead, tail)),
            )


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the cells of one row and column inherit."""

    scale: int = 0
    scale_source: str = ""
    currency: str = ""
    currency_source: str = ""
    unit: str = ""
    percent: bool = False
    per_share: bool = False
    ambiguous: bool = False


class _Grid:
    """A table while its facts are read. Lives only inside `facts_of`."""

    def __init__(self, element: Element, table: Table, around: Sequence[str], locale: str, aliases: Aliases) -> None:
        self.element, self.table, self.locale, self.aliases = element, table, locale, aliases
        self.places = WordPlaces(element)
        self.body = _body(table)
        self.lexed = {(cell.row, cell.column): lex(cell.text, locale=locale) for cell in self.body}
        first = min((cell.row for cell in self.body), default=0)
        corner = [cell.text for cell in table.cells if cell.header and cell.row < first and cell.column == 0]
        captions = [*reversed(table.caption.splitlines()), *table.notes]
        self.whole = self._whole(captions, corner, around)
        self.currencies = self._column_currencies()
        self.percents = self._percent_columns()
        self.periods = self._periods(table.caption)
        self.context = tokens(f"{table.caption} {' '.join(element.section)}", aliases)

    def facts(self) -> Iterator[Fact]:
        for cell in self.body:
            yield from self._cell(cell)
        bodies = {(cell.row, cell.column) for cell in self.body}
        for cell in self.table.cells:
            if (cell.row, cell.column) not in bodies:
                yield from self._label(cell)
        if self.table.caption:
            yield from self._around(self.table.caption)
        if self.table.notes:
            yield from self._around("\n".join(self.table.notes))

    def _around(self, text: str) -> Iterator[Fact]:
        element = replace(self.element, text=text, table=None, words=())
        yield from (replace(fact, around=True) for fact in _text_facts(element, self.locale, self.aliases))

    def _label(self, cell: Cell) -> Iterator[Fact]:
        """A header's own figures: periods, and terms such as `5-7 years`."""
        for quantity in lex(cell.text, locale=self.locale):
            yield replace(self._placed(cell, quantity), labels=tokens(cell.text, self.aliases), row=cell.text)

    def _placed(self, cell: Cell, quantity: Quantity) -> Fact:
        region = self.element.regions[0] if self.element.regions else None
        start, end = quantity.start + cell.start, quantity.end + cell.start
        return Fact(
            quantity=replace(quantity, start=start, end=end),
            element_id=self.element.id,
            document_id=self.element.document_id,
            page=cell.page if cell.page is not None else (region.page if region else None),
            bbox=cell.bbox or (region.bbox if region else None),
            cell=(cell.row, cell.column),
            section=" > ".join(self.element.section),
            confidence=self.places.find(start, end)[2],
        )

    def _cell(self, cell: Cell) -> Iterator[Fact]:
        row, column = cell.row_headers[-1] if cell.row_headers else "", " ".join(cell.column_headers)
        scope = self._scope(cell)
        own = self._tokens(row or _TOTAL) | union(self._tokens(header) for header in cell.column_headers)
        above = union(self._tokens(header) for header in cell.row_headers[:-1]) | self.context
        periods = self._cell_periods(cell)
        single = sum(is_counted(each) for each in self.lexed[cell.row, cell.column]) == 1
        for quantity in self.lexed[cell.row, cell.column]:
            scaled = _scaled(quantity, scope) if quantity.role == "figure" else quantity
            negative = isinstance(scaled.value, Decimal) and scaled.value < 0
            yield replace(
                self._placed(cell, scaled),
                row=row,
                column=column,
                labels=own if single else own | tokens(cell.text, self.aliases),
                row_labels=self._tokens(row or _TOTAL),
                context=above,
                periods=periods,
                direction=direction_of_cell(f"{row} {column}", negative),
                neutral=is_naturally_negative(" ".join((*cell.row_headers, *cell.column_headers))),
                scale_source=scope.scale_source if scaled.scale and not quantity.scale else "",
                currency_source=scope.currency_source if scaled.currency and not quantity.currency else "",
                ambiguous=scope.ambiguous and quantity.kind in _SCALED_KINDS and not quantity.scale,
                body=True,
            )

    def _tokens(self, text: str) -> frozenset[str]:
        return tokens(without_periods(text, _lexed(text, self.locale)), self.aliases)

    def _whole(self, captions: Sequence[str], corner: Sequence[str], around: Sequence[str]) -> Stated:
        """What is stated for the whole table; scale and currency may come from different places."""
        if self.table.scale:
            source = self.table.scale_source.text if self.table.scale_source else self.table.unit
            stated = stated_in_caption(source)
            return Stated(text=source, scale=self.table.scale, currency=stated.currency, unit=stated.unit)
        places = [stated_in_caption(line) for line in captions]
        places += [stated_in_header(text) for text in corner]
        places = [each for each in places if not each.percent] or places
        near = [stated_in_caption(text) for text in around]
        scale = nearest([*places, *near])
        currency = next((each for each in [*places, *near] if each.currency), None)
        unit = next((each.unit for each in places if each.unit), "")
        stated = scale or Stated()
        return replace(stated, currency=currency.currency if currency else "", unit=unit)

    def _column_currencies(self) -> dict[int, str]:
        """Currency printed on any cell of a column applies to that column."""
        found: dict[int, set[str]] = {}
        for (_, column), quantities in self.lexed.items():
            found.setdefault(column, set()).update(each.currency for each in quantities if each.currency)
        return {column: next(iter(names)) for column, names in found.items() if len(names) == 1}

    def _percent_columns(self) -> frozenset[int]:
        """Columns whose first figure prints `%` and none a currency: the plain numbers below are percentages too."""
        first: dict[int, bool] = {}
        for cell in self.body:
            figures = [each for each in self.lexed[cell.row, cell.column] if is_counted(each)]
            if figures and cell.column not in first:
                first[cell.column] = figures[0].kind == "percent"
        return frozenset(column for column, percent in first.items() if percent and column not in self.currencies)

    def _periods(self, caption: str) -> tuple[Parts, ...]:
        found = [parts for each in lex(caption, locale=self.locale) if (parts := parts_of(each))]
        return tuple(found) if len(found) == 1 else ()

    def _cell_periods(self, cell: Cell) -> tuple[Parts, ...]:
        """Row and column compose (`Q3` and 2024); else the caption's only period."""
        composed: Parts = frozenset()
        apart: list[Parts] = []  # a row `Aug-2019` under `December 31, 2019` has both
        for place, headers in enumerate((cell.column_headers, cell.row_headers)):
            for quantity in (each for header in headers for each in _lexed(header, self.locale)):
                parts = parts_of(quantity)
                if parts and not _conflict(composed, parts):
                    composed |= parts
                elif parts and place and quantity.kind != "year":
                    apart.append(parts)
        if composed and not any(part[0] == "y" for part in composed) and self.periods:
            composed |= frozenset(part for part in self.periods[0] if part[0] == "y")
        if composed and all(part[0] in "md" for part in composed):
            return ()  # `years ended July 31` over a column of changes
        return (composed, *apart) if composed else self.periods

    def _scope(self, cell: Cell) -> _Scope:
        column = [stated_in_header(text) for text in reversed(cell.column_headers)]
        row = [stated_in_header(text) for text in reversed(cell.row_headers)]
        printed = self.currencies.get(cell.column, "")
        # A header that spans columns of money and of percent says nothing of those that print a currency.
        named = [*row[:1], *(each for each in column if not (printed and each.percent))]
        percent = any(each.percent for each in named) or cell.column in self.percents
        stated = nearest([*column, *row, self.whole]) or Stated()
        local = nearest([*column, *row])
        # A caption's amounts of money are not the cells that count people or tonnes.
        counted = bool(self.whole.currency) and any(each.unit for each in named)
        unscaled = (counted or any(each.unscaled for each in named)) and local is None
        currency = next((each for each in [*column, *row] if each.currency), None)
        inherited = currency.currency if currency else printed or self.whole.currency
        if self.table.measures:
            return self._measured(cell, named, percent=percent)
        return _Scope(
            scale=0 if unscaled or stated.scale is None else stated.scale,
            scale_source=stated.text,
            currency=inherited,
            currency_source=currency.text if currency else ("column" if printed else self.whole.text),
            unit=next(
                (each.unit for each in named if each.unit),
                "" if any(each.currency for each in named) else self.whole.unit,
            ),
            percent=percent,
            per_share=any(each.per_share for each in named),
            ambiguous=stated.ambiguous and not unscaled,
        )

    def _measured(self, cell: Cell, named: Sequence[Stated], *, percent: bool) -> _Scope:
        """What the reading of the document found the cell to be counted in; it looked at the page too."""
        measure = self.table.measure_of(cell)
        per_share = any(each.per_share for each in named)
        unit = next((each.unit for each in named if each.unit), "")
        if measure is None:
            return _Scope(unit=unit, percent=percent, per_share=per_share)
        money = is_currency(measure.unit)
        source = measure.source.text
        return _Scope(
            scale=0 if measure.scope == "cell" else measure.scale,
            scale_source=source,
            currency=measure.unit if money else "",
            currency_source=(measure.unit_source.text if measure.unit_source else source) if money else "",
            unit=unit or ("" if money else measure.unit),
            percent=percent,
            per_share=per_share,
            ambiguous=measure.ambiguous,
        )


def _body(table: Table) -> list[Cell]:
    """The cells under or beside a header that head nothing themselves: `Aged 21 to 64` counts nothing."""
    heads = {(cell.row, cell.row_headers[-1]) for cell in table.cells if cell.row_headers}
    return [
        cell
        for cell in table.cells
        if not cell.header
        and (cell.column_headers or cell.row_headers)
        and (cell.row_headers or (cell.row, cell.text) not in heads)
    ]


def _conflict(first: Parts, second: Parts) -> bool:
    """Whether both name a year (month, quarter), and different ones."""
    for kind in "ymQHd":
        mine = {part for part in first if part[0] == kind}
        theirs = {part for part in second if part[0] == kind}
        if mine and theirs and mine.isdisjoint(theirs):
            return True
    return False


def _scaled(quantity: Quantity, scope: _Scope) -> Quantity:
    """The quantity with what its surroundings add to what it prints."""
    if quantity.kind not in _SCALED_KINDS or isinstance(quantity.value, str):
        return quantity
    if scope.percent and quantity.kind == "number":
        return replace(quantity, kind="percent")
    basis = quantity.basis or ("per_share" if scope.per_share else "")
    currency = quantity.currency or (scope.currency if not quantity.unit else "")
    if quantity.currency.endswith("?") and scope.currency and not scope.currency.endswith("?"):
        currency = scope.currency if quantity.currency[0] in "$¥" else quantity.currency
    unit = quantity.unit or ("" if quantity.currency else scope.unit)
    if unit and not quantity.currency:
        currency = "" if not scope.currency or scope.unit else currency
    kind: Kind = "money" if quantity.currency else quantity.kind
    told = replace(quantity, kind=kind, currency=currency, unit=unit, basis=basis)
    return scaled_by(told, scope.scale) if scope.scale and not quantity.scale else told
