"""Question → hits: dense and lexical neighbours, also in other words and inside the documents it names, ranked."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kb_qa.answers import Filters, Found, Hit, Scope
from kb_qa.asked.concepts import ConceptBook, concept_book
from kb_qa.asked.naming import DocumentNames, closest_name, is_called
from kb_qa.asked.reading import Asked, read_question
from kb_qa.errors import NotFoundError
from kb_qa.figure_terms import question_terms
from kb_qa.guardrails.questions import Anchor
from kb_qa.protocols import ChunkSketch, Embedder, Identity, Library, Reranker, Vectors, VectorStore
from kb_qa.ranking import FEATURES, Candidate, features_of, score
from kb_qa.search_filters import told
from kb_qa.sketch import codes_in, sketch

# Cormack, Clarke and Buettcher 2009: the constant that damps the first ranks.
RANK_CONSTANT = 60
CANDIDATES = 60
# Of these, the best so far are compared with the question block by block.
SHORTLIST = 100
# A cross-encoder reads so many.
RERANKED = 30
# Of hits that named documents may take, so many are left to others.
OTHERS = 2
MOST_SKETCHED = 50_000  # some 40 MB
MOST_VECTORS = 2000  # of questions, 1.5 kB each

# So sure is a document named that its passages crowd nobody out.
SURE = 0.9

Rankings = Mapping[str, Mapping[str, float]]


@dataclass(slots=True)
class _Kept:
    """What one question leaves for the next: the names of one edition of the library, and vectors by model and text."""

    edition: str = ""
    names: DocumentNames = field(default_factory=lambda: DocumentNames({}))
    making: threading.Lock = field(default_factory=threading.Lock)
    vectors: dict[tuple[str, str], Vectors] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retriever:
    """Blocking: call it off the event loop. `library` decides what is visible; the vector store may lag behind it."""

    embedder: Embedder
    vectors: VectorStore
    library: Library
    reranker: Reranker | None = None
    book: ConceptBook = field(default_factory=concept_book)
    _kept: _Kept = field(default_factory=_Kept)
    _sketched: dict[str, bytes] = field(default_factory=dict)  # by chunk id: a chunk's text never changes under its id

    def retrieve(self, question: str, *, k: int, filters: Filters = Filters()) -> tuple[Hit, ...]:
        """At most k hits, best first. Raises NotFoundError where a filter names no document."""
        return self.find(question, k=k, filters=filters).hits

    def find(self, question: str, *, k: int, filters: Filters = Filters(), per_document: int | None = None) -> Found:
        """What `retrieve` says, and which documents the question names.

        With `per_document`, no more hits of one document, unless it was chosen or named: chunks that a context has no
        place for are not read.
        """
        scope = self._scope(filters)
        chosen = scope.document_ids
        asked = read_question(question, self.book)
        named = self.named(asked)
        named = {each: sure for each, sure in named.items() if not chosen or each in chosen}
        sure = frozenset(each for each, surely in named.items() if surely > SURE)
        asked = asked.with_names(self._telling(asked, named)) if named else asked
        vector = self._vector(asked.core)
        with self.library.moment():  # after the model's work: while it lasts, writers wait
            found, sketches = self._found(asked, scope, named, vector)
            ranked = self._ranked(asked, found, sketches, named)
            if per_document is not None and not filters.documents:
                most_named = max(k - OTHERS, 1)
                ranked = _thinned(ranked, sketches, per_document=per_document, named=sure, most_named=most_named)
            hits = self._hits(ranked, found, filters, k=max(k, RERANKED) if self.reranker is not None else k)
        return Found(tuple(self._reranked(question, hits)[:k]), sure)

    def named(self, asked: Asked) -> Mapping[str, float]:
        """How surely the question names each document, 0..1; those that it does not name are left out."""
        return self._names().named_by(asked)

    def _telling(self, asked: Asked, named: Collection[str]) -> Sequence[Anchor]:
        """Those of the question's names by which the documents that it names are called; all, where none is."""
        known = self.identities()
        called = [name for each in named if each in known for name in is_called(known[each])]
        return [name for name in asked.names if any(map(name.is_named_by, called))] or asked.names

    def identities(self) -> Mapping[str, Identity]:
        """What every visible document is called, by its id."""
        return self._names().identities

    def _names(self) -> DocumentNames:
        edition = self.library.edition()
        kept = self._kept
        if edition != kept.edition and kept.making.acquire(blocking=not kept.edition):
            try:  # meanwhile others go by the names of the moment before
                if edition != kept.edition:
                    kept.names = DocumentNames(self.library.identities())
                    kept.edition = edition
            finally:
                kept.making.release()
        return kept.names

    def _vector(self, text: str) -> Vectors:
        """Of a question; of one that was asked lately, that one's."""
        kept, key = self._kept, (self.embedder.id, text)
        vector = kept.vectors.get(key)
        if vector is None:
            vector = self.embedder.embed_query(text)
            if len(kept.vectors) >= MOST_VECTORS:
                kept.vectors.clear()
            kept.vectors[key] = vector
        return vector

    def _found(
        self, asked: Asked, scope: Scope, named: Mapping[str, float], vector: Vectors
    ) -> tuple[Rankings, Mapping[str, ChunkSketch]]:
        """What each search found, and the best of it so far, the best first. `vector` is of the question's core."""
        wanted = question_terms(asked.core)  # its words, and its figures and dates in every form that is indexed
        dense, sketches = self._dense(vector, scope)
        found: dict[str, dict[str, float]] = {
            "dense": dense,
            "lexical": self._lexical(wanted, scope),
            "other": self._lexical(asked.other_terms, scope),
        }
        if named:
            inside = replace(scope, document_ids=tuple(named))
            # By the same vector: one of the question without its names costs as much again, and finds no better (331
            # rows and headings of 8 reports, asked for by company: MRR .766 with it, .790 without).
            found["dense inside"], more = self._dense(vector, inside)
            # There the name tells nothing: every passage is about what it names.
            found["lexical inside"] = self._lexical(question_terms(asked.about), inside)
            found["other inside"] = self._lexical(asked.other_about_terms, inside)
            sketches = {**sketches, **more}
        best = fused(found.values())[:SHORTLIST]
        sketches = {**sketches, **self.library.sketches([each for each in best if each not in sketches])}
        return found, {each: sketches[each] for each in best if each in sketches}

    def _ranked(
        self, asked: Asked, found: Rankings, sketches: Mapping[str, ChunkSketch], named: Mapping[str, float]
    ) -> list[tuple[str, Mapping[str, float]]]:
        """Chunk ids with their scores, best first."""
        candidates = self._candidates([*sketches.values()])
        features = features_of(asked, candidates, found, named)
        totals = score(features.matrix)
        order = sorted(range(len(candidates)), key=lambda row: (-totals[row], candidates[row].document_id, row))
        coverage = FEATURES.index("coverage")
        return [
            (
                candidates[row].id,
                {
                    "fused": float(totals[row]),
                    "coverage": float(features.matrix[row, coverage]),
                    "support": float(features.support[row]),
                },
            )
            for row in order
        ]

    def _candidates(self, shortlist: Sequence[ChunkSketch]) -> Sequence[Candidate]:
        """Sketches that were not stored are made of the chunks' text, once."""
        unknown = [each.id for each in shortlist if each.codes is None and each.id not in self._sketched]
        if len(self._sketched) > MOST_SKETCHED:
            self._sketched.clear()
        for chunk in self.library.chunks(unknown).values() if unknown else ():
            self._sketched[chunk.id] = sketch(chunk)
        return [
            Candidate(
                each.id,
                each.document_id,
                each.ordinal,
                each.element_type,
                () if each.page is None else (each.page,),
                codes_in(each.codes if each.codes is not None else self._sketched.get(each.id, b"")),
            )
            for each in shortlist
        ]

    def _hits(
        self, ranked: Sequence[tuple[str, Mapping[str, float]]], found: Rankings, filters: Filters, *, k: int
    ) -> list[Hit]:
        """The best k that pass the filters: no more chunks are read than are needed."""
        hits: list[Hit] = []
        for start in range(0, len(ranked), max(k, 1)):
            part = ranked[start : start + k]
            chunks = self.library.chunks([chunk_id for chunk_id, _ in part])
            for chunk_id, scores in part:
                if chunk_id in chunks and filters.passes(chunks[chunk_id]):
                    # Those of a search inside named documents under the same names: each is the best that is known.
                    searched = {
                        name.partition(" ")[0]: each[chunk_id] for name, each in found.items() if chunk_id in each
                    }
                    hits.append(Hit(chunks[chunk_id], {**scores, **searched}))
            if len(hits) >= k:
                break
        return hits[:k]

    def _reranked(self, question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The best of the ranked hits in the cross-encoder's order, where there is one; the rest stay behind them."""
        if self.reranker is None:
            return hits
        head, rest = hits[:RERANKED], hits[RERANKED:]
        scores = self.reranker.score(question, [hit.chunk.embedded_text for hit in head])
        scored = [replace(hit, scores={**hit.scores, "rerank": score}) for hit, score in zip(head, scores, strict=True)]
        return [*sorted(scored, key=lambda hit: -hit.scores["rerank"]), *rest]

    def _scope(self, filters: Filters) -> Scope:
        """Raises NotFoundError where the filters leave no document, or name one that there is not."""
        if not filters.choose_documents:
            return Scope((), filters.pages, filters.element_types)
        document_ids = self.library.resolve(filters.documents, filters.folder, since=filters.since, until=filters.until)
        if len(document_ids) < len(filters.documents):
            for name in filters.documents:
                if not self.library.resolve([name]):
                    raise NotFoundError(_unknown(repr(name), closest_name(name, self.identities())))
        if not document_ids:
            raise NotFoundError(_unknown(told(filters)))
        return Scope(tuple(document_ids), filters.pages, filters.element_types)

    def _dense(self, vector: Vectors, scope: Scope) -> tuple[dict[str, float], Mapping[str, ChunkSketch]]:
        """Similarities by chunk id, nearest first; asks for more where neighbours are not, or no longer, visible."""
        if scope.document_ids and not scope.pages and not scope.element_types:
            nearest = self.library.nearest(vector, CANDIDATES, scope.document_ids, self.embedder.id)
            if nearest is not None:
                return {each.id: each.similarity for each in nearest}, {}
        wanted = CANDIDATES
        while True:
            neighbours = self.vectors.query(vector, wanted, scope)
            visible = self.library.sketches([neighbour.id for neighbour in neighbours])
            if len(visible) >= CANDIDATES or len(neighbours) < wanted:
                ranked = [neighbour for neighbour in neighbours if neighbour.id in visible]
                return {neighbour.id: neighbour.similarity for neighbour in ranked[:CANDIDATES]}, visible
            wanted *= 4

    def _lexical(self, wanted: Sequence[str], scope: Scope) -> dict[str, float]:
        found = self.library.lexical([*dict.fromkeys(wanted)], CANDIDATES, scope) if wanted else ()
        return {match.id: match.score for match in found}


def fused(rankings: Iterable[Mapping[str, float]]) -> list[str]:
    """Ids by the sum of their reciprocal ranks; each ranking is in order, best first."""
    sums: dict[str, float] = {}
    for ranking in rankings:
        for rank, chunk_id in enumerate(ranking, 1):
            sums[chunk_id] = sums.get(chunk_id, 0.0) + 1 / (RANK_CONSTANT + rank)
    return sorted(sums, key=lambda chunk_id: (-sums[chunk_id], chunk_id))


def _unknown(wanted: str, meant: str = "") -> str:
    guess = f" (is {meant!r} meant?)" if meant else ""
    return f"no document that can be asked matches {wanted}{guess}; `kb-qa documents` lists them"


def _thinned(
    ranked: Sequence[tuple[str, Mapping[str, float]]],
    sketches: Mapping[str, ChunkSketch],
    *,
    per_document: int,
    named: Collection[str],
    most_named: int,
) -> list[tuple[str, Mapping[str, float]]]:
    """At most so many of each document; of the named ones so many together that some of others are left."""
    seen: Counter[str] = Counter()
    kept = []
    for chunk_id, scores in ranked:
        document_id = sketches[chunk_id].document_id
        counted = "named" if document_id in named else document_id
        seen[counted] += 1
        if seen[counted] <= (most_named if document_id in named else per_document):
            kept.append((chunk_id, scores))
    return kept
