"""Workbooks and delimited text, cell by cell.

Workbooks are read through openpyxl and not through unstructured's partition_xlsx: that one flattens a sheet to HTML,
without the cells' addresses, merged ranges, hidden sheets and number formats (0.125 for what is shown as 12.5%).
"""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.embedded_pictures import EmbeddedPictures
from ingest.grids import MAX_CELLS, GridCell, lay_out, with_text
from ingest.limits import Limits
from ingest.number_formats import displayed
from ingest.passages import Passage
from ingest.sheet_areas import areas, split_titles
from kb_qa.errors import LimitExceededError

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook  # type: ignore[import-untyped]  # ships no types
    from openpyxl.worksheet.worksheet import Worksheet  # type: ignore[import-untyped]

ROWS_PER_TABLE = 500  # a longer table becomes several elements, so that reading one figure never loads a whole sheet

# A formula that its writer stored no value for: `<c …><f>…</f></c>`, or with an empty `<v>`.
_VALUELESS = re.compile(rb"(?:</f>|<f[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")

_NAMED_DELIMITER = re.compile(r"sep=(.)\r?\n")  # a first line that spreadsheets write and read, and do not show


def workbook_passages(path: Path, limits: Limits) -> tuple[list[Passage], str, tuple[str, ...]]:
    """Passages, the workbook's title and flags. A sheet's name is the section of its tables."""
    import openpyxl  # type: ignore[import-untyped]

    with warnings.catch_warnings():
        # openpyxl warns of what it does not keep when saving (drawings, validations); nothing is saved here.
        warnings.simplefilter("ignore")
        with path.open("rb") as file:  # a path would be judged by its suffix, and a stored blob has none
            workbook = openpyxl.load_workbook(file, data_only=True)
    passages: list[Passage] = []
    flags: list[str] = []
    pictures = EmbeddedPictures(limits)
    for sheet in workbook.worksheets:
        passages += _sheet_passages(sheet, flags)
        passages += _picture_passages(sheet, pictures)
    if count := _valueless_formulas(path):
        flags.append(f"{count} formulas have no stored value; open and save the file in a spreadsheet")
    pictures.unread += max(_pictures(path) - len(pictures.known), 0)  # in groups and charts, or of other kinds
    return passages, _title(workbook), (*flags, *pictures.flags)


def _title(workbook: Workbook) -> str:
    return str(workbook.properties.title or "")


def _valueless_formulas(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("xl/worksheets/") and name.endswith(".xml")]
        return sum(len(_VALUELESS.findall(archive.read(name))) for name in names)


def _pictures(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        # A drawing in SVG has its pixels beside it.
        return sum(name.startswith("xl/media/") and not name.endswith(".svg") for name in archive.namelist())


def _sheet_passages(sheet: Worksheet, flags: list[str]) -> Iterator[Passage]:
    cells, left_out = _visible_cells(sheet)
    if left_out:
        flags.append(f"sheet {sheet.title!r}: {left_out} cells in hidden rows or columns left out")
    if not cells:
        return
    hidden = "" if sheet.sheet_state == "visible" else "the sheet is hidden"
    yield Passage("Title", sheet.title, depth=0, hidden=hidden)
    for block in areas(cells):
        yield from _table_passages(block, hidden)


def _picture_passages(sheet: Worksheet, pictures: EmbeddedPictures) -> Iterator[Passage]:
    """What stands in the pictures that lie on the sheet, from top to bottom, under its name."""
    hidden = "" if sheet.sheet_state == "visible" else "the sheet is hidden"
    placed = sorted(sheet._images, key=_place)
    found = [passage for image in placed for passage in pictures.passages(image._data(), hidden=hidden)]
    if found and not any(cell.value is not None for row in sheet.iter_rows() for cell in row):
        yield Passage("Title", sheet.title, depth=0, hidden=hidden)
    yield from found


def _place(image: Any) -> tuple[int, int]:
    """Row and column of the cell to which a picture is tied; the first for one that is tied to none."""
    corner = getattr(image.anchor, "_from", None)
    return (0, 0) if corner is None else (corner.row, corner.col)


def _visible_cells(sheet: Worksheet) -> tuple[list[GridCell], int]:
    """The cells with a value that are shown, and the count of those that are not."""
    spans = {(merged.min_row, merged.min_col): merged for merged in sheet.merged_cells.ranges}
    hidden_rows = {index for index, row in sheet.row_dimensions.items() if row.hidden}
    hidden_columns = _hidden_columns(sheet)
    cells: list[GridCell] = []
    left_out = 0
    for row in sheet.iter_rows():
        for cell in row:
            if cell.value is None:
                continue
            if cell.row in hidden_rows or cell.column in hidden_columns:
                left_out += 1
                continue
            text = displayed(cell.value, cell.number_format)
            if not text:
                continue
            merged = spans.get((cell.row, cell.column))
            cells.append(
                GridCell(
                    row=cell.row - 1,
                    column=cell.column - 1,
                    text=text,
                    row_span=merged.size["rows"] if merged else 1,
                    column_span=merged.size["columns"] if merged else 1,
                    address=cell.coordinate,
                )
            )
    return cells, left_out


def _hidden_columns(sheet: Worksheet) -> set[int]:
    """Neighbouring columns of one width share a dimension, stored at the first of them."""
    return {
        column
        for dimension in sheet.column_dimensions.values()
        if dimension.hidden and dimension.min and dimension.max
        for column in range(dimension.min, dimension.max + 1)
    }


def _table_passages(block: Sequence[GridCell], hidden: str = "") -> Iterator[Passage]:
    """A block as tables of at most ROWS_PER_TABLE rows, numbered from the block's own corner."""
    top = min(cell.row for cell in block)
    left = min(cell.column for cell in block)
    cells = [replace(cell, row=cell.row - top, column=cell.column - left) for cell in block]
    titles, cells = split_titles(cells)
    for title in titles:
        table, text = lay_out([title])
        yield Passage("Table", text, table=table, hidden=hidden)
    if not cells:
        return
    table, _ = lay_out(cells, caption=" ".join(title.text for title in titles))
    rows = table.rows
    for start in range(0, len(rows), ROWS_PER_TABLE):
        shown = rows[start : start + ROWS_PER_TABLE]
        part = tuple(replace(cell, row=cell.row - start) for row in shown for cell in row)
        if part:
            piece, text = with_text(replace(table, cells=part))
            yield Passage("Table", text, table=piece, hidden=hidden)


def delimited_passages(text: str, *, delimiter: str = "") -> list[Passage]:
    """Passages of CSV or TSV text; without a `delimiter` the likeliest of comma, semicolon, tab and bar.

    Read by the standard library and not through unstructured's partition_csv, which knows no cell addresses and
    replaces line breaks inside cells before the columns can be told.
    """
    from openpyxl.utils import get_column_letter  # type: ignore[import-untyped]

    csv.field_size_limit(16 * 1024 * 1024)
    cells: list[GridCell] = []
    named = _NAMED_DELIMITER.match(text)
    if named:
        delimiter, text = named.group(1), text[named.end() :]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or _delimiter(text))
    for row, values in enumerate(reader, 1 if named else 0):
        for column, value in enumerate(values):
            if value.strip():
                cells.append(GridCell(row, column, value, address=f"{get_column_letter(column + 1)}{row + 1}"))
        if len(cells) > MAX_CELLS:
            raise LimitExceededError(f"the table has more than {MAX_CELLS:,} cells; split the file")
    return [passage for block in areas(cells) for passage in _table_passages(block)]


def _delimiter(text: str) -> str:
    try:
        return csv.Sniffer().sniff(text[:65536], delimiters=",;\t|").delimiter
    except csv.Error:
        return ","
