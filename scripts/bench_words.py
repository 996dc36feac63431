"""Words and their boxes against independent ground truth: `python scripts/bench_words.py CORPUS [--misses 20]`.

CORPUS holds `files/` and `gt/*.words.json` (docling-parse's reading of the same files; its pages count from 0). A word
is found where one of ours has the same letters and digits and IoU of at least .6. `words`: one to one; `runs`: where
the tools part words differently, a run of up to four that spells the same counts with its union; `boxes`: by IoU alone.
PyMuPDF's own words, brought into display space, are the baseline in the same run. Lines of which the gold has glyph
numbers in place of letters (its control characters give them away) count as one box each, weighed by their words: the
numbers are made letters by the order of the Macintosh character set, and the union of what stands there is compared.
"""

from __future__ import annotations

import argparse
import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pymupdf

from ingest.document_reader import silence_mupdf
from ingest.glyph_numbers import character_of
from ingest.limits import Limits
from ingest.page_reader import read_page_draft
from ingest.upright import bake_rotated_annotations
from kb_qa.geometry import BBox, union_of

LEAST_IOU = 0.6
LONGEST_RUN = 4


@dataclass(frozen=True, slots=True)
class Placed:
    """A word's letters in normal form, and where it stands in display space."""

    letters: str
    bbox: BBox
    weight: int = 1  # how many words of the gold it stands for


def letters_of(text: str) -> str:
    """Letters and digits in one form: ligatures opened, presentation forms of Arabic made plain."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(char for char in plain if char.isalnum())


def placed(pairs: Iterable[tuple[str, BBox]]) -> list[Placed]:
    return [Placed(letters, box) for text, box in pairs if (letters := letters_of(text))]


def our_words(path: Path, pages: Sequence[int]) -> Iterator[list[Placed]]:
    with pymupdf.open(path) as document:
        bake_rotated_annotations(document)
        for page in pages:
            drafts = read_page_draft(document[page], page + 1, Limits()).drafts
            words = [word for draft in drafts for line in draft.printed for word in line.words]
            yield placed((word.text, word.bbox) for word in words)


def mupdf_words(path: Path, pages: Sequence[int]) -> Iterator[list[Placed]]:
    with pymupdf.open(path) as document:
        for number in pages:
            page = document[number]
            boxes = ((word[4], pymupdf.Rect(word[:4]) * page.rotation_matrix) for word in page.get_text("words"))
            yield placed((text, BBox(*(float(value) for value in rect.normalize()))) for text, rect in boxes)


def gold_words(path: Path) -> dict[int, list[Placed]]:
    pages = json.loads(path.read_text())["pages"]
    return {
        int(number): gold_page(
            [(word["text"], BBox(*(float(value) for value in word["bbox"]))) for word in page["words"]]
        )
        for number, page in pages.items()
    }


def gold_page(words: Sequence[tuple[str, BBox]]) -> list[Placed]:
    """The words of a page, lines of glyph numbers as one each."""
    numbered = [box for text, box in words if any(char < " " for char in text)]
    lines: dict[int, list[tuple[str, BBox]]] = {}
    rest = []
    for text, box in words:
        line = next((index for index, other in enumerate(numbered) if _in_line(box, other)), None)
        if line is None or any(char in "aeiou" for char in text):  # as numbers, small vowels would be accented letters
            rest.append((text, box))
        else:
            lines.setdefault(line, []).append((text, box))
    joined = [_as_one(part) for line in lines.values() for part in _parted(line)]
    return [*placed(rest), *(line for line in joined if line.letters)]


def _in_line(box: BBox, other: BBox) -> bool:
    return abs(box.center[1] - other.center[1]) < 0.3 * other.height


def _parted(line: Iterable[tuple[str, BBox]]) -> list[list[tuple[str, BBox]]]:
    """The line from left to right, in two where it has a gap twice as wide as it is high."""
    parts: list[list[tuple[str, BBox]]] = []
    for word in sorted(line, key=lambda word: word[1].x0):
        if parts and word[1].x0 - max(box.x1 for _, box in parts[-1]) < 2 * word[1].height:
            parts[-1].append(word)
        else:
            parts.append([word])
    return parts


def _as_one(line: Sequence[tuple[str, BBox]]) -> Placed:
    box = union_of(box for _, box in line)
    assert box is not None
    letters = letters_of("".join(character_of(char) for text, _ in line for char in text))
    return Placed(letters, box, len(line))


@dataclass(frozen=True, slots=True)
class Score:
    """How many gold words are found in each of the three ways, and those that no way of spelling finds."""

    words: int
    runs: int
    boxes: int
    missed: tuple[Placed, ...]


def score(gold: Sequence[Placed], words: Sequence[Placed]) -> Score:
    single = runs = boxes = 0
    missed = []
    for wanted in gold:
        near = [word for word in words if word.bbox.intersection(wanted.bbox) is not None]
        fitting = [word for word in near if word.bbox.iou(wanted.bbox) >= LEAST_IOU]
        is_word = any(word.letters == wanted.letters for word in fitting)
        is_found = is_word or _as_run(wanted, near) or _as_part(wanted, near, gold)
        counts = (is_word, is_found, bool(fitting)) if wanted.weight == 1 else (is_found, is_found, is_found)
        single, runs, boxes = (
            total + wanted.weight * found for total, found in zip((single, runs, boxes), counts, strict=True)
        )
        if not is_found:
            missed.append(wanted)
    return Score(single, runs, boxes, tuple(missed))


def _same(one: str, other: str) -> bool:
    return one == other or sorted(one) == sorted(other)  # a run is joined in no particular order


def _as_run(wanted: Placed, near: Sequence[Placed]) -> bool:
    """Several printed words make the wanted one."""
    inside = [word for word in near if word.bbox.overlap(wanted.bbox) > 0.5]
    box = union_of(word.bbox for word in inside)
    letters = "".join(word.letters for word in inside)
    return (
        1 < len(inside) <= max(LONGEST_RUN, wanted.weight)
        and box is not None
        and _same(letters, wanted.letters)
        and (box.iou(wanted.bbox) >= LEAST_IOU)
    )


def _as_part(wanted: Placed, near: Sequence[Placed], gold: Sequence[Placed]) -> bool:
    """One printed word makes several wanted ones."""
    for word in near:
        parts = [part for part in gold if part.bbox.overlap(word.bbox) > 0.5]
        box = union_of(part.bbox for part in parts)
        letters = "".join(part.letters for part in parts)
        if wanted in parts and 1 < len(parts) <= LONGEST_RUN and box is not None and _same(letters, word.letters):
            return box.iou(word.bbox) >= LEAST_IOU
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--misses", type=int, default=0, help="how many missed words to print of each file")
    parser.add_argument("--only", default="", help="files whose name holds this")
    options = parser.parse_args()
    silence_mupdf()
    lines = [f"{'':<28} {'':>6} {'ours':^23} {'PyMuPDF':^23}"]
    lines.append(f"{'file':<28} {'n':>6}" + 2 * f" {'words':>7} {'runs':>7} {'boxes':>7}")
    for path in sorted((options.corpus / "gt").glob("*.words.json")):
        if options.only not in path.name:
            continue
        lines.extend(report(path, options.corpus / "files" / path.name.removesuffix(".words.json"), options.misses))
    print("\n".join(lines))


def report(truth: Path, file: Path, most_misses: int) -> Iterator[str]:
    gold = gold_words(truth)
    n = sum(word.weight for words in gold.values() for word in words)
    ours = [score(gold[page], words) for page, words in zip(gold, our_words(file, list(gold)), strict=True)]
    theirs = [score(gold[page], words) for page, words in zip(gold, mupdf_words(file, list(gold)), strict=True)]
    shares = [
        sum(getattr(page, way) for page in scores) / n
        for scores in (ours, theirs)
        for way in ("words", "runs", "boxes")
    ]
    name = file.stem.rpartition("__")[2]
    yield f"{name:<28} {n:>6}" + "".join(f" {share:>7.4f}" for share in shares)
    missed = [(page, word) for page, scored in zip(gold, ours, strict=True) for word in scored.missed]
    for page, word in missed[:most_misses]:
        yield f"    P{page + 1} {word.letters!r} {word.bbox.rounded(1).as_tuple()}"


if __name__ == "__main__":
    main()
