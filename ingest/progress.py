"""What a person at a terminal sees of an ingest: a bar while it runs, a line per file, a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from rich.markup import escape
from rich.progress import TimeElapsedColumn

from ingest.pipeline import Outcome
from ingest.stderr_bar import StderrBar
from kb_qa.command_line import terminal_language
from kb_qa.rejections import rejection_in

STYLES = {"ready": "green", "quarantined": "red", "skipped": "yellow", "deleted": "yellow"}


_TOLD_CHANGES = {"changed": ("changed", "已更改"), "renamed": ("was", "原名"), "moved": ("moved, was", "已移动，原名")}


class IngestProgress(StderrBar):
    """`echo` gets each outcome instead of a line here."""

    def __init__(self, echo: Callable[[Outcome], None] | None = None, *, only_changes: bool = False) -> None:
        super().__init__("reading", "files", TimeElapsedColumn())
        self._echo = echo
        self._only_changes = only_changes

    def expect(self, total: int) -> None:
        self._bar.update(self._task, total=total)

    def report(self, outcome: Outcome) -> None:
        self._bar.advance(self._task)
        if self._only_changes and is_quiet(outcome):
            return
        if self._echo is not None:
            self._echo(outcome)
        else:
            self._console.print(outcome_text(outcome, terminal_language()), soft_wrap=True)

    def summary(self, outcomes: Sequence[Outcome], seconds: float) -> None:
        self._console.print(summary_text(outcomes, seconds), soft_wrap=True)


def is_quiet(outcome: Outcome) -> bool:
    """Nothing that who watches a folder has to hear again."""
    return not outcome.code and outcome.change in {"unchanged", "skipped"}


def outcome_text(outcome: Outcome, language: str = "en") -> str:
    """One line of console markup; the name comes from outside and is escaped. The reason is in the language."""
    style = STYLES[outcome.state]
    counts = f"{outcome.pages} pages, {outcome.chunks} chunks, {outcome.seconds:.1f} s"
    told = rejection_in(language, outcome.code, outcome.reason)
    tail = counts if outcome.state == "ready" and outcome.reason != "unchanged" else told
    if outcome.change in _TOLD_CHANGES:
        was = f" {outcome.was!r}" if outcome.was else ""
        tail = f"{_TOLD_CHANGES[outcome.change][language == 'zh']}{was}" + (f", {tail}" if tail == counts else "")
    return f"[{style}]{outcome.state:<11}[/] {escape(outcome.path)}  [dim]{escape(tail)}[/]"


def summary(outcomes: Sequence[Outcome], seconds: float) -> dict[str, object]:
    """The last line of `ingest --json`."""
    states = Counter(outcome.state for outcome in outcomes)
    changes = Counter(outcome.change for outcome in outcomes)
    return {
        "files": len(outcomes),
        "ready": states["ready"],
        "unchanged": sum(outcome.reason == "unchanged" for outcome in outcomes),
        "quarantined": states["quarantined"],
        "skipped": states["skipped"],
        **{each: changes[each] for each in ("new", "changed", "renamed", "moved", "deleted")},
        "pages": sum(outcome.pages for outcome in outcomes),
        "chunks": sum(outcome.chunks for outcome in outcomes),
        "seconds": round(seconds, 2),
    }


def summary_text(outcomes: Sequence[Outcome], seconds: float) -> str:
    counts = summary(outcomes, seconds)
    changed = ", ".join(f"{counts[each]} {each}" for each in ("changed", "renamed", "moved", "deleted") if counts[each])
    return (
        f"{counts['files']} files: {counts['ready']} ready ({counts['unchanged']} unchanged), "
        f"{counts['quarantined']} quarantined, {counts['skipped']} skipped{', ' if changed else ''}{changed}; "
        f"{counts['pages']} pages, {counts['chunks']} chunks in {counts['seconds']} s"
    )
