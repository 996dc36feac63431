"""The facts of a whole document, read once when it is parsed: what the ledger keeps beside its elements."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from kb_qa.elements import Element
from kb_qa.guardrails.fact_records import pack_facts
from kb_qa.guardrails.facts import READING, facts_of
from kb_qa.guardrails.labels import DEFAULT_ALIASES, Aliases
from kb_qa.guardrails.locales import locale_of

_NEAR = 3  # texts above a table that may say what it is counted in


def reading_of(aliases: Aliases = DEFAULT_ALIASES) -> str:
    """Names how facts were read: the code's own number and the alias table. Facts of another reading are not used."""
    said = json.dumps([READING, aliases], ensure_ascii=False)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def document_locale_of(elements: Sequence[Element]) -> str:
    """The locale of a document by majority over its whole text, model-written captions left out."""
    return locale_of("\n".join(each.text for each in elements if each.origin != "caption"))


def packed_facts(
    elements: Sequence[Element], *, locale: str = "", aliases: Aliases = DEFAULT_ALIASES
) -> Mapping[str, bytes]:
    """The packed facts of every element, by element id; `elements` in reading order."""
    return {
        element.id: pack_facts(facts_of(element, around=around, locale=locale, aliases=aliases))
        for element, around in _with_surroundings(elements)
    }


def _with_surroundings(elements: Sequence[Element]) -> Iterator[tuple[Element, tuple[str, ...]]]:
    """Each element; a table with the texts above it on its page, nearest first."""
    page: int | None = None
    above: list[str] = []
    for element in elements:
        first = element.regions[0].page if element.regions else None
        if first != page:
            page, above = first, []
        yield element, tuple(reversed(above[-_NEAR:])) if element.table is not None else ()
        if element.table is None and element.text and element.origin != "caption":
            above.append(element.text)
