"""The samples, ingested once a test session by the command a user would run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from tests.forked_commands import fork

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


def run(*arguments: str | Path, module: str = "kb_qa.cli", given: bytes = b"") -> Run:
    """`kb-qa ARGUMENTS…` from the project's root, in a process of its own that has imported all; `given` to read."""
    with TemporaryFile() as read, TemporaryFile() as out, TemporaryFile() as err:
        read.write(given)
        read.seek(0)
        process = fork([*map(str, arguments)], module=module, streams=(read, out, err))
        try:
            code = process.wait(600)
        finally:
            process.kill()
        return Run(code, _text(out), _text(err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
