"""The process that serves: it owns the index, follows the ledger, and answers until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn
from fastapi import FastAPI

from kb_qa.access_keys import AccessKey, AccessKeys
from kb_qa.audit import AuditLog
from kb_qa.counters import Counters
from kb_qa.database import Database
from kb_qa.errors import EnvironmentProblemError, InputError, MissingIndexError
from kb_qa.logs import configure
from kb_qa.renderer import Renderer
from kb_qa.service.app import create_app
from kb_qa.service.doorway import Doorway, waiting_room
from kb_qa.service.ingest_watch import IngestWatch, worker_command
from kb_qa.service.intake import Intake
from kb_qa.service.middleware import RequestRim, allowed_hosts
from kb_qa.service.open_answers import OpenAnswers
from kb_qa.service.parts import Operations
from kb_qa.service.readiness import Readiness
from kb_qa.service.received import Room
from kb_qa.service.recording import Recorder
from kb_qa.service.shutdown import FinishingServer, Shutdown
from kb_qa.settings import Settings, is_loopback
from kb_qa.version_table import outdated_told
from kb_qa.wiring import PICTURES, OpenParts, open_parts

log = logging.getLogger(__name__)

FOLLOW_SECONDS = 1.0
SHUTDOWN_SECONDS = 4  # what connections have to close, after the answers had theirs
SILENT_SECONDS = 30  # a client that acknowledges nothing for so long is gone, whatever its network says
DRAWERS = 2  # children that draw: a page that takes its whole time holds up only one of them


def serve(settings: Settings) -> None:
    """Until a signal ends it. Raises EnvironmentProblemError where the port is taken, and what `open_parts` raises.

    It listens before the index is open, and says so: `/readyz` is 503 with the reason until questions are answered.
    """
    configure(level=settings.log_level.upper(), form=settings.log_format)
    require_key(settings)
    with contextlib.closing(_listening_socket(settings.host, settings.port)) as listener:
        host, port = listener.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        ending = Ending()
        recorder = Recorder(Counters())
        waiting = RequestRim(
            waiting_room(ending.readiness),
            hosts=allowed_hosts(settings.host, settings.allowed_hosts),
            recorder=recorder,
        )
        doorway = Doorway(lambda held: _opened(settings, address, ending, held), waiting, lambda: stop())
        config = uvicorn.Config(
            doorway,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        server = FinishingServer(config, ending.shutdown, ending.open_answers, ending.begin)

        def stop() -> None:
            server.should_exit = True

        end_quietly()
        server.run(sockets=[listener])
    if doorway.failure is not None:
        raise doorway.failure


@dataclass(slots=True)
class Ending:
    """What the server and the application that it opens later both know of the service's beginning and end."""

    readiness: Readiness = field(default_factory=lambda: Readiness("the service is starting"))
    shutdown: Shutdown = field(default_factory=Shutdown)
    open_answers: OpenAnswers = field(default_factory=OpenAnswers)
    watch: IngestWatch | None = None

    def begin(self) -> None:
        """The service was told to end: its worker gives its job back meanwhile."""
        if self.watch is not None:
            self.watch.begin_to_end()


def _opened(settings: Settings, address: str, ending: Ending, held: contextlib.ExitStack) -> FastAPI:
    """The application over all that it works with. Blocking: seconds, or as long as an index takes to rebuild."""
    readiness = ending.readiness
    parts = held.enter_context(open_parts(settings, address=address, create=True, told=readiness.wait_for))
    renderer = held.enter_context(
        Renderer(settings.kb / PICTURES, workers=DRAWERS, max_megapixels=settings.max_megapixels)
    )
    renderer.warm_up()
    parts.warm_up()
    audit = None
    if settings.audit_mb:
        audit = AuditLog(settings.kb / "audit", megabytes=settings.audit_mb, files=settings.audit_files)
        held.callback(audit.close)
    ending.watch = IngestWatch(worker_command(settings.kb), parts.counters) if settings.worker else None
    app = create_app(
        parts.knowledge_base,
        renderer,
        settings,
        counters=parts.counters,
        operations=Operations(
            parts.keys,
            audit,
            parts.tracer,
            readiness,
            parts.job_states,
            ending.open_answers,
            ending.shutdown,
        ),
        lifespan=_following(parts.refresh, ending.watch),
        intake=_intake(settings, parts) if settings.worker else None,
    )
    if outdated := len(parts.ledger.outdated()):
        log.warning("%s", outdated_told(outdated))
    readiness.wait_for("")
    log.info("kb-qa answers on %s", address)
    return app


def require_key(settings: Settings) -> None:
    """Raises InputError where others could ask than this machine, and there is no key that they could be asked for."""
    if is_loopback(settings.host):
        return
    keys: Sequence[AccessKey] = ()
    with (
        contextlib.suppress(MissingIndexError),
        contextlib.closing(Database.open(settings.kb, create=False)) as database,
    ):
        keys = AccessKeys(database).all()
    name, now = settings.kb.resolve().name, time.time()
    if not any(key.opens(name, now) for key in keys):
        raise InputError(
            f"--host {settings.host!r} is no loopback address, and there is no key to ask others for; "
            f"make one with kb-qa key create NAME --kb {settings.kb}, or stay with 127.0.0.1"
        )


def _intake(settings: Settings, parts: OpenParts) -> Intake:
    room = Room(settings.kb, settings.max_file_mb << 20, settings.keep_free_mb << 20)
    intake = Intake(
        parts.ledger.jobs,
        parts.ledger,
        parts.withdraw,
        room,
        most_waiting=settings.max_jobs,
        most_open=settings.max_uploads,
    )
    intake.resume(parts.ledger.jobs.unfinished())
    return intake


def end_quietly() -> None:
    """uvicorn raises the signal that ended it again once all is closed; being told to stop is no failure."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)


def _following(
    refresh: Callable[[], int], watch: IngestWatch | None
) -> Callable[[FastAPI], contextlib.AbstractAsyncContextManager[None]]:
    """While the application runs, a worker ingests, and what it leaves in the ledger is published within a second."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        task = asyncio.create_task(_follow(refresh))
        async with watch.running() if watch is not None else contextlib.nullcontext():
            yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    return lifespan


async def _follow(refresh: Callable[[], int]) -> None:
    while True:
        await asyncio.sleep(FOLLOW_SECONDS)
        try:
            published = await asyncio.to_thread(refresh)
        except Exception:  # a failed round must not end the following: the next one tries again
            log.exception("the index could not follow the ledger")
        else:
            if published:
                log.info("%d documents became visible", published)


def _listening_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # of Linux; accepted connections inherit it
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_SECONDS * 1000)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise EnvironmentProblemError(f"cannot listen on {host}:{port}: {error.strerror}; try --port") from error
    return listener
