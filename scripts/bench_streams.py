"""Many streams at once, and clients that leave: what is lost, how long it takes, and whether the upstream is closed.

    python -m scripts.bench_streams streams [--streams 200] [--rate 10] [--seconds 60] [--arrive 2]
    python -m scripts.bench_streams leaving [--times 100]

`streams`: a service in a process of its own, whose answers are so many events a second; every stream is read to its end
by this process over a bare socket. The clients come within `--arrive` seconds (0: all at the same moment). Counted are
events that are missing, twice or out of order; measured is the first event, from the request's first byte on, and how
late the others are. The baseline is a bare asyncio server that writes one line as soon as it is asked, measured just
before in the same number of connections at the same moment.

`leaving`: a service whose model is Claude over a scripted Messages API that would talk for half a minute. The client
leaves before the first byte, at it, after some events, by resetting the connection, or by closing its half of it; the
measure is the time until the upstream's stream is closed. The baseline is how long a bare asyncio server takes to see
that its client left.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import os
import random
import resource
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_qa.answers import AnswerEvent
from kb_qa.counters import Counters
from kb_qa.elements import Block, Chunk
from kb_qa.geometry import BBox, Page, Region
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.models.accounts import Accounts
from kb_qa.models.claude import ClaudeModel
from kb_qa.models.requests import ModelOptions
from kb_qa.models.upstream import Connection, Upstream
from kb_qa.retrieve import Retriever
from kb_qa.service import create_app
from kb_qa.settings import Settings
from kb_qa.testing import (
    HashEmbedder,
    InMemoryLibrary,
    InMemorySpending,
    InMemoryVectorStore,
    Reply,
    ScriptedMessagesAPI,
    Text,
    block_location,
    scripted_messages_api,
)
from kb_qa.testing.serving import serving

WAYS = ("before", "at the first byte", "after some events", "reset", "half-closed")
DOCUMENT = "ab" * 32
WORDS = "Net revenue was fine."
PASSAGE = Block("b", "e", WORDS, 0, len(WORDS), (Region(1, BBox(0, 0, 100, 20)),))
CHUNK = Chunk("c", DOCUMENT, 1, "report.pdf", 0, (PASSAGE,), "text", "NarrativeText")


@dataclass(frozen=True, slots=True)
class Paced:
    """A knowledge base whose answers are `rate` events a second, for so many seconds; each says when it was due."""

    rate: float
    seconds: float
    library: InMemoryLibrary = field(default_factory=lambda: InMemoryLibrary(all_chunks=[CHUNK]))

    async def ask(self, question: str, **_: object) -> AsyncGenerator[AnswerEvent]:
        began = time.monotonic()
        yield AnswerEvent(1, "start", {"answer_id": f"{random.getrandbits(128):032x}", "due": began})
        count = round(self.rate * self.seconds)
        for number in range(1, count + 1):
            due = began + number / self.rate
            await asyncio.sleep(max(due - time.monotonic(), 0))
            yield AnswerEvent(number + 1, "delta", {"seq": number, "text": "One more sentence. ", "due": due})
        yield AnswerEvent(count + 2, "end", {"complete": True, "due": time.monotonic()})


@dataclass(slots=True)
class Stream:
    """What one client got: ids in order, the first event's seconds, and how late each event was."""

    ids: list[int] = field(default_factory=list)
    first: float = math.nan
    late: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Counted:
    lost: int = 0
    repeated: int = 0
    reordered: int = 0

    def add(self, ids: Sequence[int], expected: int) -> None:
        self.lost += expected - len(set(ids))
        self.repeated += len(ids) - len(set(ids))
        self.reordered += sum(after <= before for before, after in itertools.pairwise(ids))


async def read_stream(port: int) -> Stream:
    """Reads an answer to its end as a browser would, over a socket of its own."""
    stream, began = Stream(), time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    body = b'{"question": "?"}'
    head = f"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    writer.write(head.encode() + b"\r\n\r\n" + body)
    try:
        await reader.readuntil(b"\r\n\r\n")
        number = 0
        async for line in reader:
            if line.startswith(b"id: "):
                number = int(line[4:])
            elif line.startswith(b"data: "):
                now = time.monotonic()
                data = json.loads(line[6:])
                stream.ids.append(number)
                stream.late.append(now - float(data["due"]))
                if len(stream.ids) == 1:
                    stream.first = now - began
                if "complete" in data or "code" in data:
                    break
    finally:
        writer.close()
    return stream


async def measured(port: int, streams: int, arrive: float) -> list[Stream]:
    async with asyncio.TaskGroup() as group:
        tasks = []
        for number in range(streams):
            tasks.append(group.create_task(read_stream(port)))
            if arrive and number < streams - 1:
                await asyncio.sleep(arrive / streams)
    return [task.result() for task in tasks]


async def bare_firsts(connections: int) -> list[float]:
    """Seconds until a bare server's one line is there, in so many connections at once."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\n")
        writer.write(b"line\n")
        await writer.drain()
        writer.close()

    async def ask(port: int) -> float:
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"?\n")
        await reader.readuntil(b"\n")
        writer.close()
        return time.monotonic() - began

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        return list(await asyncio.gather(*[ask(port) for _ in range(connections)]))


def share(values: Sequence[float], part: float) -> float:
    """The value below which this part of them lies."""
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def serve_paced(rate: float, seconds: float, listening: socket.socket, streams: int) -> None:
    import uvicorn

    app = create_app(Paced(rate, seconds), object(), Settings(max_answers=streams))  # type: ignore[arg-type]
    uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)).run(sockets=[listening])


@contextmanager
def paced_service(rate: float, seconds: float, streams: int) -> Iterator[tuple[int, int]]:
    """(port, process id) of a service in a process of its own."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        listening.set_inheritable(True)
        command = [sys.executable, "-m", "scripts.bench_streams", "serve", f"--rate={rate}", f"--seconds={seconds}"]
        child = subprocess.Popen(
            [*command, f"--streams={streams}", f"--fd={listening.fileno()}"],
            pass_fds=(listening.fileno(),),
            cwd=Path(__file__).resolve().parent.parent,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        try:
            yield listening.getsockname()[1], child.pid
        finally:
            child.terminate()
            child.wait()


def bench_streams(
    streams: int, rate: float, seconds: float, arrive: float = 0
) -> tuple[Counted, list[Stream], list[float]]:
    """The counts, what each stream got, and the baseline's seconds."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit[1], max(limit[0], 4 * streams)), limit[1]))

    async def run(port: int) -> tuple[list[Stream], list[float]]:
        await read_stream_when_up(port)
        bare = await bare_firsts(streams)
        return await measured(port, streams, arrive), bare

    with paced_service(rate, seconds, streams) as (port, _):
        got, bare = asyncio.run(run(port))
    counted = Counted()
    for stream in got:
        counted.add(stream.ids, round(rate * seconds) + 2)
    return counted, got, bare


async def read_stream_when_up(port: int) -> None:
    """The listener is there before the service is: waits until a request is answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    await reader.read()
    writer.close()


# Clients that leave


@contextmanager
def talking_service(pause: float = 0.1) -> Iterator[tuple[str, ScriptedMessagesAPI]]:
    """A service whose upstream says a sentence each `pause` seconds, three hundred of them."""
    sentences = tuple(f"Net revenue was fine, said voice {number}. " for number in range(300))
    reply = Reply((Text(sentences, (block_location(0, 0),)),), pause=pause)
    first = Text(("Net revenue was fine. ",), (block_location(0, 0),))
    with scripted_messages_api(otherwise=Reply((first, *reply.blocks), pause=pause)) as api:
        embedder, store = HashEmbedder(), InMemoryVectorStore()
        store.upsert([CHUNK.id], embedder.embed_passages([CHUNK.embedded_text]), [{"document_id": DOCUMENT}])
        library = InMemoryLibrary(all_chunks=[CHUNK], pages={(DOCUMENT, 1): Page(1, 600, 800)})
        upstream = Upstream(Connection(api_key="k", base_url=api.url), Accounts(InMemorySpending(), Counters()))
        model = ClaudeModel(ModelOptions("claude-sonnet-5-5", max_tokens=500), upstream)
        knowledge_base = KnowledgeBase(Retriever(embedder, store, library), library, model, original=Path)
        app = create_app(knowledge_base, object(), Settings())  # type: ignore[arg-type]
        with serving(app, log_config=None) as base:
            yield base, api


def leave(base: str, way: str, api: ScriptedMessagesAPI) -> float:
    """Asks, leaves in this way, and waits; seconds until no upstream stream is open. 3 where one still is by then."""
    host, port = base.removeprefix("http://").split(":")
    body = b'{"question": "What was net revenue?"}'
    head = f"POST /v1/ask HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(head.encode() + b"\r\n\r\n" + body)
        _until(client, api, way)
        if way == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        left = time.monotonic()
        if way == "half-closed":
            client.shutdown(socket.SHUT_WR)
            return _closed_after(api, left)
    return _closed_after(api, left)


def _until(client: socket.socket, api: ScriptedMessagesAPI, way: str) -> None:
    """Before the first byte from us the upstream may be open or not, as it happens."""
    if way == "before":
        time.sleep(random.uniform(0, 0.1))
        return
    received = client.recv(1)
    deadline = time.monotonic() + 30
    while not api.open_streams and time.monotonic() < deadline:
        time.sleep(0.002)
    while way != "at the first byte" and received.count(b"event: delta") < 2:
        received += client.recv(65_536)


def _closed_after(api: ScriptedMessagesAPI, left: float) -> float:
    """An upstream that is opened after the client left is open too long as well: it is watched for a second."""
    closed = left
    while time.monotonic() < left + 3:
        if api.open_streams:
            closed = time.monotonic()
        elif time.monotonic() > max(left + 0.5, closed + 0.5):
            return closed - left
        time.sleep(0.002)
    return 3.0


def bare_leave() -> float:
    """Seconds in which a bare asyncio server sees that its client left."""
    seen, up = threading.Event(), threading.Event()
    ports: list[int] = []

    async def serve() -> None:
        async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b".")
            await reader.read()
            writer.close()
            done.set()

        done = asyncio.Event()
        server = await asyncio.start_server(wait, "127.0.0.1", 0)
        async with server:
            ports.append(server.sockets[0].getsockname()[1])
            up.set()
            await done.wait()
            seen.set()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    up.wait(30)
    with socket.create_connection(("127.0.0.1", ports[0])) as client:
        client.recv(1)
    left = time.monotonic()
    seen.wait(30)
    thread.join(30)
    return time.monotonic() - left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("streams", "serve"):
        command = commands.add_parser(name)
        command.add_argument("--streams", type=int, default=200)
        command.add_argument("--rate", type=float, default=10)
        command.add_argument("--seconds", type=float, default=60)
        command.add_argument("--arrive", type=float, default=2)
        command.add_argument("--fd", type=int, default=0)
    commands.add_parser("leaving").add_argument("--times", type=int, default=100)
    given = parser.parse_args()
    if given.command == "serve":
        serve_paced(given.rate, given.seconds, socket.socket(fileno=given.fd), given.streams)
    elif given.command == "streams":
        print_streams(given.streams, given.rate, given.seconds, given.arrive)
    else:
        print_leaving(given.times)


def print_streams(streams: int, rate: float, seconds: float, arrive: float) -> None:
    counted, got, bare = bench_streams(streams, rate, seconds, arrive)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    events = sum(len(stream.ids) for stream in got)
    firsts, late = [stream.first for stream in got], [each for stream in got for each in stream.late[1:]]
    print(f"{streams} streams × {rate:g} events/s × {seconds:g} s: {events} events; arrived within {arrive:g} s")
    print(f"lost {counted.lost}, repeated {counted.repeated}, reordered {counted.reordered}")
    print(f"first event: {_times(firsts)}; bare server: {_times(bare)}")
    print(f"lateness of the others: {_times(late)}")
    print(f"the service's processor time: {used.ru_utime + used.ru_stime:.1f} s, load {os.getloadavg()[0]:.1f}")


def print_leaving(times: int) -> None:
    within: dict[str, list[float]] = {way: [] for way in WAYS}
    bare = []
    with talking_service() as (base, api):
        for number in range(times):
            way = WAYS[number % len(WAYS)]
            within[way].append(leave(base, way, api))
            bare.append(bare_leave())
        print(f"left open at the end: {api.open_streams}")
    taken: list[Any] = [each for values in within.values() for each in values]
    print(f"closed within a second: {sum(each <= 1 for each in taken)} of {len(taken)}; all: {_times(taken)}")
    for way, values in within.items():
        if values:
            print(f"  {way}: {sum(each <= 1 for each in values)} of {len(values)}, {_times(values)}")
    print(f"a bare server sees it after: {_times(bare)}; load {os.getloadavg()[0]:.1f}")


def _times(values: Sequence[float]) -> str:
    told = ", ".join(f"p{round(part * 100)} {share(values, part) * 1000:.0f} ms" for part in (0.5, 0.95, 0.99))
    return f"n {len(values)}, {told}, most {max(values) * 1000:.0f} ms"


if __name__ == "__main__":
    main()
