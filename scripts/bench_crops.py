"""How long a crop takes: 20 requests at once against a running service, cold and cached, and how long its loop is busy.

    python scripts/bench_crops.py --kb data/kb [--rounds 15] [--at-once 20] [--dpi 150]

The service is started over the knowledge base as `kb-qa serve` does it, with an empty cache of pictures. A cold round
asks for boxes that nobody asked for before; a cached round for the same ones again; a tagged round with the tags that
the browser keeps, which is answered 304. Boxes are drawn at random (fixed seed) over all pages, in the sizes of a table
row to half a page. Lag is what `/healthz`, which does nothing, takes meanwhile. The baseline is PyMuPDF's own
`get_pixmap(dpi, clip)` and PNG writer on the same boxes, in this process, one after the other, the file open.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import httpx
import pymupdf

from kb_qa.geometry import BBox
from kb_qa.ledger import Ledger

SECONDS = 60
KINDS = (
    *("cold", "cached", "tagged", "lag, cold", "lag, cached"),
    *(f"{part}, {kind}" for part in ("service", "children") for kind in ("cold", "cached", "tagged")),
)
SIZES = ((450, 16), (450, 60), (200, 120), (450, 300))  # points


@dataclass(frozen=True, slots=True)
class Crop:
    document_id: str
    page: int
    bbox: BBox

    def path(self, dpi: int) -> str:
        box = ",".join(f"{value:.2f}" for value in self.bbox.as_tuple())
        return f"/v1/documents/{self.document_id}/pages/{self.page}/region.png?bbox={box}&dpi={dpi}"


@dataclass(slots=True)
class Connection:
    """One kept-alive connection; as little client as there can be, for it runs on the service's own processors."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def get(self, path: str, tag: str = "") -> tuple[int, str, float]:
        """Status, tag and seconds until the last byte."""
        started = time.perf_counter()
        condition = f"If-None-Match: {tag}\r\n" if tag else ""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{condition}\r\n".encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
        await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(head[0].split()[1]), headers.get("etag", ""), time.perf_counter() - started


async def connected(port: int) -> Connection:
    return Connection(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 20))


def processor_seconds(process: int) -> tuple[float, float]:
    """Of the service's own process, and of its children, so far (Linux)."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return _ticks(process), sum(_ticks(int(child)) for child in children)


def _ticks(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measured(port: int, process: int, rounds: Sequence[Sequence[Crop]], dpi: int) -> dict[str, list[float]]:
    """Seconds by kind, all rounds in turn: cold, cached, tagged; what /healthz took meanwhile; processor seconds."""
    connections = [await connected(port) for _ in rounds[0]]
    for _ in range(4):  # until the children that draw are there
        warm = (one.get(replace(rounds[0][0], page=1).path(36 + i)) for i, one in enumerate(connections))
        await asyncio.gather(*warm)
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    probe = await connected(port)
    for crops in rounds:
        tags = [""] * len(crops)
        for kind, lag in (("cold", "lag, cold"), ("cached", "lag, cached"), ("tagged", "lag, cached")):
            watching = asyncio.create_task(_watch(probe, found[lag]))
            given = tags if kind == "tagged" else [""] * len(crops)
            before = processor_seconds(process)
            asked = zip(connections, crops, given, strict=True)
            told = await asyncio.gather(*(one.get(crop.path(dpi), tag) for one, crop, tag in asked))
            assert {status for status, _, _ in told} == {304 if kind == "tagged" else 200}, told
            tags = [tag for _, tag, _ in told]
            found[kind] += [seconds for _, _, seconds in told]
            after = processor_seconds(process)
            found[f"service, {kind}"].append((after[0] - before[0]) / len(crops))
            found[f"children, {kind}"].append((after[1] - before[1]) / len(crops))
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            probe.writer.close()
            probe = await connected(port)
    return found


async def _watch(connection: Connection, seconds: list[float]) -> None:
    while True:
        seconds.append((await connection.get("/healthz"))[2])
        await asyncio.sleep(0.002)


def drawn_boxes(kb: Path, count: int) -> list[tuple[Path, Crop]]:
    chosen = random.Random(4)
    with Ledger.open(kb, create=False) as ledger:
        pages = [
            (ledger.blob_path(record.document_id), record.document_id, page)
            for record in ledger.documents()
            for number in range(1, record.pages + 1)
            if record.state == "ready" and (page := ledger.page(record.document_id, number)) is not None
        ]
    crops = []
    while len(crops) < count:
        path, document_id, page = chosen.choice(pages)
        width, height = (min(size) for size in zip(chosen.choice(SIZES), (page.width, page.height), strict=True))
        x0, y0 = chosen.uniform(0, page.width - width), chosen.uniform(0, page.height - height)
        crops.append((path, Crop(document_id, page.number, BBox(x0, y0, x0 + width, y0 + height))))
    return crops


def raw_renders(crops: Sequence[tuple[Path, Crop]], dpi: int) -> tuple[list[float], list[float]]:
    """Seconds of `get_pixmap` alone, and with its PNG, of each crop."""
    documents = {path: pymupdf.open(path) for path in {path for path, _ in crops}}
    drawn, written = [], []
    for path, crop in crops:
        started = time.perf_counter()
        clip = pymupdf.Rect(crop.bbox.as_tuple())
        pixmap = documents[path][crop.page - 1].get_pixmap(dpi=dpi, clip=clip, alpha=False)
        drawn.append(time.perf_counter() - started)
        pixmap.tobytes("png")
        written.append(time.perf_counter() - started)
    return drawn, written


@contextmanager
def service(kb: Path) -> Iterator[tuple[int, int]]:
    """Port and process of a service of its own over a copy of the knowledge base without its pictures."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "kb"
        shutil.copytree(kb, copy, ignore=shutil.ignore_patterns("pictures", "*.lock", "*.holder.json"))
        command = [sys.executable, "-c", "from kb_qa.cli import main; main()", "serve", "--kb", copy, "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                for line in process.stderr:
                    if "answers on" in line:
                        break
                else:
                    raise SystemExit("the service did not start")
                port = int(line.rsplit(":", 1)[1])
                _wait(port)
                yield port, process.pid
            finally:
                process.terminate()


def _wait(port: int) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            httpx.get(f"http://127.0.0.1:{port}/readyz").raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise SystemExit("the service did not answer")


def percentile(values: Sequence[float], share: float) -> float:
    """In milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def show(name: str, values: Sequence[float], goal: float | None = None) -> None:
    p50, p90, p99, most = (percentile(values, share) for share in (0.5, 0.9, 0.99, 1.0))
    told = "" if goal is None else f"   goal p99 <= {goal:g}: {'yes' if p99 <= goal else 'NO'}"
    print(f"{name:<28} n={len(values):<5} p50 {p50:7.1f}  p90 {p90:7.1f}  p99 {p99:7.1f}  max {most:7.1f} ms{told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, default=Path("data/kb"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--dpi", type=int, default=150)
    options = parser.parse_args()
    crops = drawn_boxes(options.kb, options.rounds * options.at_once)
    asked = [crop for _, crop in crops]
    rounds = [asked[start : start + options.at_once] for start in range(0, len(asked), options.at_once)]
    with service(options.kb) as (port, process):
        found = asyncio.run(measured(port, process, rounds, options.dpi))
    started = time.process_time()
    drawn, written = raw_renders(crops, options.dpi)
    raw = 1000 * (time.process_time() - started) / len(crops)
    pages = len({(crop.document_id, crop.page) for crop in asked})
    print(f"{len(asked)} crops of {pages} pages at {options.dpi} dpi, {options.at_once} at once")
    show("cold", found["cold"], 250)
    show("cached", found["cached"], 20)
    show("cached, tagged (304)", found["tagged"], 20)
    show("loop lag, cold", found["lag, cold"], 50)
    show("loop lag, cached", found["lag, cached"], 50)
    for kind in ("cold", "cached", "tagged"):
        own, others = (1000 * fmean(found[f"{part}, {kind}"]) for part in ("service", "children"))
        print(f"processor time of a {kind} request: service {own:.1f} ms, children {others:.1f} ms")
    show("raw get_pixmap, one by one", drawn)
    show("raw with MuPDF's PNG", written)
    print(f"processor time of a raw render with MuPDF's PNG: {raw:.1f} ms")


if __name__ == "__main__":
    main()
