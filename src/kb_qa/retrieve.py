"""Question → hits: dense and lexical neighbours, fused by reciprocal rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb_qa.answers import Filters, Hit
from kb_qa.elements import Chunk
from kb_qa.errors import NotFoundError
from kb_qa.protocols import Embedder, LexicalMatch, Library, VectorStore
from kb_qa.terms import terms

# Cormack, Clarke and Buettcher 2009: the constant that damps the first ranks.
RANK_CONSTANT = 60
CANDIDATES = 60


@dataclass(frozen=True, slots=True)
class Retriever:
    """Blocking: call it off the event loop. `library` decides what is visible; the vector store may lag behind it."""

    embedder: Embedder
    vectors: VectorStore
    library: Library

    def retrieve(self, question: str, *, k: int, filters: Filters = Filters()) -> tuple[Hit, ...]:
        """At most k hits, best first. Raises NotFoundError where a filter names no document."""
        document_ids = self._documents(filters)
        dense = self._dense(question, document_ids)
        lexical = {match.id: match.score for match in self._lexical(question, document_ids)}
        chunks = self.library.chunks([*dict.fromkeys([*dense, *lexical])])
        hits = _fuse(chunks, dense=dense, lexical=lexical)
        return tuple(hit for hit in hits if _passes(hit.chunk, filters))[:k]

    def _documents(self, filters: Filters) -> Sequence[str]:
        if not filters.documents and not filters.folder:
            return ()
        found = self.library.resolve(filters.documents, filters.folder)
        if not found:
            wanted = ", ".join(map(repr, filters.documents)) or f"folder {filters.folder!r}"
            raise NotFoundError(f"no document that can be asked matches {wanted}; `kb-qa documents` lists them")
        return found

    def _dense(self, question: str, document_ids: Sequence[str]) -> Mapping[str, float]:
        """Similarities by chunk id, nearest first; asks for more where neighbours are not, or no longer, visible."""
        vector = self.embedder.embed_query(question)
        wanted = CANDIDATES
        while True:
            neighbours = self.vectors.query(vector, wanted, document_ids)
            visible = self.library.chunks([neighbour.id for neighbour in neighbours])
            if len(visible) >= CANDIDATES or len(neighbours) < wanted:
                ranked = [neighbour for neighbour in neighbours if neighbour.id in visible]
                return {neighbour.id: neighbour.similarity for neighbour in ranked[:CANDIDATES]}
            wanted *= 4

    def _lexical(self, question: str, document_ids: Sequence[str]) -> Sequence[LexicalMatch]:
        wanted = [*dict.fromkeys(terms(question))]
        return self.library.lexical(wanted, CANDIDATES, document_ids) if wanted else ()


def _fuse(chunks: Mapping[str, Chunk], *, dense: Mapping[str, float], lexical: Mapping[str, float]) -> list[Hit]:
    fused: dict[str, float] = {}
    for ranking in (dense, lexical):
        for rank, chunk_id in enumerate(ranking, 1):
            fused[chunk_id] = fused.get(chunk_id, 0.0) + 1 / (RANK_CONSTANT + rank)
    hits = []
    for chunk_id, score in fused.items():
        if chunk_id in chunks:
            scores = {"fused": score}
            scores |= {"dense": dense[chunk_id]} if chunk_id in dense else {}
            scores |= {"lexical": lexical[chunk_id]} if chunk_id in lexical else {}
            hits.append(Hit(chunks[chunk_id], scores))
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.document_id, hit.chunk.ordinal))


def _passes(chunk: Chunk, filters: Filters) -> bool:
    if filters.element_types and chunk.element_type not in filters.element_types:
        return False
    return not filters.pages or any(region.page in filters.pages for region in chunk.regions)
