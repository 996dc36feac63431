"""Context → materials: the facts of its elements, as they were read at ingest, or read now where they were not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from kb_qa.answers import Context
from kb_qa.elements import Chunk, Element
from kb_qa.guardrails.answer_materials import answer_materials
from kb_qa.guardrails.document_facts import reading_of
from kb_qa.guardrails.fact_records import unpack_facts
from kb_qa.guardrails.facts import Fact, facts_of
from kb_qa.guardrails.labels import Aliases
from kb_qa.guardrails.locales import locale_of
from kb_qa.guardrails.materials import Materials
from kb_qa.guardrails.policies import Policy
from kb_qa.protocols import Library


def materials_of_context(context: Context, library: Library, policy: Policy) -> Materials:
    """Blocking: it reads the ledger."""
    chunks: dict[str, Chunk] = {}
    for material in context.materials:
        for block in material.chunk.blocks:
            chunks.setdefault(block.element_id, material.chunk)
    return answer_materials(context, element_facts(chunks, library, policy))


def element_facts(
    chunks: Mapping[str, Chunk] | Mapping[str, Chunk | None], library: Library, policy: Policy
) -> Mapping[str, Sequence[Fact]]:
    """The facts of whole elements, by element id; each with a chunk of it where one is at hand. Blocking."""
    stored = library.facts([*chunks])
    reading = reading_of(policy.aliases)
    facts: dict[str, Sequence[Fact]] = {}
    for element_id, chunk in chunks.items():
        found = stored.get(element_id)
        if found is not None and found.packed is not None and found.reading == reading:
            facts[element_id] = _unpacked(found.packed)
        else:
            locale = found.locale if found is not None else ""
            facts[element_id] = _read_now(element_id, chunk, library, locale=locale or policy.locale, policy=policy)
    return facts


@lru_cache(maxsize=512)
def _unpacked(packed: bytes) -> tuple[Fact, ...]:
    return unpack_facts(packed)


def _read_now(element_id: str, chunk: Chunk | None, library: Library, *, locale: str, policy: Policy) -> Sequence[Fact]:
    """A table's unit line travels in its chunk; a lost element is what its blocks say."""
    element = library.element(element_id)
    around = tuple(chunk.prefix.splitlines()) if chunk is not None else ()
    elements = [element] if element is not None else _of_blocks(element_id, chunk) if chunk is not None else []
    locale = locale or locale_of("\n".join(each.text for each in elements))
    return [fact for each in elements for fact in _facts_of(each, around, locale, policy.aliases)]


@lru_cache(maxsize=256)
def _facts_of(element: Element, around: tuple[str, ...], locale: str, aliases: Aliases) -> tuple[Fact, ...]:
    return facts_of(element, around=around if element.table is not None else (), locale=locale, aliases=aliases)


def _of_blocks(element_id: str, chunk: Chunk) -> list[Element]:
    """Running text: an element a block, the text at its place; a block is one sentence, whatever its lines."""
    return [
        Element(
            id=element_id,
            document_id=chunk.document_id,
            order=0,
            element_type=chunk.element_type,
            category=chunk.category,
            text=" " * block.start + block.text.replace("\n", " "),
            regions=block.regions,
            section=chunk.section,
            origin=chunk.origin,
            confidence=chunk.confidence,
        )
        for block in chunk.blocks
        if block.element_id == element_id
    ]
