"""The index owner's work: the index follows the ledger, and a version becomes visible once the index holds it whole."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kb_qa.errors import DamagedIndexError
from kb_qa.identity import called
from kb_qa.protocols import IndexLedger, VectorIndex
from kb_qa.records import metadata_of

log = logging.getLogger(__name__)


def catch_up(ledger: IndexLedger, store: VectorIndex, told: Callable[[str], None] = lambda reason: None) -> int:
    """Indexes and publishes every version that waits, removes what was deleted; how many became visible.

    Safe to end anywhere: vectors go in before the flip and out after it, and an index that was being written has no
    seal, so that its next owner starts it afresh. One thread of one process at a time, under the index lock.
    """
    waiting = ledger.versions_in("indexing")
    if waiting or ledger.tombstones():
        ledger.seal_index("")
    if not _is_whole(ledger, store):
        told("the index is being rebuilt from the ledger")
        rebuild(ledger, store)
        told("")
    published = sum(_publish(ledger, store, version) for version in waiting)
    ledger.purge()
    gather_names(ledger)
    if (seal := store.fingerprint()) != ledger.index_seal():
        ledger.seal_index(seal)
    return published


def rebuild(ledger: IndexLedger, store: VectorIndex) -> int:
    """Fills the emptied index with what the ledger calls ready, without parsing or embedding; how many chunks."""
    ledger.seal_index("")
    store.clear()
    sent = sum(_upsert(ledger, store, version) for version in ledger.versions_in("ready"))
    _check_count(store, sent)
    log.info("index rebuilt from the ledger: %d chunks", sent)
    return sent


def gather_names(ledger: IndexLedger) -> None:
    """Stores what each visible document is called, where that is not known yet; each document is read once for it."""
    for version in ledger.uncalled():
        ledger.store_called(version, called(ledger.outline(version)))


def _publish(ledger: IndexLedger, store: VectorIndex, version: int) -> bool:
    before = store.count()
    _check_count(store, before + _upsert(ledger, store, version))
    visible = ledger.publish(version)
    _remove_deleted(ledger, store)
    return visible


def _check_count(store: VectorIndex, expected: int) -> None:
    if (count := store.count()) != expected:
        raise DamagedIndexError(f"the index holds {count} chunks, not {expected}; it is rebuilt at the next start")


def _is_whole(ledger: IndexLedger, store: VectorIndex) -> bool:
    """Whether the index holds as much as it must, once what was deleted (also meanwhile) is out of it."""
    while True:
        _remove_deleted(ledger, store)
        whole = store.count() == ledger.indexed_count()
        if whole or not ledger.tombstones():
            return whole


def _upsert(ledger: IndexLedger, store: VectorIndex, version: int) -> int:
    count = 0
    for rows in ledger.index_rows(version):
        store.upsert([chunk.id for chunk in rows.chunks], rows.vectors, [metadata_of(chunk) for chunk in rows.chunks])
        count += len(rows.chunks)
    return count


def _remove_deleted(ledger: IndexLedger, store: VectorIndex) -> None:
    if gone := ledger.tombstones():
        store.delete(gone)
        ledger.forget_tombstones(gone)
