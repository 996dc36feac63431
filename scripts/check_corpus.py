"""Parses every file of a folder in parser children: each has an outcome, and a reason where it is not parsed.

    python -m scripts.check_corpus FOLDER [FOLDER …]

Prints a line a file and a summary; the exit code is 1 where a file is left without an outcome or without a reason, or
where this process was hurt. Nothing is embedded or stored.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from concurrent.futures import Future
from pathlib import Path

import click

from ingest.children import ParserPool
from ingest.discover import discover
from ingest.limits import Limits
from kb_qa.elements import ParsedDocument
from kb_qa.errors import CrashedParserError, RejectedFileError
from kb_qa.settings import Settings


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--workers", default=1, show_default=True)
@click.option("--seconds", default=300, show_default=True, help="A document may take.")
def main(folders: tuple[Path, ...], workers: int, seconds: int) -> None:
    """Parse all files below FOLDERS and say what became of each."""
    limits = Limits.from_settings(Settings(parse_seconds=seconds))
    discovery = discover(folders, limits=limits)
    outcomes: Counter[str] = Counter()
    for skipped in discovery.skipped:
        outcomes[_said("skipped", skipped.name, skipped.reason)] += 1
    for rejected in discovery.rejected:
        outcomes[_said(type(rejected.error).__name__, rejected.name, str(rejected.error))] += 1
    with ParserPool(limits=limits, workers=workers) as pool:
        began = time.monotonic()
        waiting = [(file, pool.submit(file.path, "d" * 64, file.kind)) for file in discovery.found]
        for file, future in waiting:
            outcomes[_outcome(file.name, future, time.monotonic() - began)] += 1
    n = outcomes.total()
    print(f"\nn = {n}: " + ", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    expected = len(discovery.found) + len(discovery.rejected) + len(discovery.skipped)
    if n != expected or outcomes["without a reason"] or outcomes[CrashedParserError.__name__]:
        sys.exit(1)


def _outcome(name: str, future: Future[ParsedDocument], seconds: float) -> str:
    try:
        parsed = future.result()
    except RejectedFileError as error:
        return _said(type(error).__name__, name, str(error))
    grades = Counter(page.quality.grade for page in parsed.pages)
    shown = " ".join(f"{grade}:{count}" for grade, count in sorted(grades.items()))
    tables = sum(element.element_type == "table" for element in parsed.elements)
    facts = f"{len(parsed.pages)} pages {shown} | {len(parsed.elements)} elements, {tables} tables | by {seconds:.0f} s"
    return _said("parsed", name, "; ".join((facts, *parsed.flags)))


def _said(outcome: str, name: str, reason: str) -> str:
    outcome = outcome if reason.strip() else "without a reason"
    print(f"{outcome:22} {name:60.60} {reason}", flush=True)
    return outcome


if __name__ == "__main__":
    main()
