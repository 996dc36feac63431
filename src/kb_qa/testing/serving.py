"""Any ASGI application behind a uvicorn of its own, on a free port of loopback, for as long as a test needs it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

SECONDS = 15.0  # to start and to stop


@contextmanager
def serving(app: Any, **config: Any) -> Iterator[str]:
    """The base URL. Raises RuntimeError where the server does not start."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, ws="none", timeout_graceful_shutdown=1, **config)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + SECONDS
        while not server.started:
            if time.monotonic() > deadline or not thread.is_alive():
                raise RuntimeError("the server did not start")
            time.sleep(0.005)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(SECONDS)
