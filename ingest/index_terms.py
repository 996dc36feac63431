"""A chunk's terms for the lexical index, by where they stand: its text, what stands above it, a table's labels."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kb_qa.elements import Block, Cell, Chunk, Element, Table
from kb_qa.figure_terms import AMOUNTS, figure_terms, quantity_terms
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quantities import PERIOD_KINDS, scaled_by
from kb_qa.terms import terms


@dataclass(frozen=True, slots=True)
class IndexTerms:
    """In order, repeats included; `body` ends with the figures in normal form, so that words stay side by side."""

    body: Sequence[str]
    titles: Sequence[str]
    labels: Sequence[str]


@dataclass(frozen=True, slots=True)
class TermMaker:
    """Over the elements of one document, by id; `title` and `locale` are the document's."""

    elements: Mapping[str, Element]
    title: str = ""
    locale: str = ""
    _sorted: dict[str, Sequence[Cell]] = field(default_factory=dict)  # a table's cells by where they start

    def terms_of(self, part: Chunk) -> IndexTerms:
        words = terms("\n".join(block.text for block in part.blocks))
        known = frozenset(words)
        figures = [term for term in self._figures(part) if term not in known]
        tables = {id(table): table for block in part.blocks if (table := self._table(block)) is not None}
        captions = [table.caption for table in tables.values()]
        units = [table.scale_source.text for table in tables.values() if table.scale_source is not None]
        labels = [label for block in part.blocks for label in self._labels(block)]
        return IndexTerms(
            body=[*words, *figures],
            titles=terms("\n".join(dict.fromkeys([self.title, *part.section, *captions, part.context]))),
            labels=terms("\n".join(dict.fromkeys([*labels, *units]))),
        )

    def _figures(self, part: Chunk) -> Iterator[str]:
        for block in part.blocks:
            table = self._table(block)
            if table is None:
                yield from figure_terms(block.text, locale=self.locale)
            else:
                for cell in self._cells(block):
                    yield from self._cell_figures(cell, table)
        for quantity in lex(part.prefix, locale=self.locale):
            if quantity.kind in PERIOD_KINDS:
                yield from quantity_terms(quantity)

    def _cell_figures(self, cell: Cell, table: Table) -> Iterator[str]:
        """As printed and in what the table counts in: `4,100` in a table in millions is `4100000000` as well."""
        measure = table.measure_of(cell)
        power = 0 if measure is None or measure.ambiguous else measure.scale
        for quantity in lex(cell.text, locale=self.locale):
            yield from quantity_terms(quantity)
            if power and not quantity.scaled and quantity.kind in AMOUNTS:
                yield from quantity_terms(scaled_by(quantity, power))

    def _labels(self, block: Block) -> Iterator[str]:
        """The headers of a table's row, and its own label."""
        for cell in self._cells(block):
            yield from cell.column_headers
            yield from cell.row_headers
            if cell.header or not cell.row_headers:
                yield cell.text

    def _table(self, block: Block) -> Table | None:
        element = self.elements.get(block.element_id)
        return None if element is None else element.table

    def _cells(self, block: Block) -> Iterator[Cell]:
        """Those that hold something, of a row."""
        table = self._table(block)
        if table is None:
            return
        if block.element_id not in self._sorted:
            self._sorted[block.element_id] = sorted(table.cells, key=lambda cell: cell.start)
        cells = self._sorted[block.element_id]
        for place in range(bisect_left(cells, block.start, key=lambda cell: cell.start), len(cells)):
            if cells[place].end > block.end:
                return
            if cells[place].text:
                yield cells[place]
