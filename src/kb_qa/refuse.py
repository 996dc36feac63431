"""When a question is not answered: nothing found, or nothing but passages that are no evidence; something it names that
no material names; nothing left to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from kb_qa.answers import Context, ModelStop, Question, Refusal
from kb_qa.asked.naming import is_called
from kb_qa.calibrate import is_weak
from kb_qa.guardrails.languages import language_of, language_tag_of
from kb_qa.guardrails.messages import refusal_text, weak_text
from kb_qa.guardrails.questions import missing_anchors
from kb_qa.protocols import Identity, Unrelated

MOST_NEAREST = 3
NO_EVIDENCE = "no_evidence"  # the stop reason of a model that found nothing to answer from


def before_generation(
    question: Question,
    context: Context,
    *,
    identities: Mapping[str, Identity] = MappingProxyType({}),
    unrelated: Unrelated | None = None,
) -> Refusal | None:
    """No material, none that is evidence, or an entity, period or grade of the question that no material names: no
    model is asked. `identities` say what the documents are called, by their ids; `unrelated`, what is no evidence.
    """
    language = message_language(question)
    message = refusal_text(language)
    if not context.materials:
        return Refusal("nothing_found", message)
    hits = [material.hit for material in context.materials]
    # Of a document that is asked about by its name, even the weakest passages are worth a look.
    is_open = context.whole is None and not question.asked and not context.named and not question.filters.documents
    if is_open and is_weak(hits, question.language, unrelated):
        nearest = tuple(material.label for material in context.materials[:MOST_NEAREST])
        return Refusal("too_weak", weak_text(language, len(identities)), nearest=nearest)
    known = {name for name, document in question.named_before if document in _documents(context)}
    missing = [
        each for each in missing_anchors(question.text, [*_named_in(context, identities)]) if each.text not in known
    ]
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


def _named_in(context: Context, identities: Mapping[str, Identity]) -> Iterator[str]:
    """What each material says, with what its document is called: its company may stand on the cover alone."""
    for material in context.materials:
        chunk = material.chunk
        known = identities.get(chunk.document_id)
        names = () if known is None else is_called(known)
        yield "\n".join([chunk.source, *names, *chunk.section, chunk.labelled_text])
