"""`kb-qa export`: chunks in a fixed order, and what readers decided."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from kb_qa.answers import Decision
from kb_qa.cli import main
from kb_qa.ledger import Ledger


def exported(*arguments: str | Path) -> list[dict[str, object]]:
    result = CliRunner().invoke(main, ["export", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_decisions_are_exported(tmp_path: Path) -> None:
    """A line each, with the figure as it was shown."""
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.save_decision(Decision("a1", 2, "reject", "see page 9", "4,132", 100.0, by="auditor"))
    line = {"answer_id": "a1", "n": 2, "raw": "4,132", "decision": "reject", "note": "see page 9", "decided": 100.0}
    assert exported("--decisions", "--kb", tmp_path) == [line | {"by": "auditor"}]


def test_a_knowledge_base_without_chunks_exports_nothing(tmp_path: Path) -> None:
    """No line, and no error; a folder that holds no knowledge base is one."""
    Ledger.open(tmp_path / "kb", create=True).close()
    assert exported("--kb", tmp_path / "kb") == []
    assert CliRunner().invoke(main, ["export", "--kb", str(tmp_path / "none")]).exit_code == 3
