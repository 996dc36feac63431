"""One unit of an answer put through the gate, over sources that are as little as a test needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb_qa.answers import BlockCitation, Context, ModelEvent, ModelStop, TextDelta
from kb_qa.elements import Block, Cell, Chunk, Element, Table
from kb_qa.evidence import materials_of_context
from kb_qa.geometry import BBox, Region
from kb_qa.guardrails.gate import Gate, Settled
from kb_qa.guardrails.policies import STRICT, Policy
from kb_qa.testing import InMemoryLibrary
from tests.factories import make_context

BOX = BBox(72, 310, 148, 322)
STOP = ModelStop("end_turn")


@dataclass(frozen=True, slots=True)
class Source:
    """A material of one block; with `labelled` (`header：cell | header：cell`) the block is a table row."""

    text: str
    labelled: str = ""
    context: str = ""
    confidence: float | None = None


def source(text: str, *, labelled: str = "", context: str = "", confidence: float | None = None) -> Source:
    return Source(text, labelled, context, confidence)


def context_of(sources: Sequence[Source]) -> tuple[Context, InMemoryLibrary]:
    elements = [_element(number, each) for number, each in enumerate(sources)]
    chunks = [_chunk(element, each) for element, each in zip(elements, sources, strict=True)]
    return make_context(*chunks), InMemoryLibrary(chunks, elements)


def gate_over(sources: Sequence[Source], question: str = "", policy: Policy = STRICT) -> Gate:
    context, library = context_of(sources)
    return Gate(question, context, materials_of_context(context, library, policy), policy)


def all_fed(gate: Gate, events: Sequence[ModelEvent]) -> list[Settled]:
    return [unit for event in events for unit in gate.feed(event)]


def settled(text: str, *sources: Source, question: str = "", policy: Policy = STRICT, before: str = "") -> Settled:
    """The last unit of `text`, which cites every source; `before` is what the answer said, and was let through."""
    gate = gate_over(sources, question, policy)
    citations = [BlockCitation(number, 0) for number in range(1, len(sources) + 1)]
    units = all_fed(gate, [TextDelta(before + text), *citations, STOP])
    return units[-1]


def statuses(text: str, *sources: Source, question: str = "") -> dict[str, str]:
    return {figure.raw: figure.status for figure in settled(text, *sources, question=question).figures}


def passes(text: str, *sources: Source, question: str = "", before: str = "") -> bool:
    return not settled(text, *sources, question=question, before=before).withheld


def _element(number: int, given: Source) -> Element:
    element = Element(
        id=f"e{number}",
        document_id=f"d{number}",
        order=number,
        element_type="table" if given.labelled else "text",
        category="Table" if given.labelled else "NarrativeText",
        text=given.text,
        regions=(Region(8, BOX),),
        confidence=given.confidence,
    )
    return _table(element, given) if given.labelled else element


def _table(element: Element, given: Source) -> Element:
    """A header row over the labelled one; parts without a header, and the context, are lines above the table."""
    parts = [part.partition("：") for part in given.labelled.split(" | ")]
    pairs = [(header.strip(), cell.strip()) for header, colon, cell in parts if colon and header != "单位"]
    lines = ["".join(part) for part in parts if not part[1] or part[0] == "单位"]
    label = "" if pairs[0][1][:1].isdigit() else pairs[0][1]
    cells, offset = [], 0
    for column, (header, text) in enumerate(pairs):
        cells.append(Cell(0, column, 1, 1, header, 8, BOX, header=True))
        row_headers = (label,) if column and label else ()
        is_label = bool(label) and not column
        end = offset + len(text)
        cells.append(Cell(1, column, 1, 1, text, 8, BOX, row_headers, (header,), offset, end, header=is_label))
        offset += len(text) + 3
    caption = "\n".join([*given.context.splitlines(), *lines])
    return replace(
        element, text=" | ".join(text for _, text in pairs), table=Table(cells=tuple(cells), caption=caption)
    )


def _chunk(element: Element, given: Source) -> Chunk:
    block = Block(
        f"b{element.order}", element.id, element.text, 0, len(element.text), element.regions,
        labelled=given.labelled or element.text,
    )  # fmt: skip
    return Chunk(
        id=f"c{element.order}",
        document_id=element.document_id,
        version=1,
        source="a.pdf",
        ordinal=0,
        blocks=(block,),
        element_type=element.element_type,
        category=element.category,
        prefix=given.context,
        confidence=given.confidence,
    )
