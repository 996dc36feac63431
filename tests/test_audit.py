"""The audit log turns its files over and never fails a request."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from kb_qa.audit import AuditLog


def test_files_are_turned_over_and_the_oldest_go(tmp_path: Path) -> None:
    """A megabyte a file, two older ones kept; each line whole, each file its owner's."""
    audit = AuditLog(tmp_path / "audit", megabytes=1, files=2)
    for number in range(4000):
        audit.write({"n": number, "x": "x" * 1000})
    audit.close()
    files = sorted((tmp_path / "audit").iterdir())
    assert [file.name for file in files] == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all(file.stat().st_size <= 1024 * 1024 and file.stat().st_mode & 0o77 == 0 for file in files)
    numbers = [json.loads(line)["n"] for file in reversed(files) for line in file.read_text().splitlines()]
    assert numbers == list(range(numbers[0], 4000))


def test_what_cannot_be_written_is_told_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A full disk costs the line and nothing else."""
    (tmp_path / "audit.jsonl").symlink_to("/dev/full")
    audit = AuditLog(tmp_path, megabytes=1, files=1)
    with caplog.at_level(logging.ERROR):
        audit.write({"n": 1})
    assert "audit.jsonl cannot be written" in caplog.text
    audit.close()
