"""Finding documents: kinds by content, odd names, and everything that is no document."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from pathlib import Path

import pytest

from ingest.discover import discover
from ingest.kinds import kind_of
from ingest.limits import Limits
from kb_qa.errors import (
    DamagedFileError,
    EmptyFileError,
    InputError,
    LimitExceededError,
    MisnamedFileError,
    NoDocumentsError,
    UnsupportedFileError,
)
from kb_qa.file_names import display_name

LIMITS = Limits(max_file_mb=1)
PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\nstartxref\n0\n%%EOF"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
BMP = b"BM" + struct.pack("<IHHII", 100, 0, 0, 54, 40)


def archive(*names: str, **contents: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name in names:
            file.writestr(name, b"x")
        for name, content in contents.items():
            file.writestr(name, content)
    return data.getvalue()


HTML = b"<html><script>1</script></html>"
OLE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        pytest.param("a.pdf", PDF, "pdf", id="pdf"),
        pytest.param("a.pdf", b"junk" * 200 + PDF, "pdf", id="pdf header within the first kilobyte"),
        pytest.param("a.pdf", PDF[9:], "pdf", id="pdf without its first bytes"),
        pytest.param("blob", PDF, "pdf", id="pdf without a suffix"),
        pytest.param("a.JPG", PNG, "image", id="any image under another image's suffix"),
        pytest.param("a.bmp", BMP, "image", id="bmp"),
        pytest.param("a.docx", archive("[Content_Types].xml", "word/document.xml"), "docx", id="docx"),
        pytest.param("a.pptx", archive("[Content_Types].xml", "ppt/presentation.xml"), "pptx", id="pptx"),
        pytest.param("a.xlsx", archive("[Content_Types].xml", "xl/workbook.xml"), "xlsx", id="xlsx"),
        pytest.param("a.epub", archive("META-INF/container.xml", mimetype=b"application/epub+zip"), "epub", id="epub"),
        pytest.param("a.html", b"<p>no doctype</p>", "html", id="html by suffix"),
        pytest.param("blob", b"\xef\xbb\xbf<!DOCTYPE html><p>x</p>", "html", id="html by content"),
        pytest.param("手册.md", "# 手册".encode(), "markdown", id="markdown"),
        pytest.param("a.txt", b"BM is not a bitmap", "text", id="text that begins as a bitmap does"),
        pytest.param("a.txt", b"<html> is a tag", "text", id="text about html"),
        pytest.param("a.txt", "年假".encode("utf-16-le"), "text", id="utf-16 text"),
        pytest.param("a.csv", b"a,b\n1,2", "csv", id="csv"),
        pytest.param("a.eml", b"Subject: x\n\ny", "email", id="email"),
    ],
)
def test_kind_is_read_from_the_bytes_and_for_text_from_the_name(
    tmp_path: Path, name: str, data: bytes, kind: str
) -> None:
    """Every supported kind is recognised."""
    assert kind_of(put(tmp_path / name, data)) == kind


@pytest.mark.parametrize(
    ("name", "data", "error", "words"),
    [
        pytest.param("a.pdf", HTML, MisnamedFileError, "named .pdf but holds HTML", id="html as pdf"),
        pytest.param("a.pdf", PNG, MisnamedFileError, "named .pdf but holds a PNG image", id="png as pdf"),
        pytest.param("a.pdf", b"hello world", MisnamedFileError, "holds plain text", id="text as pdf"),
        pytest.param("a.docx", PDF, MisnamedFileError, "named .docx but holds a PDF", id="pdf as docx"),
        pytest.param("a.txt", b"\x00\x01\x02\x03" * 99, MisnamedFileError, "unknown binary data", id="binary as text"),
        pytest.param("a.pdf", b"", EmptyFileError, "no bytes", id="zero bytes"),
        pytest.param("a.docx", archive("a", "b")[:40], DamagedFileError, "ZIP directory", id="truncated zip"),
        pytest.param("a.zip", archive("a"), UnsupportedFileError, "unpack", id="zip"),
        pytest.param("a.mp3", b"ID3\x04", UnsupportedFileError, ".mp3", id="unknown kind"),
        pytest.param("a.rtf", b"{\\rtf1 x}", UnsupportedFileError, "RTF", id="rtf"),
        pytest.param("a.doc", OLE, DamagedFileError, "OLE", id="broken ole"),
    ],
)
def test_a_file_without_a_parser_says_why(
    tmp_path: Path, name: str, data: bytes, error: type[Exception], words: str
) -> None:
    """Each refusal is typed and names what the file holds."""
    with pytest.raises(error, match=words):
        kind_of(put(tmp_path / name, data))


def test_a_stored_blob_is_judged_by_the_name_it_was_uploaded_under(tmp_path: Path) -> None:
    """The name is given beside the path where the path has none."""
    blob = put(tmp_path / "0a1b", b"a,b\n1,2")
    assert kind_of(blob, "数据.csv") == "csv"


def test_folders_are_walked_in_sorted_order_with_relative_names(tmp_path: Path) -> None:
    """Names are relative to the given folder, POSIX, and sorted."""
    for name in ("b.pdf", "a/z.pdf", "a/b/c.txt", "年报.md"):
        put(tmp_path / name, PDF if name.endswith("pdf") else b"x")
    found = discover([tmp_path], limits=LIMITS).found
    assert [file.name for file in found] == ["a/b/c.txt", "a/z.pdf", "b.pdf", "年报.md"]
    assert [(file.folder, file.file_name) for file in found][1] == (f"{tmp_path}/a", "z.pdf")


def test_what_is_no_document_is_skipped_with_a_reason_and_the_scan_ends(tmp_path: Path) -> None:
    """Links, loops, pipes, hidden and lock files, and second names of a file are skipped."""
    real = put(tmp_path / "a.pdf", PDF)
    (tmp_path / "link.pdf").symlink_to(real)
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "pipe.pdf")
    os.link(real, tmp_path / "second.pdf")
    for name in (".hidden.pdf", ".git/x.pdf", "~$report.docx", "Thumbs.db"):
        put(tmp_path / name, PDF)
    discovery = discover([tmp_path], limits=LIMITS)
    assert [file.name for file in discovery.found] == ["a.pdf"]
    assert {entry.name: entry.reason for entry in discovery.skipped} == {
        ".git": "hidden",
        ".hidden.pdf": "hidden",
        "Thumbs.db": "a file of the operating system",
        "link.pdf": "a symbolic link",
        "loop": "a symbolic link",
        "pipe.pdf": "a named pipe, not a file",
        "second.pdf": "the same file as 'a.pdf'",
        "~$report.docx": "an Office lock file",
    }


def test_a_file_that_cannot_be_read_is_listed_with_its_error(tmp_path: Path) -> None:
    """Unknown, misnamed, empty and oversized files are outcomes, not gaps."""
    put(tmp_path / "big.pdf", PDF + bytes(1_100_000))
    put(tmp_path / "empty.pdf", b"")
    put(tmp_path / "song.mp3", b"ID3")
    put(tmp_path / "fake.pdf", b"<html>")
    errors = {entry.name: type(entry.error) for entry in discover([tmp_path], limits=LIMITS).rejected}
    assert errors == {
        "big.pdf": LimitExceededError,
        "empty.pdf": EmptyFileError,
        "fake.pdf": MisnamedFileError,
        "song.mp3": UnsupportedFileError,
    }


def test_a_path_that_is_given_may_be_a_link_or_hidden(tmp_path: Path) -> None:
    """Who names a file means it; given twice it is found once."""
    real = put(tmp_path / "files" / ".secret.pdf", PDF)
    (tmp_path / "link.pdf").symlink_to(real)
    discovery = discover([tmp_path / "link.pdf", real], limits=LIMITS)
    assert [file.name for file in discovery.found] == ["link.pdf"]
    assert discovery.skipped[0].reason == "the same file as 'link.pdf'"


@pytest.mark.parametrize("path", [Path("nowhere"), Path("nul\x00byte")], ids=["missing", "nul"])
def test_a_path_that_does_not_exist_is_an_error_of_the_user(tmp_path: Path, path: Path) -> None:
    """The message names the path, printable."""
    with pytest.raises(InputError, match="no such file or folder"):
        discover([tmp_path / path], limits=LIMITS)


def test_a_folder_without_documents_is_an_error_of_the_user(tmp_path: Path) -> None:
    """An empty folder is told apart from a successful run."""
    with pytest.raises(NoDocumentsError, match="no document found"):
        discover([tmp_path], limits=LIMITS)


@pytest.mark.parametrize(
    "raw",
    [b"\xe2\x80\xaefdp.exe.pdf", b"a\nb.pdf", b"caf\xe9.pdf", b"\x1b[31mred.pdf"],
    ids=["bidi override", "newline", "not utf-8", "escape"],
)
def test_odd_file_names_survive_and_are_shown_safely(tmp_path: Path, raw: bytes) -> None:
    """The path keeps the bytes; the name encodes as UTF-8 and has nothing that acts on a terminal."""
    (tmp_path / os.fsdecode(raw)).write_bytes(PDF)
    found = discover([tmp_path], limits=LIMITS).found
    assert found[0].path.read_bytes() == PDF
    assert "\ufffd" in found[0].name
    assert found[0].name.encode("utf-8").isascii() is False
    assert display_name(found[0].name) == found[0].name


def test_ordinary_names_are_shown_as_they_are() -> None:
    """Chinese, spaces, emoji and a zero-width joiner are no control characters."""
    name = "年度 报告 (v2) 👩‍💻.pdf"
    assert display_name(name) == name
