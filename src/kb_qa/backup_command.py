"""`kb-qa backup` and `kb-qa restore`: a knowledge base in one file, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from kb_qa.backup import Contents
from kb_qa.backup import backup as write_backup
from kb_qa.backup import restore as read_backup
from kb_qa.command_line import json_option, kb_option, settings_of
from kb_qa.errors import InputError


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The archive to write (.tar.gz).")
@kb_option
@json_option
def backup(output: Path, kb: Path | None, as_json: bool) -> None:
    """Write the knowledge base to one file, while it is in use: documents, originals, answers, keys' digests, aliases.

    The vector index is left out: `restore` has it made anew from the rest, without parsing or embedding.
    """
    if output.is_dir():
        raise InputError(f"{str(output)!r} is a directory; name the file to write")
    _tell("wrote", output, write_backup(settings_of(kb).kb, output), as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@kb_option
@json_option
def restore(file: Path, kb: Path | None, as_json: bool) -> None:
    """Make a knowledge base of the backup FILE in a directory that is missing or empty.

    Everything is compared with its digest first; of a backup that is damaged nothing is left behind.
    """
    target = settings_of(kb).kb
    _tell("restored", target, read_backup(file, target), as_json)


def _tell(verb: str, path: Path, contents: Contents, as_json: bool) -> None:
    line = json.dumps({"path": str(path), **asdict(contents)}, ensure_ascii=False)
    told = f"{verb} {path}: {contents.name}, {contents.documents} documents, {contents.bytes:,} bytes"
    click.echo(line if as_json else told)
