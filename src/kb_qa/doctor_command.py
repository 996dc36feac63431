"""`kb-qa doctor`: whether everything that an answer needs is there, and what to do about what is not."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from kb_qa.answer_models import chosen_model, connection_of, options_of
from kb_qa.command_line import json_option, kb_option, settings_of
from kb_qa.embed import check_embedder, open_embedder
from kb_qa.errors import EnvironmentProblemError, KbQaError
from kb_qa.settings import Settings
from kb_qa.wiring import open_ledger, service_address


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` False: answers fail, or are not what the settings ask for."""

    check: str
    ok: bool
    detail: str


Check = Callable[[Settings], str]


@click.command()
@kb_option
@json_option
def doctor(kb: Path | None, as_json: bool) -> None:
    """Check the settings, the documents, the index, the embedder and the model. Exit code 3 where one fails.

    A language model is asked one tiny question, which costs next to nothing.
    """
    failed = False
    for finding in findings(kb):
        failed |= not finding.ok
        line = json.dumps(asdict(finding), ensure_ascii=False)
        click.echo(line if as_json else f"{'ok    ' if finding.ok else 'FAILED'}  {finding.check}: {finding.detail}")
    if failed:
        raise SystemExit(EnvironmentProblemError.exit_code)


def findings(kb: Path | None) -> Iterator[Finding]:
    """One after the other, each as soon as it is known; nothing more after settings that cannot be read."""
    try:
        settings = settings_of(kb)
    except KbQaError as error:
        yield Finding("settings", False, str(error))
        return
    checks: dict[str, Check] = {
        "documents": _documents,
        "index": _index,
        "embedder": _embedder,
        "model": _model,
    }
    yield Finding("settings", True, f"knowledge base {str(settings.kb)!r}")
    for name, check in checks.items():
        try:
            yield Finding(name, True, check(settings))
        except KbQaError as error:
            yield Finding(name, False, str(error))


def _documents(settings: Settings) -> str:
    with open_ledger(settings) as ledger:
        states = Counter(record.state for record in ledger.documents())
    if not states:
        raise EnvironmentProblemError("there are none; run kb-qa ingest PATH")
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items()))


def _index(settings: Settings) -> str:
    address = service_address(settings)
    with open_ledger(settings) as ledger:
        chunks, waiting = ledger.indexed_count(), len(ledger.versions_in("indexing"))
        is_sealed = bool(ledger.index_seal())
    told = [f"{chunks} chunks"]
    told += [f"{waiting} documents wait to become visible"] if waiting else []
    told += [] if is_sealed or not chunks else ["the next question rebuilds it from the ledger"]
    told += [f"the service at {address} owns it"] if address else []
    return "; ".join(told)


def _embedder(settings: Settings) -> str:
    embedder = open_embedder(settings.embedder)
    with open_ledger(settings) as ledger:
        check_embedder(ledger, embedder)
    size = embedder.embed_query("Is anybody there?").shape[0]
    return f"{embedder.id} embeds into {size} numbers"


def _model(settings: Settings) -> str:
    kind = chosen_model(settings)
    if kind == "extractive":
        return "extractive: answers quote the documents; no key, no language model"
    from kb_qa.models.probe import probe  # the SDK loads only where it is needed

    answered = asyncio.run(probe(connection_of(settings, kind), options_of(settings)))
    return f"{kind}: {answered}"
