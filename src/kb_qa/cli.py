"""The command line. Commands that parse belong to the write side: `python -m ingest` runs them as a child process."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

from kb_qa.command_line import HELP, Commands, exit_code_of_child

# Where each command of this side stands. It is loaded when it is called: most of what one needs the others do not.
HERE: Mapping[str, str] = MappingProxyType(
    {
        "ask": "kb_qa.library_commands:ask",
        "search": "kb_qa.library_commands:search",
        "name": "kb_qa.library_commands:name",
        "documents": "kb_qa.library_commands:documents",
        "highlight": "kb_qa.library_commands:highlight",
        "prepare": "kb_qa.library_commands:prepare",
        "serve": "kb_qa.library_commands:serve",
        "check": "kb_qa.check_command:check",
        "export": "kb_qa.export_command:export",
        "backup": "kb_qa.backup_command:backup",
        "restore": "kb_qa.backup_command:restore",
        "doctor": "kb_qa.doctor_command:doctor",
        "eval": "kb_qa.eval_command:evaluate",
        "key": "kb_qa.key_command:key",
    }
)
PASSED_ON: Mapping[str, str] = MappingProxyType(
    {
        "ingest": "Read documents: files and folders (default data/samples).",
        "delete": "Delete documents by name or id.",
        "reindex": "Change to the embedding model of the settings, or fill the vector index anew.",
        "elements": "Show what the parser sees in a file.",
        "locate": "Find a quotation in a file: the rectangles of its words.",
        "crop": "Write the picture of a region of a page.",
    }
)


class _AllCommands(Commands):
    """Of both sides, by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*HERE, *PASSED_ON])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in PASSED_ON:
            return _passed_on(cmd_name, PASSED_ON[cmd_name])
        if cmd_name not in HERE:
            return None
        module, _, attribute = HERE[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=_AllCommands, context_settings=HELP)
@click.version_option(package_name="kb-qa")
def main() -> None:
    """Questions to your documents, answered with the spot on the page that every figure came from."""


def _passed_on(name: str, help_text: str) -> click.Command:
    """A command of the write side: its arguments go to the child as they are, its output and exit code come back."""

    @click.command(
        name,
        help=help_text,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def run(arguments: Sequence[str]) -> Any:
        raise SystemExit(exit_code_of_child([sys.executable, "-m", "ingest", name, *arguments]))

    return run
