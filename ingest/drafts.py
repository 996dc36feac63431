"""What a page holds before the whole document is known: elements without text, order or section."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.printed import PrintedLine
from kb_qa.elements import ElementType, Measure, Origin
from kb_qa.geometry import BBox, Page, union_of


@dataclass(frozen=True, slots=True)
class DraftCell:
    """A cell of a table that was found on a page, with the printed lines inside it."""

    row: int
    column: int
    row_span: int
    column_span: int
    bbox: BBox
    lines: tuple[PrintedLine, ...] = ()

    @property
    def text(self) -> str:
        """Only for recognising headers, captions and scales; the element's text is made later."""
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class DraftNote:
    """A footnote below a table, on `page`."""

    page: int
    lines: tuple[PrintedLine, ...]


@dataclass(frozen=True, slots=True)
class DraftTable:
    """Cells in row order. `headers` are runs of header rows as [start, stop): at the top, and where a new part begins.

    `caption` and `notes` stand around the table; `stated` is what is said there of the scale of its figures, nearest
    first. `page_starts` are the rows with which a later page begins, and that page, where the table goes on there.
    """

    cells: tuple[DraftCell, ...]
    headers: tuple[tuple[int, int], ...]
    bbox: BBox
    caption: tuple[PrintedLine, ...] = ()
    notes: tuple[DraftNote, ...] = ()
    stated: tuple[Measure, ...] = ()
    page_starts: tuple[tuple[int, int], ...] = ()
    confidence: float | None = None

    @property
    def caption_text(self) -> str:
        """Only for recognising what it is; the table's caption is made later."""
        return " ".join(line.text for line in self.caption)


@dataclass(frozen=True, slots=True)
class Draft:
    """One element to be. `lines` are in reading order; a picture's are its labels, a table's are in its cells."""

    category: str
    bbox: BBox
    lines: tuple[PrintedLine, ...] = ()
    element_type: ElementType = "text"
    table: DraftTable | None = None
    caption: tuple[PrintedLine, ...] = ()
    continuation: Continuation | None = None
    hidden: str = ""
    origin: Origin = "text-layer"

    @property
    def printed(self) -> tuple[PrintedLine, ...]:
        """Every line of the draft, wherever it stands."""
        cells = self.table.cells if self.table is not None else ()
        return (*self.caption, *self.lines, *(line for cell in cells for line in cell.lines))

    @property
    def text(self) -> str:
        """Only for recognising what it is; the element's text is made later."""
        return " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        return max((line.size for line in self.lines), default=0.0)

    @property
    def bold(self) -> bool:
        return bool(self.lines) and all(word.bold for line in self.lines for word in line.words)


@dataclass(frozen=True, slots=True)
class Continuation:
    """The rest of a paragraph or of a table, on a later page; a table's lines only: the first part has its cells."""

    page: int
    draft: Draft


@dataclass(frozen=True, slots=True)
class PageDraft:
    """A page and its drafts in reading order. `flags` are facts for a reader of the whole document."""

    page: Page
    drafts: tuple[Draft, ...] = ()
    flags: tuple[str, ...] = ()


def bbox_of(lines: Iterable[PrintedLine]) -> BBox:
    box = union_of(line.bbox for line in lines)
    if box is None:
        raise ValueError("a draft needs a line")
    return box


def text_draft(
    category: str, lines: Sequence[PrintedLine], *, hidden: str = "", origin: Origin = "text-layer"
) -> Draft:
    """A draft of at least one line; its box is that of the lines."""
    return Draft(category=category, bbox=bbox_of(lines), lines=tuple(lines), hidden=hidden, origin=origin)
