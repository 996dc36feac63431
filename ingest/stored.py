"""The elements of a file, and its pages: from the ledger where these bytes were ingested, else parsed now."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from ingest.children import ParserPool
from ingest.discover import discover
from ingest.kinds import kind_of
from ingest.limits import Limits
from ingest.office_pages import RENDERED_KINDS
from ingest.pipeline import PIPELINE
from ingest.spread import SpreadingPool
from kb_qa.blobs import rendering_place
from kb_qa.elements import ParsedDocument
from kb_qa.errors import InputError, MissingIndexError, NotFoundError, RejectedFileError
from kb_qa.ledger import Ledger
from kb_qa.settings import Settings


def parsed_document(settings: Settings, path: Path) -> ParsedDocument:
    """Raises what parsing raises; a file that cannot be read is an error here, not an outcome."""
    with path.open("rb") as file:
        document_id = hashlib.file_digest(file, "sha256").hexdigest()
    return _from_ledger(settings, document_id) or parse_now(settings, path, document_id)


def shown_file(settings: Settings, path: Path, folder: Path) -> Path:
    """The file whose pages show the document: itself, or in `folder` the PDF that LibreOffice printed of it."""
    try:
        kind = kind_of(path)
    except RejectedFileError:
        return path  # whoever opens it says what is wrong
    if kind not in RENDERED_KINDS:
        return path
    if not (rendering := parsed_document(settings, path).rendering):
        return path
    printed = folder / "printed.pdf"
    printed.write_bytes(rendering)
    return printed


def named_document(settings: Settings, name: str) -> ParsedDocument:
    """A document of the knowledge base by its name or id; nothing is parsed.

    Raises NotFoundError where no document has this name, InputError where several have.
    """
    with Ledger.open(settings.kb, create=False) as ledger:
        found = ledger.resolve([name])
        if len(found) > 1:
            raise InputError(f"{len(found)} documents are called {name!r}; give the id of one: {', '.join(found)}")
        version = ledger.ready_version(found[0], PIPELINE) if found else None
        if version is not None:
            return ledger.load_parse(version)
    if found:
        raise InputError(f"{name!r} was read by another version of this program; run kb-qa ingest again")
    raise NotFoundError(f"there is neither a file nor a document {name!r}")


def parse_now(settings: Settings, path: Path, document_id: str) -> ParsedDocument:
    limits = Limits.from_settings(settings)
    discovery = discover([path], limits=limits)
    if discovery.rejected:
        raise discovery.rejected[0].error
    if not discovery.found:
        raise InputError(f"{path.name!r} cannot be read: {discovery.skipped[0].reason}")
    with ParserPool(limits=limits, workers=1) as pool:
        return SpreadingPool(pool, limits).submit(path, document_id, discovery.found[0].kind).result()


def _from_ledger(settings: Settings, document_id: str) -> ParsedDocument | None:
    try:
        with Ledger.open(settings.kb, create=False) as ledger:
            version = ledger.ready_version(document_id, PIPELINE)
            if version is None:
                return None
            printed = rendering_place(ledger.blob_path(document_id))
            parsed = ledger.load_parse(version)
            return replace(parsed, rendering=printed.read_bytes()) if printed.is_file() else parsed
    except MissingIndexError:
        return None
