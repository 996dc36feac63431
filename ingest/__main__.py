"""`python -m ingest`: the commands that read documents. `kb-qa` runs them as a child process."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ingest.draw import draw_elements
from ingest.embedding_progress import EmbeddingProgress, reindex_summary, reindex_text
from ingest.handover import delete_from
from ingest.ingest_command import ingest_command
from ingest.priority import step_behind
from ingest.progress import IngestProgress
from ingest.quotes import Quote, found_line, located_text, on_page, quote_lines, read_quotes
from ingest.reindex import reindex
from ingest.stored import named_document, parsed_document, shown_file
from ingest.worker import work
from kb_qa.command_line import HELP, Commands, json_option, kb_option, settings_of, write_output
from kb_qa.elements import ParsedDocument
from kb_qa.errors import InputError, InvalidRegionError, MissingIndexError
from kb_qa.geometry import parse_bbox
from kb_qa.listing import element_line
from kb_qa.logs import configure
from kb_qa.picture import Picture
from kb_qa.renderer import Renderer
from kb_qa.scratch import Scratch
from kb_qa.settings import Settings


@click.group(cls=Commands, context_settings=HELP)
def main() -> None:
    """The write side of kb-qa."""


main.add_command(ingest_command)


file_argument = click.argument("file", type=click.Path(path_type=Path))


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise InputError(f"there is no file {str(file)!r}")
    return file


def _stored(settings: Settings, file: Path) -> ParsedDocument:
    try:
        return named_document(settings, file.as_posix())
    except MissingIndexError as error:
        raise InputError(f"there is no file {str(file)!r}") from error


def _print_line(line: dict[str, Any]) -> None:
    click.echo(json.dumps(line, ensure_ascii=False))


def _progress(as_json: bool) -> IngestProgress:
    return IngestProgress((lambda outcome: _print_line(outcome.line)) if as_json else None)


@main.command("reindex")
@click.option("--index-only", is_flag=True, help="Keep the model; only fill the vector index anew from the ledger.")
@kb_option
@json_option
def reindex_command(kb: Path | None, as_json: bool, index_only: bool) -> None:
    """Change to the embedding model of the settings, and fill the vector index anew. No document is parsed.

    The old index answers until all is embedded. A run that was ended goes on where it was.
    """
    started = time.monotonic()
    echo = (lambda document: _print_line(asdict(document))) if as_json else None
    with EmbeddingProgress(echo) as progress:
        done = reindex(settings_of(kb), progress.reporting, index_only=index_only)
    seconds = time.monotonic() - started
    if as_json:
        _print_line({"summary": reindex_summary(done, seconds)})
    else:
        click.echo(reindex_text(done, seconds), err=True)


@main.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@kb_option
@json_option
def delete(names: Sequence[str], kb: Path | None, as_json: bool) -> None:
    """Delete documents by NAME or id: with their original, their pictures and whatever was read of them.

    Where several documents have a name, nothing is deleted, and their ids are told.
    """
    with _progress(as_json) as progress:
        delete_from(settings_of(kb), names, progress)


@main.command("work")
@click.option("--parent", type=click.IntRange(0), default=0, hidden=True)
@kb_option
def work_command(parent: int, kb: Path | None) -> None:
    """Work the jobs that services and commands leave in the knowledge base, until a signal ends it.

    `kb-qa serve` runs it by itself, and is its --parent: without it the worker ends.
    """
    settings = settings_of(kb)
    configure(level=settings.log_level.upper(), form=settings.log_format)
    if parent:
        step_behind()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    work(settings, parent=parent, stopped=stopped)


@main.command()
@file_argument
@click.option("--draw", "folder", type=click.Path(path_type=Path, file_okay=False), help="Also draw each page there.")
@kb_option
@json_option
def elements(file: Path, folder: Path | None, kb: Path | None, as_json: bool) -> None:
    """Show what the parser sees in FILE: its elements in reading order."""
    settings = settings_of(kb)
    parsed = parsed_document(settings, _existing(file))
    if folder is not None:
        draw_elements(file, parsed, folder)
    for element in parsed.elements:
        if as_json:
            _print_line(element_line(element))
        else:
            pages = ",".join(f"P{region.page}" for region in element.regions)
            text = " ".join([*([f"({element.described_by})"] if element.described_by else []), *element.text.split()])
            click.echo(f"{element.order:>4} {pages:<6} {element.category:<14} {text[:140]}")


@main.command()
@file_argument
@click.argument("quote", required=False)
@click.option("--page", type=click.IntRange(1), help="Only on this page.")
@click.option("--quotes", type=click.Path(path_type=Path), help="Many at once: a JSON line each, {id, quote, page?}.")
@click.option("--find-all", "query", help="Every occurrence of this text.")
@click.option("--case", is_flag=True, help="With --find-all: letter case matters.")
@click.option("--whole-word", is_flag=True, help="With --find-all: words printed whole, in one line.")
@click.option("--diacritics", is_flag=True, help="With --find-all: diacritics matter.")
@kb_option
@json_option
def locate(
    file: Path, quote: str | None, page: int | None, quotes: Path | None, query: str | None, **options: Any
) -> None:
    """Find QUOTE in FILE: the rectangles of its words, one per line of print. Exit code 1 where one is not found.

    FILE is a file, or the name or id of a document of the knowledge base.
    """
    if sum(given is not None for given in (quote, quotes, query)) != 1:
        raise click.UsageError("give a QUOTE, --quotes or --find-all, and only one of them")
    wanted = [] if quotes is None else [*read_quotes(quotes)]
    as_json, kb = options.pop("as_json"), options.pop("kb")
    settings = settings_of(kb)
    parsed = parsed_document(settings, file) if file.is_file() else _stored(settings, file)
    if query is not None:
        lines = [found_line(query, on_page(parsed.elements, page), **options)]
        complete = bool(lines[0]["matches"])
    else:
        lines = quote_lines(parsed.elements, wanted or [Quote(quote or "", page)])
        complete = all(line["found"] for line in lines)
    for line in lines:
        click.echo(json.dumps(line, ensure_ascii=False) if as_json else located_text(line))
    if not complete:
        raise SystemExit(1)


@main.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--page", type=click.IntRange(1), required=True)
@click.option("--bbox", required=True, metavar="x0,y0,x1,y1", help="In points, from the page's top left corner.")
@click.option("-o", "--output", type=click.Path(path_type=Path, allow_dash=True), required=True, help="The PNG.")
@click.option("--dpi", type=click.IntRange(36, 600), default=150, show_default=True)
@click.option("--margin", type=click.FloatRange(0, 1000), default=0, help="Points more on each side.")
@click.option("--marks", default="", metavar="BOXES", help="Boxes to tint, parted by semicolons.")
@kb_option
@json_option
def crop(file: Path, page: int, bbox: str, output: Path, **options: Any) -> None:
    """Write the picture of a region of a page of FILE; - is standard input, and standard output.

    Where there is no such region on the page, the picture is of the page, and the exit code is 1.
    """
    marks = tuple(map(parse_bbox, filter(None, options["marks"].split(";"))))
    asked = Picture(page, parse_bbox(bbox), options["dpi"], options["margin"], marks)
    settings = settings_of(options["kb"])
    with Scratch() as folder:
        named = _named(file, folder)
        source = shown_file(settings, named, folder)
        with Renderer(folder, max_megapixels=settings.max_megapixels) as renderer:
            png, reason = asyncio.run(_cropped(renderer, source, asked, named.name))
    write_output(output, png)
    line = {"path": str(output), "page": page, "bbox": _finite_list(asked), "dpi": options["dpi"], "bytes": len(png)}
    told = json.dumps(line | {"reason": reason}, ensure_ascii=False) if options["as_json"] else f"wrote {output}"
    click.echo(told, err=str(output) == "-")
    if reason:
        click.echo(f"kb-qa: {reason}", err=True)
        raise SystemExit(1)


def _named(file: Path, folder: Path) -> Path:
    """The file; standard input as a file in `folder`."""
    if str(file) != "-":
        return _existing(file)
    copy = folder / "standard input"
    with copy.open("wb") as target:
        shutil.copyfileobj(sys.stdin.buffer, target)
    return copy


async def _cropped(renderer: Renderer, source: Path, asked: Picture, name: str) -> tuple[bytes, str]:
    """The picture, and why it is of the whole page, if it is; `name` is what the reader calls the file."""
    subject = f"the file {name!r}"
    try:
        return await renderer.picture(source, source.name, asked, subject=subject), ""
    except InvalidRegionError as error:
        whole = Picture(asked.page, dpi=asked.dpi)
        return await renderer.picture(source, source.name, whole, subject=subject), f"{error}; the whole page is shown"


def _finite_list(picture: Picture) -> list[float] | None:
    return None if picture.bbox is None or not picture.bbox.is_finite else list(picture.bbox.as_tuple())


if __name__ == "__main__":
    main(prog_name="python -m ingest")
