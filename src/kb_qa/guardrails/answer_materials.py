"""A context as the guard sees it: the facts of its blocks support, all others of the same elements compete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb_qa.answers import BlockCitation, Context, Material
from kb_qa.elements import Block, Chunk, Element
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.judge import place_of
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.materials import Materials, Source, assembled, periods_of
from kb_qa.guardrails.outcome import Place
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity
from kb_qa.guardrails.quotations import is_quotation, is_row_quotation


def answer_materials(context: Context, facts: Mapping[str, Sequence[Fact]]) -> Materials:
    """The materials of a context by their numbers; `facts` are those of whole elements, by element id."""
    sources = [_source(material, facts) for material in context.materials]
    return assembled(sources, (fact for each in facts.values() for fact in each))


def quoted_facts(text: str, citations: Sequence[BlockCitation], context: Context, materials: Materials) -> list[Fact]:
    """The facts of the cited blocks that `text` repeats word for word; of a row without its unit, those without one."""
    found: list[Fact] = []
    for each in citations:
        block, chunk = context.block(each.material, each.block), context.materials[each.material - 1].chunk
        facts = block_facts([each], context, materials)
        if is_quotation(text, block):
            found += facts
        elif block.labelled != block.text:
            is_row, has_unit = is_row_quotation(text, block, chunk.prefix)
            found += [fact for fact in facts if is_row and (has_unit or not fact.scale_source)]
    return found


def block_facts(citations: Sequence[BlockCitation], context: Context, materials: Materials) -> list[Fact]:
    """The facts of the cited blocks."""
    return [
        fact
        for each in citations
        for fact in materials.sources[each.material - 1].facts
        if _stands_in(fact, context.block(each.material, each.block))
    ]


def bearing_block(
    place: Place, cited: Sequence[BlockCitation], context: Context, materials: Materials
) -> BlockCitation | None:
    """The block of the cited materials that prints what a figure rests on; None where a cited block does.

    A model may cite the paragraph beside: the reader is led to the very words.
    """
    given = frozenset(cited)
    found: BlockCitation | None = None
    for material in dict.fromkeys(each.material for each in cited):
        facts = [
            fact
            for fact in materials.sources[material - 1].facts
            if fact.printed == place.printed and place_of(fact, place.match) == place
        ]
        for index, block in enumerate(context.materials[material - 1].chunk.blocks):
            if any(_stands_in(fact, block) for fact in facts):
                citation = BlockCitation(material, index)
                if citation in given:
                    return None
                found = found or citation
    return found


def _source(material: Material, facts: Mapping[str, Sequence[Fact]]) -> Source:
    chunk = material.chunk
    held: dict[int, Fact] = {}
    for block in chunk.blocks:
        held |= {id(fact): fact for fact in facts.get(block.element_id, ()) if _stands_in(fact, block)}
    around = "\n".join(part for part in (" > ".join(chunk.section), chunk.prefix, material.label) if part)
    said = [part for block in chunk.blocks for part in dict.fromkeys((block.text, block.labelled))]
    if chunk.origin == "caption":  # what a model wrote of a picture is no source
        said, around = [], ""
    text = "\n".join([*said, around])
    pages = frozenset(region.page for region in chunk.regions)
    periods = (*periods_of(held.values()), *_named(around))
    return Source(material.number, tuple(held.values()), text, periods, pages, _listed(chunk) if text else ())


def _listed(chunk: Chunk) -> tuple[Element, ...]:
    """The chunk's text as one element, whose list items can be counted; rows of a table are counted in whole tables."""
    if chunk.element_type == "table" or not chunk.blocks:
        return ()
    text = "\n".join(block.text for block in chunk.blocks)
    return (
        Element(
            id=chunk.blocks[0].element_id,
            document_id=chunk.document_id,
            order=0,
            element_type=chunk.element_type,
            category=chunk.category,
            text=text,
            regions=chunk.regions,
            section=chunk.section,
            origin=chunk.origin,
            confidence=chunk.confidence,
        ),
    )


def _named(text: str) -> tuple[Quantity, ...]:
    """The periods that headings, captions and the document's name name."""
    return tuple(each for each in lex(text, locale="en") if each.kind in PERIOD_KINDS)


def _stands_in(fact: Fact, block: Block) -> bool:
    """Headers, captions and notes go with every row of their table."""
    if fact.element_id != block.element_id:
        return False
    everywhere = fact.around or (fact.cell is not None and not fact.body)
    return everywhere or (block.start <= fact.quantity.start and fact.quantity.end <= block.end)
