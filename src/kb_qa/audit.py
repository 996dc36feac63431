"""The audit log: who did what to which document or answer, when, and how it ended. Never what was asked or answered.

Lines of JSON in files that only their owner may read. Writing fails aloud in the log and never in a request.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

log = logging.getLogger(__name__)

FILE_NAME = "audit.jsonl"


class AuditLog:
    """`<folder>/audit.jsonl`, then `.1` (newer) to `.<files>` (oldest), each of at most `megabytes`."""

    def __init__(self, folder: Path, *, megabytes: int, files: int) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lines = _Lines(folder / FILE_NAME, maxBytes=megabytes * 1024 * 1024, backupCount=files, encoding="utf-8")

    def write(self, entry: Mapping[str, object]) -> None:
        """From any thread. `time` (UTC) is added."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds")} | dict(entry)
        self._lines.handle(logging.makeLogRecord({"msg": json.dumps(line, ensure_ascii=True)}))

    def close(self) -> None:
        with suppress(OSError):  # a full disk, which was told when the lines came
            self._lines.close()


class _Lines(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:
        log.error("the audit log %s cannot be written", Path(self.baseFilename).name)
