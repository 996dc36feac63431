"""What the commands of both sides share: their settings, their options, and how an error ends them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, get_args

import click

from kb_qa.answers import MAX_QUESTION, AnswerEvent, Filters, Language
from kb_qa.elements import ElementType
from kb_qa.errors import InputError, KbQaError, NotFoundError, RejectedFileError
from kb_qa.marks import MarkedDocument
from kb_qa.protocols import Library
from kb_qa.rejections import language_of, rejection_in
from kb_qa.search_filters import page_numbers, span
from kb_qa.settings import Settings

Command = Callable[..., Any]
HELP = {"help_option_names": ["-h", "--help"]}


class Commands(click.Group):
    """Turns the errors a user can act on into one line and their exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KbQaError as error:
            told = rejection_in(terminal_language(), error.code, str(error))
            click.echo(f"kb-qa: {told if isinstance(error, RejectedFileError) else error}", err=True)
            ctx.exit(error.exit_code)


kb_option = click.option("--kb", type=click.Path(path_type=Path), help="The knowledge base [default: data/kb].")


def _question_text(context: click.Context, argument: click.Parameter, question: str) -> str:
    text = question.strip()
    if not 0 < len(text) <= MAX_QUESTION:
        raise click.BadParameter(f"a question is a text of 1 to {MAX_QUESTION} characters", context, argument)
    return text


question_argument = click.argument("question", callback=_question_text)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


def filter_options(command: Command) -> Command:
    """What limits a search; `filters_of` reads them."""
    for option in reversed(
        (
            click.option(
                "--document", "documents", multiple=True, metavar="NAME", help="Only this document; repeatable."
            ),
            click.option("--folder", default="", metavar="FOLDER", help="Only documents that lie in it."),
            click.option("--page", "pages", multiple=True, metavar="N|N-N", help="Only these pages; repeatable."),
            click.option(
                "--type",
                "element_types",
                multiple=True,
                type=click.Choice(get_args(ElementType)),
                help="Only such passages; repeatable.",
            ),
            click.option("--since", default="", metavar="DATE", help="Only documents of this day, month or year on."),
            click.option("--until", default="", metavar="DATE", help="Only documents up to this day, month or year."),
        )
    ):
        command = option(command)
    return command


def filters_of(
    *,
    documents: tuple[str, ...],
    folder: str,
    pages: tuple[str, ...],
    element_types: tuple[str, ...],
    since: str,
    until: str,
) -> Filters:
    start, end = span(since, until)
    return Filters(documents, page_numbers(pages), element_types, folder, start, end)


def settings_of(kb: Path | None) -> Settings:
    """The environment's settings, with the knowledge base of the command line."""
    settings = Settings.from_environment(os.environ)
    return settings if kb is None else replace(settings, kb=kb)


def terminal_language() -> Language:
    """By the locale."""
    return language_of(os.environ)


def write_output(output: Path, data: bytes) -> None:
    """Writes what a command made to a file, or to standard output for `-`. Raises InputError where it cannot."""
    if str(output) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise InputError(f"{str(output)!r} cannot be written: {error.strerror}") from error


def exit_code_of_child(command: Sequence[str]) -> int:
    """Runs a command to its end, and passes on what is to end it, so that nothing goes on without this process."""
    with subprocess.Popen(command) as child:

        def pass_on(number: int, frame: object) -> None:
            # Ctrl-C reaches a terminal's whole foreground group, the child with it.
            if number != signal.SIGINT or not sys.stdin.isatty():
                child.send_signal(number)

        before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            code = child.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def stored_events(library: Library, answer_id: str) -> Sequence[AnswerEvent]:
    """The events of a stored answer. Raises NotFoundError where there is none."""
    events = library.answer(answer_id)
    if not events:
        raise NotFoundError(f"there is no answer {answer_id!r:.80}; kb-qa ask --json prints the id of one")
    return events


def output_names(output: Path, documents: Sequence[MarkedDocument]) -> list[Path]:
    """`output` for one document; for several its name with that of each, numbered where two have the same."""
    if len(documents) < 2:
        return [output] * len(documents)
    targets: list[Path] = []
    for marked in documents:
        stem = re.sub(r"[^\w.-]+", "_", PurePath(marked.name.replace("\\", "/")).stem).strip("._")[:80] or "document"
        target = output.with_name(f"{output.stem}-{stem}{output.suffix}")
        number = 1
        while target in targets:
            number += 1
            target = output.with_name(f"{output.stem}-{stem}-{number}{output.suffix}")
        targets.append(target)
    return targets
