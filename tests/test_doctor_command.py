"""`kb-qa doctor` says what is missing, and what to do."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kb_qa.access_keys import AccessKeys
from kb_qa.database import Database
from kb_qa.doctor_command import doctor
from kb_qa.ledger import Ledger
from kb_qa.testing import HttpFault, said, scripted_messages_api
from kb_qa.testing.messages_api import Scripted


@pytest.fixture(autouse=True)
def _no_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A developer's own profile is not found."""
    monkeypatch.setenv("HOME", str(tmp_path))


def examined(kb: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the findings by check."""
    done = CliRunner().invoke(doctor, ["--kb", str(kb), "--json"])
    return done.exit_code, {line["check"]: line for line in map(json.loads, done.stdout.splitlines())}


def test_an_empty_place_has_no_documents(tmp_path: Path) -> None:
    """The rest is checked all the same; the exit code is that of an environment that is not ready."""
    code, found = examined(tmp_path / "kb")
    assert code == 3
    failed = [name for name, finding in found.items() if not finding["ok"]]
    assert failed == ["documents", "index", "index files", "embedder"]
    assert "kb-qa ingest" in found["documents"]["detail"]
    assert found["model"]["detail"].startswith("extractive")


def test_an_index_made_with_another_embedder_is_told(tmp_path: Path) -> None:
    """Questions would fail: so does the check, with what to do."""
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.set_embedder("another", 7)
    code, found = examined(tmp_path)
    assert code == 3
    assert "another" in found["embedder"]["detail"]


def test_settings_that_cannot_be_read_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be checked with them."""
    monkeypatch.setenv("KB_QA_PORT", "eighty")
    code, found = examined(tmp_path)
    assert (code, list(found)) == (3, ["settings"])


@pytest.mark.parametrize(
    ("replies", "model_id", "ok", "told"),
    [
        pytest.param([said("Hi")], "claude-sonnet-5-5", True, "claude-sonnet-5-5 answers", id="all right"),
        pytest.param([], "claude-nobody", False, "model: claude-nobody", id="no such model"),
        pytest.param(
            [HttpFault(401, "authentication_error", "invalid key")], "m", False, "invalid key", id="wrong key"
        ),
        pytest.param([HttpFault(529, "overloaded_error", "busy")], "m", False, "overloaded", id="overloaded"),
        pytest.param([HttpFault(200, body="<html>", content_type="text/html")], "m", False, "BASE_URL", id="no API"),
    ],
)
def test_key_and_model_are_checked_with_one_tiny_call(
    replies: Sequence[Scripted],
    model_id: str,
    ok: bool,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One token at the most; what failed is said with the host's own words."""
    with scripted_messages_api(*replies) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("KB_QA_MODEL_ID", model_id)
        _, found = examined(tmp_path / "kb")
        assert [request.json["max_tokens"] for request in api.asked] == [1]
    assert found["model"]["ok"] is ok
    assert told in found["model"]["detail"]


def test_a_host_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address to check."""
    with scripted_messages_api() as api:
        url = api.url
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    _, found = examined(tmp_path / "kb")
    assert (found["model"]["ok"], "ANTHROPIC_BASE_URL" in found["model"]["detail"]) == (False, True)


def test_the_machine_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite with what it can, room on the disk, the limits that hold, and what they would need."""
    monkeypatch.setenv("KB_QA_PARSE_MEMORY_MB", "900000")
    _, found = examined(tmp_path / "kb")
    assert found["sqlite"]["detail"].startswith(f"SQLite {sqlite3.sqlite_version} with FTS5")
    assert str(tmp_path) in found["disk"]["detail"]
    assert "5000 pages" in found["limits"]["detail"]
    assert "KB_QA_PARSE_MEMORY_MB lower" in found["limits"]["detail"]
    assert found["access"]["detail"] == "listens on 127.0.0.1:8000; keys: none: only this machine may ask"


def test_no_room_on_the_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than a file of the largest size needs."""
    monkeypatch.setenv("KB_QA_MAX_FILE_MB", "1000000")
    _, found = examined(tmp_path)
    assert (found["disk"]["ok"], "make room" in found["disk"]["detail"]) == (False, True)


def test_a_bind_to_others_without_a_key_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `serve` would refuse it."""
    monkeypatch.setenv("KB_QA_HOST", "0.0.0.0")
    _, found = examined(tmp_path)
    assert (found["access"]["ok"], "kb-qa key create" in found["access"]["detail"]) == (False, True)
    with closing(Database.open(tmp_path, create=True)) as database:
        AccessKeys(database).create("a", ["read"])
    _, found = examined(tmp_path)
    assert (found["access"]["ok"], found["access"]["detail"]) == (True, "listens on 0.0.0.0:8000; keys: 1 usable")


def test_people_read_a_line_a_check(tmp_path: Path) -> None:
    """Without --json, what failed stands out."""
    done = CliRunner().invoke(doctor, ["--kb", str(tmp_path / "kb")])
    assert "FAILED  documents: " in done.stdout
    assert "ok      model: extractive" in done.stdout
