"""The samples, ingested once a test session by the command a user would run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "data" / "samples"
GOLDEN: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "samples.json").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Run:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def run(*arguments: str | Path, module: str = "kb_qa.cli") -> Run:
    """`kb-qa ARGUMENTS…` in a process of its own, from the project's root."""
    program = "from kb_qa.cli import main; main()" if module == "kb_qa.cli" else f"from {module} import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)
