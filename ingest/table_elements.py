"""The text of a table element and its `Table`: one line per row, every cell with its words and its header paths."""

from __future__ import annotations

from dataclasses import replace

from ingest.drafts import DraftCell, DraftTable, bbox_of
from ingest.reading_text import Vocabulary, build_text
from ingest.row_groups import row_groups
from ingest.table_headers import column_path, count_stub_columns, extent, in_blocks, row_path, slots_of
from ingest.table_measures import with_measures
from kb_qa.elements import Cell, Table, Word
from kb_qa.geometry import BBox, Region

SEPARATOR = " | "

Texts = dict[tuple[int, int], str]


def build_table(draft: DraftTable, page: int, vocabulary: Vocabulary) -> tuple[Table, str, list[Word]]:
    """The table, its element's text and the words of that text. A spanned cell's text stands once, where it starts."""
    text, words, ranges = _rows_of_text(draft, page, vocabulary)
    texts = {place: text[start:end] for place, (start, end) in ranges.items()}
    slots = slots_of(draft.cells)
    stub = count_stub_columns(draft.cells, draft.headers)
    groups = row_groups(slots, extent(draft.cells), draft.headers, texts)
    cells = []
    for cell in draft.cells:
        start, end = ranges[cell.row, cell.column]
        header = in_blocks(cell.row, draft.headers)
        cells.append(
            Cell(
                row=cell.row,
                column=cell.column,
                row_span=cell.row_span,
                column_span=cell.column_span,
                text=text[start:end],
                page=page_of_row(draft, cell.row, page),
                bbox=_holding_its_print(cell).rounded(),
                row_headers=() if header else row_path(slots, cell, stub, groups, texts),
                column_headers=column_path(slots, cell, draft.headers, texts),
                start=start,
                end=end,
                header=header,
            )
        )
    notes = [(note, build_text(note.lines, note.page, vocabulary)[0]) for note in draft.notes]
    table = Table(
        cells=tuple(cells),
        caption=build_text(draft.caption, page, vocabulary)[0],
        notes=tuple(note_text for _, note_text in notes),
        note_regions=tuple(Region(note.page, bbox_of(note.lines).rounded()) for note, _ in notes),
        confidence=draft.confidence,
    )
    return with_measures(table, draft.stated), text, words


def _holding_its_print(cell: DraftCell) -> BBox:
    """The cell's box, as high as its lines are: where a grid was guessed, a rule may run through what is printed."""
    if not cell.lines:
        return cell.bbox
    printed = bbox_of(cell.lines)
    return replace(cell.bbox, y0=min(cell.bbox.y0, printed.y0), y1=max(cell.bbox.y1, printed.y1))


def page_of_row(draft: DraftTable, row: int, page: int) -> int:
    """The page on which a row stands, in a table that begins on `page`."""
    return max((later for start, later in draft.page_starts if start <= row), default=page)


def _rows_of_text(
    draft: DraftTable, page: int, vocabulary: Vocabulary
) -> tuple[str, list[Word], dict[tuple[int, int], tuple[int, int]]]:
    text = ""
    words: list[Word] = []
    ranges: dict[tuple[int, int], tuple[int, int]] = {}
    previous: DraftCell | None = None
    for cell in draft.cells:
        if previous is not None:
            text += SEPARATOR if cell.row == previous.row else "\n"
        cell_text, cell_words = build_text(cell.lines, page_of_row(draft, cell.row, page), vocabulary, offset=len(text))
        ranges[cell.row, cell.column] = (len(text), len(text) + len(cell_text))
        text += cell_text
        words.extend(cell_words)
        previous = cell
    return text, words, ranges
