"""Small values for tests: a chunk, a hit, a context, with as little said as a test needs."""

from __future__ import annotations

from kb_qa.answers import Context, Hit, Material
from kb_qa.elements import Block, Chunk, ElementType
from kb_qa.geometry import BBox, Region

DOCUMENT = "d" * 64


def make_chunk(
    *texts: str,
    document_id: str = DOCUMENT,
    source: str = "briefing.pdf",
    ordinal: int = 0,
    page: int | None = 1,
    element_type: ElementType = "text",
    section: tuple[str, ...] = (),
    prefix: str = "",
) -> Chunk:
    """A chunk of one block a text; blocks lie below one another on the page."""
    blocks = []
    start = 0
    for index, text in enumerate(texts):
        box = BBox(72, 100 + 20 * index, 300, 112 + 20 * index)
        regions = () if page is None else (Region(page, box),)
        block_id = f"{document_id[:4]}-{ordinal}-{index}"
        blocks.append(Block(block_id, f"element-{ordinal}", text, start, start + len(text), regions, labelled=text))
        start += len(text) + 1
    return Chunk(
        id=f"{document_id[:4]}-{ordinal}",
        document_id=document_id,
        version=1,
        source=source,
        ordinal=ordinal,
        blocks=tuple(blocks),
        element_type=element_type,
        category="Table" if element_type == "table" else "NarrativeText",
        section=section,
        prefix=prefix,
    )


def make_context(*chunks: Chunk) -> Context:
    hits = [Hit(chunk, {"fused": 1 / rank, "dense": 0.9}) for rank, chunk in enumerate(chunks, 1)]
    materials = tuple(Material(number, hit, hit.chunk.source) for number, hit in enumerate(hits, 1))
    return Context(materials, for_readers="", for_models="")
