"""Tables with their paragraphs as documents, so that questions about them can be asked."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from pathlib import Path

from kb_qa.evaluation.context_set import Context, document_name
from kb_qa.evaluation.scores import Place


def write_contexts(contexts: Sequence[Context], folder: Path) -> list[Place]:
    """A web page each, the table first; returned as places with their plain text, for the searches beside ours."""
    folder.mkdir(parents=True, exist_ok=True)
    places = []
    for context in contexts:
        path = folder / document_name(context)
        path.write_text(_page(context), encoding="utf-8")
        document_id = hashlib.sha256(path.read_bytes()).hexdigest()
        places.append(Place(document_id, path.name, None, text=plain_text(context)))
    return places


def plain_text(context: Context) -> str:
    rows = [" ".join(row) for row in context["table"]["table"]]
    return "\n".join([*rows, *_paragraphs(context)])


def _paragraphs(context: Context) -> list[str]:
    return [each["text"] for each in sorted(context["paragraphs"], key=lambda each: int(each["order"]))]


def _page(context: Context) -> str:
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in context["table"]["table"]]
    table = "\n".join(f"<tr>{row}</tr>" for row in rows)
    paragraphs = "\n".join(f"<p>{html.escape(text)}</p>" for text in _paragraphs(context))
    return f"<!doctype html>\n<html><body>\n<table>\n{table}\n</table>\n{paragraphs}\n</body></html>\n"
