"""What elements are, in what order, against gold of several kinds: `python scripts/bench_structure.py CORPUS`.

CORPUS holds `files/` and `gt/`. Read are: `*.olmbench.json` (texts that must be there, must not, come in an order,
cells of tables with what stands beside them), `*.layout.json` (regions that people drew, by type), LaTeX sources (the
order of what they print) and docling's JSON of Word and HTML files (headings, list items, tables). Headers, footers and
page numbers are no text, as in chunks. The baseline of the same run is PyMuPDF's plain text or blocks; files without
pages have none.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf
from rapidfuzz import fuzz

from ingest.document_reader import silence_mupdf
from ingest.limits import Limits
from ingest.parse import parse_document
from kb_qa.elements import FURNITURE, Cell, Element, Table
from kb_qa.evaluation.intervals import wilson
from kb_qa.geometry import BBox

LEAST_IOU = 0.5
CATEGORIES = {
    "text": {"NarrativeText", "UncategorizedText"},
    "title": {"Title"},
    "section_header": {"Title"},
    "list_item": {"ListItem"},
    "page_header": {"Header", "PageNumber"},
    "page_footer": {"Footer", "PageNumber"},
    "picture": {"Image"},
    "table": {"Table"},
    "caption": {"FigureCaption"},
    "footnote": {"Footnote"},
    "formula": {"Formula"},
    "code": {"CodeSnippet"},
}
SIDES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}  # rows and columns on
MUPDF_CATEGORIES = {0: "NarrativeText", 1: "Image"}


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of a document: its text, its tables, and boxes by page (from 0) with what they are."""

    text: str
    tables: tuple[Table, ...] = ()
    boxes: tuple[tuple[int, str, BBox], ...] = ()
    titles: tuple[str, ...] = ()
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a check passes on our reading and on the baseline."""

    name: str
    ours: bool
    baseline: bool


def our_reading(path: Path, kind: str) -> Reading:
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):  # where the language model is linked
        parsed = parse_document(path, "document", kind, limits=Limits())  # type: ignore[arg-type]  # of the literals
    shown = [element for element in parsed.elements if not element.hidden]
    return Reading(
        text="\n".join(element.text for element in shown if element.category not in FURNITURE),
        tables=tuple(element.table for element in shown if element.table is not None),
        boxes=tuple(_boxes(shown)),
        titles=tuple(element.text for element in shown if element.category == "Title"),
        items=tuple(element.text for element in shown if element.category == "ListItem"),
    )


def _boxes(elements: Sequence[Element]) -> Iterator[tuple[int, str, BBox]]:
    for element in elements:
        for region in element.regions:
            if region.bbox is not None:
                yield region.page - 1, element.category, region.bbox


def mupdf_reading(path: Path) -> Reading:
    with pymupdf.open(path) as document:
        text = "\n".join(page.get_text() for page in document)
        boxes = tuple(
            (page.number, MUPDF_CATEGORIES[block[6]], BBox(*(float(value) for value in block[:4])))
            for page in document
            for block in page.get_text("blocks")
        )
    return Reading(text, boxes=boxes)


# Texts that are there, are not, come in an order, stand in cells


def plain(text: str) -> str:
    """One form of letters, quotes and spaces."""
    folded = unicodedata.normalize("NFKC", text)
    for found, wanted in (("[‘’`´]+", "'"), ("''|[“”„]", '"'), ("[‐‑–—−]", "-"), (r"\s+", " ")):
        folded = re.sub(found, wanted, folded)
    return folded.strip()


def place_of(wanted: str, text: str, most_edits: int) -> int | None:
    """Where `text` (in plain form) has `wanted`, up to some edits; None where it has not."""
    wanted = plain(wanted)
    exact = text.find(wanted)
    if exact >= 0 or not most_edits:
        return exact if exact >= 0 else None
    found = fuzz.partial_ratio_alignment(wanted, text)
    good = found is not None and found.score >= 100 * (1 - most_edits / len(wanted))
    return found.dest_start if found is not None and good else None


def passes(test: dict[str, Any], reading: Reading) -> bool:
    text, edits = plain(reading.text), int(test.get("max_diffs", 0))
    match test["type"]:
        case "present":
            return place_of(test["text"], text, edits) is not None
        case "absent":
            part = text[-test["last_n"] :] if "last_n" in test else text
            return re.search(rf"(?<!\w){re.escape(plain(test['text']))}(?!\w)", part, re.IGNORECASE) is None
        case "order":
            before, after = (place_of(test[side], text, edits) for side in ("before", "after"))
            return before is not None and after is not None and before < after
        case "table":
            return any(_is_beside(cell, test, table) for table in reading.tables for cell in table.cells)
    raise ValueError(f"no such test: {test['type']!r}")


def _is_beside(cell: Cell, test: dict[str, Any], table: Table) -> bool:
    """Whether a cell has the wanted text and, where the test says so, its neighbours and headers."""
    if plain(test["cell"]) not in plain(cell.text):
        return False
    beside = all(
        any(plain(test[side]) in plain(other.text) for other in table.cells if _stands(other, cell, step))
        for side, step in SIDES.items()
        if side in test
    )
    paths = {"top_heading": cell.column_headers, "left_heading": cell.row_headers}
    return beside and all(plain(test[name]) in plain(" / ".join(path)) for name, path in paths.items() if name in test)


def _stands(other: Cell, cell: Cell, step: tuple[int, int]) -> bool:
    """Whether `other` is next to `cell`, so many rows and columns on."""
    down, right = step
    row = cell.row + cell.row_span if down > 0 else cell.row + down
    column = cell.column + cell.column_span if right > 0 else cell.column + right
    return row in _span(other.row, other.row_span) and column in _span(other.column, other.column_span)


def _span(start: int, length: int) -> range:
    return range(start, start + length)


def assertions(truth: Path, ours: Reading, baseline: Reading) -> Iterator[Outcome]:
    for test in json.loads(truth.read_text())["tests"]:
        yield Outcome(f"{test['type']} {test['id']}", passes(test, ours), passes(test, baseline))


# Regions that people drew


def regions(truth: Path, ours: Reading, baseline: Reading) -> Iterator[Outcome]:
    """Each drawn region: whether a box of the same type covers the same place."""
    for element in json.loads(truth.read_text())["elements"]:
        if element["label"] not in CATEGORIES:
            continue
        box = BBox(*(float(value) for value in element["bbox"]))
        hits = [
            any(
                page == element["page"] and category in CATEGORIES[element["label"]] and found.iou(box) >= LEAST_IOU
                for page, category, found in reading.boxes
            )
            for reading in (ours, baseline)
        ]
        yield Outcome(f"{element['label']} P{element['page'] + 1} {box.rounded(0).as_tuple()}", *hits)


# Sources


def latex_order(truth: Path, ours: Reading, baseline: Reading) -> Iterator[Outcome]:
    """What the source prints, piece after piece, stands in that order; each piece after the one before."""
    pieces = list(latex_pieces(truth.read_text()))
    for before, after in itertools.pairwise(pieces):
        test = {"type": "order", "before": before, "after": after}
        yield Outcome(f"order {before!r} {after!r}", passes(test, ours), passes(test, baseline))


# The first words of the paragraphs that \lipsum sets, from the package's text.
LIPSUM = (
    "Lorem ipsum dolor sit amet",
    "Nam dui ligula",
    "Nulla malesuada porttitor diam",
    "Quisque ullamcorper placerat ipsum",
    "Fusce mauris",
    "Suspendisse vel felis",
    "Sed commodo posuere pede",
    "Pellentesque habitant morbi tristique senectus et netus et malesuada fames ac turpis egestas. Donec odio elit",
    "Morbi luctus, wisi viverra faucibus pretium",
    "Suspendisse vitae elit",
)


def latex_pieces(source: str) -> Iterator[str]:
    """Titles, environments, paragraphs and cells of a simple LaTeX source, in the order of the source."""
    body = source.partition("\\begin{document}")[2]
    for line in body.splitlines():
        if numbers := re.search(r"\\lipsum\[(\d+)-(\d+)\]", line):
            yield from LIPSUM[int(numbers[1]) - 1 : int(numbers[2])]
        elif named := re.fullmatch(r"\s*\\(?:title|author|caption|section)\{(.*)\}\s*", line):
            yield named[1]
        elif "&" in line:
            text = re.sub(r"\\text\w+\{([^}]*)\}", r"\1", re.sub(r"\\textsuperscript\{[^}]*\}", "", line))
            yield text.partition("&")[0].strip()
        elif re.match(r"\s*[A-Z]", line):
            yield line.strip()


def unnumbered(text: str) -> str:
    return re.sub(r"^\d+[.)]\s*", "", text)


def docling_items(truth: Path, ours: Reading, baseline: Reading) -> Iterator[Outcome]:
    """Headings are titles, list items are items, tables have as many rows and columns; each once a text."""
    gold = json.loads(truth.read_text())
    kinds = {"title": ours.titles, "section_header": ours.titles, "list_item": ours.items}
    known = {
        kind: {form for text in texts for form in (plain(text), unnumbered(plain(text)))}
        for kind, texts in kinds.items()
    }
    seen: set[tuple[str, str]] = set()
    for text in gold["texts"]:
        label, wanted = text["label"], plain(text["text"])
        if text["content_layer"] != "body" or label not in kinds or not wanted or (label, wanted) in seen:
            continue
        seen.add((label, wanted))
        # The number of an enumerated item is beside its text there, and printed in it here.
        yield Outcome(f"{label} {wanted[:60]!r}", wanted in known[label], False)
    sizes = [(len(table.rows), max(cell.column + cell.column_span for cell in table.cells)) for table in ours.tables]
    for table in gold["tables"]:
        size = table["data"]["num_rows"], table["data"]["num_cols"]
        yield Outcome(f"table {size}", size in sizes, False)


Judge = Callable[[Path, Reading, Reading], Iterator[Outcome]]
GOLD: tuple[tuple[str, Judge, str], ...] = (
    (".olmbench.json", assertions, "pdf"),
    (".layout.json", regions, "pdf"),
    (".tex", latex_order, "pdf"),
    (".docx.json", docling_items, "docx"),
    (".html.json", docling_items, "html"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--only", default="", help="files whose name holds this")
    options = parser.parse_args()
    silence_mupdf()
    for suffix, judge, kind in GOLD:
        outcomes: list[Outcome] = []
        for truth in sorted((options.corpus / "gt").glob(f"*{suffix}")):
            name = re.match(rf"(.*?\.{kind})\.", truth.name)
            if name is None or options.only not in truth.name:
                continue
            path = (options.corpus / "files" / name[1]).resolve()
            baseline = mupdf_reading(path) if kind == "pdf" else Reading("")
            outcomes.extend(judge(truth, our_reading(path, kind), baseline))
        report(suffix, outcomes, has_baseline=kind == "pdf")


def report(suffix: str, outcomes: Sequence[Outcome], *, has_baseline: bool) -> None:
    n = len(outcomes)
    if not n:
        return
    ours, baseline = (sum(getattr(outcome, side) for outcome in outcomes) for side in ("ours", "baseline"))
    low, high = wilson(ours, n)
    beside = f", PyMuPDF {baseline} of {n}" if has_baseline else ""
    print(f"{suffix}: {ours} of {n} (95 % interval {low:.3f} to {high:.3f}){beside}")
    for outcome in outcomes:
        if not outcome.ours:
            print(f"    not: {outcome.name}")


if __name__ == "__main__":
    main()
