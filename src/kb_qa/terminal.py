"""An answer's events as a reader at a terminal sees them."""

from __future__ import annotations

from typing import Any

import click

from kb_qa.answers import AnswerEvent
from kb_qa.rendering import document_names, formula, terminal_text
from kb_qa.search_filters import limits_told


class Terminal:
    """What a reader at a terminal needs of an answer: its text, how its figures were computed, what it rests on."""

    def __init__(self) -> None:
        self.documents: dict[str, str] = {}
        self.formulas: list[str] = []
        self.line_is_open = False

    def print_event(self, event: AnswerEvent) -> None:
        data: Any = event.data
        match event.event:
            case "queued":
                click.echo(f"waiting: number {data['position']} in line", err=True)
            case "start":
                click.echo(f"answer {data['answer_id']}", err=True)  # what `highlight` asks for
                _print_understanding(data)
            case "sources":
                _print_reason(data.get("whole") or {})
                self.documents.update(document_names([event]))
            case "delta" | "uncited" | "withheld":
                click.echo(terminal_text(data["text"]), nl=False)
                self.line_is_open = True
            case "figure":
                self.formulas += filter(None, [formula(data, self.documents)])
            case "refusal":
                click.echo(("\n" if self.line_is_open else "") + terminal_text(data["message"]))
            case "references":
                said = [*(f"ƒ {each}" for each in self.formulas), *([data["text"]] if data["text"] else [])]
                click.echo("\n\n" + terminal_text("\n".join(said)) if said else "")
            case "error":
                click.echo(f"\nkb-qa: {data['message']}", err=True)
            case "end" if not data["complete"]:
                click.echo(f"\nkb-qa: the answer is incomplete ({data['stop_reason']})", err=True)


def _print_understanding(data: Any) -> None:
    """What a follow-up question was taken for."""
    if data.get("standalone"):
        click.echo(f"understood as: {terminal_text(data['standalone'])}", err=True)
    limits = [*data.get("carried_documents", ()), *limits_told(data.get("carried_filters", {}))]
    if limits:
        click.echo(f"still only in: {terminal_text(', '.join(limits))}", err=True)


def _print_reason(whole: Any) -> None:
    """Why a document that was asked about as a whole is read in passages."""
    if whole.get("reason"):
        click.echo(f"kb-qa: {whole['reason']}", err=True)
