"""An answer's events as a reader at a terminal sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from kb_qa.answers import AnswerEvent, Language
from kb_qa.rendering import document_names, formula, terminal_text
from kb_qa.search_filters import limits_told

_WORDS = {
    "en": (
        "Searched: {} document(s)",
        "within {}",
        "Named in no passage: {}",
        "What comes nearest: {}",
        "No passage was found",
    ),
    "zh": ("已查阅：{}份文档", "范围：{}", "材料中没有提到：{}", "最接近的内容：{}", "没有找到任何段落"),
}


class Terminal:
    """What a reader at a terminal needs of an answer: its text, how its figures were computed, what it rests on; of a
    refusal, why.
    """

    def __init__(self) -> None:
        self.language: Language = "en"  # the question's, once it is known
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
                self.language = "zh" if data.get("language") == "zh" else "en"
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
                _print_reasons(data, self.language)
            case "references":
                said = [*(f"ƒ {each}" for each in self.formulas), *([data["text"]] if data["text"] else [])]
                click.echo("\n\n" + terminal_text("\n".join(said)) if said else "")
            case "error":
                click.echo(f"\nkb-qa: {data['message']}", err=True)
            case "end" if not data["complete"]:
                click.echo(f"\nkb-qa: the answer is incomplete ({data['stop_reason']})", err=True)


def nothing_found(filters: Mapping[str, Any], language: Language) -> str:
    """What is said of a search without hits, with its limits; `filters` by the names of `answers.Filters`."""
    _, within, _, _, nothing = _WORDS[language]
    chosen = [name for name in (*filters["documents"], filters["folder"]) if name]
    limits = ", ".join([*chosen, *limits_told({name: value for name, value in filters.items() if value}, language)])
    return nothing + (f" ({within.format(limits)})" if limits else "")


def _print_reasons(data: Any, language: Language) -> None:
    if reasons := " · ".join(_reasons(data, language)):
        click.echo(terminal_text(reasons), err=True)


def _reasons(data: Any, language: Language) -> Iterator[str]:
    """What was searched and within which limits, what nothing names, and what came nearest."""
    searched, within, missing, nearest, _ = _WORDS[language]
    if names := ", ".join(data.get("missing", ())):
        yield missing.format(names)
    limits: Any = data.get("searched") or {}
    if "documents" in limits:
        yield searched.format(limits["documents"])
    if told := ", ".join([*limits.get("chosen", ()), *limits_told(limits, language)]):
        yield within.format(told)
    if labels := ", ".join(data.get("nearest", ())):
        yield nearest.format(labels)


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
