"""The commands that ask and show: `ask`, `search`, `documents`, `name`, `highlight`, `prepare`, `serve`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypedDict

import click

from kb_qa import remote
from kb_qa.answers import SESSION_ID, AnswerEvent, Filters, LevelChoice
from kb_qa.command_line import (
    filter_options,
    filters_of,
    json_option,
    kb_option,
    output_names,
    question_argument,
    settings_of,
    stored_events,
    terminal_language,
    write_output,
)
from kb_qa.errors import KbQaError, exit_code_of
from kb_qa.guardrails.languages import language_of
from kb_qa.ledger import Ledger
from kb_qa.listing import hit_line
from kb_qa.live_index import embedder_of
from kb_qa.locks import require_free
from kb_qa.marks import chosen_documents, marked_documents
from kb_qa.rejections import rejection_in
from kb_qa.rendering import to_markdown
from kb_qa.scratch import Scratch
from kb_qa.terminal import Terminal, nothing_found
from kb_qa.terms import use_cache
from kb_qa.whole_command import base_of_whole
from kb_qa.wiring import WORDS, open_knowledge_base, open_ledger, service_address

SESSION_HELP = "A conversation of this name, whose earlier questions this one may take up: 'And in 2023?'"


def _session_name(context: click.Context, option: click.Parameter, name: str) -> str:
    if name and not re.fullmatch(SESSION_ID, name):
        raise click.BadParameter(f"{name!r:.80}: letters, digits, '.', '_' and '-', 64 at most", context, option)
    return name


@click.command()
@question_argument
@filter_options
@click.option("--level", type=click.Choice(["auto", "text", "page", "region"]), default="auto", show_default=True)
@click.option("--session", "session_id", default="", metavar="NAME", callback=_session_name, help=SESSION_HELP)
@click.option("--whole", default="", metavar="FILE", help="About this document as a whole: a file, or one of the base.")
@click.option("--markdown", is_flag=True, help="As a Markdown document, when it is complete.")
@kb_option
@json_option
def ask(  # noqa: PLR0913  (an argument an option)
    question: str,
    level: LevelChoice,
    session_id: str,
    whole: str,
    markdown: bool,
    kb: Path | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Answer QUESTION from the documents. Exit code 1 where the answer is a refusal."""
    if markdown and as_json:
        raise click.UsageError("give --markdown or --json, not both")
    filters = filters_of(**limits)
    if whole and filters.choose_documents:
        raise click.UsageError(
            "give --whole or what chooses documents (--document, --folder, --since, --until), not both"
        )
    kept: list[AnswerEvent] = []
    show = kept.append if markdown else _print_event_line if as_json else Terminal().print_event
    with base_of_whole(settings_of(kb), whole) as (settings, name):
        given: _Asked = {"filters": filters, "level": level, "session_id": session_id, "whole": name}
        address = service_address(settings)
        if address:
            last = _shown(remote.ask(address, question, **given, key=settings.key), show)
        else:
            with open_knowledge_base(settings) as knowledge_base:
                last = asyncio.run(_followed(knowledge_base.ask(question, **given), show))
    if markdown:
        click.echo(to_markdown(kept), nl=False)
    if last.event == "error":
        raise SystemExit(exit_code_of(str(last.data["code"])))
    if not last.data["complete"] or last.data["refused"]:
        raise SystemExit(1)


class _Asked(TypedDict):
    filters: Filters
    level: LevelChoice
    session_id: str
    whole: str


def _shown(events: Iterable[AnswerEvent], show: Callable[[AnswerEvent], None]) -> AnswerEvent:
    """The last event, after each was shown. A stream without one ends as an error."""
    last = None
    for event in events:
        show(event)
        last = event
    if last is None or last.event not in {"end", "error"}:
        raise KbQaError("the answer ended before it was complete")
    return last


async def _followed(events: AsyncGenerator[AnswerEvent], show: Callable[[AnswerEvent], None]) -> AnswerEvent:
    """The last event, after each was shown."""
    kept = []
    async for event in events:
        show(event)
        kept.append(event)
    return kept[-1]


def _print_event_line(event: AnswerEvent) -> None:
    click.echo(json.dumps({"id": event.id, "event": event.event, "data": dict(event.data)}, ensure_ascii=False))


@click.command()
@question_argument
@click.option("-k", default=8, show_default=True, type=click.IntRange(1, 200), help="How many hits.")
@filter_options
@kb_option
@json_option
def search(question: str, k: int, kb: Path | None, as_json: bool, **limits: Any) -> None:
    """List the passages found for QUESTION, best first."""
    settings = settings_of(kb)
    filters = filters_of(**limits)
    address = service_address(settings)
    if address:
        lines = remote.search(address, question, k=k, filters=filters, key=settings.key)
    else:
        with open_knowledge_base(settings) as knowledge_base:
            hits = asyncio.run(knowledge_base.search(question, k=k, filters=filters))
        lines = [hit_line(rank, hit) for rank, hit in enumerate(hits, 1)]
    for line in lines:
        click.echo(json.dumps(line, ensure_ascii=False) if as_json else _hit_text(line))
    if not lines:
        click.echo(f"kb-qa: {nothing_found(asdict(filters), language_of(question))}", err=True)
        raise SystemExit(1)


def _hit_text(line: dict[str, Any]) -> str:
    place = line["document"] + (f" · P{line['page']}" if line["page"] else "") + f" · {line['element_type']}"
    section = f" · {' > '.join(line['section'])}" if line["section"] else ""
    text = " ".join(line["text"].split())
    return f"{line['rank']:>2}. {place}{section}  ({line['score']:.4f})\n    {text[:200]}"


@click.command()
@click.argument("new_name", metavar="[NAME]", default="")
@kb_option
def name(new_name: str, kb: Path | None) -> None:
    """Show what the knowledge base is called, or call it NAME, in any script. Its directory stays as it is."""
    with Ledger.open(settings_of(kb).kb, create=bool(new_name)) as ledger:
        if new_name:
            ledger.set_name(new_name)
        click.echo(ledger.name())


@click.command()
@kb_option
@json_option
def documents(kb: Path | None, as_json: bool) -> None:
    """List the documents with their states, sizes and dates, and why one is quarantined."""
    with open_ledger(settings_of(kb)) as library:
        records = library.documents()
        if not as_json:
            click.echo(f"{library.name()}: {len(records)} documents", err=True)
    language = terminal_language()
    for record in records:
        if as_json:
            line = {name: value for name, value in asdict(record).items() if name != "size"}
            click.echo(json.dumps(line, ensure_ascii=False))
        else:
            told = rejection_in(language, record.code, record.reason)
            reason = f"  {told}" if told else ""
            names = ", ".join(record.names)
            size = f"{record.pages:>5} pages {record.chunks:>6} chunks"
            click.echo(f"{record.state:<12} {size}  {record.dated:<10}  {names}{reason}")


@click.command()
@click.argument("answer_id", metavar="ANSWER_ID")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The PDF to write.")
@click.option("--document", default="", metavar="NAME", help="Only this one of the documents that the answer cites.")
@kb_option
@json_option
def highlight(answer_id: str, output: Path, document: str, kb: Path | None, as_json: bool) -> None:
    """Mark what an answer cites in copies of the originals, each claim in a colour of its own with itself as the note.

    An answer over several documents gives a file each, named OUTPUT with the document's name. Exit code 1 where one
    has no pages to mark: the others are written.
    """
    from kb_qa.renderer import Renderer  # PyMuPDF loads only where it is needed

    with open_ledger(settings_of(kb)) as library, Scratch() as cache:
        documents = chosen_documents(marked_documents(stored_events(library, answer_id)), document)
        paged = [marked for marked in documents if marked.claims]
        targets = output_names(output, paged)
        with Renderer(cache) as renderer:
            for marked, target in zip(paged, targets, strict=True):
                written = renderer.highlighted(
                    library.blob_path(marked.document_id), marked.document_id, marked.claims, subject=repr(marked.name)
                )
                write_output(target, asyncio.run(written).read_bytes())
                line = {"path": str(target), "document": marked.name, "document_id": marked.document_id}
                told = json.dumps(line | {"claims": len(marked.claims)}, ensure_ascii=False)
                click.echo(told if as_json else f"wrote {target}")
    for marked in documents:
        if not marked.claims:
            click.echo(f"kb-qa: {marked.name!r} has no pages to mark; its passages are cited by section", err=True)
    if len(paged) < len(documents):
        raise SystemExit(1)


@click.command()
@json_option
def prepare(as_json: bool) -> None:
    """Make what is made once on a machine and kept for all knowledge bases: embedding model and Chinese dictionary."""
    settings = settings_of(None)
    use_cache(settings.models / WORDS)
    embedder = embedder_of(settings)
    line = {"embedder": embedder.id, "dimension": embedder.dimension}
    click.echo(json.dumps(line) if as_json else f"the embedding model is {embedder.id} ({embedder.dimension} numbers)")


@click.command()
@click.option("--host", help="Address to listen on [default: 127.0.0.1].")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on [default: 8000].")
@kb_option
def serve(host: str | None, port: int | None, kb: Path | None) -> None:
    """Answer questions over HTTP, with a page to ask them on; a worker beside it ingests what it is handed."""
    settings = settings_of(kb)
    require_free(settings.kb, "index")  # before the web stack loads, which takes seconds
    from kb_qa.service.server import serve as run_server

    settings = replace(settings, host=host or settings.host, port=settings.port if port is None else port)
    run_server(settings)
