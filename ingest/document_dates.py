"""The day that a document says of itself, and where it says so. What is no plausible day is not taken."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from email import message_from_binary_file, policy
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final, Literal

import pymupdf

from ingest.kinds import Kind
from ingest.plain_text import decode

# Where a day comes from: the file's properties (created, modified), an e-mail's header (sent), a page's own statement
# (published), or nothing inside it: the file's time on disk.
DatedBy = Literal["created", "modified", "sent", "published", "file"]
Dated = tuple[str, DatedBy | Literal[""]]
UNDATED: Final[Dated] = ("", "")

EARLIEST, LATEST = date(1970, 1, 2), date(2100, 1, 1)  # a clock that was never set says 1970-01-01, or earlier
_HEAD_BYTES = 65_536
_PART_BYTES = 1_000_000

_PDF_DATE = re.compile(r"(?a)\s*(?:D:)?(\d{4})(\d\d)?(\d\d)?")
_TEXT_DATE = re.compile(r"(?a)\s*['\"]?(\d{4})(?:[-/.](\d{1,2})[-/.](\d{1,2})|年(\d{1,2})月(\d{1,2})日)(?!\d)")
_XMP = re.compile(r"xmp:(Create|Modify)Date\s*(?:=\s*[\"']|>\s*)([0-9T:.+Z-]{4,40})")
_XML_FIELD = r"<(?:\w+:)?{}(?:\s[^<>]{{0,200}})?>\s*([^<>]{{4,40}})<"
_META = re.compile(r"<meta\s[^>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w:.-]{1,40})\s*=\s*(?:\"([^\"]{0,200})\"|'([^']{0,200})')")
_META_NAMES = (
    *("article:published_time", "dcterms.created", "dc.date.created", "dcterms.issued", "dc.date", "dcterms.date"),
    "datepublished",
    *(
        "date",
        "pubdate",
        "publishdate",
        "publish-date",
        "publication_date",
        "citation_publication_date",
        "datepublished",
    ),
    *("article:modified_time", "dcterms.modified", "last-modified"),
)
_FRONT_MATTER = re.compile(r"\s*(?:---[ \t]*\n(.{0,20000}?)\n---|\+\+\+[ \t]*\n(.{0,20000}?)\n\+\+\+)", re.DOTALL)
_FRONT_DATE = re.compile(r"^(?:date|published|publish_date|created)[ \t]*[:=][ \t]*(.{4,60})$", re.M | re.IGNORECASE)


def pdf_date(document: pymupdf.Document) -> Dated:
    """The day that an open PDF was made, else that of its last change; of its own fields before those of its XMP."""
    fields = document.metadata or {}
    for name, by in (("creationDate", "created"), ("modDate", "modified")):
        if day := _day(_PDF_DATE.match(str(fields.get(name) or ""))):
            return day, by  # type: ignore[return-value]  # the two literals
    found = {kind: day for kind, text in _XMP.findall(_xmp(document)) if (day := _iso(text))}
    if "Create" in found:
        return found["Create"], "created"
    return (found["Modify"], "modified") if "Modify" in found else UNDATED


def _xmp(document: pymupdf.Document) -> str:
    """Empty where it is damaged: a document is not lost for its date."""
    try:
        return str(document.get_xml_metadata())
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase):
        return ""


def stated_date(path: Path, kind: Kind) -> Dated:
    """The day that any other document states. A file that cannot be read for it states none."""
    reader = _READERS.get(kind)
    try:
        return UNDATED if reader is None else reader(path)
    except (OSError, ValueError, zipfile.BadZipFile, RuntimeError, EOFError, NotImplementedError):
        return UNDATED


def file_date(modified: float) -> Dated:
    """The day of a file's time on disk, in UTC; `modified` in seconds since 1970."""
    try:
        day = datetime.fromtimestamp(modified, UTC).date()
    except (ValueError, OverflowError, OSError):
        return UNDATED
    return (day.isoformat(), "file") if EARLIEST <= day <= LATEST else UNDATED


def _office(path: Path) -> Dated:
    """Its last change before its making, which is often that of the template."""
    return _of_xml(path, "docProps/core.xml", {"modified": "modified", "created": "created"})


def _opendocument(path: Path) -> Dated:
    return _of_xml(path, "meta.xml", {"date": "modified", "creation-date": "created"})


def _epub(path: Path) -> Dated:
    with zipfile.ZipFile(path) as archive:
        package = next((name for name in archive.namelist() if name.lower().endswith(".opf")), "")
    return _of_xml(path, package, {"date": "published"}) if package else UNDATED


def _of_xml(path: Path, part: str, fields: Mapping[str, DatedBy]) -> Dated:
    """The first of the fields that holds a day. No XML parser sees the part: a few bytes of it are looked at."""
    with zipfile.ZipFile(path) as archive:
        if part not in archive.namelist():
            return UNDATED
        with archive.open(part) as opened:
            text = opened.read(_PART_BYTES).decode("utf-8", "replace")
    for name, by in fields.items():
        for found in re.findall(_XML_FIELD.format(name), text):
            if day := _iso(found):
                return day, by
    return UNDATED


def _email(path: Path) -> Dated:
    with path.open("rb") as file:
        header = message_from_binary_file(file, policy=policy.compat32).get("Date", "")
    try:
        day = parsedate_to_datetime(str(header)).date()
    except (ValueError, TypeError, IndexError):
        return UNDATED
    return (day.isoformat(), "sent") if EARLIEST <= day <= LATEST else UNDATED


def _html(path: Path) -> Dated:
    stated: dict[str, str] = {}
    for tag in _META.findall(_head(path)):
        attributes = {name.lower(): double or single for name, double, single in _ATTRIBUTE.findall(tag)}
        for key in ("name", "property", "itemprop", "http-equiv"):
            stated.setdefault(attributes.get(key, "").lower(), attributes.get("content", ""))
    for name in _META_NAMES:
        if day := _iso(stated.get(name, "")):
            return day, "modified" if "modified" in name else "published"
    return UNDATED


def _markdown(path: Path) -> Dated:
    front = _FRONT_MATTER.match(_head(path).replace("\r\n", "\n"))
    for text in _FRONT_DATE.findall((front[1] or front[2] or "") if front else ""):
        if day := _iso(text):
            return day, "published"
    return _html(path)


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return decode(file.read(_HEAD_BYTES))[0]


def _iso(text: str) -> str:
    return _day(_TEXT_DATE.match(text))


def _day(match: re.Match[str] | None) -> str:
    """The day of year, month and day in a match's groups; the first of what is not said. Empty where it is none."""
    if match is None:
        return ""
    year, month, day = [*_numbers(match), 1, 1][:3]
    try:
        found = date(year, month, day)
    except ValueError:
        return ""
    return found.isoformat() if EARLIEST <= found <= LATEST else ""


def _numbers(match: re.Match[str]) -> Iterator[int]:
    return (int(group) for group in match.groups() if group)


_READERS: Mapping[Kind, Callable[[Path], Dated]] = {
    "docx": _office,
    "pptx": _office,
    "xlsx": _office,
    "opendocument": _opendocument,
    "epub": _epub,
    "email": _email,
    "html": _html,
    "markdown": _markdown,
}
