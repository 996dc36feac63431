"""The service while it opens: it listens at once, and says what it waits for until the application is there."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from fastapi import FastAPI
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.problems import problem_response
from kb_qa.service.readiness import Readiness

log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 2


@dataclass(slots=True)
class Doorway:
    """An ASGI application around one that takes a while to open.

    `open_service` blocks, and gives what it opened to the stack. `gave_up` is called where it fails; `failure` is why.
    """

    open_service: Callable[[ExitStack], FastAPI]
    waiting: ASGIApp
    gave_up: Callable[[], None]
    failure: BaseException | None = None
    _app: FastAPI | None = None
    _held: ExitStack = field(default_factory=ExitStack)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await (self._app or self.waiting)(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as life:
            opening = asyncio.create_task(self._open(life))
            await send({"type": "lifespan.startup.complete"})
            await receive()
            opening.cancel()  # what is half open ends with the process: it may be ended at any moment
            await asyncio.gather(opening, return_exceptions=True)
            self._app = None
        await asyncio.to_thread(self._held.close)
        await send({"type": "lifespan.shutdown.complete"})

    async def _open(self, life: AsyncExitStack) -> None:
        try:
            app = await self._opened()
            await life.enter_async_context(app.router.lifespan_context(app))
        except Exception as error:  # noqa: BLE001  (whatever it is, it ends the service, and is raised where that was started)
            self.failure = error
            self.gave_up()
        else:
            self._app = app

    async def _opened(self) -> FastAPI:
        """In a thread that ends with the process: to be told to stop must not wait for a large index."""
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[FastAPI] = loop.create_future()

        def work() -> None:
            held = ExitStack()
            try:
                app = self.open_service(held)
            except BaseException as error:  # noqa: BLE001  (it is raised by whoever waits)
                held.close()
                _call(loop, opened, partial(_fail, opened, error))
            else:
                self._held = held
                if not _call(loop, opened, partial(_settle, opened, app)):
                    held.close()

        threading.Thread(target=work, name="opening", daemon=True).start()
        return await opened


def _call(loop: asyncio.AbstractEventLoop, waited_for: asyncio.Future[FastAPI], tell: Callable[[], None]) -> bool:
    """Whether anybody still waits."""
    try:
        loop.call_soon_threadsafe(tell)
    except RuntimeError:  # the loop is closed: the service was told to stop meanwhile
        return False
    return not waited_for.cancelled()


def _settle(future: asyncio.Future[FastAPI], app: FastAPI) -> None:
    if not future.cancelled():
        future.set_result(app)


def _fail(future: asyncio.Future[FastAPI], error: BaseException) -> None:
    if not future.cancelled():
        future.set_exception(error)


def waiting_room(readiness: Readiness) -> ASGIApp:
    """Alive, not ready, and the reason: for every path."""

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        again = {"Retry-After": str(RETRY_SECONDS)}
        if scope["path"] == "/healthz":
            response: Response = AsciiJSONResponse({"status": "ok"})
        elif scope["path"] == "/readyz":
            response = AsciiJSONResponse(not_ready(readiness), status_code=503, headers=again)
        else:
            if scope["path"] == "/":  # a browser tries again by itself
                again["Refresh"] = str(RETRY_SECONDS)
            message = f"the service is not ready yet: {not_ready(readiness)['reason']}"
            request_id = scope["state"]["request_id"]
            response = problem_response(503, code="not_ready", message=message, request_id=request_id, headers=again)
        await response(scope, receive, send)

    return wait


def not_ready(readiness: Readiness) -> dict[str, str]:
    return {"status": "not ready", "reason": readiness.reason or "the service is starting"}
