"""Retrieval and context over a large store: latency with several questions at once, recall of the graph, size, memory.

    python scripts/bench_latency.py SOURCE_KB STORE_KB [--chunks 100000] [--questions 200] [--at-once 8] [--seed 1]

The store is made of the chunks of SOURCE_KB, repeated under new ids in new documents, their vectors perturbed; it is
kept in STORE_KB and used again. The questions are those of shared/bench. Exact search is timed in the same run.
"""

import argparse
import asyncio
import hashlib
import json
import math
import os
import random
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kb_qa.answers import Question
from kb_qa.database import FILE_NAME
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.ledger import Ledger
from kb_qa.protocols import Vectors
from kb_qa.settings import Settings
from kb_qa.sketch import sketch
from kb_qa.wiring import open_parts

NOISE = 0.3  # the length of what is added to a vector of length 1: a cosine of .96 to the one it was made from
NEAREST = 10
COPIED = ("versions", "chunks", "vectors", "lexical")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--bench", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not (options.store / FILE_NAME).is_file():
        make_store(options.source, options.store, options.chunks, options.seed)
    questions = chosen_questions(options.bench, options.questions, options.seed)
    before = resident_mb()
    started = time.monotonic()
    with open_parts(replace(Settings(), kb=options.store)) as parts:
        parts.warm_up()
        print(f"opened in {time.monotonic() - started:.1f} s, {resident_mb() - before:.0f} MB more resident")
        measure(parts.knowledge_base, options.store, questions, options.at_once)
        print(f"{'resident after all':<44} {resident_mb():9.0f} MB")


def measure(base: KnowledgeBase, store: Path, questions: Sequence[Question], at_once: int) -> None:
    live: Any = base.retriever
    count = live.store.count()
    on_disk = sum(file.stat().st_size for file in (store / "index").rglob("*") if file.is_file())
    print(f"{count} chunks; the vector index has {on_disk / 1e6:.0f} MB on disk,", end=" ")
    print(
        f"the ledger {(store / FILE_NAME).stat().st_size / 1e6:.0f} MB; {len(questions)} questions, {at_once} at once"
    )
    ids, matrix = all_vectors(store)
    asked = [live.retriever.embedder.embed_query(question.text) for question in questions]

    def exact(vector: Vectors, k: int) -> list[str]:
        similarities = matrix @ vector
        best = np.argpartition(-similarities, k)[:k]
        return [ids[i] for i in best[np.argsort(-similarities[best])]]

    reads: list[Callable[[], Any]] = [lambda q=q: base._read(q) for q in questions]
    for name in ("retrieval and context, first time", "retrieval and context, again"):
        report(name, reads, at_once)
    report("… one at a time", reads, 1)
    for name, search in (
        ("exact search alone (numpy)", lambda vector: exact(vector, 60)),
        ("vector index alone", lambda vector: live.store.query(vector, 60)),
    ):
        report(name, [lambda v=v, s=search: asyncio.to_thread(s, v) for v in asked], at_once)
    shares = [
        len({n.id for n in live.store.query(vector, NEAREST)} & {*exact(vector, NEAREST)}) / NEAREST for vector in asked
    ]
    low, high = interval(shares)
    print(f"recall@{NEAREST} against exact search: {np.mean(shares):.3f} [{low:.3f}, {high:.3f}], n = {len(shares)}")


async def each_timed(calls: Sequence[Callable[[], Any]], at_once: int) -> list[float]:
    """Seconds of each call, from when it may start, `at_once` at a time."""
    turns = asyncio.Semaphore(at_once)

    async def timed(call: Callable[[], Any]) -> float:
        async with turns:
            started = time.perf_counter()
            await call()
            return time.perf_counter() - started

    return list(await asyncio.gather(*map(timed, calls)))


def report(name: str, calls: Sequence[Callable[[], Any]], at_once: int) -> None:
    """What each took, and the processor time of all threads for it, which says something on a busy machine too."""
    worked = time.process_time()
    seconds = asyncio.run(each_timed(calls, at_once))
    worked = (time.process_time() - worked) / len(calls) * 1000
    middle, late = np.percentile(seconds, [50, 99]) * 1000
    told = f"p50 {middle:7.1f} ms   p99 {late:7.1f} ms   processor {worked:6.1f} ms"
    print(f"{name:<44} {told}   n = {len(seconds)}", flush=True)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % of the mean."""
    half = 1.96 * float(np.std(values)) / math.sqrt(len(values))
    return float(np.mean(values)) - half, min(float(np.mean(values)) + half, 1.0)


def chosen_questions(bench: Path, count: int, seed: int) -> list[Question]:
    texts = [json.loads(line)["question"] for line in (bench / "erc2" / "questions.jsonl").open(encoding="utf-8")]
    contexts = json.loads((bench / "tatqa" / "contexts.json").read_text(encoding="utf-8"))
    others = sorted({asked["question"] for context in contexts for asked in context["questions"]})
    random.Random(seed).shuffle(others)
    return [Question(text, "en") for text in [*texts, *others][:count]]


def all_vectors(store: Path) -> tuple[list[str], Vectors]:
    with sqlite3.connect(store / FILE_NAME) as ledger:
        rows = ledger.execute("SELECT id, vector FROM chunks JOIN vectors ON chunk_row = row ORDER BY row").fetchall()
    return [row[0] for row in rows], np.stack([np.frombuffer(row[1], "<f4") for row in rows])


def make_store(source: Path, store: Path, count: int, seed: int) -> None:
    """A ledger of `count` chunks; whoever opens it next fills the index."""
    with Ledger.open(source, create=False) as ledger:  # brought up to date
        model = ledger.embedder()
        states = ("ready", "indexing")
        parts = (
            rows for state in states for version in ledger.versions_in(state) for rows in ledger.index_rows(version)
        )
        sketches = {chunk.id: sketch(chunk) for rows in parts for chunk in rows.chunks}
    with Ledger.open(store, create=True) as made:
        assert model is not None
        made.set_embedder(*model)
    numbers = np.random.default_rng(seed)
    with sqlite3.connect(store / FILE_NAME) as ledger:
        ledger.execute("PRAGMA foreign_keys = OFF")
        ledger.execute("ATTACH ? AS source", (str(source / FILE_NAME),))
        versions = ledger.execute("SELECT DISTINCT version_id, document_id FROM source.chunks").fetchall()
        copies = copied_versions(ledger, versions, count)
        print(f"{count} chunks of {len({version for version, _, _ in copies})} documents in {len(copies)} copies")
        row = 0
        for version, document_id, copy in copies:
            row = copy_version(ledger, version, copy_id(document_id, copy), row, numbers, sketches)
    with sqlite3.connect(store / FILE_NAME) as ledger:
        ledger.execute("INSERT INTO lexical(lexical) VALUES ('optimize')")


def copy_id(document_id: str, copy: int) -> str:
    return hashlib.sha256(f"{document_id} {copy}".encode()).hexdigest()


def copied_versions(
    ledger: sqlite3.Connection, versions: Sequence[tuple[int, str]], count: int
) -> list[tuple[int, str, int]]:
    """Versions, documents and numbers of copies, until there are `count` chunks."""
    sizes = dict(ledger.execute("SELECT version_id, count(*) FROM source.chunks GROUP BY 1").fetchall())
    chosen: list[tuple[int, str, int]] = []
    total = copy = 0
    while total < count:
        for version, document_id in versions:
            if total < count:
                chosen.append((version, document_id, copy))
                total += sizes[version]
        copy += 1
    return chosen


def copy_version(
    ledger: sqlite3.Connection,
    version: int,
    document_id: str,
    row: int,
    numbers: np.random.Generator,
    sketches: Mapping[str, bytes],
) -> int:
    """The last row that was written."""
    columns = {name: columns_of(ledger, name) for name in ("versions", "chunks")}
    made = ledger.execute("SELECT coalesce(max(id), 0) + 1 FROM versions").fetchone()[0]
    ledger.execute("INSERT INTO documents SELECT ?, 1, 'pdf', 0", (document_id,))
    ledger.execute("INSERT INTO names VALUES ('', ?, ?, 1)", (f"{document_id[:12]}.pdf", document_id))
    copy_row(
        ledger, "versions", columns["versions"], version, {"id": made, "document_id": document_id, "state": "ready"}
    )
    chunks = ledger.execute(
        "SELECT chunks.row, chunks.id, vector, body, titles, labels FROM source.chunks JOIN source.vectors "
        "ON chunk_row = chunks.row JOIN source.lexical ON lexical.rowid = chunks.row WHERE version_id = ?",
        (version,),
    ).fetchall()
    for old, chunk_id, vector, *texts in chunks:
        row += 1
        changes = {"row": row, "version_id": made, "document_id": document_id, "id": f"{chunk_id}-{made}"}
        changes["sketch"] = sketches[chunk_id]
        copy_row(ledger, "chunks", columns["chunks"], old, changes)
        ledger.execute(
            "INSERT INTO vectors SELECT ?, embedder, ? FROM source.vectors WHERE chunk_row = ?",
            (row, perturbed(vector, numbers), old),
        )
        ledger.execute("INSERT INTO lexical (rowid, body, titles, labels) VALUES (?, ?, ?, ?)", (row, *texts))
    ledger.commit()
    return row


def columns_of(ledger: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in ledger.execute(f"PRAGMA source.table_info({table})")]


def copy_row(
    ledger: sqlite3.Connection, table: str, columns: Sequence[str], key: int, changes: dict[str, object]
) -> None:
    given = ", ".join(f":{name}" if name in changes else f'"{name}"' for name in columns)
    named = ", ".join(f'"{name}"' for name in columns)
    statement = f"INSERT INTO {table} ({named}) SELECT {given} FROM source.{table} WHERE {columns[0]} = :key"
    ledger.execute(statement, {**changes, "key": key})


def perturbed(vector: bytes, numbers: np.random.Generator) -> bytes:
    values = np.frombuffer(vector, "<f4")
    noise = numbers.normal(size=len(values))
    moved = values + NOISE * noise / np.linalg.norm(noise)
    return (moved / np.linalg.norm(moved)).astype("<f4").tobytes()


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
