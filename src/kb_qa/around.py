"""What stands beside a hit and decides its meaning: what a pronoun speaks of, the rest of a list, a table's notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kb_qa.answers import Filters, Hit
from kb_qa.elements import Chunk
from kb_qa.protocols import Library

MOST_HITS = 4  # the best ones; what stands beside the others is not looked at
_NOTES_REACH = 3  # chunks behind one of a table in which its notes may stand

# A passage that begins so speaks of something that was named before it.
_POINTS_BACK = re.compile(
    r"(?ai)\W*(?:it|its|they|their|these|those|this|that|he|she|his|her|such|both|the (?:former|latter|above|following)"
    r"|however|in addition|furthermore|moreover)\b|\W*(?:其|该|此|这|那|它|他们|上述|以上|前述|同时|此外|另外|但)"
)
# A passage that ends so goes on in the next one.
_GOES_ON = re.compile(r"(?ai)(?:[:：;；,，、]|\b(?:and|or|as follows|following)|以下|如下)\s*$")
_MARK = re.compile(r"(?a)(?<=\S)\s?(?:\(\d{1,2}\)|\([a-z]\)|\[\d{1,2}\]|[¹²³⁴⁵⁶⁷⁸⁹*†‡①-⑳])(?=[\s|：:]|$)")
_NOTE = re.compile(r"(?a)\s*(?:\(\d{1,2}\)|\([a-z]\)|\[\d{1,2}\]|[¹²³⁴⁵⁶⁷⁸⁹*†‡①-⑳]|notes?\b|注)", re.IGNORECASE)


def beside(hits: Sequence[Hit], library: Library, filters: Filters = Filters()) -> Mapping[str, Sequence[Chunk]]:
    """By the ids of the best hits: the chunks beside them that decide what they mean, in order. Blocking.

    None where pages or types are filtered: what stands beside may be another's.
    """
    if filters.pages or filters.element_types:
        return {}
    best = [hit.chunk for hit in hits[:MOST_HITS] if hit.chunk.origin != "caption"]
    wanted = [(chunk.document_id, chunk.ordinal + step) for chunk in best for step in _steps(chunk)]
    if not wanted:
        return {}
    with library.moment():
        ids = library.chunk_ids_at(wanted)
        known = library.chunks([*ids.values()])
    return {
        chunk.id: [
            other
            for step in _steps(chunk)
            if (other := known.get(ids.get((chunk.document_id, chunk.ordinal + step), ""))) is not None
            and _belongs(chunk, other, step)
        ]
        for chunk in best
    }


def _steps(chunk: Chunk) -> Iterator[int]:
    """Where to look, as distances in the document's order."""
    if chunk.element_type == "table":
        if not chunk.prefix:
            yield -1
        if any(_MARK.search(block.text) for block in chunk.blocks):
            yield from range(1, _NOTES_REACH + 1)
    else:
        if _POINTS_BACK.match(chunk.blocks[0].text):
            yield -1
        if _ends_open(chunk):
            yield 1


def _ends_open(chunk: Chunk) -> bool:
    return chunk.category == "ListItem" or _GOES_ON.search(chunk.blocks[-1].text) is not None


def _belongs(chunk: Chunk, other: Chunk, step: int) -> bool:
    if chunk.element_type == "table" and step > 0:
        return other.section == chunk.section and any(_NOTE.match(block.text) for block in other.blocks)
    if chunk.element_type == "table":
        return _is_cut(other, chunk) or other.element_type == "text"
    if step > 0 and chunk.category == "ListItem" and _GOES_ON.search(chunk.blocks[-1].text) is None:
        return other.category == "ListItem" and other.section == chunk.section
    # What comes after a colon may be a table, or a section of its own.
    return step > 0 or other.section == chunk.section or _is_cut(other, chunk)


def _is_cut(first: Chunk, second: Chunk) -> bool:
    return first.blocks[-1].element_id == second.blocks[0].element_id
