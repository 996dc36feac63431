"""An ingest that is killed and started again, over and over: each time in a process that was forked for it.

`python -m tests.killed_ingest` is the process that forks: it has imported everything, and runs no thread. The pipeline,
the job table, the ledger and Chroma are the real ones; files are plain text, parsed in the same process, and the
embedder hashes words, so that a trial takes a second.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

POISON = "poison"
MEMORY = Path("/dev/shm")
ROOT = Path(__file__).resolve().parent.parent


def write_documents(folder: Path, count: int) -> None:
    """So many files: two that kill their parser, a tenth with the bytes of another, one in a folder of its own."""
    folder.mkdir(parents=True)
    copies = max(count // 10, 1)
    for n in range(count - copies - 2):
        lines = [f"Item {n} of part {part} costs {100 + n * part} dollars in the year {2000 + n}." for part in range(4)]
        (folder / f"{n:02}.txt").write_text("\n\n".join(lines), encoding="utf-8")
    (folder / "more").mkdir()
    for n in range(copies):
        shutil.copy(folder / f"{n:02}.txt", folder / "more" / f"copy-{n:02}.txt")
    for n in range(2):
        (folder / f"{POISON}-{n}.txt").write_text(f"{POISON} {n}", encoding="utf-8")


def change_documents(folder: Path) -> list[str]:
    """Other bytes under every third name; the names."""
    changed = sorted(folder.glob("[0-9]*.txt"))[::3]
    for path in changed:
        path.write_text(path.read_text(encoding="utf-8").replace("dollars", "euros"), encoding="utf-8")
    return [path.name for path in changed]


@dataclass(slots=True)
class Trials:
    """The forking process, asked over a pipe."""

    process: subprocess.Popen[str]

    def run(self, act: str, kb: Path, **given: Any) -> dict[str, Any]:
        """What came of an act of `_ACTS` in a process of its own; `code` is negative where a signal ended it."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"act": act, "kb": str(kb), **given}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@contextmanager
def open_trials() -> Iterator[Trials]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, "-m", "tests.killed_ingest"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=ROOT) as process:
        try:
            yield Trials(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def _main() -> None:
    _warm_up()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_forked(json.loads(line))) + "\n")
        sys.stdout.flush()


def _warm_up() -> None:
    """Imports and fills caches once, for all that are forked; starts no thread."""
    import chromadb  # noqa: F401
    import pymupdf  # noqa: F401

    from ingest import handover  # noqa: F401
    from kb_qa import renderer  # noqa: F401
    from kb_qa.ledger import Ledger
    from kb_qa.terms import terms

    terms("Parking costs 37 dollars in 2024. 停车费")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        path.write_text("Parking costs 37 dollars in 2024.", encoding="utf-8")
        PoisonedPool().submit(path, "d", "text").result()
        with Ledger.open(Path(folder) / "kb", create=True) as ledger:
            ledger.documents()


def _forked(asked: dict[str, Any]) -> dict[str, Any]:
    kb = Path(asked["kb"])
    answer = kb.parent / f"{kb.name}.answer"
    answer.unlink(missing_ok=True)
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        _child(asked, kb, answer)
    if "kill_after" in asked:
        time.sleep(asked["kill_after"])
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(child, signal.SIGKILL)  # it has no group yet
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    said = json.loads(answer.read_text(encoding="utf-8")) if code == 0 else {}
    return {"code": code, "seconds": time.monotonic() - began, "cpu": used.ru_utime + used.ru_stime, **said}


def _child(asked: dict[str, Any], kb: Path, answer: Path) -> None:
    from kb_qa import failpoints

    code = 1
    try:
        os.setsid()
        os.dup2(os.open(kb.parent / "log", os.O_CREAT | os.O_APPEND | os.O_WRONLY), 2)
        failpoints.arm(asked.get("failpoint", ""))
        said = _ACTS[asked["act"]](kb, asked)
        failpoints.arm("")
        answer.write_text(json.dumps(said), encoding="utf-8")
        code = 0
    except BaseException:  # noqa: BLE001  the rim of a process
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


class PoisonedPool:
    """Parses here; a file that holds poison kills its parser, as far as the pipeline can tell."""

    workers = 2

    def submit(self, path: Path, document_id: str, kind: Any) -> Future[Any]:
        from ingest.limits import Limits
        from ingest.parse import parse_document
        from kb_qa.errors import CrashedParserError, RejectedFileError

        future: Future[Any] = Future()
        try:
            if path.read_text(encoding="utf-8").startswith(POISON):
                raise CrashedParserError(f"{path.name!r} crashed its parser 2 times (SIGSEGV)")
            future.set_result(parse_document(path, document_id, kind, limits=Limits()))
        except RejectedFileError as error:
            future.set_exception(error)
        return future

    def close(self) -> None: ...

    run = submit


@contextmanager
def _cheap_worker(settings: Any, ledger: Any) -> Iterator[Any]:
    from ingest.limits import Limits
    from ingest.worker import Worker
    from ingest.writer import Parts, Writer
    from kb_qa.embedding_cache import FILE_NAME, CachedEmbedder
    from kb_qa.guardrails.labels import DEFAULT_ALIASES
    from kb_qa.testing import HashEmbedder
    from kb_qa.wiring import CACHE

    with CachedEmbedder(HashEmbedder(), settings.kb / CACHE / FILE_NAME) as embedder:
        parts = Parts(embedder, PoisonedPool(), Limits(), DEFAULT_ALIASES)  # type: ignore[arg-type]
        worker = Worker(ledger, Writer(settings, parts), pause_seconds=0.05)
        worker.tidy()
        yield worker


def _command(kb: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """`kb-qa ingest FOLDER`, or `kb-qa delete NAME…`."""
    from ingest import handover, pipeline
    from ingest.progress import IngestProgress
    from kb_qa.settings import Settings

    handover.open_worker = _cheap_worker  # type: ignore[assignment]
    pipeline.PIPELINE = asked.get("pipeline", pipeline.PIPELINE)
    settings, paused = Settings(kb=kb), []
    progress = IngestProgress(lambda outcome: None)
    progress.pause = paused.append  # type: ignore[method-assign]
    if asked.get("names"):
        outcomes = handover.delete_from(settings, asked["names"], progress)
    else:
        outcomes = handover.ingest_into(settings, [Path(asked["folder"])], progress)
    return {"states": sorted(outcome.state for outcome in outcomes), "paused": paused}


def _restart(kb: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """What comes after a kill: the index is opened, then a worker ends the jobs that it finds."""
    from ingest import pipeline
    from kb_qa.ledger import Ledger
    from kb_qa.locks import DirectoryLock
    from kb_qa.settings import Settings
    from kb_qa.wiring import make_visible

    pipeline.PIPELINE = asked.get("pipeline", pipeline.PIPELINE)
    began = time.monotonic()
    with Ledger.open(kb, create=True) as ledger:
        make_visible(Settings(kb=kb), ledger)
        ready = time.monotonic() - began
        with DirectoryLock(kb, "ingest"), _cheap_worker(Settings(kb=kb), ledger) as worker:
            while (job := ledger.jobs.claim(60)) is not None:
                worker.work_on(job)
    return {"ready": ready}


def _look(kb: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """What a reader sees, and whether all that must agree does. Opens no index, and writes nothing."""
    from kb_qa.ledger import Ledger

    if not (kb / "ledger.sqlite3").exists():
        return {"export": [], "names": {}, "states": {}, "problems": []}
    problems = []
    with Ledger.open(kb, create=False) as ledger:
        export = [json.dumps(line, ensure_ascii=False) for line in ledger.export()]
        records = ledger.documents()
        ready = [record for record in records if record.state == "ready"]
        names = {name: record.document_id for record in ready for name in record.names}
        states = {record.document_id: record.state for record in records}
        with ledger.database.read() as connection:
            if (found := connection.exec_driver_sql("PRAGMA integrity_check").scalar()) != "ok":
                problems.append(f"integrity: {found}")
            unembedded = (
                "SELECT count(*) FROM chunks JOIN versions ON versions.id = version_id "
                "LEFT JOIN vectors ON chunk_row = chunks.row WHERE state = 'ready' AND vector IS NULL"
            )
            if found := connection.exec_driver_sql(unembedded).scalar():
                problems.append(f"{found} visible chunks without a vector")
            if asked.get("settled"):
                problems += _left_over(kb, ledger, connection, states)
    return {"export": export, "names": names, "states": states, "problems": problems}


def _left_over(kb: Path, ledger: Any, connection: Any, states: Mapping[str, str]) -> list[str]:
    """What must not be there once everything is done."""
    problems = []
    blobs = {f"{path.parent.name}{path.name}" for path in (kb / "blobs").glob("??/*")}
    if blobs != set(states):
        problems.append(f"{len(blobs)} originals of {len(states)} documents")
    if left := [*(kb / "blobs").glob(".incoming-*")]:
        problems.append(f"{len(left)} halves of originals")
    if ledger.tombstones():
        problems.append("tombstones")
    statement = "SELECT count(*) FROM versions WHERE state NOT IN ('ready', 'quarantined', 'deleted')"
    if found := connection.exec_driver_sql(statement).scalar():
        problems.append(f"{found} versions on their way")
    statement = "SELECT count(*) FROM lexical WHERE rowid NOT IN (SELECT row FROM chunks)"
    if found := connection.exec_driver_sql(statement).scalar():
        problems.append(f"{found} index terms without a chunk")
    return problems


def _search(kb: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Dense and lexical hits of some questions, from the index on disk, which its owner opens first."""
    from kb_qa.ledger import Ledger
    from kb_qa.settings import Settings
    from kb_qa.testing import HashEmbedder
    from kb_qa.wiring import owned_index

    embedder = HashEmbedder()
    found = []
    model = embedder.id, embedder.dimension
    with Ledger.open(kb, create=False) as ledger, owned_index(Settings(kb=kb), ledger, model, "") as store:
        for question in asked["questions"]:
            near = store.query(embedder.embed_query(question), 5)
            visible = ledger.chunks([each.id for each in near])
            found.append([[each.id, round(each.similarity, 5)] for each in near if each.id in visible])
        count, expected = store.count(), ledger.indexed_count()
    return {"found": found, "count": count, "expected": expected}


_ACTS: Mapping[str, Callable[[Path, dict[str, Any]], dict[str, Any]]] = {
    "command": _command,
    "restart": _restart,
    "look": _look,
    "search": _search,
}


@dataclass(slots=True)
class Proof:
    """Trials of one command over one knowledge base: each starts from a copy of `base`, or from nothing."""

    trials: Trials
    folder: Path  # where copies are made
    command: Mapping[str, Any]  # as `_command` takes it
    base: Path | None = None
    wanted: dict[str, Any] = field(default_factory=dict)  # what a reader sees after an undisturbed run
    before: dict[str, Any] = field(default_factory=dict)  # and before it
    points: list[str] = field(default_factory=list)  # the failpoints that it reached, in order
    seconds: float = 0.0  # that it took
    count: int = 0
    killed: int = 0
    slowest: float = 0.0  # seconds until the ledger and the index were open again

    def prepare(self) -> None:
        kb, log = self._fresh(), self.folder / "points"
        self.before = self.trials.run("look", kb)
        done = self.trials.run("command", kb, failpoint=f"log::{log}", **self.command)
        assert done["code"] == 0, (self.folder / "log").read_text()
        self.points, self.seconds = log.read_text().split(), done["seconds"]
        log.unlink()
        self.wanted = self.trials.run("look", kb, settled=True)
        assert not self.wanted["problems"], self.wanted["problems"]
        shutil.rmtree(kb)

    def kill_at(self, name: str, nth: int) -> list[str]:
        """What was wrong after a kill at the n-th time that this failpoint was reached; nothing, it is hoped."""
        kb = self._fresh()
        done = self.trials.run("command", kb, failpoint=f"kill:{name}:{nth}", **self.command)
        return self._wrong(kb, f"{name}:{nth}", done)

    def kill_after(self, seconds: float) -> list[str]:
        kb = self._fresh()
        done = self.trials.run("command", kb, kill_after=seconds, **self.command)
        return self._wrong(kb, f"after {seconds:.3f} s", done)

    def fill_at(self, name: str, nth: int, times: int) -> tuple[list[str], int]:
        """What was wrong after so many writes from the n-th on found the disk full; and how often the ingest paused."""
        kb, where = self._fresh(), f"full at {name}:{nth}"
        done = self.trials.run("command", kb, failpoint=f"full:{name}:{nth}:{times}", **self.command)
        problems = self._half_visible(self.trials.run("look", kb))
        if done["code"]:  # before there was a job: a command that cannot begin says so and ends
            self.trials.run("restart", kb, **self.command)
            done = self.trials.run("command", kb, **self.command)
        elif not all("disk" in reason or "space" in reason for reason in done["paused"]):
            problems.append(f"paused for {done['paused']}")
        after = self.trials.run("look", kb, settled=True)
        problems += after.get("problems", ["cannot be looked at"])
        problems += [f"{what} differ" for what in ("export", "names", "states") if after.get(what) != self.wanted[what]]
        shutil.rmtree(kb)
        return [f"{where}: {problem}" for problem in problems], len(done.get("paused", ()))

    def _wrong(self, kb: Path, where: str, done: Mapping[str, Any]) -> list[str]:
        problems = [] if done["code"] in (0, -signal.SIGKILL) else [f"the command ended with code {done['code']}"]
        self.killed += done["code"] != 0
        seen = self.trials.run("look", kb)
        problems += self._half_visible(seen)
        again = self.trials.run("restart", kb, **self.command)
        if again["code"]:
            return [f"{where}: the restart ended with code {again['code']}"]
        self.slowest = max(self.slowest, again["ready"])
        if again["ready"] > 10:
            problems.append(f"ready again after {again['ready']:.1f} s")
        self._repeat(kb)
        after = self.trials.run("look", kb, settled=True)
        problems += [*seen.get("problems", ["cannot be looked at"]), *after.get("problems", ["cannot be looked at"])]
        problems += [f"{what} differ" for what in ("export", "names", "states") if after[what] != self.wanted[what]]
        shutil.rmtree(kb)
        return [f"{where}: {problem}" for problem in problems]

    def _repeat(self, kb: Path) -> None:
        """The user's second try, where the first one was killed before it was written down."""
        names = [name for name in self.command.get("names", ()) if name in self.trials.run("look", kb)["names"]]
        if names or "folder" in self.command:
            self.trials.run("command", kb, **{**self.command, **({"names": names} if names else {})})

    def _half_visible(self, seen: Mapping[str, Any]) -> list[str]:
        """Each document is seen whole, as before or as after; each name means one of both, or what it meant."""
        problems = []
        before, after = (_by_document(side["export"]) for side in (self.before, self.wanted))
        for document_id, lines in _by_document(seen["export"]).items():
            if lines not in (before.get(document_id), after.get(document_id)):
                problems.append(f"document {document_id[:8]} is half visible")
        for name, old in self.before["names"].items():
            new, now = self.wanted["names"].get(name), seen["names"].get(name)
            if now not in (old, new):
                problems.append(f"{name} means {now}, neither {old} nor {new}")
        return problems

    def _fresh(self) -> Path:
        self.count += 1
        kb = self.folder / f"kb-{self.count}"
        if self.base is not None:
            shutil.copytree(self.base, kb)
        return kb


def _by_document(export: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in export:
        found.setdefault(str(json.loads(line)["document_id"]), []).append(line)
    return found


def digest(export: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(export).encode()).hexdigest()[:16]


if __name__ == "__main__":
    _main()
