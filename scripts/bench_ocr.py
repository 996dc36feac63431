"""How well scans are read: receipts with lines marked by people, scans with their text, level, on their side and askew.

    python -m scripts.bench_ocr CORPUS

Prints the character error rate (CER) and how many marked lines have a read line of IoU ≥ .5 and ≥ .8, for this
project's OCR and, in the same run, for RapidOCR with its defaults on the same pixels. The receipts' marks are written
in capitals whatever is printed, so capitals are folded there, and only there.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pymupdf
from PIL import Image
from rapidocr import RapidOCR

from ingest.image import reading_dpi
from ingest.limits import Limits
from ingest.ocr import Picture, read_page
from ingest.pdf import parse_image, parse_pdf
from kb_qa.elements import Element
from kb_qa.evaluation.intervals import wilson
from kb_qa.geometry import BBox, Page
from kb_qa.pages import open_document
from scripts.scoring.ocr_lines import (
    LineScore,
    Placed,
    edits,
    error_interval,
    error_rate,
    score_lines,
)

PHOTO = ("test__phototest.tif", "test__phototest.tif.phototest.gold.txt")
SCANS = (
    PHOTO,
    ("ocrmypdf__linn.pdf", "ocrmypdf__linn.pdf.linn.txt"),
    # Four pages that show one text, lying on their sides and head.
    (
        "docling__nemotron_multipage.pdf",
        "docling__nemotron_multipage.pdf.ocr_test_rotated_90.tesseract.full_page.json",
    ),
)
ANGLES = (-10, -7, -3, -1, 2, 5)  # degrees, clockwise, by which the scan with a known text is laid askew
Read = tuple[list[Placed], list[BBox]]  # words and line boxes, in pixels of the picture


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", type=Path, help="a folder with files/ and gt/")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="print the N worst lines")
    options = parser.parse_args(arguments)
    receipts = sorted((options.corpus / "files").glob("sroie__*.jpg"))
    if not receipts:
        print(f"no files/sroie__*.jpg under {str(options.corpus)!r}")
        return 3
    plain = RapidOCR(params={"Global.log_level": "critical"})
    for name, read in (("kb-qa", our_reading), ("RapidOCR, its defaults", lambda path: plain_reading(plain, path))):
        _report_receipts(name, receipts, options.corpus / "gt", read, options.worst)
    for file, gold in SCANS:
        _report_scan(plain, options.corpus / "files" / file, _gold_text(options.corpus / "gt" / gold))
    _report_skewed(plain, options.corpus / "files" / PHOTO[0], _gold_text(options.corpus / "gt" / PHOTO[1]))
    return 0


def our_reading(path: Path) -> Read:
    """What `ingest.ocr` reads on the picture's page, in pixels."""
    with open_document(path) as document, Image.open(path) as picture:
        page = document[0]
        scale = picture.size[0] / page.rect.width
        reading = read_page(page, megapixels=Limits().max_megapixels, dpi=reading_dpi(document))
        lines = [reading.turn.back.line(line) for line in reading.lines]
    words = [Placed(word.text, _scaled(word.bbox, scale)) for line in lines for word in line.words]
    return words, [_scaled(line.bbox, scale) for line in lines]


def plain_reading(engine: RapidOCR, path: Path) -> Read:
    with Image.open(path) as picture:
        bgr = np.ascontiguousarray(np.asarray(picture.convert("RGB"))[:, :, ::-1])
    return _plain_lines(engine, bgr)


def _plain_lines(engine: RapidOCR, bgr: Picture) -> Read:
    result = engine(bgr, return_word_box=True)
    if result.boxes is None:
        return [], []
    words = [
        Placed(text, _box(quad)) for pieces in result.word_results for text, _, quad in pieces if text and text.strip()
    ]
    return words, [_box(quad) for quad in result.boxes]


def _box(quad: Sequence[Sequence[float]]) -> BBox:
    xs, ys = [float(point[0]) for point in quad], [float(point[1]) for point in quad]
    return BBox(min(xs), min(ys), max(xs), max(ys))


def _scaled(box: BBox, scale: float) -> BBox:
    return BBox(*(value * scale for value in box.as_tuple()))


def _report_receipts(name: str, receipts: Sequence[Path], gold: Path, read: Callable[[Path], Read], worst: int) -> None:
    started = time.perf_counter()
    spaced: list[LineScore] = []
    unspaced: list[LineScore] = []
    for path in receipts:
        marked = _marked(gold / f"{path.name}.lines.json")
        words, lines = read(path)
        words = [Placed(word.text.upper(), word.bbox) for word in words]
        spaced.extend(score_lines(marked, words, lines))
        unspaced.extend(score_lines(marked, words, lines, spaces=False))
    seconds = time.perf_counter() - started
    lines_only = [score for score in spaced if score.characters]
    print(f"receipts, {name}: {len(receipts)} pictures, {len(lines_only)} lines, {seconds / len(receipts):.1f} s each")
    for label, scores in (("CER", spaced), ("CER without spaces", unspaced)):
        low, high = error_interval(scores)
        print(f"  {label} {error_rate(scores):.4f} [{low:.4f}, {high:.4f}] of {sum(it.characters for it in scores)}")
    for least in (0.5, 0.7, 0.8):
        hits = sum(score.iou >= least for score in lines_only)
        low, high = wilson(hits, len(lines_only))
        print(f"  line IoU ≥ {least}: {hits}/{len(lines_only)} = {hits / len(lines_only):.3f} [{low:.3f}, {high:.3f}]")
    for score in sorted(spaced, key=lambda score: -score.edits)[:worst]:
        print(f"    {score.edits} edits, IoU {score.iou:.2f}: {score.text!r} read as {score.read!r}")
    for score in sorted(lines_only, key=lambda score: score.iou)[:worst]:
        print(f"    IoU {score.iou:.2f}: {score.text!r}")


def _marked(path: Path) -> list[Placed]:
    lines = json.loads(path.read_text(encoding="utf-8"))["lines"]
    return [Placed(line["text"].upper(), BBox(*(float(value) for value in line["bbox_px"]))) for line in lines]


def _gold_text(path: Path) -> str:
    """The text of one page: plain, or the texts of a Docling document."""
    content = path.read_text(encoding="utf-8")
    return " ".join(part["text"] for part in json.loads(content)["texts"]) if path.suffix == ".json" else content


def _report_scan(engine: RapidOCR, path: Path, expected: str) -> None:
    """Reading order counts here: the text of the elements, in their order, against the text of each page."""
    parse = parse_pdf if path.suffix == ".pdf" else parse_image
    document = parse(path, "document", limits=Limits())
    ours = [
        " ".join(element.text for element in document.elements if not element.hidden and _starts_on(element, page))
        for page in document.pages
    ]
    plain = []
    with pymupdf.open(path) as pages:
        for page in pages:
            pixmap = page.get_pixmap(dpi=200, colorspace=pymupdf.csRGB, alpha=False)
            rgb = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
            plain.append(" ".join(engine(np.ascontiguousarray(rgb[:, :, ::-1])).txts or ()))
    for name, read in (("kb-qa", ours), ("RapidOCR, its defaults", plain)):
        count = len(" ".join(expected.split())) * len(read)
        dense = len("".join(expected.split())) * len(read)
        wrong = sum(edits(expected, text) for text in read)
        wrong_dense = sum(edits(expected, text, spaces=False) for text in read)
        print(
            f"{path.name}, {name}: {len(read)} pages, CER {wrong / count:.4f} of {count} characters,"
            f" without spaces {wrong_dense / dense:.4f}"
        )


def _starts_on(element: Element, page: Page) -> bool:
    return bool(element.regions) and element.regions[0].page == page.number


def _report_skewed(engine: RapidOCR, path: Path, expected: str) -> None:
    """The same scan laid askew."""
    with tempfile.TemporaryDirectory() as folder, Image.open(path) as scan:
        level = scan.convert("L")
        for angle in ANGLES:
            turned = Path(folder) / f"turned by {angle} degrees.tif"
            askew = level.rotate(-angle, expand=True, fillcolor=255, resample=Image.Resampling.BICUBIC)
            askew.save(turned, dpi=scan.info.get("dpi", (200, 200)))
            _report_scan(engine, turned, expected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
