"""What the stages ask of the outside: one narrow protocol per system. The fakes are in `kb_qa.testing`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kb_qa.answers import AnswerEvent, Context, ModelEvent, Question
from kb_qa.elements import Chunk, Element, Word
from kb_qa.geometry import Page

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


class VectorStore(Protocol):
    """An index that can be thrown away: all it holds comes back from the ledger."""

    def upsert(self, ids: Sequence[str], vectors: Vectors, metadatas: Sequence[Metadata]) -> None:
        """Any number of rows, also none; rows whose id is known are replaced."""
        ...

    def delete(self, ids: Sequence[str]) -> None: ...

    def query(self, vector: Vectors, k: int, document_ids: Sequence[str] = ()) -> Sequence[Neighbour]:
        """At most k neighbours, nearest first; only of `document_ids` where any are given."""
        ...

    def count(self) -> int: ...


@dataclass(frozen=True, slots=True)
class LexicalMatch:
    id: str
    score: float  # higher is better


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document as listed: `names` are all the names its bytes were seen under, `reason` and `code` why it is not
    ready: a sentence in English, and the error's code.
    """

    document_id: str
    names: tuple[str, ...]
    state: str
    pages: int
    chunks: int
    parser: str
    flags: tuple[str, ...]
    reason: str
    size: int = 0
    code: str = ""


class Library(Protocol):
    """The read side's view of the ledger. Only versions that are ready are seen, by every method."""

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]: ...

    def lexical(self, terms: Sequence[str], k: int, document_ids: Sequence[str] = ()) -> Sequence[LexicalMatch]:
        """The k best chunks holding any of the terms, best first."""
        ...

    def element(self, element_id: str) -> Element | None:
        """The element with its words and table."""
        ...

    def words(self, element_ids: Sequence[str]) -> Mapping[str, Sequence[Word]]: ...

    def page(self, document_id: str, number: int) -> Page | None: ...

    def flags(self, document_id: str) -> Sequence[str]:
        """What a reader should know of the document, such as pages that could not be read."""
        ...

    def documents(self) -> Sequence[DocumentRecord]:
        """Every document, ready or not."""
        ...

    def is_empty(self) -> bool:
        """Whether no document is ready."""
        ...

    def resolve(self, names: Sequence[str], folder: str = "") -> Sequence[str]:
        """Ids of the ready documents with these ids or names (letter case does not matter), or in the folder."""
        ...

    def save_answer(self, answer_id: str, question: str, events: Sequence[AnswerEvent]) -> None: ...

    def answer(self, answer_id: str) -> Sequence[AnswerEvent] | None: ...


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


class AnswerModel(Protocol):
    """Writes an answer from materials. Yields text and the blocks it rests on, then exactly one `ModelStop`.

    Raises `ModelError`. Whatever it writes is checked: it is not trusted.
    """

    @property
    def id(self) -> str: ...

    def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]: ...
