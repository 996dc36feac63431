"""The elements of a file: from the ledger where these bytes were ingested, else parsed now."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ingest.children import ParserPool
from ingest.discover import discover
from ingest.limits import Limits
from ingest.pipeline import PIPELINE
from kb_qa.elements import ParsedDocument
from kb_qa.errors import InputError, MissingIndexError
from kb_qa.ledger import Ledger
from kb_qa.settings import Settings


def parsed_document(settings: Settings, path: Path) -> ParsedDocument:
    """Raises what parsing raises; a file that cannot be read is an error here, not an outcome."""
    with path.open("rb") as file:
        document_id = hashlib.file_digest(file, "sha256").hexdigest()
    return _from_ledger(settings, document_id) or parse_now(settings, path, document_id)


def parse_now(settings: Settings, path: Path, document_id: str) -> ParsedDocument:
    limits = Limits.from_settings(settings)
    discovery = discover([path], limits=limits)
    if discovery.rejected:
        raise discovery.rejected[0].error
    if not discovery.found:
        raise InputError(f"{path.name!r} cannot be read: {discovery.skipped[0].reason}")
    with ParserPool(limits=limits, workers=1) as pool:
        return pool.submit(path, document_id, discovery.found[0].kind).result()


def _from_ledger(settings: Settings, document_id: str) -> ParsedDocument | None:
    try:
        with Ledger.open(settings.kb, create=False) as ledger:
            version = ledger.ready_version(document_id, PIPELINE)
            return None if version is None else ledger.load_parse(version)
    except MissingIndexError:
        return None
