"""Where an error was raised, in words that a log may hold: no text of a document, no path of this machine."""

from __future__ import annotations

import traceback


def places(error: BaseException) -> list[str]:
    """The innermost dozen of the places that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return [f"{_module(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def _module(path: str) -> str:
    """`kb_qa/service/app.py`: where something lies on this machine is of no use in a log."""
    return "/".join(path.replace("\\", "/").split("/")[-3:])
