"""The quotations of the samples stand where their script drew them: on the right page, line by line."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from ingest.limits import Limits
from ingest.pdf import parse_pdf
from kb_qa.geometry import BBox
from kb_qa.locate import PrintedText
from tests.golden_boxes import GOLDEN, SAMPLES, TRIM, ink, rendered
from tests.test_sample_elements import WHOLE, moved_boxes, parsed_page

REPORT = "annual-report.pdf"
QUOTES = [quote for quote in GOLDEN["quotes"] if quote["document"] == REPORT]


@pytest.fixture(scope="module")
def report() -> PrintedText:
    return PrintedText(parse_pdf(SAMPLES / REPORT, "document", limits=Limits()).elements)


def found_places(report: PrintedText, quote: str) -> list[tuple[int, BBox]]:
    return [(region.page, rect) for region in report.locate(quote).regions for rect in region.rects]


def test_all_ten_quotations_of_the_report_are_found_on_their_lines(report: PrintedText) -> None:
    """S2.2: ten of ten, the one broken by `invest-` / `ment` among them; each rectangle is on its line, over ink."""
    assert len(QUOTES) == 10
    with pymupdf.open(SAMPLES / REPORT) as pdf:
        pictures = [rendered(page) for page in pdf]
    for quote in QUOTES:
        places = found_places(report, quote["quote"])
        drawn = [BBox(*rect) for rect in quote["rects"]]
        assert [page for page, _ in places] == [quote["page"]] * len(drawn), quote["quote"]
        for (page, rect), line in zip(places, drawn, strict=True):
            assert rect.iou(line) > 0.85, quote["quote"]
            assert ink(pictures[page - 1], rect).mean() > 0.05, quote["quote"]


@pytest.mark.parametrize("join", ["-\r\n\x02", "\x02", "-\n", "\xad", "- "], ids=repr)
def test_the_broken_word_is_found_however_it_comes_back(report: PrintedText, join: str) -> None:
    """S2.2: `investment` as an API gives it, with U+0002, breaks or hyphens inside, is marked on both lines."""
    (quote,) = (quote for quote in QUOTES if "investment" in quote["quote"])
    returned = quote["quote"].replace("investment", f"invest{join}ment")
    assert found_places(report, returned) == found_places(report, quote["quote"])
    assert len(quote["rects"]) > 1


def test_the_search_of_the_library_misses_the_broken_word() -> None:
    """What this is better than: PyMuPDF's search does not find the quotation that comes with U+0002 inside."""
    (quote,) = (quote for quote in QUOTES if "investment" in quote["quote"])
    returned = quote["quote"].replace("investment", "invest-\r\n\x02ment")
    with pymupdf.open(SAMPLES / REPORT) as pdf:
        assert pdf[quote["page"] - 1].search_for(returned) == []


@pytest.mark.parametrize(
    ("name", "number", "quarter_turns", "trim"),
    [("rotated.pdf", 1, 0, WHOLE), ("annual-report.pdf", 3, 1, TRIM)],
    ids=["as it is", "turned and trimmed"],
)
def test_quotes_are_found_on_turned_and_trimmed_pages(
    tmp_path: Path, name: str, number: int, quarter_turns: int, trim: tuple[float, float, float, float]
) -> None:
    """Each text that stands once on the page is marked where it is displayed."""
    page, elements, _ = parsed_page(tmp_path, name, number, quarter_turns, trim)
    boxes = moved_boxes(name, number, page, quarter_turns, trim)
    text = PrintedText(elements)
    assert len(boxes) > 10
    for quote, box in boxes.items():
        others = [other for other in boxes if other != quote and quote in other]
        rects = [rect for region in text.locate(quote).regions for rect in region.rects]
        assert others or any(rect.iou(box) > 0.5 for rect in rects), quote
