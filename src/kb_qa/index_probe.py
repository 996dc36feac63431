"""A look at the vector index in a process of its own: `python -m kb_qa.index_probe KB`. Damaged files can end it.

It looks at a copy, because opening touches the files, which then do not match their seal any more. What does not match
it already is not opened.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from kb_qa.errors import DamagedIndexError, KbQaError, LockHeldError
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock
from kb_qa.scratch import Scratch
from kb_qa.vectors import fingerprint_of, open_store

PROBE_SECONDS = 120.0


def probed(kb: Path, folder: str) -> str:
    """What the child found. Raises DamagedIndexError where it died, took too long, or found damage."""
    command = [sys.executable, "-m", "kb_qa.index_probe", str(kb), folder]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise DamagedIndexError(f"the index does not answer within {PROBE_SECONDS:g} seconds") from error
    if done.returncode != 0:
        raise DamagedIndexError(
            f"the process that opened the index ended with {done.returncode}; delete {folder!r} in the knowledge base: "
            "it is rebuilt from the ledger"
        )
    told = json.loads(done.stdout)
    if not told["ok"]:
        raise DamagedIndexError(told["detail"])
    return str(told["detail"])


def look(kb: Path, folder: str) -> str:
    """Raises LockHeldError where a process owns the index, DamagedIndexError where it does not hold what it must."""
    with Ledger.open(kb, create=False) as ledger, DirectoryLock(kb, "index").acquire():
        expected, seal, embedder = ledger.indexed_count(), ledger.index_seal(), ledger.embedder()
        if embedder is None or not expected:
            return "empty, as the ledger is"
        if not seal or fingerprint_of(kb / folder) != seal:
            return f"does not match its seal: the next question rebuilds it from the ledger ({expected} chunks)"
        with Scratch() as scratch:
            copy = Path(shutil.copytree(kb / folder, scratch / folder))
            with closing(open_store(copy, embedder[1], seal)) as store:
                count = store.count()
        if count != expected:
            raise DamagedIndexError(f"the index holds {count} chunks, not {expected}; the next question rebuilds it")
        return f"holds its {count} chunks, byte for byte as sealed"


def main() -> None:
    kb, folder = sys.argv[1:]
    try:
        told = {"ok": True, "detail": look(Path(kb), folder)}
    except LockHeldError as error:
        told = {"ok": True, "detail": f"not looked at: {error}"}
    except KbQaError as error:
        told = {"ok": False, "detail": str(error)}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
