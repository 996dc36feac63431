"""When a question is not answered: nothing found, something it names that no material names, or nothing left to say."""

from __future__ import annotations

from collections.abc import Iterator

from kb_qa.answers import Context, ModelStop, Question, Refusal
from kb_qa.guardrails.languages import language_of, language_tag_of
from kb_qa.guardrails.messages import refusal_text
from kb_qa.guardrails.questions import missing_anchors

NO_EVIDENCE = "no_evidence"  # the stop reason of a model that found nothing to answer from


def before_generation(question: Question, context: Context) -> Refusal | None:
    """No material, or an entity, period or grade of the question that no material names: no model is asked."""
    message = refusal_text(message_language(question))
    if not context.materials:
        return Refusal("nothing_found", message)
    known = {name for name, document in question.named_before if document in _documents(context)}
    missing = [each for each in missing_anchors(question.text, [*_named_in(context)]) if each.text not in known]
    return Refusal("not_named", message, tuple(anchor.text for anchor in missing)) if missing else None


def message_language(question: Question) -> str:
    """The tag of the texts that the reader is told; his own words decide where the question was put into others."""
    same = language_of(question.text) == question.language
    return language_tag_of(question.text if same else question.own_words)


def after_generation(question: Question, stop: ModelStop, *, released: bool, withheld: bool) -> Refusal | None:
    """Nothing reached the reader: the model had no evidence, or the guard let nothing through."""
    if released:
        return None
    if withheld:
        return Refusal("unsupported", refusal_text(message_language(question)))
    return Refusal(NO_EVIDENCE, refusal_text(message_language(question))) if stop.stop_reason == NO_EVIDENCE else None


def _documents(context: Context) -> frozenset[str]:
    return frozenset(material.chunk.document_id for material in context.materials)


def _named_in(context: Context) -> Iterator[str]:
    for material in context.materials:
        chunk = material.chunk
        yield "\n".join([chunk.source, *chunk.section, chunk.embedded_text])
