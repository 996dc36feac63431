"""The bar that the commands of the write side show while they work, and why work waits."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn


class StderrBar:
    """On standard error, so that what `--json` prints stays whole."""

    def __init__(self, doing: str, things: str, time: ProgressColumn) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._paused = ""
        columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), time)
        self._bar = Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._task = self._bar.add_task(things, total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def pause(self, reason: str) -> None:
        """Says why the work waits, once; "" where it goes on."""
        if reason and reason != self._paused:
            self._console.print(f"[yellow]paused[/]      {escape(reason)}; it goes on by itself", soft_wrap=True)
        self._paused = reason
