"""What the stages ask of the outside: one narrow protocol per system. The fakes are in `kb_qa.testing`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kb_qa.answers import (
    EVERYTHING,
    AnswerEvent,
    BlockCitation,
    Context,
    Decision,
    Filters,
    Found,
    Hit,
    KeptAnswer,
    ModelEvent,
    Question,
    Scope,
    Turn,
)
from kb_qa.document_record import DocumentRecord
from kb_qa.elements import Chunk, Element, ElementType, Word
from kb_qa.geometry import Page, Region

Vectors = NDArray[np.float32]
Metadata = Mapping[str, str | int | float | bool]


class Embedder(Protocol):
    """`id` and `dimension` are stored with the index; another model means a re-index."""

    @property
    def id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), rows of length 1."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimension,), of length 1."""
        ...


class Reranker(Protocol):
    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """One score per passage; higher is better."""
        ...


@dataclass(frozen=True, slots=True)
class Neighbour:
    id: str
    similarity: float  # cosine, -1..1


class Retrieval(Protocol):
    def retrieve(self, question: str, *, k: int, filters: Filters = Filters()) -> Sequence[Hit]:
        """At most k hits, best first. Blocking. Raises NotFoundError where the filters leave no document."""
        ...

    def find(self, question: str, *, k: int, filters: Filters = Filters(), per_document: int | None = None) -> Found:
        """What `retrieve` says, and which documents the question names; at most `per_document` hits of any other."""
        ...

    def identities(self) -> Mapping[str, Identity]:
        """What every visible document is called, by its id."""
        ...


class VectorStore(Protocol):
    """An index that can be thrown away: all it holds comes back from the ledger."""

    def upsert(self, ids: Sequence[str], vectors: Vectors, metadatas: Sequence[Metadata]) -> None:
        """Any number of rows, also none; rows whose id is known are replaced."""
        ...

    def delete(self, ids: Sequence[str]) -> None: ...

    def query(self, vector: Vectors, k: int, scope: Scope = EVERYTHING) -> Sequence[Neighbour]:
        """At most k neighbours within the scope, nearest first."""
        ...

    def count(self) -> int: ...


@dataclass(frozen=True, slots=True)
class LexicalMatch:
    id: str
    score: float  # higher is better


@dataclass(frozen=True, slots=True)
class ChunkSketch:
    """What ranking needs of a chunk. `codes` are its terms (`sketch.codes_in`); None where none were stored."""

    id: str
    document_id: str
    ordinal: int
    element_type: ElementType
    page: int | None
    codes: bytes | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """What one document is called: the names of its files, its title, and by itself (`identity.called`)."""

    document_id: str
    names: tuple[str, ...] = ()
    title: str = ""
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unrelated:
    """How strong the best passages of unrelated questions are, by language (`calibrate`): what is no evidence.

    `chunks` counts those of the index on which it was measured.
    """

    embedder: str
    chunks: int
    near: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """The facts of one element, as the guard packed them when its document was parsed.

    `locale` is the document's, `reading` names how they were read. `packed` is None where they were not.
    """

    packed: bytes | None
    locale: str = ""
    reading: str = ""


class Sessions(Protocol):
    """What was asked in each session; old turns and old sessions are forgotten."""

    def turns(self, session_id: str, count: int) -> Sequence[Turn]:
        """The last `count` turns, oldest first; none for a session that nothing is known of."""
        ...

    def add_turn(self, session_id: str, turn: Turn) -> int:
        """Keeps the turn as the session's last; its ordinal, whatever the given one's was."""
        ...


class Library(Sessions, Protocol):
    """The read side's view of the ledger. Only versions that are ready are seen, by every method."""

    def name(self) -> str:
        """What readers call the knowledge base."""
        ...

    def moment(self) -> AbstractContextManager[None]:
        """All that this thread reads inside is of one moment. Keep it short: writers wait for it."""
        ...

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]: ...

    def nearest(
        self, vector: Vectors, k: int, document_ids: Sequence[str], embedder: str
    ) -> Sequence[Neighbour] | None:
        """The k nearest chunks of these documents, by vectors of this model; None where a vector store has to say."""
        ...

    def sketches(self, ids: Sequence[str]) -> Mapping[str, ChunkSketch]:
        """By id; an id that is not visible is left out."""
        ...

    def chunk_ids_at(self, places: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        """By document id and ordinal; a place where nothing visible stands is left out."""
        ...

    def unrelated(self) -> Unrelated | None:
        """None before it was measured."""
        ...

    def edition(self) -> str:
        """Changes whenever a document becomes visible, goes, or is called otherwise. Cheap."""
        ...

    def identities(self) -> Mapping[str, Identity]:
        """By document id."""
        ...

    def document_chunks(self, document_id: str) -> Sequence[Chunk]:
        """All of a document, in order."""
        ...

    def page_texts(self, document_id: str) -> Mapping[int | None, str]:
        """All that was read of each page, headers and footers too, but nothing hidden or written by a model.

        None is the page of what has none; an element on several pages is said on each.
        """
        ...

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope = EVERYTHING,
        *,
        phrases: Sequence[Sequence[str]] = (),
    ) -> Sequence[LexicalMatch]:
        """The k best chunks of the scope holding any of the terms, best first.

        With `phrases` only chunks that hold each of them: its terms side by side, in this order.
        """
        ...

    def element(self, element_id: str) -> Element | None:
        """The element with its words and table."""
        ...

    def words(self, element_ids: Sequence[str]) -> Mapping[str, Sequence[Word]]: ...

    def facts(self, element_ids: Sequence[str]) -> Mapping[str, StoredFacts]:
        """By element id; an element that is not known is left out."""
        ...

    def page(self, document_id: str, number: int) -> Page | None: ...

    def pages(self, document_id: str) -> Sequence[Page]: ...

    def elements_on(self, document_id: str, number: int) -> Sequence[Element]:
        """What was read of the page, in reading order."""
        ...

    def elements_from(self, document_id: str, first: int, count: int) -> Sequence[Element]:
        """At most `count` of a document in reading order, pages or not, from the one with this `order` on."""
        ...

    def flags(self, document_id: str) -> Sequence[str]:
        """What a reader should know of the document, such as pages that could not be read."""
        ...

    def documents(self) -> Sequence[DocumentRecord]:
        """Every document, ready or not."""
        ...

    def document(self, document_id: str) -> DocumentRecord | None:
        """One of them."""
        ...

    def is_empty(self) -> bool:
        """Whether no document is ready."""
        ...

    def resolve(self, names: Sequence[str], folder: str = "", *, since: str = "", until: str = "") -> Sequence[str]:
        """Ids of the ready documents with these ids or names (letter case does not matter), or in the folder.

        Of them, or of all where neither is given, those dated within the days `since` and `until`.
        """
        ...

    def save_answer(self, answer_id: str, question: str, events: Sequence[AnswerEvent]) -> None: ...

    def answer(self, answer_id: str) -> Sequence[AnswerEvent] | None: ...

    def newest_answers(self, limit: int, before: str = "") -> Sequence[KeptAnswer]: ...

    def save_decision(self, decision: Decision) -> None:
        """Replaces what was decided of this figure before."""
        ...

    def decisions(self, answer_id: str = "") -> Sequence[Decision]:
        """Those of one answer by figure, or all of them, the oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class IndexRows:
    """Some chunks of one version with their vectors, row for row."""

    chunks: tuple[Chunk, ...]
    vectors: Vectors


class VectorIndex(VectorStore, Protocol):
    """A vector store as its owner sees it."""

    def clear(self) -> None:
        """Every row gone."""
        ...

    def fingerprint(self) -> str:
        """A digest of all that is stored; two equal ones mean that nothing was lost, damaged or put back."""
        ...


class IndexLedger(Protocol):
    """The index owner's view of the ledger."""

    def versions_in(self, state: str) -> Sequence[int]:
        """Ids of the versions in this state, oldest first."""
        ...

    def index_rows(self, version: int) -> Iterator[IndexRows]:
        """The version's chunks in order, some thousand at a time."""
        ...

    def indexed_count(self) -> int:
        """How many chunks all ready versions have: what the index must hold."""
        ...

    def publish(self, version: int) -> bool:
        """The flip from indexing to ready, replaced versions gone in the same moment; False if it was deleted."""
        ...

    def tombstones(self) -> Sequence[str]:
        """Ids of chunks that are gone from the ledger and may still stand in the index."""
        ...

    def forget_tombstones(self, ids: Sequence[str]) -> None: ...

    def purge(self) -> int:
        """Removes the rows of versions being deleted; how many versions."""
        ...

    def index_seal(self) -> str:
        """The index's fingerprint when it was last complete; empty while it is written."""
        ...

    def seal_index(self, seal: str) -> None: ...

    def embedder(self) -> tuple[str, int] | None:
        """Id and dimension of the model that made the vectors; None before the first."""
        ...

    def uncalled(self) -> Sequence[int]:
        """Ids of the ready versions of which it is not stored yet what their documents are called."""
        ...

    def outline(self, version: int) -> Sequence[Element]:
        """The version's elements in order, without words and tables."""
        ...

    def store_called(self, version: int, called: Sequence[str]) -> None: ...


class PagePlaces(Protocol):
    def blocks(self, context: Context, pages: range, quote: str) -> Sequence[BlockCitation]:
        """The blocks of the materials that a quote stands in, on these pages (from 1); none where it does not.

        Blocking.
        """
        ...


class AnswerModel(Protocol):
    """Writes an answer from materials. Yields text and the blocks it rests on, then exactly one `ModelStop`.

    Raises `ModelError`. Whatever it writes is checked: it is not trusted.
    """

    @property
    def id(self) -> str: ...

    @property
    def file_window(self) -> int:
        """The tokens of its window where a context's whole file reaches it; 0 where it does not."""
        ...

    def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]: ...


class RegionPictures(Protocol):
    async def png(self, document_id: str, region: Region) -> bytes:
        """The region as a reader sees it. Raises KbQaError where there is no picture of it."""
        ...


class QuestionRewriter(Protocol):
    """Makes a question that takes up earlier ones stand alone. Raises `ModelError`.

    What it writes is checked (`follow_ups.acceptance`) and replaced where it says more than was asked.
    """

    async def rewrite(self, turns: Sequence[Turn], question: str) -> str:
        """`question` itself where it stands alone already; `turns` are some of the last ones, oldest first."""
        ...
