"""Which hits become the materials of a context: not too many of one document, and no more than a model should read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kb_qa.answers import Hit
from kb_qa.elements import Chunk

PER_DOCUMENT = 3
CONTEXT_TOKENS = 6000
# A context of at least so many materials keeps a place for another document than the named ones.
_ROOM_FOR_OTHERS = 4
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN_PER_TOKEN, _TOKENS_PER_CJK = 3.5, 0.8


@dataclass(frozen=True, slots=True)
class Room:
    """What a context may hold beside the best hits: about so many `tokens` (`estimated_tokens`), any number of chunks
    of the documents that are `named` (ids), and what stands `beside` a hit, by the id of its chunk.
    """

    tokens: int = CONTEXT_TOKENS
    named: Collection[str] = ()
    beside: Mapping[str, Sequence[Chunk]] = field(default_factory=dict)


USUAL_ROOM = Room()


def chosen_hits(
    hits: Sequence[Hit], *, limit: int | None, per_document: int | None, named: Collection[str] = ()
) -> list[Hit]:
    """The best hits in their order: at most `per_document` of a document (None: any number), of named ones any number.

    Where all are of named documents, the last place is for the best of another one that says more of the question:
    a name can be misread.
    """
    seen: Counter[str] = Counter()
    kept = []
    for hit in hits:
        document_id = hit.chunk.document_id
        seen[document_id] += 1
        if per_document is None or document_id in named or seen[document_id] <= per_document:
            kept.append(hit)
    chosen, rest = kept[:limit], kept[len(kept[:limit]) :]
    if len(chosen) >= _ROOM_FOR_OTHERS and all(hit.chunk.document_id in named for hit in chosen):
        most = max(_said(hit) for hit in chosen)
        other = next((hit for hit in rest if hit.chunk.document_id not in named and _said(hit) > most), None)
        if other is not None:
            chosen[-1] = other
    return chosen


def within_budget(hits: Sequence[Hit], room: Room) -> list[Hit]:
    """Each hit with the chunks beside it right behind it, none twice, while there is room.

    The first hit is kept whatever its size; what does not fit is left out, and smaller ones behind it may still fit.
    """
    taken = {hit.chunk.id for hit in hits}
    kept: list[Hit] = []
    total = 0
    for hit in hits:
        for each in [hit, *_neighbours(hit, room, taken)]:
            size = estimated_tokens(each.chunk.labelled_text)
            if not kept or total + size <= room.tokens:
                kept.append(each)
                total += size
            elif each is hit:
                break
    return kept


def estimated_tokens(text: str) -> int:
    """Rather too many: models' own counts differ, and lie below 0.8 a CJK character and one for 3.5 others."""
    cjk = len(_CJK.findall(text))
    return round(cjk * _TOKENS_PER_CJK + (len(text) - cjk) / _LATIN_PER_TOKEN) + 1


def _neighbours(hit: Hit, room: Room, taken: set[str]) -> Iterable[Hit]:
    for chunk in room.beside.get(hit.chunk.id, ()):
        if chunk.id not in taken:
            taken.add(chunk.id)
            yield Hit(chunk, {"fused": hit.score})


def _said(hit: Hit) -> float:
    return hit.scores.get("coverage", 0.0)
