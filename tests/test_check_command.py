"""`kb-qa check`: a line of JSON for a case each, and errors that say which line."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from kb_qa.cli import main
from tests.figure_cases import INCOME

CASE = {
    "id": "a",
    "sources": [{"id": "s1", "text": INCOME, "element_type": "table", "page": 8}],
    "question": "How fast did revenue grow?",
    "answer": "Revenue grew 16.7% from 2023 to 2024. It was $4,133 million in 2024.",
}


def run(path: Path, *lines: bytes, options: tuple[str, ...] = ("--json",)) -> tuple[int, list[str], str]:
    path.write_bytes(b"\n".join(lines))
    result = CliRunner().invoke(main, ["check", str(path), *options])
    return result.exit_code, result.stdout.splitlines(), result.stderr


def test_a_line_a_case(tmp_path: Path) -> None:
    """Verdict, released text, figures with support and derivation, and the unsupported prints."""
    code, lines, _ = run(tmp_path / "cases.jsonl", json.dumps(CASE).encode())
    assert code == 0
    (data,) = map(json.loads, lines)
    assert [*data] == ["id", "verdict", "text", "figures", "unsupported"]
    assert (data["id"], data["verdict"], data["unsupported"]) == ("a", "refuse", ["$4,133 million"])
    figure = data["figures"][0]
    assert {"raw", "span", "status", "support", "derivation", "reason"} <= {*figure}
    assert (figure["raw"], figure["status"], figure["derivation"]["expr"]) == ("16.7%", "derived", "(F1-F2)/F2")
    assert data["text"].startswith("Revenue grew 16.7% from 2023 to 2024. [withheld")


def test_bad_lines_are_named_and_the_others_checked(tmp_path: Path) -> None:
    """Exit code 1, a message with the line number each, and every good line printed."""
    good = json.dumps(CASE).encode()
    bad = (b"{", b"[1]", b"\xff\xfe", b'{"sources": [], "answer": 5}', b'{"sources": [{"id": "x"}], "answer": "5"}')
    code, lines, errors = run(tmp_path / "cases.jsonl", good, *bad, b"", good)
    assert code == 1
    assert len(lines) == 2
    assert [f"line {number}" in errors for number in (2, 3, 4, 5, 6)] == [True] * 5
    assert "line 8" not in errors


def test_a_reader_sees_verdicts_and_reasons(tmp_path: Path) -> None:
    """Without --json: the verdict, the formula of what was computed, and why the rest is not supported."""
    _, lines, _ = run(tmp_path / "cases.jsonl", json.dumps(CASE).encode(), options=())
    assert lines[0] == "a: refuse"
    assert lines[1].startswith("  16.7%: (4,132-3,541)/3,541 = 16.69%")
    assert lines[2].startswith("  $4,133 million: unsupported")


def test_policy_off_changes_nothing(tmp_path: Path) -> None:
    """`--policy off` prints the answer as it is, with its verdict."""
    _, lines, _ = run(tmp_path / "cases.jsonl", json.dumps(CASE).encode(), options=("--json", "--policy", "off"))
    assert json.loads(lines[0])["text"] == CASE["answer"]
