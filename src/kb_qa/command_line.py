"""What the commands of both sides share: their settings, their options, and how an error ends them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kb_qa.errors import KbQaError
from kb_qa.settings import Settings

HELP = {"help_option_names": ["-h", "--help"]}


class Commands(click.Group):
    """Turns the errors a user can act on into one line and their exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KbQaError as error:
            click.echo(f"kb-qa: {error}", err=True)
            ctx.exit(error.exit_code)


kb_option = click.option("--kb", type=click.Path(path_type=Path), help="The knowledge base [default: data/kb].")
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


def settings_of(kb: Path | None) -> Settings:
    """The environment's settings, with the knowledge base of the command line."""
    settings = Settings.from_environment(os.environ)
    return settings if kb is None else replace(settings, kb=kb)
