"""`kb-qa reindex`: its job done here, or by the worker that writes already, and the index waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ingest.handover import carried_out
from ingest.reindexing import Embedded, arguments_of
from ingest.worker import Progress
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of
from kb_qa.protocols import Embedder
from kb_qa.settings import Settings
from kb_qa.wiring import make_visible, service_address

# Who filled the index: this command, the service that owns it, or whoever opens it next.
IndexedBy = Literal["command", "service", "later"]
SERVICE_SECONDS = 3600.0
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Reindexed:
    """`before` is the model that the index had, "" for none; both are the same where only the index was filled.

    `rechunked` documents were cut anew, because older code had made their chunks.
    """

    before: str
    embedder: str
    documents: tuple[Embedded, ...]
    index: IndexedBy
    rechunked: int = 0


@dataclass(frozen=True, slots=True)
class Reporting:
    """`counted` hears how many chunks there are to embed and how many are, `embedded` of each document.

    `paused` hears why the work waits, "" once it goes on.
    """

    counted: Callable[[int, int], None] = lambda total, done: None
    embedded: Callable[[Embedded], None] = lambda document: None
    paused: Callable[[str], None] = lambda reason: None


def reindex(
    settings: Settings,
    reporting: Reporting = Reporting(),
    *,
    index_only: bool = False,
    open_model: Callable[[Settings], Embedder] = embedder_of,
) -> Reindexed:
    """Embeds what is visible with the model of the settings, flips to it, and fills the index from the ledger.

    Then documents whose chunks older code made are cut anew, from their stored parse.
    The old index answers until the flip. Killed before it, the vectors made so far stay, and the next run goes on.
    With `index_only` the model stays. Raises MissingIndexError, LockHeldError where an ingest writes that takes no
    jobs, and what opening the model raises. `open_model` is for what is done here.
    """

    def settle(line: Mapping[str, Any]) -> None:
        reporting.embedded(Embedded.of_line(line))

    def said(report: Mapping[str, Any]) -> None:
        reporting.counted(int(report.get("chunks", 0)), int(report.get("embedded", 0)))

    with Ledger.open(settings.kb, create=False) as ledger:
        by_service = bool(service_address(settings))
        watched = Progress(settle=settle, pause=reporting.paused, said=said)
        given = arguments_of(settings, index_only=index_only)
        lines, report = carried_out(settings, ledger, "reindex", given, watched, open_model=open_model)
        documents = [Embedded.of_line(line) for line in lines]
        embedded = tuple(document for document in documents if not document.rechunked)
        index = _filled(settings, ledger, by_service=by_service)
        renewed = len(documents) - len(embedded)
        return Reindexed(str(report["before"]), str(report["embedder"]), embedded, index, renewed)


def _filled(settings: Settings, ledger: Ledger, *, by_service: bool) -> IndexedBy:
    """Waits until the index is whole again: filled here, or by the service that owns it."""
    deadline = time.monotonic() + SERVICE_SECONDS
    if not _is_whole(ledger):
        make_visible(settings, ledger)
    while not _is_whole(ledger) and service_address(settings) and time.monotonic() < deadline:
        by_service = True
        time.sleep(_LOOK_SECONDS)
    if not _is_whole(ledger):
        make_visible(settings, ledger)  # the service ended meanwhile
    if not _is_whole(ledger):
        return "later"
    return "service" if by_service else "command"


def _is_whole(ledger: Ledger) -> bool:
    return bool(ledger.index_seal()) and not ledger.versions_in("indexing")
