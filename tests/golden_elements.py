"""What the parser makes of each sample, in the form in which it is kept in tests/golden/elements/.

A line is an element, in reading order: type, category, section, regions in whole points, text, how many words have a
box; of a table its caption, scale and unit, and of each cell its place, spans, text and the paths of its headers.
"""

from __future__ import annotations

import contextlib
import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from ingest.kinds import kind_of
from ingest.limits import Limits
from ingest.parse import parse_document
from kb_qa.elements import Cell, Element, ParsedDocument
from tests.golden_boxes import ROOT, SAMPLES

GOLDEN_FOLDER = ROOT / "tests" / "golden" / "elements"


@functools.cache
def parsed_sample(name: str) -> ParsedDocument:
    path = SAMPLES / name
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):  # where the language model is linked
        return parse_document(path, "document", kind_of(path), limits=Limits())


def golden_path(name: str) -> Path:
    return GOLDEN_FOLDER / f"{name}.jsonl"


def golden_text(parsed: ParsedDocument) -> str:
    return "".join(f"{json.dumps(line_of(element), ensure_ascii=False)}\n" for element in parsed.elements)


def golden_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in golden_path(name).read_text(encoding="utf-8").splitlines()]


def line_of(element: Element) -> dict[str, Any]:
    line: dict[str, Any] = {
        "type": element.element_type,
        "category": element.category,
        "section": list(element.section),
        "regions": [
            [region.page, *(round(value) for value in region.bbox.as_tuple())] if region.bbox else [region.page]
            for region in element.regions
        ],
        "text": element.text,
        "words": len(element.words),
    }
    if element.hidden:
        line["hidden"] = element.hidden
    if element.table is not None:
        table = element.table
        line["table"] = {"caption": table.caption, "scale": table.scale, "unit": table.unit}
        line["cells"] = [_cell(cell) for cell in table.cells]
    return line


def _cell(cell: Cell) -> list[Any]:
    place = f"{cell.row},{cell.column}"
    if (cell.row_span, cell.column_span) != (1, 1):
        place += f"+{cell.row_span},{cell.column_span}"
    return [place, cell.text, *([list(cell.row_headers), list(cell.column_headers)] if not cell.header else [])]
