"""Office files that LibreOffice prints: the pages are those of the PDF, the document stays the original."""

from __future__ import annotations

import shutil
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import docx
import pymupdf
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from ingest.draw import draw_elements
from ingest.kinds import kind_of
from ingest.limits import Limits
from ingest.office_pages import PROGRAMS, rendered_pdf
from ingest.parse import parse_document
from ingest.pdf import parse_pdf
from ingest.pipeline import PIPELINE
from ingest.stored import parsed_document, shown_file
from kb_qa.elements import ParsedDocument
from kb_qa.errors import LimitExceededError, MissingDependencyError, UnsupportedFileError
from kb_qa.geometry import BBox
from kb_qa.ledger import Ledger
from kb_qa.pages import picture_png
from kb_qa.picture import Picture
from kb_qa.settings import Settings
from tests.documents import texts
from tests.pdf_pages import ink, write_pdf

REVENUE = "Net revenue was 4,812 million in 2024."
needs_libreoffice = pytest.mark.skipif(
    not any(map(shutil.which, PROGRAMS)), reason="LibreOffice is not installed; nothing prints here"
)


def word_file(path: Path) -> Path:
    document = docx.Document()
    document.add_paragraph(REVENUE)
    change = (
        f"<w:p {nsdecls('w')}><w:r><w:t xml:space='preserve'>It was </w:t></w:r>"
        "<w:del w:id='1' w:author='x'><w:r><w:delText>100</w:delText></w:r></w:del>"
        "<w:ins w:id='2' w:author='x'><w:r><w:t>200</w:t></w:r></w:ins>"
        "<w:r><w:t xml:space='preserve'> units.</w:t></w:r></w:p>"
    )
    document.element.body.insert(1, parse_xml(change))
    document.save(str(path))
    return path


def program(folder: Path, script: str) -> None:
    """A `soffice` that the search path finds first; `$out` is the folder for the PDF."""
    fake = folder / "soffice"
    fake.write_text(f'#!/bin/bash\nwhile [ "$1" != --outdir ]; do shift; done\nout=$2\n{script}\n', encoding="utf-8")
    fake.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which alone programs are looked for, with what a script needs."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("bash", "cp", "sleep"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def printed(path: Path) -> ParsedDocument:
    return parse_document(path, "d" * 64, kind_of(path), limits=Limits(render_office=True))


def test_a_printed_document_has_pages_and_boxes(tmp_path: Path, programs: Path) -> None:
    """Its boxes are on the pages that come with it, and it says who printed them."""
    pages = write_pdf(tmp_path / "printed.pdf", lambda page: page.insert_text((72, 100), REVENUE, fontsize=11))
    program(programs, f'cp "{pages}" "$out/source.pdf"')
    parsed = printed(word_file(tmp_path / "a.docx"))
    assert (texts(parsed), parsed.flags) == ([REVENUE], ("pages printed by LibreOffice",))
    assert parsed.rendering == pages.read_bytes()
    assert parsed.elements[0].regions[0].bbox is not None


@pytest.mark.parametrize(
    ("script", "reason"),
    [("exit 1", "makes no pages"), ('echo nonsense > "$out/source.pdf"', "not a PDF"), (None, "not installed")],
    ids=["fails", "prints nonsense", "is missing"],
)
def test_what_cannot_be_printed_is_read_without_pages(
    tmp_path: Path, programs: Path, script: str | None, reason: str
) -> None:
    """Nothing is lost, and a flag says why there are no pages."""
    if script is not None:
        program(programs, script)
    parsed = printed(word_file(tmp_path / "a.docx"))
    assert texts(parsed) == [REVENUE, "It was 200 units."]
    assert parsed.flags[-1].startswith("read without pages: ")
    assert reason in parsed.flags[-1]
    assert parsed.rendering == b""


def test_nothing_is_printed_unless_asked_for(tmp_path: Path, programs: Path) -> None:
    """The option is off by default, and an OpenDocument file says how to have it read."""
    program(programs, "exit 1")
    path = word_file(tmp_path / "a.docx")
    assert parse_document(path, "d" * 64, "docx", limits=Limits()).flags == ()
    with pytest.raises(UnsupportedFileError, match="KB_QA_RENDER_OFFICE=1"):
        parse_document(path, "d" * 64, "opendocument", limits=Limits())


def opendocument(path: Path, content: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
    return path


def test_an_opendocument_file_is_read_by_its_pages_alone(tmp_path: Path, programs: Path) -> None:
    """It is known by its content; with tracked changes, of which both versions would show, it is refused."""
    pages = write_pdf(tmp_path / "printed.pdf", lambda page: page.insert_text((72, 100), REVENUE, fontsize=11))
    program(programs, f'cp "{pages}" "$out/source.pdf"')
    assert texts(printed(opendocument(tmp_path / "a.odt", "<x/>"))) == [REVENUE]
    with pytest.raises(UnsupportedFileError, match="tracked changes"):
        printed(opendocument(tmp_path / "b.odt", "<text:tracked-changes/>"))


def test_a_printing_that_hangs_ends_with_all_its_processes(tmp_path: Path, programs: Path) -> None:
    """Also those it started itself, which hold what they were given to write to."""
    program(programs, 'sleep 60 & echo $! > "$out/pid"\nwait')
    with pytest.raises(LimitExceededError, match="longer than 1 s"):
        rendered_pdf(word_file(tmp_path / "a.docx"), "docx", tmp_path, limits=Limits(seconds=3))
    stat = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/stat")
    until = time.monotonic() + 2
    while stat.exists() and stat.read_text().split()[2] != "Z" and time.monotonic() < until:
        time.sleep(0.02)
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


def test_without_libreoffice_there_are_no_pages(tmp_path: Path, programs: Path) -> None:
    """The message says what to install or to unset."""
    with pytest.raises(MissingDependencyError, match="LibreOffice is not installed"):
        rendered_pdf(word_file(tmp_path / "a.docx"), "docx", tmp_path, limits=Limits())


def test_pictures_come_from_the_printed_pages_and_the_original_stays(tmp_path: Path) -> None:
    """The pages lie beside the original, are drawn for it, and go with it."""
    original = word_file(tmp_path / "a.docx")
    pages = write_pdf(tmp_path / "printed.pdf", lambda page: page.insert_text((72, 100), REVENUE, fontsize=11))
    with Ledger.open(tmp_path / "kb", create=True) as ledger:
        document_id = ledger.store_blob(original)
        version = ledger.receive(document_id, "a.docx", "", size=1, kind="docx", pipeline="1")
        for state in ("stored", "parsing"):
            ledger.mark(version, state)
        ledger.store_parse(version, ParsedDocument((), (), "test", rendering=pages.read_bytes()))
        blob = ledger.blob_path(document_id)
        assert blob.read_bytes() == original.read_bytes()
        picture = Picture(1, BBox(72, 88, 200, 104))
        assert picture_png(blob, picture) == picture_png(pages, picture)
        ledger.delete(document_id)
        assert list(blob.parent.glob("*")) == []


@needs_libreoffice
def test_libreoffice_prints_what_a_reader_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For real: the words are where the ink is, and a tracked change is printed once."""
    monkeypatch.chdir(tmp_path)
    parsed = printed(word_file(tmp_path / "a.docx"))
    assert " ".join(texts(parsed)) == f"{REVENUE} It was 200 units."
    pages = tmp_path / "pages.pdf"
    pages.write_bytes(parsed.rendering)
    assert all(ink(pages, 1, word.bbox) > 0.02 for word in parsed.elements[0].words)


@pytest.mark.parametrize("ingested", [False, True], ids=["parsed now", "from the ledger"])
def test_elements_and_crops_of_an_office_file_are_drawn_on_its_print(tmp_path: Path, ingested: bool) -> None:
    """Where it is parsed now, and where its print was kept; the original has nothing to draw on."""
    path = word_file(tmp_path / "a.docx")
    pages = write_pdf(tmp_path / "printed.pdf", lambda page: page.insert_text((72, 100), REVENUE, fontsize=11))
    settings = Settings(kb=tmp_path / "kb")
    parsed = replace(parse_pdf(pages, "d", limits=Limits()), rendering=pages.read_bytes())
    if ingested:
        with Ledger.open(settings.kb, create=True) as ledger:
            document_id = ledger.store_blob(path)
            version = ledger.receive(document_id, "a.docx", "", size=1, kind="docx", pipeline=PIPELINE)
            for state in ("stored", "parsing"):
                ledger.mark(version, state)
            ledger.store_parse(version, replace(parsed, title="kept"))
            ledger.store_chunks(version, [], [])
            ledger.mark(version, "indexing")
            ledger.publish(version)
        parsed = parsed_document(settings, path)
        assert parsed.title == "kept"
        (tmp_path / "shown").mkdir()
        shown = shown_file(settings, path, tmp_path / "shown")
        assert shown.read_bytes() == pages.read_bytes()
    (drawn,) = draw_elements(path, parsed, tmp_path / "out")
    assert pymupdf.Pixmap(drawn).width > 500


def test_a_file_without_a_print_is_shown_as_it_is(tmp_path: Path) -> None:
    """A PDF has pages, and what is wrong with a file says whoever opens it."""
    pdf = write_pdf(tmp_path / "a.pdf", lambda page: page.insert_text((72, 100), REVENUE))
    wrong = tmp_path / "b.docx"
    wrong.write_bytes(b"\x00\x01")
    assert [shown_file(Settings(kb=tmp_path / "kb"), path, tmp_path) for path in (pdf, wrong)] == [pdf, wrong]
