"""What documents are made of: words, elements, tables, blocks, chunks. The glossary is in ARCHITECTURE.md."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from kb_qa.geometry import BBox, Page, Region, merge_regions

ElementType = Literal["text", "table", "image"]
Origin = Literal["text-layer", "ocr", "caption", "parser"]
# Where the words stand that say what a figure is counted in, nearest first.
MeasureScope = Literal["cell", "column", "row", "section", "caption", "page", "document"]

ELEMENT_TYPES: tuple[ElementType, ...] = ("text", "table", "image")

# Categories that are on the page but not part of what it says; they never reach a chunk.
FURNITURE = frozenset({"Header", "Footer", "PageNumber"})


@dataclass(frozen=True, slots=True)
class Word:
    """Printed glyphs and the range `[start, end)` of the element's text that they stand for.

    In Chinese, Japanese and Korean a word is one character. `invest-` + `ment` are two words that share one range
    of the reading text `investment`, cut where the line ends. `confidence` is the OCR's, 0..1; None for a text layer.
    """

    page: int
    bbox: BBox
    text: str
    start: int
    end: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell, header cells included. `text` is the printed string, byte for byte.

    `row` and `column` count from 0. `row_headers` and `column_headers` are full paths, spanning labels repeated.
    `start` and `end` are the cell's range in the element's text. For sheets, `address` is the cell's address (`B7`).
    `measure` is the place in `Table.measures` of what its figures are counted in; None where nothing says it.
    """

    row: int
    column: int
    row_span: int
    column_span: int
    text: str
    page: int | None
    bbox: BBox | None
    row_headers: tuple[str, ...] = ()
    column_headers: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    header: bool = False
    address: str = ""
    measure: int | None = None


@dataclass(frozen=True, slots=True)
class ScaleSource:
    """The words that a scale, unit or currency was read from, and where they stand."""

    text: str
    region: Region | None


@dataclass(frozen=True, slots=True)
class Measure:
    """What figures are counted in: a power of ten and an ISO currency or another unit ("" where none is named).

    `source` are the words that say so, `unit_source` those that name the unit where these do not (`$` in a cell of the
    column). At scope `cell` the words are the cell's own: its text has the scale already. `ambiguous`: the words
    nearest to the figure state two different scales, and neither may be taken.
    """

    scale: int
    unit: str
    scope: MeasureScope
    source: ScaleSource
    unit_source: ScaleSource | None = None
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """`scale` is a power of ten (6 for millions) for the table at large; `scale_source`: the words it was read from.

    `notes` are the footnotes below it, `note_regions` where each stands. `measures` are what its cells refer to.
    `confidence` says how sure the grid is, 0..1; None where the file itself has the cells.
    """

    cells: tuple[Cell, ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    scale: int = 0
    unit: str = ""
    scale_source: ScaleSource | None = None
    note_regions: tuple[Region, ...] = ()
    measures: tuple[Measure, ...] = ()
    confidence: float | None = None

    def measure_of(self, cell: Cell) -> Measure | None:
        """What the figures in one of its cells are counted in; None where nothing says it, or the cell is exempt."""
        return None if cell.measure is None else self.measures[cell.measure]

    @property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """Cells by the row they start in, in column order; a row into which cells only span is empty."""
        count = max((cell.row + 1 for cell in self.cells), default=0)
        rows: list[list[Cell]] = [[] for _ in range(count)]
        for cell in self.cells:
            rows[cell.row].append(cell)
        return tuple(tuple(sorted(row, key=lambda cell: cell.column)) for row in rows)


@dataclass(frozen=True, slots=True)
class Element:
    """What a parser found. `text` is the reading text: line-end hyphens joined, one space between lines.

    A table's text has one line per row, cells joined by ` | `. `hidden` says why a reader cannot see the text
    (empty: it can be seen). `section` is the path of headings above the element, outermost first.
    Of origin `caption` is what the model `described_by` wrote of a picture: it has that picture's `order`, and stands
    behind it.
    """

    id: str
    document_id: str
    order: int
    element_type: ElementType
    category: str
    text: str
    regions: tuple[Region, ...] = ()
    section: tuple[str, ...] = ()
    origin: Origin = "text-layer"
    confidence: float | None = None
    words: tuple[Word, ...] = ()
    table: Table | None = None
    hidden: str = ""
    described_by: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What one parse of one document yields. `flags` are facts for a reader ("repaired", "page 3 unreadable").

    `rendering` is the PDF that the pages and boxes are those of, where the document itself has no pages. `dated` is the
    day that the document says of itself, `2024-03-31`, and `dated_by` where from; empty where it says none.
    """

    pages: tuple[Page, ...]
    elements: tuple[Element, ...]
    parser: str
    title: str = ""
    flags: tuple[str, ...] = ()
    rendering: bytes = b""
    dated: str = ""
    dated_by: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """The smallest citable unit: a sentence, a list item, a table row, a caption.

    `start` and `end` are its range in the text of element `element_id`; `text` is exactly that range. `labelled` is the
    same content with each table cell's column header before it, always joined by a full-width colon
    (`职级：P5 | 基本工资：22000`), for models and answers; for prose it equals `text`.
    """

    id: str
    element_id: str
    text: str
    start: int
    end: int
    regions: tuple[Region, ...] = ()
    labelled: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is embedded and retrieved: consecutive blocks of one section.

    `prefix` (section path, caption, header row) is embedded and indexed with the text, and never shown as a quotation.
    `context` (the headings of a table's groups that stand in an earlier chunk, the sentence that leads to the table) is
    there to be found by, and read by nobody: no model, no guard.
    """

    id: str
    document_id: str
    version: int
    source: str
    ordinal: int
    blocks: tuple[Block, ...]
    element_type: ElementType
    category: str
    section: tuple[str, ...] = ()
    prefix: str = ""
    origin: Origin = "text-layer"
    confidence: float | None = None
    described_by: str = ""  # the model, where the origin is `caption`
    context: str = ""

    @property
    def shown_as(self) -> str:
        """What a reader is told that it is: its type, or `caption` for what a model wrote of a picture."""
        return "caption" if self.origin == "caption" else self.element_type

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks)

    @property
    def labelled_text(self) -> str:
        """What models are told of it: the prefix, and every block behind its headers."""
        body = "\n".join(block.labelled or block.text for block in self.blocks)
        return f"{self.prefix}\n{body}" if self.prefix else body

    @property
    def embedded_text(self) -> str:
        """What the embedder and the lexical index see."""
        body = "\n".join(block.text for block in self.blocks if block.text not in self.section)
        return "\n".join(part for part in (self.prefix, self.context, body) if part)

    @property
    def regions(self) -> tuple[Region, ...]:
        return merge_regions(region for block in self.blocks for region in block.regions)

    @property
    def page(self) -> int | None:
        regions = self.regions
        return regions[0].page if regions else None


def content_id(*parts: object) -> str:
    """A stable id of 32 hex digits from the parts, whatever they are; parts cannot run into each other."""
    digest = hashlib.sha256()
    for part in parts:
        data = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:32]
