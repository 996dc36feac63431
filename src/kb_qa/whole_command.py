"""`kb-qa ask --whole FILE`: a document of the knowledge base, or a file that is read for this one question."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kb_qa.errors import InputError, MissingIndexError
from kb_qa.scratch import Scratch
from kb_qa.settings import Settings
from kb_qa.wiring import open_ledger


@contextmanager
def base_of_whole(settings: Settings, whole: str) -> Iterator[tuple[Settings, str]]:
    """The settings of the knowledge base that holds the document, and its name or id there.

    A file that no knowledge base has read yet is read into one of its own, which is gone afterwards. Raises InputError
    where it cannot be read.
    """
    path = Path(whole)
    if not path.is_file():
        yield settings, whole
        return
    with path.open("rb") as file:
        document_id = hashlib.file_digest(file, "sha256").hexdigest()
    if _is_ready(settings, document_id):
        yield settings, document_id
        return
    with Scratch() as folder:
        own = replace(settings, kb=folder / "kb")
        command = [sys.executable, "-m", "ingest", "ingest", "--kb", str(own.kb), str(path.resolve())]
        if subprocess.call(command, stdout=subprocess.DEVNULL) != 0:
            raise InputError(f"{whole!r} could not be read; kb-qa elements {whole!r} says what the parser sees")
        yield own, document_id


def _is_ready(settings: Settings, document_id: str) -> bool:
    try:
        with open_ledger(settings) as ledger:
            return bool(ledger.resolve([document_id]))
    except MissingIndexError:
        return False
