"""The process that serves: it owns the index, follows the ledger, and answers until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

from kb_qa.errors import EnvironmentProblemError, InputError
from kb_qa.renderer import Renderer
from kb_qa.service.app import create_app
from kb_qa.service.ingest_watch import IngestWatch, worker_command
from kb_qa.service.intake import Intake
from kb_qa.service.middleware import LOOPBACK_NAMES
from kb_qa.service.parts import Parts
from kb_qa.service.received import Room
from kb_qa.service.shutdown import FinishingServer
from kb_qa.settings import Settings
from kb_qa.wiring import PICTURES, OpenParts, open_parts

log = logging.getLogger(__name__)

FOLLOW_SECONDS = 1.0
SHUTDOWN_SECONDS = 4  # what connections have to close, after the answers had theirs
SILENT_SECONDS = 30  # a client that acknowledges nothing for so long is gone, whatever its network says
DRAWERS = 2  # children that draw: a page that takes its whole time holds up only one of them


def serve(settings: Settings) -> None:
    """Until a signal ends it. Raises EnvironmentProblemError where the port is taken, and what `open_parts` raises."""
    _require_loopback(settings.host)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    with contextlib.closing(_listening_socket(settings.host, settings.port)) as listener:
        host, port = listener.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        with (
            open_parts(settings, address=address, create=True) as parts,
            Renderer(settings.kb / PICTURES, workers=DRAWERS, max_megapixels=settings.max_megapixels) as renderer,
        ):
            renderer.warm_up()
            watch = IngestWatch(worker_command(settings.kb), parts.counters) if settings.worker else None
            following = _following(parts.refresh, watch)
            app = create_app(
                parts.knowledge_base,
                renderer,
                settings,
                counters=parts.counters,
                lifespan=following,
                intake=_intake(settings, parts) if settings.worker else None,
            )
            log.info("kb-qa answers on %s", address)
            config = uvicorn.Config(
                app,
                log_level="warning",
                server_header=False,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
            end_quietly()
            service: Parts = app.state.parts
            began = watch.begin_to_end if watch is not None else lambda: None
            FinishingServer(config, service.shutdown, service.open_answers, began).run(sockets=[listener])


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


def _require_loopback(host: str) -> None:
    """The service has no keys yet: it answers this machine alone."""
    if host.lower() in LOOPBACK_NAMES:
        return
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    raise InputError(f"--host {host!r} is not a loopback address; without access keys only this machine may ask")
