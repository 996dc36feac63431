"""Question → hits: dense and lexical neighbours and how much of the question a block covers, fused by rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kb_qa.answers import Filters, Hit, Scope
from kb_qa.elements import Block, Chunk
from kb_qa.errors import NotFoundError
from kb_qa.figure_terms import question_terms
from kb_qa.guardrails.questions import anchors
from kb_qa.protocols import Embedder, LexicalMatch, Library, Reranker, VectorStore
from kb_qa.search_filters import told
from kb_qa.terms import inverse_frequency, terms

# Cormack, Clarke and Buettcher 2009: the constant that damps the first ranks.
RANK_CONSTANT = 60
CANDIDATES = 60
# Of these, the best so far are read block by block.
SHORTLIST = 30


@dataclass(frozen=True, slots=True)
class Retriever:
    """Blocking: call it off the event loop. `library` decides what is visible; the vector store may lag behind it."""

    embedder: Embedder
    vectors: VectorStore
    library: Library
    reranker: Reranker | None = None

    def retrieve(self, question: str, *, k: int, filters: Filters = Filters()) -> tuple[Hit, ...]:
        """At most k hits, best first. Raises NotFoundError where a filter names no document."""
        scope = self._scope(filters)
        dense = self._dense(question, scope, filters)
        lexical = {match.id: match.score for match in self._lexical(question, scope)}
        found_chunks = self.library.chunks([*dict.fromkeys([*dense, *lexical])])
        chunks = {chunk_id: chunk for chunk_id, chunk in found_chunks.items() if filters.passes(chunk)}
        found = {"dense": dense, "lexical": lexical}
        shortlist = [hit.chunk for hit in _fuse(chunks, found)[:SHORTLIST]]
        hits = _fuse(chunks, found | {"coverage": _coverage(question, shortlist)})
        return tuple(self._reranked(question, hits)[:k])

    def _reranked(self, question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The best of the fused hits in the cross-encoder's order, where there is one; the rest stay behind them."""
        if self.reranker is None:
            return hits
        head, rest = hits[:SHORTLIST], hits[SHORTLIST:]
        scores = self.reranker.score(question, [hit.chunk.embedded_text for hit in head])
        scored = [replace(hit, scores={**hit.scores, "rerank": score}) for hit, score in zip(head, scores, strict=True)]
        return [*sorted(scored, key=lambda hit: -hit.scores["rerank"]), *rest]

    def _scope(self, filters: Filters) -> Scope:
        """Raises NotFoundError where the filters leave no document."""
        document_ids: Sequence[str] = ()
        if filters.choose_documents:
            document_ids = self.library.resolve(
                filters.documents, filters.folder, since=filters.since, until=filters.until
            )
            if not document_ids:
                raise NotFoundError(
                    f"no document that can be asked matches {told(filters)}; `kb-qa documents` lists them"
                )
        return Scope(tuple(document_ids), filters.pages, filters.element_types)

    def _dense(self, question: str, scope: Scope, filters: Filters) -> Mapping[str, float]:
        """Similarities by chunk id, nearest first; asks for more where neighbours are not, or no longer, visible."""
        vector = self.embedder.embed_query(question)
        wanted = CANDIDATES
        while True:
            neighbours = self.vectors.query(vector, wanted, scope)
            known = self.library.chunks([neighbour.id for neighbour in neighbours])
            visible = {chunk_id for chunk_id, chunk in known.items() if filters.passes(chunk)}
            if len(visible) >= CANDIDATES or len(neighbours) < wanted:
                ranked = [neighbour for neighbour in neighbours if neighbour.id in visible]
                return {neighbour.id: neighbour.similarity for neighbour in ranked[:CANDIDATES]}
            wanted *= 4

    def _lexical(self, question: str, scope: Scope) -> Sequence[LexicalMatch]:
        return self.library.lexical(question_terms(question), CANDIDATES, scope)


def _fuse(chunks: Mapping[str, Chunk], rankings: Mapping[str, Mapping[str, float]]) -> list[Hit]:
    """Hits by the sum of their reciprocal ranks; each ranking maps chunk ids to scores, best first."""
    fused: dict[str, float] = {}
    for ranking in rankings.values():
        for rank, chunk_id in enumerate(ranking, 1):
            fused[chunk_id] = fused.get(chunk_id, 0.0) + 1 / (RANK_CONSTANT + rank)
    hits = []
    for chunk_id, score in fused.items():
        if chunk_id in chunks:
            scores = {name: ranking[chunk_id] for name, ranking in rankings.items() if chunk_id in ranking}
            hits.append(Hit(chunks[chunk_id], {"fused": score, **scores}))
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.document_id, hit.chunk.ordinal))


def _coverage(question: str, chunks: Sequence[Chunk]) -> Mapping[str, float]:
    """For each chunk, the largest share of the question's terms that one block says with its headers; best first.

    Rare terms weigh more. Of blocks that say as much, the one that says little else comes first: a row before a letter.
    """
    wanted = frozenset(terms(question))
    said = {chunk.id: [frozenset(terms(_with_headers(chunk, block))) for block in chunk.blocks] for chunk in chunks}
    names = _names_by_document(question, chunks, said)
    frequency = Counter(term for blocks in said.values() for term in wanted & frozenset[str]().union(*blocks))
    weights = {term: inverse_frequency(count, len(chunks)) for term, count in frequency.items()}
    whole = sum(weights.values()) or 1.0

    def best_block(chunk: Chunk) -> tuple[float, float]:
        shares = []
        for block in said[chunk.id]:
            held = wanted & (block | names[chunk.document_id])
            shares.append((sum(weights[term] for term in held) / whole, len(held) / max(len(block), 1)))
        return max(shares)

    ranked = sorted(((best_block(chunk), chunk.id) for chunk in chunks), key=lambda item: item[0], reverse=True)
    return {chunk_id: share for (share, _), chunk_id in ranked}


def _with_headers(chunk: Chunk, block: Block) -> str:
    return f"{chunk.prefix}\n{block.labelled or block.text}"


def _names_by_document(
    question: str, chunks: Sequence[Chunk], said: Mapping[str, Sequence[frozenset[str]]]
) -> Mapping[str, frozenset[str]]:
    """Names of the question that each document says anywhere: it names its company once, and is about it throughout."""
    names = frozenset(term for anchor in anchors(question) if anchor.kind == "name" for term in terms(anchor.text))
    found: dict[str, frozenset[str]] = {}
    for chunk in chunks:
        here = names & frozenset[str]().union(*said[chunk.id])
        found[chunk.document_id] = found.get(chunk.document_id, frozenset()) | here
    return found
