"""`kb-qa export`: what the knowledge base holds, or what its readers decided, as lines of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click

from kb_qa.command_line import json_option, kb_option, settings_of
from kb_qa.listing import decision_line
from kb_qa.wiring import open_ledger


@click.command()
@click.option("--decisions", is_flag=True, help="What readers decided of figures, the oldest first.")
@kb_option
@json_option
def export(decisions: bool, kb: Path | None, as_json: bool) -> None:
    """Print the canonical export: a chunk a line, sorted, nothing random or dated; equal stores give equal lines."""
    del as_json  # it is JSON either way
    with open_ledger(settings_of(kb)) as library:
        for line in map(decision_line, library.decisions()) if decisions else library.export():
            click.echo(json.dumps(line, ensure_ascii=False))
