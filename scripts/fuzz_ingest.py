"""Mutated documents through the whole of ingest: every file has an outcome, and no file ends the ingesting process.

    python scripts/fuzz_ingest.py FILE-OR-FOLDER… [--files 500] [--first 0] [--seed 1] [--largest-kb 300]
        [--keep FOLDER]

Each file is changed from a seed: bits flipped, telling bytes put in, pieces cut, doubled, moved, zeroed, the end cut
off, two files spliced, numbers in a PDF's source made huge. Members of Office files are changed inside their archive. A
batch of files is one ingest in a process of its own, with parser children, ledger and index as always and an embedder
that costs nothing. Printed are the outcomes by state and code, files without an outcome, and batches that died; exit
code 1 where there is one of the latter two. Why a parser crashed is printed too. `--keep` keeps the files without an
outcome and those that crashed a parser; `--first` goes on where an earlier run ended.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from pathlib import Path

from ingest.children import ParserPool
from ingest.limits import Limits
from ingest.pipeline import Ingest
from ingest.spread import SpreadingPool
from kb_qa.errors import CrashedParserError
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock
from kb_qa.settings import Settings
from kb_qa.testing import HashEmbedder
from kb_qa.wiring import make_visible

BATCH = 25
LIMITS = Limits(seconds=120, page_seconds=20, memory_mb=3000, max_inflated_mb=100)
TELLING = (
    *(b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x80\x00\x00\x00", b"\xe2\x80\xae"),
    *(b"-1", b"99999999999", b"%s%n", b"\r\n\r\n", b"<<>>"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest-kb", type=int, default=300)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--batch", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.batch:
        run_batch(options.sources[0], options.sources[1])
        return
    sources = originals(options.sources, options.largest_kb * 1024)
    print(f"{options.files} files made of {len(sources)} originals, seed {options.seed}")
    numbers = range(options.first, options.files)
    raise SystemExit(fuzz(sources, numbers, options.seed, options.keep))


def originals(paths: Sequence[Path], most_bytes: int) -> list[Path]:
    found = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    return [file for file in found if file.is_file() and 0 < file.stat().st_size <= most_bytes]


def fuzz(sources: Sequence[Path], numbers: range, seed: int, keep: Path | None) -> int:
    """The exit code."""
    outcomes: Counter[str] = Counter()
    deaths, lost, began = 0, [], time.monotonic()
    for first in range(numbers.start, numbers.stop, BATCH):
        with tempfile.TemporaryDirectory(prefix="kb-qa-fuzz-") as scratch:
            folder, kb = Path(scratch) / "files", Path(scratch) / "kb"
            folder.mkdir()
            made = [mutated(sources, seed, number, folder) for number in range(first, min(first + BATCH, numbers.stop))]
            command = [sys.executable, __file__, str(folder), str(kb), "--batch"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
            told = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
            deaths += done.returncode != 0
            if done.returncode != 0:
                print(f"files from {first} on: died with {done.returncode}:\n{done.stderr[-2000:]}")
            crashed = [path for path in made if told.get(path.name, {}).get("code") == CrashedParserError.code]
            for path in crashed:
                print(f"  {path.name}: {told[path.name]['reason']}")
            missing = [path for path in made if path.name not in told]
            lost += [path.name for path in missing]
            if keep is not None:
                _keep([*missing, *crashed], keep)
            outcomes.update(" ".join(filter(None, (line["state"], line["code"]))) for line in told.values())
        print(f"{sum(outcomes.values())} files, {time.monotonic() - began:.0f} s, {dict(outcomes)}", flush=True)
    told_of = sum(outcomes.values())
    print(f"{told_of} outcomes of {len(numbers)} files; without one: {len(lost)} {lost}; deaths: {deaths}")
    return int(bool(lost or deaths))


def _keep(files: Sequence[Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copy(path, folder)


def mutated(sources: Sequence[Path], seed: int, number: int, folder: Path) -> Path:
    """The same file for the same seed and number."""
    random_ = random.Random(f"{seed}/{number}")
    source = sources[number % len(sources)]
    data = source.read_bytes()
    if zipfile.is_zipfile(BytesIO(data)) and random_.random() < 0.7:
        data = _in_archive(data, random_)
    else:
        for _ in range(random_.choice((1, 1, 2, 5))):
            data = _changed(data, random_, random_.choice(sources))
    target = folder / f"{number:05}{source.suffix}"
    target.write_bytes(data)
    return target


def _in_archive(data: bytes, random_: random.Random) -> bytes:
    """One member changed, dropped or doubled; the archive itself stays whole."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = [(each.filename, archive.read(each)) for each in archive.infolist()]
    chosen = random_.randrange(len(members))
    name, content = members[chosen]
    kind = random_.random()
    if kind < 0.15:
        del members[chosen]
    elif kind < 0.25:
        members.append((f"../../{name}", content))
    else:
        members[chosen] = (name, _changed(content or b"x", random_, None))
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


def _changed(data: bytes, random_: random.Random, other: Path | None) -> bytes:
    """One change. Never empty, nor more than twice as long."""
    change = random_.choice(CHANGES)
    if change is _spliced:
        return _spliced(data, random_, other.read_bytes() if other is not None else data)
    return change(data, random_) or b"x"


def _piece(data: bytes, random_: random.Random) -> tuple[int, int]:
    start = random_.randrange(len(data))
    return start, start + min(len(data) - start, int(2 ** random_.uniform(0, 14)))


def _flipped(data: bytes, random_: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random_.choice((1, 10, 100))):
        changed[random_.randrange(len(changed))] ^= 1 << random_.randrange(8)
    return bytes(changed)


def _told(data: bytes, random_: random.Random) -> bytes:
    start, _ = _piece(data, random_)
    return data[:start] + random_.choice(TELLING) + data[start:]


def _cut(data: bytes, random_: random.Random) -> bytes:
    start, end = _piece(data, random_)
    return data[:start] + data[end:]


def _doubled(data: bytes, random_: random.Random) -> bytes:
    start, end = _piece(data, random_)
    return data[:end] + data[start:]


def _moved(data: bytes, random_: random.Random) -> bytes:
    start, end = _piece(data, random_)
    rest = data[:start] + data[end:]
    place = random_.randrange(len(rest) + 1)
    return rest[:place] + data[start:end] + rest[place:]


def _zeroed(data: bytes, random_: random.Random) -> bytes:
    start, end = _piece(data, random_)
    return data[:start] + bytes(end - start) + data[end:]


def _truncated(data: bytes, random_: random.Random) -> bytes:
    return data[: random_.randrange(len(data))]


def _numbered(data: bytes, random_: random.Random) -> bytes:
    numbers = list(re.finditer(rb"\b\d+\b", data))
    if not numbers:
        return _flipped(data, random_)
    match = random_.choice(numbers)
    huge = random_.choice((b"-1", b"0", b"4294967296", b"1e308", b"999999"))
    return data[: match.start()] + huge + data[match.end() :]


def _spliced(data: bytes, random_: random.Random, other: bytes = b"") -> bytes:
    start, _ = _piece(data, random_)
    return (data[:start] + other[random_.randrange(1024) :][: len(data)]) or b"x"


CHANGES = (_flipped, _told, _cut, _doubled, _moved, _zeroed, _truncated, _numbered, _spliced)


def run_batch(folder: Path, kb: Path) -> None:
    """One ingest, an outcome a line. It is this process that must not die."""
    settings = Settings(kb=kb)
    embedder = HashEmbedder()
    with DirectoryLock(kb, "ingest"), Ledger.open(kb, create=True) as ledger:
        ledger.set_embedder(embedder.id, embedder.dimension)
        with ParserPool(limits=LIMITS, workers=2) as pool:
            pipeline = Ingest(
                ledger=ledger,
                embedder=embedder,
                pool=SpreadingPool(pool, LIMITS),
                limits=LIMITS,
                publish=partial(make_visible, settings, ledger),
                report=lambda outcome: None,
                discovered=lambda discovery: None,
            )
            outcomes = pipeline.run([folder])
    for outcome in outcomes:
        told = {"name": Path(outcome.path).name, "state": outcome.state, "code": outcome.code, "reason": outcome.reason}
        print(json.dumps(told))


if __name__ == "__main__":
    main()
