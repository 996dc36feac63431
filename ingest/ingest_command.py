"""`kb-qa ingest`: files and folders once, or again whenever something in them changes."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click

from ingest.handover import done_job, plain_path
from ingest.pipeline import Outcome
from ingest.progress import IngestProgress, is_quiet, summary
from ingest.watch import Watch, required_roots
from kb_qa.command_line import json_option, kb_option, settings_of
from kb_qa.folder_table import FolderTable
from kb_qa.ledger import Ledger
from kb_qa.settings import Settings

SAMPLES = Path("data/samples")
Options = dict[str, Any]


@click.command("ingest")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--retry", is_flag=True, help="Also files that were quarantined and have not changed.")
@click.option("--allow-empty", is_flag=True, help="A folder whose files are all gone at once is meant to be empty.")
@click.option("--watch", "stay", is_flag=True, help="Stay, and read again what changes, until Ctrl-C or SIGTERM.")
@kb_option
@json_option
def ingest_command(paths: Sequence[Path], stay: bool, kb: Path | None, as_json: bool, **options: bool) -> None:
    """Read documents from PATHS, files or folders (default data/samples), into the knowledge base.

    Folders are remembered: what is gone from one since it was last read leaves the knowledge base. With --watch and
    without PATHS, all of them are watched. A running service does the work where there is one. Exit code 1 where a
    file could not be read, or a folder seemed to have lost everything: the others are in.
    """
    settings = settings_of(kb)
    if stay:
        watch_folders(settings, [plain_path(path) for path in paths], options, as_json)
        return
    given = {"paths": [str(plain_path(path)) for path in paths or [SAMPLES]], **options}
    outcomes = reported(settings, "ingest", given, as_json)
    if any(outcome.state == "quarantined" or outcome.code for outcome in outcomes):
        raise SystemExit(1)


def reported(
    settings: Settings, kind: str, given: Options, as_json: bool, *, only_changes: bool = False
) -> Sequence[Outcome]:
    """What became of each file of the job, told one after the other, and then in sum."""
    started = time.monotonic()
    told: list[Outcome] = []
    with IngestProgress(_print_outcome if as_json else None, only_changes=only_changes) as progress:
        told.extend(done_job(settings, kind, given, progress))
    if only_changes and all(is_quiet(outcome) for outcome in told):
        return told
    seconds = time.monotonic() - started
    if as_json:
        click.echo(json.dumps({"summary": summary(told, seconds)}, ensure_ascii=False))
    else:
        progress.summary(told, seconds)
    return told


def watch_folders(settings: Settings, paths: Sequence[Path], options: Options, as_json: bool) -> None:
    """Until a signal ends it: a job that runs here is ended with it, one that a service has goes on there."""
    with Ledger.open(settings.kb, create=True) as ledger:
        roots = required_roots(paths, FolderTable(ledger.database).roots(), settings.kb)

    def rescan(there: Sequence[Path], unsettled: Collection[str]) -> None:
        if there:
            given = {"paths": [str(path) for path in there], "unsettled": list(unsettled), **options}
            reported(settings, "rescan", given, as_json, only_changes=True)

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch = Watch(roots, settings.settle_seconds, rescan, lambda words: click.echo(f"kb-qa: {words}", err=True))
    click.echo(f"watching {', '.join(str(root) for root in roots)}; Ctrl-C ends it", err=True)
    try:
        while True:
            watch.look()
            time.sleep(settings.watch_seconds)
    except KeyboardInterrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        click.echo("stopped", err=True)


def _print_outcome(outcome: Outcome) -> None:
    click.echo(json.dumps(outcome.line, ensure_ascii=False))
