"""Originals, stored under the hash of their bytes: what a document is called never becomes a path."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kb_qa.errors import NotFoundError
from kb_qa.failpoints import failpoint

_SHA256 = re.compile(r"[0-9a-f]{64}")
_TOKEN = re.compile(r"[0-9a-f]{32}")
_PIECE = 1 << 20
UPLOADS = "uploads"  # the folder of the knowledge base in which files wait for their job


def digest_of(path: Path) -> str:
    """The document id of a file: the SHA-256 of its bytes in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def store_blob(root: Path, source: Path) -> str:
    """Copies `source` below `root` and returns its id. Whole or not there at all, whenever the process ends.

    The hash is of the bytes that were copied: a file that changes meanwhile is stored as what was read.
    """
    root.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with _incoming(root) as (target, settle), source.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            failpoint("blob.write")
            target.write(piece)
        document_id = digest.hexdigest()
        place = blob_place(root, document_id)
        place.parent.mkdir(exist_ok=True)
        settle(place)
    return document_id


@contextmanager
def _incoming(root: Path) -> Iterator[tuple[BinaryIO, Callable[[Path], None]]]:
    """A new file below `root`, and what moves it to its place, written through; without that nothing of it stays."""
    handle, name = tempfile.mkstemp(dir=root, prefix=".incoming-")
    copy = Path(name)
    try:
        with os.fdopen(handle, "wb") as target:

            def settle(place: Path) -> None:
                target.flush()
                os.fsync(target.fileno())
                failpoint("rename.before")
                copy.replace(place)
                failpoint("rename.after")
                _sync_directory(place.parent)

            yield target, settle
    finally:
        copy.unlink(missing_ok=True)


def upload_place(kb_dir: Path, token: str) -> Path:
    """Where a service leaves the file of an ingest job (`protocols.JobQueue`), written through and then renamed to this
    name. Raises NotFoundError for what is no token: 32 hexadecimal digits.
    """
    if not _TOKEN.fullmatch(token):
        raise NotFoundError(f"no upload {token!r:.80}")
    return kb_dir / UPLOADS / token


def blob_place(root: Path, document_id: str) -> Path:
    """Where the original stands or would stand. Raises NotFoundError for what is not an id."""
    if not _SHA256.fullmatch(document_id):
        raise NotFoundError(f"no document {document_id!r:.80}")
    return root / document_id[:2] / document_id[2:]


def rendering_place(original: Path) -> Path:
    """Where the pages that were printed of an original stand, or would stand: beside it."""
    return original.with_name(f"{original.name}.pdf")


def keep_rendering(root: Path, document_id: str, data: bytes) -> None:
    """Stores the pages printed of an original, whole or not at all; without any, removes those of an earlier parse."""
    place = rendering_place(blob_place(root, document_id))
    if not data:
        place.unlink(missing_ok=True)
        return
    with _incoming(root) as (target, settle):
        target.write(data)
        settle(place)


def remove_leftovers(root: Path, known: Container[str]) -> None:
    """Deletes copies that a killed process left half done, or of which the ledger never heard; only for the one writer.

    `known` are the ids of all documents.
    """
    for leftover in root.glob(".incoming-*"):
        leftover.unlink(missing_ok=True)
    for blob in root.glob("[0-9a-f][0-9a-f]/*"):
        if f"{blob.parent.name}{blob.name.removesuffix('.pdf')}" not in known:
            blob.unlink(missing_ok=True)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
