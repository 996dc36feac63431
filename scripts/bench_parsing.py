"""Processor and wall time of parsing, a page, beside PyMuPDF's own reading of the same pages in the same run.

    python scripts/bench_parsing.py FOLDER [--pages 24] [--seed 1] [--stages] [-o OUT]

Reads pages drawn by lot from all PDFs of FOLDER in this process, with one thread, as a parsing child does. Each page is
read in turn by us, by PyMuPDF with layout and tables, and as plain text, so that a busy machine slows all alike.
`--stages` says where our time goes. `-o` writes what was found on each page, to be compared with another version's.
"""

import argparse
import itertools
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # read when the libraries are loaded

import pymupdf

from ingest import layout_model, page_reader
from ingest.document_reader import silence_mupdf
from ingest.drafts import PageDraft
from ingest.layout_model import read_layout
from ingest.limits import Limits
from ingest.page_reader import read_page_draft

DRAWN_AGAIN = 1000
STAGES = ("read_lines", "render_grey", "mark_unseen", "read_content", "_boxes", "find_tables", "page_drafts")
MODELS = ("features", "by_text", "with_grids", "by_sight")


@dataclass(slots=True)
class Spent:
    """Seconds on one page; `model` says which of the layout nets were asked."""

    file: str
    page: int
    model: str = ""
    processor: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    texts: list[list[str]] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    silence_mupdf()
    drawn, known = draw(sorted(options.folder.glob("*.pdf")), options.pages, options.seed)
    path, index = drawn[0]
    read_layout(pymupdf.open(path)[index], look=True)  # loads the models
    stages: Counter[str] = Counter()
    with counted_stages(stages) if options.stages else counted_models(stages):
        spent = [measured(path, index, stages) for path, index in drawn]
    if options.output:
        options.output.write_text(json.dumps([asdict(page) for page in spent]))
    report(spent, known)
    for name in (*STAGES, *MODELS) if options.stages else ():
        print(f"  {name:<44} {stages[name] / len(spent):8.3f} s of processor time a page")


def draw(files: Sequence[Path], count: int, seed: int) -> tuple[list[tuple[Path, int]], int]:
    """Pages by lot, all alike, and how many there are."""
    pages = []
    for path in files:
        with pymupdf.open(path) as document:
            pages += [(path, index) for index in range(document.page_count)]
    return sorted(random.Random(seed).sample(pages, min(count, len(pages)))), len(pages)


def measured(path: Path, index: int, stages: Counter[str]) -> Spent:
    spent = Spent(path.name, index + 1)
    before = Counter({name: stages[f"{name} asked"] for name in MODELS})
    draft = timed(spent, "kb-qa", path, lambda page: read_page_draft(page, index + 1, Limits()))
    asked = {name for name in MODELS if stages[f"{name} asked"] > before[name]}
    spent.model = "by sight" if "by_sight" in asked else "by text" if "by_text" in asked else "none"
    timed(spent, "PyMuPDF layout and find_tables", path, pymupdf_layout)
    timed(spent, "PyMuPDF get_text", path, lambda page: page.get_text())
    spent.texts = [[part.category, part.text] for part in draft.drafts]
    return spent


def timed(spent: Spent, name: str, path: Path, read: Callable[[pymupdf.Page], Any]) -> Any:
    """What `read` makes of the page of a file opened for it alone."""
    with pymupdf.open(path) as document:
        page = document[spent.page - 1]
        processor, wall = time.process_time(), time.monotonic()
        result: PageDraft | None = read(page)
        spent.processor[name] = time.process_time() - processor
        spent.wall[name] = time.monotonic() - wall
    return result


def pymupdf_layout(page: pymupdf.Page) -> None:
    page.get_layout(return_raw=True)
    page.find_tables(union=True, refine=True)


@contextmanager
def counted_stages(stages: Counter[str]) -> Iterator[None]:
    with counted_models(stages), counted(page_reader, STAGES, stages):
        yield


@contextmanager
def counted_models(stages: Counter[str]) -> Iterator[None]:
    with counted(layout_model._Models, MODELS, stages):
        yield


@contextmanager
def counted(place: Any, names: Sequence[str], stages: Counter[str]) -> Iterator[None]:
    """Within, calls of these functions are counted and their processor time is added up."""
    kept = {name: getattr(place, name) for name in names}

    def wrapped(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return kept[name](*arguments, **options)
            finally:
                stages[name] += time.process_time() - started  # type: ignore[assignment]  # seconds are counted too
                stages[f"{name} asked"] += 1

        return call

    for name in names:
        setattr(place, name, wrapped(name))
    try:
        yield
    finally:
        for name in names:
            setattr(place, name, kept[name])


def report(spent: Sequence[Spent], known: int) -> None:
    print(f"n = {len(spent)} pages by lot of {known}; a page, with the mean's 95 % interval")
    for name in spent[0].processor:
        processor = interval([page.processor[name] for page in spent])
        wall = sum(page.wall[name] for page in spent) / len(spent)
        print(f"{name:<46} {processor} s of processor time {wall:8.3f} s")
    ratio = interval_of_ratio(spent, "kb-qa", "PyMuPDF layout and find_tables")
    print(f"{'kb-qa / PyMuPDF layout and find_tables':<46} {ratio}")
    by_model = itertools.groupby(sorted(spent, key=lambda page: page.model), key=lambda page: page.model)
    for model, group in by_model:
        seconds = [page.processor["kb-qa"] for page in group]
        print(f"  kb-qa, layout model: {model:<23} {interval(seconds)} s of processor time, n = {len(seconds)}")


def interval(values: Sequence[float]) -> str:
    return drawn_again(values, lambda drawn: sum(drawn) / len(drawn))


def interval_of_ratio(spent: Sequence[Spent], one: str, other: str) -> str:
    def ratio(drawn: Sequence[Spent]) -> float:
        return sum(page.processor[one] for page in drawn) / sum(page.processor[other] for page in drawn)

    return drawn_again(spent, ratio)


def drawn_again(values: Sequence[Any], mean: Callable[[Sequence[Any]], float]) -> str:
    lot = random.Random(0)
    means = sorted(mean(lot.choices(values, k=len(values))) for _ in range(DRAWN_AGAIN))
    return f"{mean(values):7.3f} [{means[25]:.3f}, {means[974]:.3f}]"


if __name__ == "__main__":
    main()
