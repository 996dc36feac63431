"""The questions of TAT-QA: each is about one context, which is a document of its own in the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kb_qa.evaluation.cases import Case

Context = Mapping[str, Any]


def context_cases(contexts: Sequence[Context]) -> Iterator[Case]:
    """Raises KeyError or TypeError for what is no such set."""
    for context in contexts:
        for question in context["questions"]:
            yield Case(
                id=str(question["uid"]),
                question=str(question["question"]),
                document=document_name(context),
                answers=tuple(_answers(question)),
                kind=str(question["answer_type"]),
            )


def document_name(context: Context) -> str:
    return f"{context['table']['uid']}.html"


def _answers(question: Context) -> Iterator[str]:
    """One text or value with its scale; several that must all be said are not scored."""
    given = question["answer"]
    values = given if isinstance(given, list) else [given]
    if len(values) != 1:
        return
    value, scale = str(values[0]).strip(), question["scale"]
    if scale == "percent":
        yield value if value.endswith("%") else f"{value}%"
    else:
        yield f"{value} {scale}".strip()
