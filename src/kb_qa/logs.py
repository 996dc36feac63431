"""What the service logs, and how: one line an event, with the request it belongs to, and never a document's text.

structlog renders what the standard library's loggers are given, so that modules log as ever. An error's own words may
quote what it failed on (SQLAlchemy's hold the parameters of a statement): they are shown where the error is one of
ours, whose words are made for readers; of any other its type and where it was raised.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from kb_qa.errors import KbQaError
from kb_qa.raised import places

# Loggers of others: their lines at INFO hold URLs, at DEBUG what is sent and received.
QUIET = (
    *("anthropic", "asyncio", "chromadb", "httpcore", "httpcore2", "httpx", "httpx2", "multipart", "sse_starlette"),
    *("python_multipart", "uvicorn.access"),
)

# What our own lines may carry beside their words.
TOLD = ("route", "status", "milliseconds", "key")


def configure(*, level: str, form: str, stream: TextIO | None = None) -> None:
    """`level` is a name such as INFO; `form` is `json` or `text`. For the whole process, lines to standard error."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(allow=TOLD),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        contentless_error,
    ]
    last: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=True)
        if form == "json"
        else structlog.processors.KeyValueRenderer(
            key_order=["timestamp", "level", "logger", "event"], drop_missing=True
        )
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


@contextmanager
def bound(**values: str) -> Iterator[None]:
    """Lines that are logged meanwhile, in this task and those that it starts, carry these values."""
    with structlog.contextvars.bound_contextvars(**values):
        yield


def contentless_error(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """`exc_info` becomes `error`, `where` and `cause`: types and places, and the words of our own errors only."""
    given = event.pop("exc_info", None)
    error = sys.exc_info()[1] if given is True else given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        event["error"] = told(error)
        event["where"] = places(error)
        cause = error.__cause__ or error.__context__
        if cause is not None:
            event["cause"] = told(cause)
    return event


def told(error: BaseException) -> str:
    """An error's type, with its words where they are ours or the operating system's."""
    name = type(error).__name__
    if isinstance(error, KbQaError):
        return f"{name}: {error}"
    if isinstance(error, OSError) and error.strerror:
        return f"{name}: {error.strerror}"
    return name
