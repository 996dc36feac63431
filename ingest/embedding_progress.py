"""What a person at a terminal sees of a reindex: a bar of chunks while it runs, a line per document, a summary."""

from __future__ import annotations

from collections.abc import Callable

from rich.markup import escape
from rich.progress import TimeRemainingColumn

from ingest.reindex import Reindexed, Reporting
from ingest.reindexing import Embedded
from ingest.stderr_bar import StderrBar

_INDEXED_BY = {
    "command": "the index was filled",
    "service": "the service that owns the index filled it",
    "later": "another process holds the index; whoever opens it next fills it",
}


class EmbeddingProgress(StderrBar):
    """`echo` gets each document instead of a line here."""

    def __init__(self, echo: Callable[[Embedded], None] | None = None) -> None:
        super().__init__("embedding", "chunks", TimeRemainingColumn())
        self._echo = echo

    @property
    def reporting(self) -> Reporting:
        return Reporting(
            counted=lambda total, done: self._bar.update(self._task, total=total, completed=done),
            embedded=self._embedded,
            paused=self.pause,
        )

    def _embedded(self, document: Embedded) -> None:
        if self._echo is not None:
            self._echo(document)
        elif document.embedded:
            done = "cut anew and embedded" if document.rechunked else "embedded"
            told = f"{document.embedded} of {document.chunks} chunks {done}, {document.seconds:.1f} s"
            self._console.print(f"{escape(', '.join(document.names))}  [dim]{told}[/]", soft_wrap=True)


def reindex_summary(done: Reindexed, seconds: float) -> dict[str, object]:
    """The last line of `reindex --json`."""
    return {
        "before": done.before,
        "embedder": done.embedder,
        "documents": len(done.documents),
        "chunks": sum(document.chunks for document in done.documents),
        "embedded": sum(document.embedded for document in done.documents),
        "rechunked": done.rechunked,
        "index": done.index,
        "seconds": round(seconds, 2),
    }


def reindex_text(done: Reindexed, seconds: float) -> str:
    counts = reindex_summary(done, seconds)
    model = f"the model is {done.embedder}" + (f", it was {done.before}" if done.before != done.embedder else "")
    embedded = f"{counts['embedded']} chunks embedded; " if done.documents else ""
    embedded += f"{done.rechunked} documents cut anew; " if done.rechunked else ""
    return f"{model}; {embedded}{_INDEXED_BY[done.index]} ({counts['seconds']} s)"
