"""Which parser serves which kind of document: the only place that knows."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ingest.kinds import KINDS, Kind
from ingest.limits import Limits
from kb_qa.elements import ParsedDocument
from kb_qa.errors import MissingDependencyError, RejectedFileError, UnsupportedFileError


class Parse(Protocol):
    """Picklable by its name: it is sent to a child process."""

    def __call__(self, path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument: ...


def _parse_pdf(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    from ingest.pdf import parse_pdf

    return parse_pdf(path, document_id, limits=limits)


def _parse_image(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    from ingest.pdf import parse_image

    return parse_image(path, document_id, limits=limits)


def _partition(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    from ingest.partition import partition

    return partition(path, document_id, kind, limits=limits)


def _parse_office(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    """With pages, where LibreOffice is to print them and can; else without, and a flag says why."""
    from ingest.partition import PARSER_FAILURES

    if not limits.render_office:
        return _partition(path, document_id, kind, limits=limits)
    failures: tuple[type[Exception], ...] = (RejectedFileError, MissingDependencyError, *PARSER_FAILURES)
    try:
        return _parse_printed(path, document_id, kind, limits=limits)
    except failures as error:
        parsed = _partition(path, document_id, kind, limits=limits)
        return replace(parsed, flags=(*parsed.flags, f"read without pages: {error}"))


def _parse_opendocument(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    if limits.render_office:
        return _parse_printed(path, document_id, kind, limits=limits)
    raise UnsupportedFileError(
        f"{path.name!r} is an OpenDocument file; save it as .docx, .xlsx or .pptx,"
        " or set KB_QA_RENDER_OFFICE=1 where LibreOffice is installed"
    )


def _parse_printed(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    from ingest.document_dates import stated_date
    from ingest.office_pages import rendered_pdf
    from ingest.partition import check_archive
    from ingest.pdf import parse_pdf

    check_archive(path, limits)
    with tempfile.TemporaryDirectory() as folder:
        printed = rendered_pdf(path, kind, Path(folder), limits=limits)
        parsed = parse_pdf(printed, document_id, limits=limits)
        flags = (*parsed.flags, "pages printed by LibreOffice")
        dated, dated_by = stated_date(path, kind)  # the print was made just now
        return replace(parsed, flags=flags, rendering=printed.read_bytes(), dated=dated, dated_by=dated_by)


# The parsers are imported when one is first needed: together they take seconds and hundreds of megabytes.
PARSERS: Mapping[Kind, Parse] = dict.fromkeys(KINDS, _partition) | {
    "pdf": _parse_pdf,
    "image": _parse_image,
    "docx": _parse_office,
    "pptx": _parse_office,
    "xlsx": _parse_office,
    "opendocument": _parse_opendocument,
}


def parse_document(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    """Parses in this process; `ingest.children` runs it in a child that can be killed. Raises RejectedFileError."""
    if kind not in PARSERS:
        raise UnsupportedFileError(f"{kind!r} is no known kind of document; known are {', '.join(KINDS)}")
    return PARSERS[kind](path, document_id, kind, limits=limits)
