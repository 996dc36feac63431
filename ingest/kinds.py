"""What kind of document a file is. The bytes decide first; the name only tells text formats apart."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path, PurePath
from typing import Literal, get_args

from ingest.plain_text import wide_encoding
from kb_qa.errors import (
    DamagedFileError,
    EmptyFileError,
    MisnamedFileError,
    PasswordRequiredError,
    RejectedFileError,
    UnsupportedFileError,
)
from kb_qa.signatures import HEAD_BYTES, TAIL_BYTES, image_words, is_headless_pdf, is_html, is_pdf

Kind = Literal[
    "pdf", "image", "docx", "pptx", "xlsx", "opendocument", "epub", "html", "markdown", "text", "csv", "tsv", "email"
]

KINDS: tuple[Kind, ...] = get_args(Kind)

_SUFFIXES: dict[str, Kind] = {
    ".pdf": "pdf",
    ".png": "image",
    ".jpg": "image",
    ".jpeg": "image",
    ".tif": "image",
    ".tiff": "image",
    ".webp": "image",
    ".bmp": "image",
    ".docx": "docx",
    ".docm": "docx",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".odt": "opendocument",
    ".ods": "opendocument",
    ".odp": "opendocument",
    ".epub": "epub",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".csv": "csv",
    ".tsv": "tsv",
    ".eml": "email",
}

SUFFIXES: tuple[str, ...] = tuple(_SUFFIXES)

_TEXT_KINDS: frozenset[Kind] = frozenset({"html", "markdown", "text", "csv", "tsv", "email"})

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LEGACY = {
    "WordDocument": "a Word 97–2003 file (.doc); save it as .docx",
    "Workbook": "an Excel 97–2003 file (.xls); save it as .xlsx",
    "PowerPoint Document": "a PowerPoint 97–2003 file (.ppt); save it as .pptx",
    "__properties_version1.0": "an Outlook message (.msg); save it as .eml",
}
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def kind_of(path: Path, name: str = "") -> Kind:
    """The kind of the file at `path`, called `name` (by default its own name: a stored blob has none of its own).

    Raises the `RejectedFileError` that says why there is no parser for it: EmptyFileError, MisnamedFileError,
    PasswordRequiredError, DamagedFileError or UnsupportedFileError.
    """
    name = name or path.name
    claimed = _SUFFIXES.get(PurePath(name.lower()).suffix)
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise EmptyFileError(f"{name!r} is empty: it has no bytes")
    found, words = _by_content(path, name, head)
    if found is None and claimed == "pdf" and is_headless_pdf(head, _tail(path)):
        return "pdf"
    if found is None and words:
        raise _mismatch(name, words) if claimed else UnsupportedFileError(f"{name!r} is {words}")
    if found is None:
        return _by_name(name, claimed, head)
    if claimed is not None and claimed != found and not (found == "html" and claimed in _TEXT_KINDS):
        raise _mismatch(name, words)
    return claimed if claimed is not None else found


def _mismatch(name: str, words: str) -> RejectedFileError:
    suffix = PurePath(name).suffix
    return MisnamedFileError(f"{name!r} is named {suffix} but holds {words}")


def _by_content(path: Path, name: str, head: bytes) -> tuple[Kind | None, str]:
    """The kind the bytes say, and what they hold in words; kind None with words for a kind that has no parser."""
    if is_pdf(head):
        return "pdf", "a PDF"
    if words := image_words(head):
        return "image", words
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _by_entries(path, name)
    if head.startswith(_OLE):
        return None, _ole_words(path, name)
    if head.startswith(b"{\\rtf"):
        return None, "an RTF file; save it as .docx"
    if is_html(head):
        return "html", "HTML"
    return None, ""


def _by_entries(path: Path, name: str) -> tuple[Kind | None, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = set(archive.namelist())
            mimetype = b""
            if "mimetype" in entries:
                with archive.open("mimetype") as member:
                    mimetype = member.read(64)  # whatever it inflates to
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, NotImplementedError) as error:
        raise DamagedFileError(f"{name!r} is damaged: its ZIP directory cannot be read; get a complete copy") from error
    if mimetype.strip() == b"application/epub+zip" or "META-INF/container.xml" in entries:
        return "epub", "an EPUB"
    for prefix, kind, words in (
        ("word/", "docx", "a Word document"),
        ("ppt/", "pptx", "a PowerPoint presentation"),
        ("xl/", "xlsx", "an Excel workbook"),
    ):
        if "[Content_Types].xml" in entries and any(entry.startswith(prefix) for entry in entries):
            return kind, words  # type: ignore[return-value]  # the three literals are kinds
    if mimetype.startswith(b"application/vnd.oasis.opendocument"):
        return "opendocument", "an OpenDocument file"
    return None, "a ZIP archive; unpack it first"


def _ole_words(path: Path, name: str) -> str:
    """What an OLE container holds. Raises PasswordRequiredError for encrypted OOXML."""
    import olefile  # type: ignore[import-untyped]  # ships no types

    try:
        with olefile.OleFileIO(path) as container:
            streams = {"/".join(entry) for entry in container.listdir()}
    except (OSError, ValueError, IndexError) as error:
        raise DamagedFileError(f"{name!r} is damaged: its OLE directory cannot be read") from error
    if "EncryptedPackage" in streams:
        raise PasswordRequiredError(f"{name!r} is encrypted; remove the password and try again")
    for stream, words in _LEGACY.items():
        if any(entry.startswith(stream) for entry in streams):
            return words
    return "an OLE file of an unknown program"


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - TAIL_BYTES, 0))
        return file.read(TAIL_BYTES)


def _by_name(name: str, claimed: Kind | None, head: bytes) -> Kind:
    """The kind for bytes without a signature: only text formats may have none."""
    binary = bool(_BINARY.search(head)) and not _is_wide_text(head)
    if claimed in _TEXT_KINDS and not binary:
        return claimed
    if claimed is None:
        suffix = PurePath(name).suffix
        raise UnsupportedFileError(
            f"{name!r} cannot be read: {suffix or 'a file without a suffix'} is no known kind of document; "
            f"known are {', '.join(SUFFIXES)}"
        )
    raise _mismatch(name, "unknown binary data" if binary else "plain text")


def _is_wide_text(head: bytes) -> bool:
    """UTF-16 or UTF-32: a byte order mark, or a zero in nearly every second byte of the sample."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) or wide_encoding(head):
        return True
    half = max(len(head) // 2, 1)
    return any(head[start::2].count(0) > 0.6 * half and head[1 - start :: 2].count(0) < 0.1 * half for start in (0, 1))
