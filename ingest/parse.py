"""Which parser serves which kind of document: the only place that knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ingest.kinds import KINDS, Kind
from ingest.limits import Limits
from kb_qa.elements import ParsedDocument
from kb_qa.errors import UnsupportedFileError


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


# The parsers are imported when one is first needed: together they take seconds and hundreds of megabytes.
PARSERS: Mapping[Kind, Parse] = dict.fromkeys(KINDS, _partition) | {"pdf": _parse_pdf, "image": _parse_image}


def parse_document(path: Path, document_id: str, kind: Kind, *, limits: Limits) -> ParsedDocument:
    """Parses in this process; `ingest.children` runs it in a child that can be killed. Raises RejectedFileError."""
    if kind not in PARSERS:
        raise UnsupportedFileError(f"{kind!r} is no known kind of document; known are {', '.join(KINDS)}")
    return PARSERS[kind](path, document_id, kind, limits=limits)
