"""EPUB books, chapter by chapter in reading order, each as HTML.

unstructured's partition_epub starts pandoc, a process beside the parser's own limits; a book is a ZIP of XHTML files,
and these are read the same way as any HTML.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from lxml import etree  # type: ignore[import-untyped]  # ships no types

from ingest.markup import html_passages
from ingest.passages import Passage
from ingest.plain_text import decode
from kb_qa.errors import DamagedFileError, PasswordRequiredError

_CONTAINER = "META-INF/container.xml"
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html"})


def book_passages(path: Path) -> tuple[list[Passage], str, tuple[str, ...]]:
    """Passages, the book's title and flags. Raises DamagedFileError without a package document."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        if "META-INF/encryption.xml" in names and "META-INF/rights.xml" in names:
            raise PasswordRequiredError("the book is protected by DRM; provide a copy without it")
        package_name = _package_name(archive)
        package = _xml(archive.read(package_name))
        passages: list[Passage] = []
        flags: dict[str, None] = {}
        for name in _chapters(package, posixpath.dirname(package_name)):
            if name not in names:
                flags[f"chapter {name!r} is missing"] = None
                continue
            text, _ = decode(archive.read(name))
            found, _, chapter_flags = html_passages(text)
            passages += found
            flags.update(dict.fromkeys(chapter_flags))
    title = package.findtext(".//{*}metadata/{http://purl.org/dc/elements/1.1/}title") or ""
    return passages, " ".join(title.split()), tuple(flags)


def _package_name(archive: zipfile.ZipFile) -> str:
    rootfile = _xml(archive.read(_CONTAINER)).find(".//{*}rootfile")
    if rootfile is None or not rootfile.get("full-path"):
        raise DamagedFileError("the book names no package document; get a complete copy")
    return str(rootfile.get("full-path"))


def _xml(data: bytes) -> etree._Element:
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def _chapters(package: etree._Element, folder: str) -> Iterator[str]:
    """Names of the chapters in the archive, in the order of the spine; the table of contents is not text."""
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if (
            item is None
            or item.get("media-type") not in _CHAPTER_TYPES
            or "nav" in (item.get("properties") or "").split()
        ):
            continue
        yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
