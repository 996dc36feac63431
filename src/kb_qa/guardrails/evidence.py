"""Evidence: what a cited block says, with the headers and headings that give its figures their meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from kb_qa.answers import Support
from kb_qa.elements import Block, Cell, Chunk, Element, Table
from kb_qa.geometry import Region
from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.headers import NOTHING, Scope, is_unit_line, scope_of, table_scope
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.locales import locale_of
from kb_qa.guardrails.quantities import Quantity

# How `Block.labelled` joins the cells of a row, and a cell to its column header.
_CELLS, _HEADER = " | ", "："


@dataclass(frozen=True, slots=True)
class Fact:
    """A quantity that a source prints. `text` is what it was read from; `scope` is what its own cell adds to it."""

    quantity: Quantity
    text: str
    scope: Scope = NOTHING


@dataclass(frozen=True, slots=True)
class Evidence:
    """A cited block. `text` is as printed, `labelled` has each cell's column header before it.

    `context` (section path, caption, header row, label) names periods and units, and supports no other figure.
    `locale` is the document's, empty where unknown: it decides what `1.234` means. `confidence` is that of the
    recognition (0..1), None where the text was not recognised but printed.
    """

    element_id: str
    document_id: str
    text: str
    labelled: str = ""
    context: str = ""
    regions: tuple[Region, ...] = ()
    locale: str = ""
    confidence: float | None = None

    @property
    def said(self) -> str:
        """Everything the block and its headers say."""
        return "\n".join(part for part in (self.text, self.labelled, self.context) if part)

    def facts(self) -> tuple[Fact, ...]:
        """The quantities printed in the block."""
        return _facts(self.text, self.labelled, self.context, self._separators())

    def periods(self) -> tuple[Quantity, ...]:
        """The quantities of the block, its headers and headings: what a period may be named by."""
        return (*(fact.quantity for fact in self.facts()), *_lexed(self.context, self._separators()))

    def element(self, row: int) -> Element:
        """The block as an element whose facts have labels: a labelled row is a table of one row, number `row`."""
        element = Element(
            id=self.element_id,
            document_id=self.document_id,
            order=row,
            element_type="table" if self.labelled else "text",
            category="Table" if self.labelled else "NarrativeText",
            text=self.text,
            regions=self.regions,
            confidence=self.confidence,
        )
        return replace(element, table=_row_table(self.labelled, self.context, row)) if self.labelled else element

    def support(self, printed: str) -> Support:
        region = self.regions[0] if self.regions else None
        return Support(
            element_id=self.element_id,
            document_id=self.document_id,
            page=region.page if region else None,
            bbox=region.bbox if region else None,
            printed=printed,
        )

    def _separators(self) -> str:
        return self.locale or _locale_of(self.said)


def evidence_of(chunk: Chunk, block: Block, *, label: str = "", locale: str = "") -> Evidence:
    """The evidence of one block of a chunk; `label` is the material's label, `locale` the document's where stored."""
    return Evidence(
        element_id=block.element_id,
        document_id=chunk.document_id,
        text=block.text,
        labelled=block.labelled if block.labelled != block.text else "",
        context="\n".join(part for part in (" > ".join(chunk.section), chunk.prefix, label) if part),
        regions=block.regions,
        locale=locale,
        confidence=chunk.confidence,
    )


def is_printed(phrase: str, text: str) -> bool:
    """Whether `phrase` stands in `text` as a whole token, spaces, hyphens and letter case aside: `SKU 48213`.

    `A32` does not stand in `A320`, nor `section 4.2` in `section 4.2.1`.
    """
    characters = re.sub(r"[\s\u00a0–-]", "", normalise(phrase).text)
    if not characters:
        return False
    pattern = r"[\s\u00a0–-]{0,3}".join(re.escape(character) for character in characters)
    edged = rf"(?ai)(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9]|[.,]\d)"
    return re.search(edged, normalise(text).text) is not None


@lru_cache(maxsize=4096)
def _lexed(text: str, locale: str) -> tuple[Quantity, ...]:
    return lex(text, locale=locale)


@lru_cache(maxsize=4096)
def _locale_of(text: str) -> str:
    return locale_of(text)


@lru_cache(maxsize=4096)
def _facts(text: str, labelled: str, context: str, locale: str) -> tuple[Fact, ...]:
    printed = [Fact(quantity, text) for quantity in _lexed(text, locale)]
    if not labelled:
        return tuple(printed)
    cells = tuple(_cell_facts(labelled, context, locale))
    # The labelled row prints the same numbers, and knows under which header.
    known = {fact.quantity.raw for fact in cells}
    return (*(fact for fact in printed if fact.quantity.kind != "number" or fact.quantity.raw not in known), *cells)


def _cell_facts(labelled: str, context: str, locale: str) -> Iterator[Fact]:
    """The figures of each cell, with the unit that its own header, or a line for the whole table, names."""
    parts = labelled.split(_CELLS)
    cells = [_cell(part) for part in parts]
    headers = {header for header, _ in cells if header}
    # The header row in the context names the units of the other columns too.
    lines = [line for line in context.splitlines() if _CELLS not in line and line not in headers and not _is_path(line)]
    unit_line = ""
    if len(parts) > 1 and (parts[-1] in lines or is_unit_line(parts[-1])):
        unit_line = parts[-1]
        yield from (Fact(quantity, unit_line) for quantity in _lexed(unit_line, locale))
        cells.pop()
    table = table_scope(lines, unit_line)
    label = cells[0][1] if cells and not any(each.role == "figure" for each in _lexed(cells[0][1], locale)) else ""
    for header, cell in cells:
        yield from (Fact(quantity, header) for quantity in _lexed(header, locale))
        scope = scope_of(header, label, table)
        printed = f"{_HEADER}{cell}"  # behind its header `1.` is a number, and no list number
        yield from (Fact(quantity, printed, scope) for quantity in _lexed(printed, locale))


def _row_table(labelled: str, context: str, row: int) -> Table:
    """The cells of a labelled row under their headers; what stands around the table is its caption."""
    parts = [_cell(part) for part in labelled.split(_CELLS)]
    label = parts[0][1]
    cells = [Cell(row, 0, 1, 1, label, None, None, header=True)]
    for column, (header, text) in enumerate(parts[1:], 1):
        if header:
            cells.append(Cell(row, column, 1, 1, text, None, None, row_headers=(label,), column_headers=(header,)))
    lines = [line for line in context.splitlines() if _CELLS not in line]
    lines += [text for header, text in parts[1:] if not header]
    return Table(cells=tuple(cells), caption="\n".join(lines))


def _is_path(line: str) -> bool:
    return " > " in line


def _cell(part: str) -> tuple[str, str]:
    header, colon, cell = part.partition(_HEADER)
    return (header.strip(), cell.strip()) if colon else ("", part.strip())
