"""Kills an ingest at many moments and counts what was lost, duplicated or half visible: the long form of test_kills.

    python -m scripts.prove_kills [--documents 40] [--random 50] [--points 0] [--seed 8] [--kinds ingest,delete]

`--points 0` kills at every failpoint each time that it is reached. Prints a line a kind, and every problem.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.killed_ingest import MEMORY, Trials, digest, open_trials, write_documents
from tests.test_kills import proof_of, some_points

KINDS = ("ingest", "replace", "reparse", "delete")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--random", type=int, default=50, help="kills at random moments of each kind")
    parser.add_argument("--points", type=int, default=0, help="failpoints of each kind; 0 is all of them")
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    problems: list[str] = []
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as made, open_trials() as trials:
        folder = Path(made)
        write_documents(folder / "in", options.documents)
        done = trials.run("command", folder / "base", folder=str(folder / "in"))
        print(f"{options.documents} files: {dict(Counter(done['states']))}", flush=True)
        for kind in options.kinds.split(","):
            problems += prove(kind, trials, folder, options)
            shutil.rmtree(folder / kind)
    print("\n".join(problems) or "no problem")
    raise SystemExit(bool(problems))


def prove(kind: str, trials: Trials, folder: Path, options: argparse.Namespace) -> list[str]:
    began = time.monotonic()
    proof = proof_of(kind, trials, folder, folder / "base")
    lot = random.Random(options.seed)
    points = some_points(proof, options.points or len(proof.points), options.seed)
    moments = [lot.uniform(0, proof.seconds) for _ in range(options.random)]
    problems = [each for name, nth in points for each in proof.kill_at(name, nth)]
    problems += [each for moment in moments for each in proof.kill_after(moment)]
    print(
        f"{kind:<8} {len(points)} kills at failpoints ({len(set(proof.points))} names, reached {len(proof.points)} "
        f"times), "
        f"{len(moments)} at random within {proof.seconds:.1f} s: {proof.killed} killed, {len(problems)} problems, "
        f"ready again in at most {proof.slowest:.1f} s, export {digest(proof.wanted['export'])} "
        f"of {len(proof.wanted['export'])} chunks; {time.monotonic() - began:.0f} s",
        flush=True,
    )
    return problems


if __name__ == "__main__":
    main()
