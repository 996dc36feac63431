"""`kb-qa doctor`: whether everything that an answer needs is there, and what to do about what is not."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import click

from kb_qa.access_keys import AccessKeys
from kb_qa.answer_models import chosen_model, connection_of, options_of
from kb_qa.command_line import json_option, kb_option, settings_of
from kb_qa.database import Database, wal_is_safe
from kb_qa.embed import check_embedder
from kb_qa.errors import EnvironmentProblemError, KbQaError, MissingIndexError
from kb_qa.index_probe import probed
from kb_qa.live_index import embedder_of
from kb_qa.rerank import CrossEncoderReranker
from kb_qa.settings import Settings, is_loopback
from kb_qa.version_table import outdated_told
from kb_qa.wiring import INDEX, open_ledger, service_address


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` False: answers fail, or are not what the settings ask for."""

    check: str
    ok: bool
    detail: str


_MB = 1024 * 1024

Check = Callable[[Settings], str]


@click.command()
@kb_option
@json_option
def doctor(kb: Path | None, as_json: bool) -> None:
    """Check settings, machine, limits, access, documents, index and models. Exit code 3 where one fails.

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
        "python": _python,
        "sqlite": _sqlite,
        "disk": _disk,
        "limits": _limits,
        "access": _access,
        "documents": _documents,
        "index": _index,
        "index files": _index_files,
        "embedder": _embedder,
        "reranker": _reranker,
        "model": _model,
    }
    yield Finding("settings", True, f"knowledge base {str(settings.kb)!r}")
    for name, check in checks.items():
        try:
            yield Finding(name, True, check(settings))
        except KbQaError as error:
            yield Finding(name, False, str(error))


def _python(settings: Settings) -> str:
    return (
        f"kb-qa {version('kb-qa')} on Python {platform.python_version()}, {platform.machine()}, {_usable_cpus()} cores"
    )


def _usable_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _sqlite(settings: Settings) -> str:
    """Raises EnvironmentProblemError where full-text search is missing: retrieval needs it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        except sqlite3.OperationalError as error:
            raise EnvironmentProblemError(
                f"SQLite {sqlite3.sqlite_version} was built without FTS5; use another Python"
            ) from error
    safe = wal_is_safe(sqlite3.sqlite_version_info)
    mode = "WAL" if safe else "TRUNCATE, as this version may damage a WAL"
    return f"SQLite {sqlite3.sqlite_version} with FTS5; journal {mode}"


def _disk(settings: Settings) -> str:
    """Raises EnvironmentProblemError where there is no room for one more file of the largest size, or none to write."""
    place = next(path for path in (settings.kb.absolute(), *settings.kb.absolute().parents) if path.exists())
    if not os.access(place, os.W_OK):
        raise EnvironmentProblemError(f"{str(place)!r} cannot be written; check its owner and permissions")
    free = shutil.disk_usage(place).free // _MB
    needed = 3 * settings.max_file_mb  # the upload, the original, and what is read of it
    if free < needed:
        raise EnvironmentProblemError(f"{free} MB are free in {str(place)!r}; make room for at least {needed} MB")
    return f"{free} MB free in {str(place)!r}"


def _limits(settings: Settings) -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MB
    told = (
        f"{settings.parsers} parsers with {settings.parse_memory_mb} MB and {settings.parse_seconds} s each; files to "
        f"{settings.max_file_mb} MB, {settings.max_pages} pages, {settings.max_inflated_mb} MB unpacked; pictures to "
        f"{settings.max_megapixels} megapixels; {memory} MB of memory"
    )
    if settings.parsers * settings.parse_memory_mb > memory:
        told += ", less than the parsers may take: set KB_QA_PARSERS or KB_QA_PARSE_MEMORY_MB lower"
    return told


def _access(settings: Settings) -> str:
    """Raises EnvironmentProblemError where `kb-qa serve` would refuse to start."""
    now, name = time.time(), settings.kb.resolve().name
    states: Counter[str] = Counter()
    with suppress(MissingIndexError), closing(Database.open(settings.kb, create=False)) as database:
        states.update("usable" if key.opens(name, now) else "unusable" for key in AccessKeys(database).all())
    keys = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none: only this machine may ask"
    if not is_loopback(settings.host) and not states["usable"]:
        raise EnvironmentProblemError(f"{settings.host} needs a key; make one with kb-qa key create NAME ({keys})")
    return f"listens on {settings.host}:{settings.port}; keys: {keys}"


def _index_files(settings: Settings) -> str:
    with open_ledger(settings):
        pass  # which raises where there is none
    return probed(settings.kb, INDEX)


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
        is_sealed, outdated = bool(ledger.index_seal()), len(ledger.outdated())
    told = [f"{chunks} chunks"]
    told += [f"{waiting} documents wait to become visible"] if waiting else []
    told += [] if is_sealed or not chunks else ["the next question rebuilds it from the ledger"]
    told += [outdated_told(outdated)] if outdated else []
    told += [f"the service at {address} owns it"] if address else []
    return "; ".join(told)


def _embedder(settings: Settings) -> str:
    embedder = embedder_of(settings)
    with open_ledger(settings) as ledger:
        check_embedder(ledger, embedder)
    size = embedder.embed_query("Is anybody there?").shape[0]
    return f"{embedder.id} embeds into {size} numbers"


def _reranker(settings: Settings) -> str:
    """Loads it and has it score: a folder can hold a model that is none for this."""
    if not settings.reranker:
        return "none: hits stay in the order of their scores"
    reranker = CrossEncoderReranker(settings.reranker)
    try:
        scores = reranker.score("Is anybody there?", ["Somebody is.", "Nobody is."])
    except (RuntimeError, TypeError, ValueError) as error:
        raise EnvironmentProblemError(f"{reranker.id} gives no scores (KB_QA_RERANKER): {error}") from error
    return f"{reranker.id} scores {len(scores)} passages"


def _model(settings: Settings) -> str:
    kind = chosen_model(settings)
    if kind == "extractive":
        return "extractive: answers quote the documents; no key, no language model"
    from kb_qa.models.probe import probe  # the SDK loads only where it is needed

    answered = asyncio.run(probe(connection_of(settings, kind), options_of(settings)))
    return f"{kind}: {answered}"
