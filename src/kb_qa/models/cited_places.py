"""Citations of the Messages API, of all four kinds, → the blocks or pages that were sent. No text is searched for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kb_qa.answers import BlockCitation
from kb_qa.models.requests import SentDocument
from kb_qa.page_parts import cited_pages


@dataclass(frozen=True, slots=True)
class CitedBlocks:
    """The cited text is these blocks; never empty."""

    blocks: tuple[BlockCitation, ...]


@dataclass(frozen=True, slots=True)
class CitedPages:
    """A quote on one of these pages (from 1) of a whole PDF, the request's document number `document` (from 0)."""

    document: int
    pages: range
    quote: str


@dataclass(frozen=True, slots=True)
class NoPlace:
    """What was cited was never sent, or is a picture."""

    kind: str


CitedPlace = CitedBlocks | CitedPages | NoPlace


def cited_place(citation: Any, documents: Sequence[SentDocument], results: Sequence[SentDocument] = ()) -> CitedPlace:
    """Where one of the SDK's citations points. The SDK does not validate them: what is no place points nowhere."""
    kind = str(getattr(citation, "type", None))
    match kind:
        case "content_block_location":
            sent = _at(documents, citation.document_index)
            return _blocks(sent, citation.start_block_index, citation.end_block_index, kind)
        case "search_result_location":
            sent = _at(results, citation.search_result_index)
            return _blocks(sent, citation.start_block_index, citation.end_block_index, kind)
        case "char_location":
            sent = _at(documents, citation.document_index)
            return _characters(sent, citation.start_char_index, citation.end_char_index, kind)
        case "page_location":
            index, start = citation.document_index, citation.start_page_number
            if not _is_count(index) or not _is_count(start) or start < 1:
                return NoPlace(kind)
            end = citation.end_page_number if _is_count(citation.end_page_number) else start + 1
            return CitedPages(index, cited_pages(start, end), str(citation.cited_text or ""))
        case _:
            return NoPlace(kind)


def _at(documents: Sequence[SentDocument], index: object) -> SentDocument | None:
    return documents[index] if isinstance(index, int) and 0 <= index < len(documents) else None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def _blocks(sent: SentDocument | None, start: object, end: object, kind: str) -> CitedPlace:
    if sent is None or not isinstance(start, int) or not isinstance(end, int) or start < 0:
        return NoPlace(kind)
    inside = sent.blocks[start : max(end, start + 1)]
    return _cited(sent, [block for block in inside if block is not None], kind)


def _characters(sent: SentDocument | None, start: object, end: object, kind: str) -> CitedPlace:
    if sent is None or not isinstance(start, int) or not isinstance(end, int) or end <= start:
        return NoPlace(kind)
    pairs = zip(sent.blocks, sent.spans, strict=False)
    inside = [block for block, (first, last) in pairs if block is not None and first < end and start < last]
    return _cited(sent, inside, kind)


def _cited(sent: SentDocument, blocks: Sequence[int], kind: str) -> CitedPlace:
    if not blocks:
        return NoPlace(kind)
    return CitedBlocks(tuple(BlockCitation(sent.material, block) for block in blocks))
