"""Where quotes are found, against independent ground truth, with PyMuPDF's search beside ours in the same run.

    python scripts/bench_locate.py find CORPUS          matches a page (gt/*.find.json)
    python scripts/bench_locate.py ngrams CORPUS        random n-grams of words (gt/*.words.json), 500 a file
    python scripts/bench_locate.py cells FOLDER         table cells whose text is unique on its page (ICDAR 2013)
    python scripts/bench_locate.py sentences FOLDER     sentences of the stored text of five reports (ERC2)

`--cache DIR` keeps what the parser made of each file for the next run; `--misses N` prints some of what was missed.
Rates come with n and their 95 % interval (Wilson). Ground truth counts pages from 0. The baseline is
`page.search_for`, which knows neither case nor whole words; its boxes are brought into display space.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import statistics
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymupdf
from bench_words import letters_of, mupdf_words
from scoring.parses import parse_of

from ingest.chunk import Origin, chunk
from ingest.document_reader import silence_mupdf
from ingest.upright import bake_rotated_annotations
from kb_qa.elements import Element
from kb_qa.evaluation.intervals import wilson
from kb_qa.folding import fold
from kb_qa.geometry import BBox, union_of
from kb_qa.glyphs import is_right_to_left
from kb_qa.locate import PrintedText, find_all
from kb_qa.page_parts import on_pages

NGRAMS, LONGEST = 500, 8
REPORTS = 5
# Counts a digit that is printed within ½ as one of its own.
LEFT_OUT = frozenset({"pdf.js__fraction-highlight.pdf"})


@dataclass
class Rate:
    """Hits of a number of trials, and what was missed."""

    hits: int = 0
    n: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, hit: bool, what: str = "") -> None:
        self.hits, self.n = self.hits + hit, self.n + 1
        if not hit:
            self.missed.append(what)

    def __str__(self) -> str:
        low, high = wilson(self.hits, self.n)
        return f"{self.hits / max(self.n, 1):.4f} [{low:.4f}, {high:.4f}] n={self.n}"


@dataclass(frozen=True, slots=True)
class Options:
    folder: Path
    cache: Path | None
    misses: int
    pages: int


def searched(page: pymupdf.Page, text: str) -> list[BBox]:
    """What PyMuPDF's own search marks, in display space."""
    rects = (rect * page.rotation_matrix for rect in page.search_for(" ".join(text.split())))
    return [BBox(*(float(value) for value in rect.normalize())) for rect in rects]


def best_iou(boxes: Sequence[BBox], wanted: Sequence[BBox]) -> float:
    """The agreement of what is wanted with any run of the boxes: a search does not say which belong to one match."""
    runs = (boxes[start : start + size] for size in range(1, 6) for start in range(len(boxes) - size + 1))
    return max((area_iou(run, wanted) for run in runs), default=0.0)


def area_iou(one: Sequence[BBox], other: Sequence[BBox]) -> float:
    """Intersection over union of two sets of boxes; the boxes of a set hardly overlap one another."""
    pairs = (first.intersection(second) for first in one for second in other)
    shared = sum(box.area for box in pairs if box is not None)
    whole = sum(box.area for box in (*one, *other)) - shared
    return shared / whole if whole > 0 else 0.0


def displayed(path: Path) -> pymupdf.Document:
    document = pymupdf.open(path)
    bake_rotated_annotations(document)
    return document


def bench_find(options: Options) -> Iterator[str]:
    ours, theirs = Rate(), Rate()
    for truth in sorted((options.folder / "gt").glob("*.find.json")):
        name = truth.name.removesuffix(".find.json")
        if name in LEFT_OUT:
            continue
        path = options.folder / "files" / name
        elements = parse_of(path, options.cache).elements
        with displayed(path) as document:
            for case in json.loads(truth.read_text())["cases"]:
                wanted = case["matches_per_page"]
                counts = _counts(elements, case, len(wanted))
                ours.add(counts == wanted, f"{name} {case['query']!r}: {counts} for {wanted}")
                queries = [case["query"]] if isinstance(case["query"], str) else case["query"]
                theirs.add([sum(len(searched(page, query)) for query in queries) for page in document] == wanted)
    yield from report("find all: every page's count right", ours, options, baseline=theirs)


def _counts(elements: Sequence[Element], case: dict[str, Any], pages: int) -> list[int]:
    found = find_all(
        case["query"],
        elements,
        case=case["case_sensitive"],
        whole_word=case["whole_word"],
        diacritics=case["match_diacritics"],
    )
    counts = Counter(located.regions[0].page for located in found if located.regions)
    return [counts[page] for page in range(1, pages + 1)]


Gold = tuple[str, BBox]


def bench_ngrams(options: Options) -> Iterator[str]:
    """Two rates each: of all n-grams, and of those whose every word PyMuPDF reads alike at the same place.

    The ground truth of some files is wrong in places: bullets and accents read in another encoding (`¥`, `l'ºle`),
    names of form states, glyph numbers in place of letters.
    """
    for truth in sorted((options.folder / "gt").glob("*.words.json")):
        path = options.folder / "files" / truth.name.removesuffix(".words.json")
        pages = [(int(number) + 1, _gold(page)) for number, page in json.loads(truth.read_text())["pages"].items()]
        elements = parse_of(path, options.cache).elements
        texts = {page: PrintedText(on_pages(elements, (page,))) for page, _ in pages}
        rates = {name: Rate() for name in ("found", "placed", "their found", "their placed")}
        agreed = {name: Rate() for name in rates}
        alike = _agreed(path, pages)
        with displayed(path) as document:
            for page, start, run, places in _ngrams(pages):
                quote = " ".join(text for text, _ in run)
                located = texts[page].locate(quote)
                rects = [rect for region in located.regions for rect in region.rects]
                boxes = searched(document[page - 1], quote)
                hits = {
                    "found": located.found,
                    "placed": max(area_iou(rects, place) for place in places) >= 0.6,
                    "their found": bool(boxes),
                    "their placed": max(best_iou(boxes, place) for place in places) >= 0.6,
                }
                what = f"P{page} {quote!r} at {run[0][1].rounded(0).as_tuple()}"
                sure = all(alike[page][start : start + len(run)])
                for name, hit in hits.items():
                    rates[name].add(hit, what)
                    if sure:
                        agreed[name].add(hit, what)
        for title, scored in (("all", rates), ("read alike", agreed)):
            yield from report(f"{path.name}, {title}: found", scored["found"], options, baseline=scored["their found"])
            placed = scored["placed"]
            yield from report(f"{path.name}, {title}: IoU >= .6", placed, options, baseline=scored["their placed"])


def _agreed(path: Path, pages: Sequence[tuple[int, list[Gold]]]) -> dict[int, list[bool]]:
    """For each word of the ground truth, whether PyMuPDF reads the same letters there."""
    numbers = [page - 1 for page, _ in pages]
    return {
        page: [
            any(sorted(word.letters) == sorted(letters_of(text)) and word.bbox.iou(box) > 0.3 for word in near)
            for text, box in words
        ]
        for (page, words), near in zip(pages, map(list, mupdf_words(path, numbers)), strict=True)
    }


def _gold(page: dict[str, Any]) -> list[Gold]:
    """Words with letters or digits, in the order of the ground truth."""
    words = ((word["text"], BBox(*(float(value) for value in word["bbox"]))) for word in page["words"])
    return [(text, box) for text, box in words if fold(text).text]


def _ngrams(pages: Sequence[tuple[int, list[Gold]]]) -> Iterator[tuple[int, int, list[Gold], list[list[BBox]]]]:
    """Runs of 1 to 8 words that follow one another in print: page, index, words, lines of each place of these words."""
    dice = random.Random(0)
    weights = [len(words) for _, words in pages]
    for _ in range(NGRAMS):
        page, words = dice.choices(pages, weights)[0]
        start = dice.randrange(len(words))
        size = min(dice.randint(1, LONGEST), len(words) - start)
        while size > 1 and not _is_passage(words[start : start + size]):
            size -= 1
        run = words[start : start + size]
        folded = [fold(text).text for text, _ in run]
        alike = (words[at : at + size] for at in range(len(words) - size + 1))
        places = [
            each for each in alike if all(fold(word[0]).text == text for word, text in zip(each, folded, strict=True))
        ]
        yield page, start, run, [_lines(place) for place in places]


def _is_passage(run: Sequence[Gold]) -> bool:
    """Whether each word stands beside the one before, or begins the next line of the same column.

    The ground truth goes through lines from the left, so a passage that is written from the right ends with its line.
    """
    leftward = any(is_right_to_left(text) for text, _ in run)
    for (_, before), (_, word) in itertools.pairwise(run):
        height = max(min(before.height, before.width), min(word.height, word.width))
        beside = min(before.y1, word.y1) - max(before.y0, word.y0) > 0.5 * min(before.height, word.height)
        gap = max(word.x0 - before.x1, before.x0 - word.x1)
        below = 0 < word.center[1] - before.center[1] < 2 * height and word.x0 < before.x0 and word.x1 > before.x0 - 400
        if not ((beside and gap < 1.5 * height) or (below and not leftward)):
            return False
    return True


def _lines(run: Sequence[Gold]) -> list[BBox]:
    """The words' boxes joined line by line."""
    boxes: list[BBox] = []
    for _, box in run:
        last = boxes[-1] if boxes else None
        if last is not None and min(last.y1, box.y1) - max(last.y0, box.y0) > 0.5 * min(last.height, box.height):
            boxes[-1] = last.union(box)
        else:
            boxes.append(box)
    return boxes


def bench_cells(options: Options) -> Iterator[str]:
    found, placed, alone, their_placed = Rate(), Rate(), Rate(), Rate()
    for path in sorted(options.folder.glob("*.pdf")):
        elements = parse_of(path, options.cache).elements
        with displayed(path) as document:
            for page, cells in _gold_cells(path).items():
                text = PrintedText(on_pages(elements, (page,)))
                for quote, box in _unique(cells, document[page - 1]):
                    located = text.locate(quote)
                    rects = [rect for region in located.regions for rect in region.rects]
                    what = f"{path.name} P{page} {quote!r} at {box.as_tuple()}"
                    found.add(located.found, what)
                    placed.add(_union_iou(rects, box) >= 0.5, what)
                    alone.add(not any(_touches(rects, other) for _, other in cells if other != box), what)
                    boxes = searched(document[page - 1], quote)
                    their_placed.add(max(_union_iou(boxes, box), best_iou(boxes, [box])) >= 0.5)
    yield from report("cells: found", found, options)
    yield from report("cells: IoU >= .5", placed, options, baseline=their_placed)
    yield from report("cells: no other cell touched", alone, options)


def _gold_cells(path: Path) -> dict[int, list[Gold]]:
    cells: dict[int, list[Gold]] = {}
    for table in json.loads(path.with_name(f"{path.name}.tables.json").read_text())["tables"]:
        for region in table["regions"]:
            cells.setdefault(region["page"] + 1, []).extend(
                (cell["text"], BBox(*cell["bbox"])) for cell in region["cells"] if fold(cell["text"]).text
            )
    return cells


def _unique(cells: Sequence[Gold], page: pymupdf.Page) -> Iterator[Gold]:
    """Cells whose text no other cell has, and that stands once on the page, as PyMuPDF reads it."""
    printed = _squeezed(page.get_text())
    counts = Counter(_squeezed(text) for text, _ in cells)
    for text, box in cells:
        wanted = _squeezed(text)
        if counts[wanted] == 1 and len(re.findall(rf"(?<!\w){re.escape(wanted)}(?!\w)", printed)) == 1:
            yield text, box


def _squeezed(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _union_iou(boxes: Sequence[BBox], wanted: BBox) -> float:
    union = union_of(boxes)
    return union.iou(wanted) if union is not None else 0.0


def _touches(rects: Sequence[BBox], cell: BBox) -> bool:
    """More than a quarter of it: boxes of neighbouring lines overlap by the height that the font says."""
    return any(cell.overlap(rect) > 0.25 for rect in rects)


def bench_sentences(options: Options) -> Iterator[str]:
    dice = random.Random(0)
    found, placed, theirs = Rate(), Rate(), Rate()
    times: list[float] = []
    for path in dice.sample(sorted(options.folder.glob("*.pdf")), REPORTS):
        with pymupdf.open(path) as document:
            pages = sorted(dice.sample(range(document.page_count), options.pages))
            parsed = parse_of(path, options.cache, pages)
            prepared = PrintedText(parsed.elements)
            prepared.locate("first, the text is folded")
            for sentence, page, boxes in _sentences(parsed.elements):
                started = time.perf_counter()
                located = prepared.locate(sentence)
                times.append(1000 * (time.perf_counter() - started))
                union = next((region.bbox for region in located.regions if region.page == page), None)
                found.add(located.found, f"P{page} {sentence!r}")
                placed.add(union is not None and union.iou(boxes[0]) >= 0.9, f"P{page} {sentence!r}")
                theirs.add(bool(searched(document[pages[page - 1]], sentence)))
    yield from report("sentences: found", found, options, baseline=theirs)
    yield from report("sentences: IoU >= .9 with the block's own place (else an earlier one like it)", placed, options)
    slowest = sorted(times)[-max(len(times) // 100, 1)]
    yield f"sentences: median {statistics.median(times):.3f} ms, slowest hundredth {slowest:.2f} ms, n={len(times)}"


def _sentences(elements: Sequence[Element]) -> Iterator[tuple[str, int, list[BBox]]]:
    for piece in chunk(elements, Origin("report", 1, "report.pdf", "")):
        for block in piece.blocks if piece.element_type == "text" else ():
            boxes = [region.bbox for region in block.regions if region.bbox is not None]
            if boxes and len(block.text.split()) >= 4 and fold(block.text).text:
                yield block.text, block.regions[0].page, boxes


def report(title: str, rate: Rate, options: Options, *, baseline: Rate | None = None) -> Iterator[str]:
    yield f"{title}: {rate}" + (f"   search_for: {baseline}" if baseline is not None else "")
    yield from (f"    {miss}" for miss in rate.missed[: options.misses])


BENCHES: dict[str, Callable[[Options], Iterator[str]]] = {
    "find": bench_find,
    "ngrams": bench_ngrams,
    "cells": bench_cells,
    "sentences": bench_sentences,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=sorted(BENCHES))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, help="where to keep the parses")
    parser.add_argument("--pages", type=int, default=12, help="how many pages of each report")
    parser.add_argument("--misses", type=int, default=0, help="how many misses to print")
    arguments = parser.parse_args()
    silence_mupdf()
    for line in BENCHES[arguments.what](Options(arguments.folder, arguments.cache, arguments.misses, arguments.pages)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
