"""Archives made to hurt (G2): entities that multiply, entries that inflate, directories that lie."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest

from ingest.limits import Limits
from kb_qa.errors import LimitExceededError, RejectedFileError
from tests.documents import read, texts

ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
BOMB = f'<!DOCTYPE x [<!ENTITY e0 "4,812 ">{ENTITIES}]>'  # a billion times six characters
PARTS = {"a.docx": "word/document.xml", "a.pptx": "ppt/slides/slide1.xml", "a.xlsx": "xl/worksheets/sheet1.xml"}


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The partitioner runs in a directory of its own."""
    monkeypatch.chdir(tmp_path)


def plain(path: Path) -> Path:
    """A file of its kind that says REVENUE."""
    if path.suffix == ".docx":
        document = docx.Document()
        document.add_paragraph("REVENUE")
        document.save(str(path))
    elif path.suffix == ".pptx":
        deck = pptx.Presentation()
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "REVENUE"
        deck.slides[0].shapes.add_textbox(0, 0, 100, 100).text_frame.text = "REVENUE"
        deck.save(str(path))
    else:
        book = openpyxl.Workbook()
        book.worksheets[0]["A1"] = "REVENUE"
        book.save(path)
    return path


def rewritten(source: Path, target: Path, part: str, change: object) -> Path:
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            data = before.read(name)
            after.writestr(name, change(data) if name == part and callable(change) else data)
    return target


def with_entities(data: bytes) -> bytes:
    """The part with a document type that defines the entities, and one of them as its text."""
    text = data.decode("utf-8")
    head, mark, body = text.rpartition("?>")
    for old, new in (("REVENUE", "&e9;"), ('<c r="A1" t="s"><v>0</v></c>', '<c r="A1" t="str"><v>&e9;</v></c>')):
        body = body.replace(old, new)
    return f"{head}{mark}{BOMB}{body}".encode()


@pytest.mark.parametrize("name", PARTS)
def test_g2_entities_are_not_multiplied(tmp_path: Path, name: str) -> None:
    """A few hundred bytes stand for gigabytes: the file is refused, or read without them, at once (G2)."""
    path = rewritten(plain(tmp_path / f"plain{Path(name).suffix}"), tmp_path / name, PARTS[name], with_entities)
    began = time.process_time()
    try:
        found = texts(read(path))
    except RejectedFileError as error:
        found = []
        assert str(error)
    assert sum(map(len, found)) < 1000
    assert time.process_time() - began < 20


@pytest.mark.parametrize("name", [*PARTS, "a.epub"])
def test_g2_every_archive_is_judged_before_it_is_inflated(tmp_path: Path, name: str) -> None:
    """An entry of zeros of any name is refused by its size in the directory (G2)."""
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip" if name == "a.epub" else "")
        archive.writestr("[Content_Types].xml", "x")
        archive.writestr(PARTS.get(name, "META-INF/container.xml"), "x")
        archive.writestr("media/zeros", bytes(3_000_000))
    with pytest.raises(LimitExceededError, match="KB_QA_MAX_INFLATED_MB"):
        read(tmp_path / name, Limits(max_inflated_mb=2))


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_g2_a_page_nested_without_end_is_read_whole_or_refused(tmp_path: Path, depth: int) -> None:
    """What no recursive reader bears is flattened; past what the parser bears, nothing is left out silently (G2)."""
    path = tmp_path / "a.html"
    path.write_text("<p>before</p>" + "<div>" * depth + "7" + "</div>" * depth + "<p>after</p>", encoding="utf-8")
    if depth > 2000:
        with pytest.raises(LimitExceededError, match="2,000 deep"):
            read(path)
    else:
        assert texts(read(path)) == ["before", "7", "after"]
