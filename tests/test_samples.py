"""The sample documents, and the boxes that scripts/make_samples.py says it drew in them."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import numpy as np
import pymupdf
import pytest

from kb_qa.geometry import BBox
from tests.golden_boxes import (
    GOLDEN,
    PDFS,
    PIXELS,
    ROOT,
    SAMPLES,
    TRIM,
    TURNED_PAGES,
    check_ink,
    crop_of,
    ink,
    items_of,
    rendered,
    text_box,
    turned,
    turned_page,
)

TEXTS = ("hb.md", "reset-password.txt", "refunds.txt", "data-export.txt", "service-levels.html", "travel-policy.docx")
RULED = (
    "表1　职级与基本工资",
    "Share of net sales by region",
    "Table 7. Electricity use by site and quarter",
    "INVOICE",
)


def displayed_characters(page: pymupdf.Page) -> Iterator[tuple[float, float, str]]:
    """Middle of each character as displayed, in the order of the file."""
    for block in page.get_text("rawdict")["blocks"]:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                for character in span["chars"]:
                    box = pymupdf.Rect(character["bbox"]) * page.rotation_matrix
                    yield (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, character["c"]


def text_in(characters: list[tuple[float, float, str]], box: BBox) -> str:
    return "".join(character for x, y, character in characters if box.contains_point(x, y))


def plain_text(path: Path) -> str:
    """What a reader sees of a sample; of PDFs, what the script drew."""
    if path.suffix == ".pdf":
        return "\n".join(item["text"] for item in items_of(path.name))
    if path.suffix == ".docx":
        document = docx.Document(str(path))
        cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
        return "\n".join([paragraph.text for paragraph in document.paragraphs] + cells)
    text = path.read_text(encoding="utf-8")
    return html.unescape(re.sub(r"<[^>]+>", " ", text)) if path.suffix == ".html" else text


def says(text: str, figure: str) -> bool:
    """Whether the figure stands in the text by itself, not as part of a longer number or word."""
    return (
        re.search(rf"(?<![\w.,]){re.escape(figure)}(?![0-9])" if figure.isascii() else re.escape(figure), text)
        is not None
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two folders, each with what a run of the script writes: `out`, and beside it the golden facts and questions."""
    folders = tuple(tmp_path_factory.mktemp("samples") for _ in range(2))
    script = str(ROOT / "scripts" / "make_samples.py")
    started = [
        subprocess.Popen(
            [
                *(sys.executable, script, "--out", str(folder / "out"), "--golden", str(folder / "golden.json")),
                *("--questions", str(folder / "questions.jsonl")),
            ],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for folder, seed in zip(folders, ("1", "2"), strict=True)
    ]
    assert [process.wait(timeout=120) for process in started] == [0, 0]
    return folders[0], folders[1]


def test_the_folder_holds_the_documents_and_nothing_else(runs: tuple[Path, Path]) -> None:
    """data/samples/ holds exactly the documents the script writes, each smaller than 300 kB."""
    sizes = {path.name: path.stat().st_size for path in SAMPLES.iterdir()}
    assert set(sizes) == {*PDFS, *TEXTS} == {path.name for path in (runs[0] / "out").iterdir()}
    assert max(sizes.values()) < 300_000


def test_the_golden_file_is_what_the_script_writes(runs: tuple[Path, Path]) -> None:
    """Running the script again yields the committed boxes, quotations and questions."""
    assert json.loads((runs[0] / "golden.json").read_text(encoding="utf-8")) == GOLDEN
    assert (runs[0] / "questions.jsonl").read_bytes() == (ROOT / "docs" / "sample-questions.jsonl").read_bytes()


@pytest.mark.parametrize("name", [*PDFS, *TEXTS])
def test_two_runs_write_the_same_bytes(name: str, runs: tuple[Path, Path]) -> None:
    """The files hold no random id and no hash order of the run that wrote them."""
    first, second = ((run / "out" / name).read_bytes() for run in runs)
    assert first == second


def test_the_files_hold_no_date_of_the_run_that_wrote_them() -> None:
    """Dates inside the PDFs and the DOCX are fixed ones."""
    for name in PDFS:
        with pymupdf.open(SAMPLES / name) as pdf:
            assert pdf.metadata["creationDate"] == pdf.metadata["modDate"] == "D:20250401090000Z"
            assert pdf.xref_get_key(-1, "ID")[0] == "null"
    with zipfile.ZipFile(SAMPLES / "travel-policy.docx") as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("name", [*PDFS, *TEXTS])
def test_the_committed_files_say_what_the_script_writes(name: str, runs: tuple[Path, Path]) -> None:
    """Committed and new files agree in words and boxes, whichever library version compressed them."""
    if name not in PDFS:
        assert plain_text(SAMPLES / name) == plain_text(runs[0] / "out" / name)
        return
    with pymupdf.open(SAMPLES / name) as committed, pymupdf.open(runs[0] / "out" / name) as new:
        assert len(committed) == len(new)
        for page, fresh in zip(committed, new, strict=True):
            assert page.get_text("words") == fresh.get_text("words")
            assert np.abs(rendered(page) - rendered(fresh)).mean() < 1


@pytest.mark.parametrize("name", PDFS)
def test_pages_have_the_displayed_size_the_golden_file_states(name: str) -> None:
    """Width, height and rotation are those of the page as displayed."""
    with pymupdf.open(SAMPLES / name) as pdf:
        found = [(page.number + 1, page.rect.width, page.rect.height, page.rotation) for page in pdf]
    stated = [page for page in GOLDEN["pages"] if page["document"] == name]
    assert found == [(page["number"], page["width"], page["height"], page["rotation"]) for page in stated]


@pytest.mark.parametrize("name", PDFS)
def test_every_golden_box_is_filled_with_ink(name: str) -> None:
    """In the rendered page, each line and each cell's text fills its box, and nothing sticks out."""
    with pymupdf.open(SAMPLES / name) as pdf:
        for page in pdf:
            picture = rendered(page)
            items = items_of(name, page.number + 1)
            assert items
            for item in items:
                check_ink(picture, item["text"], text_box(item))


@pytest.mark.parametrize("trim", [(0.0, 0.0, 0.0, 0.0), TRIM], ids=["whole", "trimmed"])
@pytest.mark.parametrize("quarter_turns", range(4))
@pytest.mark.parametrize(("name", "number"), TURNED_PAGES)
def test_golden_boxes_follow_a_page_that_is_turned_and_trimmed(
    name: str, number: int, quarter_turns: int, trim: tuple[float, float, float, float]
) -> None:
    """Re-saved with another /Rotate and a CropBox offset, the page shows its ink at the transformed boxes."""
    left, top, right, bottom = trim
    with pymupdf.open(SAMPLES / name) as pdf:
        width, height = pdf[number - 1].rect.width - left - right, pdf[number - 1].rect.height - top - bottom
    with pymupdf.open(stream=turned_page(name, number, quarter_turns, trim), filetype="pdf") as again:
        picture = rendered(again[0])
    assert picture.shape == tuple(
        round(side * PIXELS) for side in ((height, width), (width, height))[quarter_turns % 2]
    )
    for item in items_of(name, number):
        box = text_box(item)
        moved = BBox(box.x0 - left, box.y0 - top, box.x1 - left, box.y1 - top)
        # Turned back, the picture is the upright trimmed page again; the box is cut out before that.
        seen = ink(picture, turned(moved, width, height, quarter_turns))
        upright = np.rot90(seen, quarter_turns)
        straight = ink(np.rot90(picture, quarter_turns), moved)
        assert upright.any(), f"no ink for {item['text']!r}"
        assert abs(int(upright.sum()) - int(straight.sum())) <= 0.2 * straight.sum() + 4
        check_ink(np.rot90(picture, quarter_turns), item["text"], moved)


@pytest.mark.parametrize("name", [name for name in PDFS if name != "scan.pdf"])
def test_each_golden_box_holds_exactly_its_text(name: str) -> None:
    """The characters whose middles lie in a box are the box's text, so it is real text, mapped right."""
    with pymupdf.open(SAMPLES / name) as pdf:
        for page in pdf:
            characters = list(displayed_characters(page))
            for item in items_of(name, page.number + 1):
                assert text_in(characters, text_box(item)) == item["text"]


@pytest.mark.parametrize("table", RULED)
def test_ruled_cells_are_ruled_on_their_four_edges(table: str) -> None:
    """Of tables with a grid, each cell's box runs along drawn rules."""
    cells = [item for item in GOLDEN["items"] if item.get("table") == table]
    tolerance = 6 if cells[0]["document"] == "scan.pdf" else 1.5  # the skew lifts one end of a rule
    with pymupdf.open(SAMPLES / cells[0]["document"]) as pdf:
        picture = rendered(pdf[cells[0]["page"] - 1])
    for cell in cells:
        x0, y0, x1, y1 = cell["bbox"]
        for edge in ((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)):
            band = BBox(*edge).expanded(tolerance)
            across = 0 if band.width > band.height else 1
            drawn = np.abs(np.diff(crop_of(picture, band), axis=across)).max(axis=across)
            assert (drawn > 15).mean() > 0.7, f"no rule along {edge} of {cell['text']!r}"


def test_charts_and_scans_are_pictures_in_their_boxes() -> None:
    """Each image box lies on its page, holds ink, and has its caption below it where it is a chart."""
    images = [item for item in GOLDEN["items"] if item["kind"] == "image"]
    assert [(item["document"], item["page"]) for item in images] == [
        ("briefing.pdf", 3),
        ("briefing.pdf", 3),
        ("scan.pdf", 1),
    ]
    for item in images:
        box = BBox(*item["bbox"])
        with pymupdf.open(SAMPLES / item["document"]) as pdf:
            page = pdf[item["page"] - 1]
            assert ink(rendered(page), box).mean() > 0.01
            assert BBox(*page.rect).contains_point(*box.center)
        captions = [line for line in items_of(item["document"], item["page"]) if line.get("role") == "caption"]
        below = [line["text"] for line in captions if 0 < line["bbox"][1] - box.y1 < 30]
        assert below == ([item["text"]] if item["text"] else [])


def test_the_scan_is_a_picture_and_nothing_else() -> None:
    """scan.pdf has no text layer, and one picture that covers the page at 200 dpi."""
    with pymupdf.open(SAMPLES / "scan.pdf") as pdf:
        (page,) = pdf
        assert page.get_text() == ""
        (image,) = page.get_image_info()
        assert BBox(*image["bbox"]).iou(BBox(*page.rect)) > 0.99
        assert image["width"] == pytest.approx(page.rect.width / 72 * 200, abs=1)


@pytest.mark.parametrize("name", PDFS)
def test_fonts_are_embedded(name: str) -> None:
    """Every renderer shows the same glyphs: no font is left to the machine."""
    with pymupdf.open(SAMPLES / name) as pdf:
        extensions = [font[1] for page in pdf for font in page.get_fonts()]
    assert bool(extensions) == (name != "scan.pdf")
    assert "n/a" not in extensions


def test_each_quotation_stands_in_its_rectangles() -> None:
    """Read from its rectangles, one per line, a quotation is itself; a line-end hyphen is the only thing more."""
    for quote in GOLDEN["quotes"]:
        with pymupdf.open(SAMPLES / quote["document"]) as pdf:
            characters = list(displayed_characters(pdf[quote["page"] - 1]))
        lines = [text_in(characters, BBox(*rect)).strip() for rect in quote["rects"]]
        joined = "".join(line.removesuffix("-") if line.endswith("invest-") else line for line in lines)
        assert joined.replace(" ", "") == quote["quote"].replace(" ", "")


def test_the_report_has_ten_quotations_and_one_is_broken_by_a_hyphen() -> None:
    """Ten sentences of the annual report; `investment` is printed `invest-` and `ment`."""
    report = [quote for quote in GOLDEN["quotes"] if quote["document"] == "annual-report.pdf"]
    assert len(report) == 10
    lines = [item["text"] for item in items_of("annual-report.pdf", 2)]
    (first,) = (number for number, text in enumerate(lines) if text.endswith("continued invest-"))
    assert lines[first + 1].startswith("ment in cloud")
    assert sum("investment" in quote["quote"] for quote in report) == 1


def test_the_pay_of_grade_p5_stands_nowhere_else() -> None:
    """22000 is one cell on page 4 of the briefing, and in no other way of writing anywhere; no grade is called P9."""
    cells = [item for item in GOLDEN["items"] if "22000" in item["text"]]
    assert [(cell["document"], cell["page"], cell["kind"]) for cell in cells] == [("briefing.pdf", 4, "cell")]
    everything = "\n".join(plain_text(SAMPLES / name) for name in (*PDFS, *TEXTS))
    assert everything.count("22000") == 1
    for other in ("22,000", "22 000", "2.2万", "两万二", "P9"):
        assert other not in everything


@pytest.mark.parametrize("question", [q for q in GOLDEN["questions"] if not q["refused"]], ids=lambda q: q["id"])
def test_an_answer_stands_in_the_document_and_page_its_question_names(question: dict[str, Any]) -> None:
    """The printed answer is on the stated page, and in no other document."""
    holders = [name for name in (*PDFS, *TEXTS) if says(plain_text(SAMPLES / name), question["answer"])]
    assert holders == [question["document"]]
    pages = {item["page"] for item in items_of(question["document"]) if says(item["text"], question["answer"])}
    assert pages == ({question["page"]} if question["page"] else set())


@pytest.mark.parametrize("question", [q for q in GOLDEN["questions"] if q["refused"]], ids=lambda q: q["id"])
def test_what_a_refused_question_names_is_in_no_document(question: dict[str, Any]) -> None:
    """The grade, year, company or site is in the question and in none of the samples."""
    assert question["absent"] in question["question"]
    assert not any(question["absent"] in plain_text(SAMPLES / name) for name in (*PDFS, *TEXTS))


def test_the_questions_cover_both_languages_and_every_kind_of_document() -> None:
    """At least twelve questions that have an answer, in English and Chinese, over all samples."""
    answered = [question for question in GOLDEN["questions"] if not question["refused"]]
    assert len(answered) >= 12
    assert {question["language"] for question in GOLDEN["questions"] if question["refused"]} == {"en", "zh"}
    assert {question["document"] for question in answered} == {*PDFS, *TEXTS}


def test_text_outside_the_crop_box_is_on_the_sheet_but_not_displayed() -> None:
    """rotated.pdf carries a printer's line that only the whole sheet shows."""
    (hidden,) = GOLDEN["invisible"]
    with pymupdf.open(SAMPLES / hidden["document"]) as pdf:
        page = pdf[hidden["page"] - 1]
        assert page.cropbox.tl != (0, 0) and page.rotation == 90
        displayed = page.get_text(clip=page.rect * page.derotation_matrix)
        page.set_cropbox(page.mediabox)
        assert hidden["text"] not in displayed
        assert hidden["text"] in page.get_text()


def test_the_handbook_has_the_sections_that_references_name() -> None:
    """hb.md has the path 手册 > 假期."""
    lines = (SAMPLES / "hb.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# 手册"
    assert "## 假期" in lines
