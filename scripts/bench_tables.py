"""Detection, structure and cell text of tables against annotated ones, ours beside PyMuPDF's in one run.

    python scripts/bench_tables.py FOLDER [--files N] [--workers N]

FOLDER holds `NAME.pdf` with `NAME.pdf.tables.json` (ICDAR 2013; pages from 0, boxes of the printed text). A table on
two pages counts once a page. Structure: relations between neighbouring filled cells (text, text, direction).
Blanks are skipped. Cell text: of cells whose printed boxes overlap by half, exact but for white space and ligatures.
"""

import argparse
import itertools
import json
import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pymupdf
import pymupdf.layout

from ingest.limits import Limits
from ingest.pdf import parse_pdf
from kb_qa.geometry import BBox, union_of

SAME = 0.5  # intersection over union from which two boxes are one thing
Relations = Counter[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class GridCell:
    """A filled cell; rows and columns as [first, last]. `ink` is the box of its printed text."""

    text: str
    ink: BBox
    rows: tuple[int, int]
    columns: tuple[int, int]


@dataclass(frozen=True, slots=True)
class PageTable:
    """The part of a table on one page. `grids` are several where annotators cut a page's part in pieces."""

    page: int
    bbox: BBox
    grids: tuple[tuple[GridCell, ...], ...]


@dataclass(frozen=True, slots=True)
class FileScore:
    """Counts of one file: tables, relations and cells, each as (right, found, wanted)."""

    tables: tuple[int, int, int]
    relations: tuple[int, int, int]
    cells: tuple[int, int, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=None, help="only the first N files")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.glob("*.pdf"))[: arguments.files]
    with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn")) as pool:
        ours, theirs = zip(*pool.map(both, files), strict=True)
    count = sum(score.tables[2] for score in ours)
    print(f"n = {len(files)} files, {count} tables (one page's part each)\n")
    print(f"{'':34}{'kb-qa':<30}{f'PyMuPDF {pymupdf.VersionBind} find_tables':<30}")
    for name, line in LINES.items():
        print(f"{name:34}{line(ours):<30}{line(theirs):<30}")


def both(file: Path) -> tuple[FileScore, FileScore]:
    """Our score and PyMuPDF's."""
    wanted = annotated(file.with_name(f"{file.name}.tables.json"))
    return scored(wanted, parsed(file)), scored(wanted, found_by_pymupdf(file))


def annotated(path: Path) -> list[PageTable]:
    tables = []
    for table in json.loads(path.read_text(encoding="utf-8"))["tables"]:
        for page in sorted({region["page"] for region in table["regions"]}):
            grids = tuple(
                tuple(
                    GridCell(
                        cell["text"], BBox(*cell["bbox"]), (cell["row0"], cell["row1"]), (cell["col0"], cell["col1"])
                    )
                    for cell in region["cells"]
                    if cell["text"].strip()
                )
                for region in table["regions"]
                if region["page"] == page
            )
            tables.append(PageTable(page, frame_of(cell.ink for grid in grids for cell in grid), grids))
    return tables


def frame_of(boxes: Iterable[BBox]) -> BBox:
    return union_of(boxes) or BBox(0, 0, 0, 0)


def parsed(path: Path) -> list[PageTable]:
    tables = []
    for element in parse_pdf(path, "bench", limits=Limits()).elements:
        for region in element.regions if element.table is not None else ():
            cells = []
            for cell in element.table.cells:
                words = [word for word in element.words if cell.start <= word.start and word.end <= cell.end]
                if words and cell.page == region.page:
                    rows = (cell.row, cell.row + cell.row_span - 1)
                    columns = (cell.column, cell.column + cell.column_span - 1)
                    cells.append(GridCell(cell.text, frame_of(word.bbox for word in words), rows, columns))
            tables.append(PageTable(region.page - 1, frame_of(cell.ink for cell in cells), (tuple(cells),)))
    return tables


def found_by_pymupdf(path: Path) -> list[PageTable]:
    pymupdf.layout.activate()
    tables = []
    with pymupdf.open(path) as document:
        for page in document:
            words = [(BBox(*word[:4]), word[4]) for word in page.get_text("words")]
            for table in page.find_tables().tables:
                cells = pymupdf_cells(table, words)
                tables.append(PageTable(page.number, BBox(*table.bbox), (cells,)))
    return tables


def pymupdf_cells(table: pymupdf.table.Table, words: Sequence[tuple[BBox, str]]) -> tuple[GridCell, ...]:
    """The cells with PyMuPDF's own text; a cell reaches over the places right of it and below that are None."""
    boxes = [row.cells for row in table.rows]
    cells = []
    for row, texts in enumerate(table.extract()):
        for column, text in enumerate(texts):
            if boxes[row][column] is None or not (text or "").strip():
                continue
            box = BBox(*boxes[row][column])
            ink = union_of(word for word, _ in words if box.contains_point(*word.center)) or box
            rows, columns = (row, reach(boxes, box, row, column)), (column, across(boxes[row], box, column))
            cells.append(GridCell(text, ink, rows, columns))
    return tuple(cells)


def reach(boxes: Sequence[Sequence[tuple[float, ...] | None]], box: BBox, row: int, column: int) -> int:
    last = row
    while (
        last + 1 < len(boxes)
        and boxes[last + 1][column] is None
        and any(other is not None and other[1] < box.y1 - 1 for other in boxes[last + 1])
    ):
        last += 1
    return last


def across(row: Sequence[tuple[float, ...] | None], box: BBox, column: int) -> int:
    last = column
    following = next((other[0] for other in row[column + 1 :] if other is not None), math.inf)
    while last + 1 < len(row) and row[last + 1] is None and box.x1 <= following + 1:
        last += 1
    return last


def scored(wanted: Sequence[PageTable], found: Sequence[PageTable]) -> FileScore:
    """Each annotated table is compared with the one found table that overlaps it most."""
    pairs = sorted(
        (
            (-overlap(one.bbox, other.bbox), first, second)
            for first, one in enumerate(wanted)
            for second, other in enumerate(found)
            if one.page == other.page and overlap(one.bbox, other.bbox) > 0
        )
    )
    partner: dict[int, int] = {}
    for _, first, second in pairs:
        if first not in partner and second not in partner.values():
            partner[first] = second
    right = sum(overlap(wanted[one].bbox, found[other].bbox) >= SAME for one, other in partner.items())
    shared, relations_found, relations_wanted, exact, matched, cells = 0, 0, 0, 0, 0, 0
    for index, table in enumerate(wanted):
        mine = found[partner[index]] if index in partner else PageTable(table.page, table.bbox, ((),))
        expected, got = relations(table.grids), relations(mine.grids)
        shared += (expected & got).total()
        relations_wanted += expected.total()
        relations_found += got.total()
        gold = [cell for grid in table.grids for cell in grid]
        cells += len(gold)
        for cell, other in same_cells(gold, [cell for grid in mine.grids for cell in grid]):
            matched += 1
            exact += bare(cell.text) == bare(other.text)
    return FileScore(
        (right, len(found), len(wanted)), (shared, relations_found, relations_wanted), (exact, matched, cells)
    )


def overlap(one: BBox, other: BBox) -> float:
    """Intersection over union."""
    shared = one.intersection(other)
    return shared.area / (one.area + other.area - shared.area) if shared is not None else 0.0


def same_cells(wanted: Sequence[GridCell], found: Sequence[GridCell]) -> list[tuple[GridCell, GridCell]]:
    pairs = []
    for cell in wanted:
        best = max(found, key=lambda other: overlap(cell.ink, other.ink), default=None)
        if best is not None and overlap(cell.ink, best.ink) >= SAME:
            pairs.append((cell, best))
    return pairs


def relations(grids: Sequence[Sequence[GridCell]]) -> Relations:
    """Each filled cell with the next filled one to its right, and below, in each row and column it takes."""
    result: Relations = Counter()
    for grid in grids:
        slots = {
            (row, column): index
            for index, cell in enumerate(grid)
            for row in range(cell.rows[0], cell.rows[1] + 1)
            for column in range(cell.columns[0], cell.columns[1] + 1)
        }
        lines = [("right", sorted(slots))]
        lines.append(("down", sorted(slots, key=lambda place: (place[1], place[0]))))
        pairs: set[tuple[int, int, str]] = set()
        for direction, places in lines:
            axis = 0 if direction == "right" else 1
            for one, other in itertools.pairwise(places):
                if one[axis] == other[axis] and slots[one] != slots[other]:
                    pairs.add((slots[one], slots[other], direction))
        result.update((bare(grid[one].text), bare(grid[other].text), direction) for one, other, direction in pairs)
    return result


def bare(text: str) -> str:
    """Without white space, which annotators left out at will, and with ligatures in their letters: they typed those."""
    return re.sub("[\ufb00-\ufb06]", lambda match: unicodedata.normalize("NFKC", match.group()), "".join(text.split()))


def share(part: Callable[[FileScore], tuple[int, int]]) -> Callable[[Sequence[FileScore]], str]:
    """A rate over all files with its 95 % interval, by drawing files anew: what is in one file goes together."""

    def line(scores: Sequence[FileScore]) -> str:
        return with_interval(scores, lambda drawn: ratio(*map(sum, zip(*map(part, drawn), strict=True))))

    return line


def f1(scores: Sequence[FileScore]) -> float:
    shared, found, wanted = map(sum, zip(*(score.relations for score in scores), strict=True))
    return ratio(2 * shared, found + wanted)


def ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def with_interval(scores: Sequence[FileScore], rate: Callable[[Sequence[FileScore]], float]) -> str:
    drawn = random.Random(0)
    rates = sorted(rate(drawn.choices(scores, k=len(scores))) for _ in range(1000))
    return f"{rate(scores):.3f} [{rates[25]:.3f}, {rates[974]:.3f}]"


def f1_line(scores: Sequence[FileScore]) -> str:
    n = sum(score.relations[2] for score in scores)
    return f"{with_interval(scores, f1)} n={n}"


def counted(part: Callable[[FileScore], tuple[int, int]]) -> Callable[[Sequence[FileScore]], str]:
    return lambda scores: f"{share(part)(scores)} n={sum(part(score)[1] for score in scores)}"


LINES: dict[str, Callable[[Sequence[FileScore]], str]] = {
    "detection recall, IoU >= .5": counted(lambda score: (score.tables[0], score.tables[2])),
    "detection precision": counted(lambda score: (score.tables[0], score.tables[1])),
    "structure, adjacency F1": f1_line,
    "  relations, recall": counted(lambda score: (score.relations[0], score.relations[2])),
    "  relations, precision": counted(lambda score: (score.relations[0], score.relations[1])),
    "cell text exact, of matched cells": counted(lambda score: (score.cells[0], score.cells[1])),
    "cells matched by box": counted(lambda score: (score.cells[1], score.cells[2])),
}

if __name__ == "__main__":
    main()
