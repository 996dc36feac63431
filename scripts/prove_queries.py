"""Twenty threads ask while an ingest writes: errors, and the 99th percentile of a search against that of idle times.

    python -m scripts.prove_queries [--seconds 60] [--threads 20] [--documents 300] [--seed 8]

Everything is real but the embedder, which hashes words: what is measured is ledger, index, publishing and their locks.
Each thread asks, waits 50 ms, and asks again, first with no ingest, then with one, over the same base, the same
questions.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kb_qa.answers import Filters
from kb_qa.ledger import Ledger
from kb_qa.live_index import LiveIndex
from kb_qa.retrieve import Retriever
from kb_qa.settings import Settings
from kb_qa.testing import HashEmbedder
from kb_qa.wiring import owned_index, refresh

ROOT = Path(__file__).resolve().parent.parent
PAUSE = 0.05
_INGEST = """
import sys
from contextlib import contextmanager
from pathlib import Path
from ingest import handover
from ingest.progress import IngestProgress
from kb_qa.settings import Settings
from tests.killed_ingest import _cheap_worker
handover.open_worker = _cheap_worker
handover.ingest_into(Settings(kb=Path(sys.argv[1])), [Path(sys.argv[2])], IngestProgress(lambda outcome: None))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=20)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--seed", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder / "first", options.documents, options.seed)
        write(folder / "second", 20 * options.documents, options.seed + 1)
        ingest(folder / "kb", folder / "first").wait()
        measure(folder, options)


def write(folder: Path, count: int, seed: int) -> None:
    lot = random.Random(seed)
    folder.mkdir()
    for n in range(count):
        lines = [
            f"Item {lot.randrange(10_000)} costs {lot.randrange(10**6)} dollars in {2000 + n % 25}." for _ in range(8)
        ]
        (folder / f"{n}.txt").write_text("\n\n".join(lines), encoding="utf-8")


def ingest(kb: Path, folder: Path) -> subprocess.Popen[bytes]:
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "PATH": "/usr/bin:/bin"}
    return subprocess.Popen([sys.executable, "-c", _INGEST, str(kb), str(folder)], cwd=ROOT, env=environment)


def measure(folder: Path, options: argparse.Namespace) -> None:
    embedder = HashEmbedder()
    settings = Settings(kb=folder / "kb")
    with (
        Ledger.open(settings.kb, create=False) as ledger,
        owned_index(settings, ledger, (embedder.id, embedder.dimension), "http://127.0.0.1:1") as store,
    ):
        live = LiveIndex(settings, ledger, store, Retriever(embedder, store, ledger))

        def search(question: str) -> None:
            if not live.retrieve(question, k=8, filters=Filters()):
                raise RuntimeError(f"nothing found for {question!r}")

        idle = asked(search, options, lambda: None)
        writer = ingest(settings.kb, folder / "second")
        while not ledger.versions_in("indexing"):  # it is under way
            time.sleep(0.1)
        published = 0

        def publish() -> None:
            nonlocal published
            published += refresh(ledger, live)

        busy = asked(search, options, publish)
        alive = writer.poll() is None
        writer.terminate()
        writer.wait()
    for name, (times, errors) in (("idle", idle), ("with ingest", busy)):
        told = (
            f"{name:<12} n = {len(times)} searches, {len(errors)} errors, median {quantile(times, 0.5) * 1000:.0f} ms"
        )
        print(f"{told}, p99 {quantile(times, 0.99) * 1000:.0f} ms", *sorted(set(errors))[:3])
    ratio = quantile(busy[0], 0.99) / quantile(idle[0], 0.99)
    print(f"p99 with ingest / p99 idle = {ratio:.2f}; {published} documents became visible; ingest still ran: {alive}")
    raise SystemExit(bool(idle[1] or busy[1] or ratio > 3))


def asked(
    search: Callable[[str], None], options: argparse.Namespace, each_second: Callable[[], None]
) -> tuple[list[float], list[str]]:
    """The seconds of each search, and the errors, while `each_second` is done once a second."""
    times: list[float] = []
    errors: list[str] = []
    end = time.monotonic() + options.seconds

    def ask(seed: int) -> None:
        lot = random.Random(seed)
        while time.monotonic() < end:
            began = time.perf_counter()
            try:
                search(f"What does item {lot.randrange(10_000)} cost in {2000 + lot.randrange(25)}?")
            except Exception as error:  # noqa: BLE001  counted
                errors.append(f"{type(error).__name__}: {error}")
            times.append(time.perf_counter() - began)
            time.sleep(PAUSE)

    threads = [threading.Thread(target=ask, args=(options.seed + n,)) for n in range(options.threads)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        time.sleep(1)
        each_second()
    for thread in threads:
        thread.join()
    return times, errors


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


if __name__ == "__main__":
    main()
