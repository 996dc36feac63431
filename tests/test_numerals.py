"""B16: what is printed in a table comes out of every format byte for byte, through the ledger and into the context."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches

from ingest.chunk import Origin, chunk
from kb_qa.answers import Hit, Question
from kb_qa.ledger import Ledger
from kb_qa.prompts import build_context
from kb_qa.terms import terms
from tests.documents import read

NUMERALS = (
    "1.10",
    "0012",
    "123456.78",
    "1e5",
    "3.0%",
    "1/2",
    "2024-03-05",
    "1234567.890",
    "+5",
    "−0.50",
    "4,812",
    "１２",
)
MARKUP = "<table><tr><th>Item</th><th>2024</th></tr>{}</table>"
ROWS = [("Item", "2024"), *((f"line {letter}", text) for letter, text in zip("abcdefghijkl", NUMERALS, strict=True))]


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The partitioner runs in a directory of its own."""
    monkeypatch.chdir(tmp_path)


def fill(table: Any) -> None:
    for row, values in enumerate(ROWS):
        for column, value in enumerate(values):
            table.cell(row, column).text = value


def as_docx(path: Path) -> None:
    document = docx.Document()
    fill(document.add_table(len(ROWS), 2))
    document.save(str(path))


def as_pptx(path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    fill(slide.shapes.add_table(len(ROWS), 2, Inches(1), Inches(1), Inches(6), Inches(4)).table)
    deck.save(str(path))


def as_xlsx(path: Path) -> None:
    """Strings, as a bank's export has them; figures by their formats are the matter of test_number_formats."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in ROWS:
        sheet.append(row)
    book.save(path)


def html_of_rows() -> str:
    cells = (f"<tr><td>{label}</td><td>{text}</td></tr>" for label, text in ROWS[1:])
    return MARKUP.format("".join(cells))


def as_epub(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", '<c><rootfile full-path="b.opf"/></c>')
        item = '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
        archive.writestr("b.opf", f'<p><manifest>{item}</manifest><spine><itemref idref="a"/></spine></p>')
        archive.writestr("a.xhtml", f"<html><body>{html_of_rows()}</body></html>")


def as_email(path: Path) -> None:
    message = EmailMessage()
    message["Subject"] = "figures"
    message.set_content("plain 9")
    message.add_alternative(html_of_rows(), subtype="html")
    path.write_bytes(message.as_bytes())


def written(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(text, encoding="utf-8", newline="") and None


FORMATS: dict[str, Callable[[Path], None]] = {
    "a.docx": as_docx,
    "a.pptx": as_pptx,
    "a.xlsx": as_xlsx,
    "a.epub": as_epub,
    "a.eml": as_email,
    "a.html": written(html_of_rows()),
    "a.csv": written("\n".join(";".join(row) for row in ROWS)),
    "a.tsv": written("\n".join("\t".join(row) for row in ROWS)),
    "a.md": written("\n".join(["|Item|2024|", "|-|-|", *(f"|{label}|{text}|" for label, text in ROWS[1:])])),
}


@pytest.mark.parametrize("name", FORMATS)
def test_b16_numerals_reach_the_context_as_they_are_printed(tmp_path: Path, name: str) -> None:
    """Parsed, stored, read back, chunked and put before a model and a reader: no digit is added or lost (B16)."""
    path = tmp_path / name
    FORMATS[name](path)
    with Ledger.open(tmp_path / "kb", create=True) as ledger:
        ledger.set_embedder("fake", 4)
        document_id = ledger.store_blob(path)
        version = ledger.receive(document_id, name, "", size=1, kind="any", pipeline="1")
        for state in ("stored", "parsing"):
            ledger.mark(version, state)
        ledger.store_parse(version, read(path))
        chunks = chunk(ledger.load_parse(version).elements, Origin(document_id, version, name, "1"))
        ledger.store_chunks(version, chunks, [terms(part.embedded_text) for part in chunks])
        stored = ledger.chunks_to_embed(version)
    hits = [Hit(part, {"fused": 1.0}) for part in stored]
    context = build_context(Question("What is it?", "en"), hits, per_document=len(hits))
    cells = {cell for part in stored for block in part.blocks for cell in block.text.split(" | ")}
    assert set(NUMERALS) <= cells
    for text in NUMERALS:
        assert text in context.for_models
        assert text in context.for_readers
