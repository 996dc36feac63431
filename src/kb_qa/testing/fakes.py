"""In-memory stand-ins for what the stages ask of the outside: deterministic and fast."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kb_qa.answers import EVERYTHING, AnswerEvent, Context, Decision, KeptAnswer, ModelEvent, Question, Scope, Turn
from kb_qa.document_record import DocumentRecord
from kb_qa.elements import Chunk, Element, Word
from kb_qa.errors import NotFoundError
from kb_qa.geometry import Page
from kb_qa.jobs import Job
from kb_qa.protocols import (
    ChunkSketch,
    Identity,
    LexicalMatch,
    Metadata,
    Neighbour,
    StoredFacts,
    Unrelated,
    Vectors,
)
from kb_qa.records import metadata_of

_TOKEN = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class HashEmbedder:
    """Bags of hashed words: texts that share words are near one another. No model, same vector everywhere."""

    dimension: int = 64
    id: str = "hash"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        matrix = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for token in _TOKEN.findall(text.lower()) or [""]:
                digest = hashlib.sha256(token.encode()).digest()
                matrix[row, int.from_bytes(digest[:4], "big") % self.dimension] += 1
        unit: Vectors = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9).astype(np.float32)
        return unit

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector


def newest_first(answers: Mapping[str, Sequence[AnswerEvent]], limit: int, before: str) -> Sequence[KeptAnswer]:
    """Answers by id in the order in which they were stored → as `Library.newest_answers` gives them."""
    ids = [*answers]
    if before and before not in ids:
        raise NotFoundError("there is no answer with this id")
    older = ids[: ids.index(before)] if before else ids
    return [
        KeptAnswer(each, str(answers[each][0].data.get("question", "")), float(ids.index(each)), tuple(answers[each]))
        for each in older[::-1][:limit]
    ]


@dataclass(slots=True)
class InMemoryVectorStore:
    """Exact search over rows kept in a dict."""

    rows: dict[str, tuple[Vectors, Metadata]] = field(default_factory=dict)

    def upsert(self, ids: Sequence[str], vectors: Vectors, metadatas: Sequence[Metadata]) -> None:
        for row_id, vector, metadata in zip(ids, vectors, metadatas, strict=True):
            self.rows[row_id] = (vector, metadata)

    def delete(self, ids: Sequence[str]) -> None:
        for row_id in ids:
            self.rows.pop(row_id, None)

    def query(self, vector: Vectors, k: int, scope: Scope = EVERYTHING) -> Sequence[Neighbour]:
        found = [
            Neighbour(row_id, float(row @ vector))
            for row_id, (row, metadata) in self.rows.items()
            if _is_within(metadata, scope)
        ]
        return sorted(found, key=lambda neighbour: (-neighbour.similarity, neighbour.id))[:k]

    def count(self) -> int:
        return len(self.rows)


@dataclass(slots=True)
class InMemoryLibrary:
    """A ledger's read side over given chunks and elements; every document is ready.

    `lexical` counts the terms that the text holds; a phrase is held where its terms are.
    """

    all_chunks: Sequence[Chunk] = ()
    elements: Sequence[Element] = ()
    pages: Mapping[tuple[str, int], Page] = field(default_factory=dict)
    document_flags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    answers: dict[str, tuple[AnswerEvent, ...]] = field(default_factory=dict)
    decided: dict[tuple[str, int], Decision] = field(default_factory=dict)
    stored_facts: Mapping[str, StoredFacts] = field(default_factory=dict)
    sessions: dict[str, list[Turn]] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)  # days by document id
    called: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    measured: Unrelated | None = None

    def name(self) -> str:
        return "in memory"

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        return {chunk.id: chunk for chunk in self.all_chunks if chunk.id in ids}

    def moment(self) -> AbstractContextManager[None]:
        return nullcontext()

    def nearest(
        self, vector: Vectors, k: int, document_ids: Sequence[str], embedder: str
    ) -> Sequence[Neighbour] | None:
        return None

    def sketches(self, ids: Sequence[str]) -> Mapping[str, ChunkSketch]:
        return {
            each.id: ChunkSketch(each.id, each.document_id, each.ordinal, each.element_type, each.page)
            for each in self.chunks(ids).values()
        }

    def chunk_ids_at(self, places: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        found = {(each.document_id, each.ordinal): each.id for each in self.all_chunks}
        return {place: found[place] for place in places if place in found}

    def unrelated(self) -> Unrelated | None:
        return self.measured

    def edition(self) -> str:
        return str(len(self.all_chunks))

    def identities(self) -> Mapping[str, Identity]:
        """By the names of the chunks' sources, and what `called` says."""
        return {
            each.document_id: Identity(each.document_id, each.names, called=self.called.get(each.document_id, ()))
            for each in self.documents()
        }

    def document_chunks(self, document_id: str) -> Sequence[Chunk]:
        found = (chunk for chunk in self.all_chunks if chunk.document_id == document_id)
        return sorted(found, key=lambda chunk: chunk.ordinal)

    def page_texts(self, document_id: str) -> Mapping[int | None, str]:
        """Of its elements."""
        texts: dict[int | None, list[str]] = {}
        for element in self.elements:
            if element.document_id == document_id and not element.hidden and element.origin != "caption":
                pages: set[int | None] = {region.page for region in element.regions}
                for page in pages or {None}:
                    texts.setdefault(page, []).append(element.text)
        return {page: "\n".join(parts) for page, parts in texts.items()}

    def lexical(
        self,
        terms: Sequence[str],
        k: int,
        scope: Scope = EVERYTHING,
        *,
        phrases: Sequence[Sequence[str]] = (),
    ) -> Sequence[LexicalMatch]:
        wanted = set(terms).union(*phrases)
        scored = [
            LexicalMatch(chunk.id, float(sum(_holds(chunk.embedded_text, term) for term in wanted)))
            for chunk in self.all_chunks
            if _is_within(metadata_of(chunk), scope)
            and all(_holds(chunk.embedded_text, term) for phrase in phrases for term in phrase)
        ]
        found = sorted((match for match in scored if match.score), key=lambda match: (-match.score, match.id))
        return found[:k]

    def element(self, element_id: str) -> Element | None:
        return next((element for element in self.elements if element.id == element_id), None)

    def words(self, element_ids: Sequence[str]) -> Mapping[str, Sequence[Word]]:
        return {element.id: element.words for element in self.elements if element.id in element_ids}

    def facts(self, element_ids: Sequence[str]) -> Mapping[str, StoredFacts]:
        """Those that were given; the others were not read yet."""
        known = {element.id for element in self.elements} | self.stored_facts.keys()
        return {each: self.stored_facts.get(each, StoredFacts(None)) for each in element_ids if each in known}

    def page(self, document_id: str, number: int) -> Page | None:
        return self.pages.get((document_id, number))

    def flags(self, document_id: str) -> Sequence[str]:
        return self.document_flags.get(document_id, ())

    def documents(self) -> Sequence[DocumentRecord]:
        by_id: dict[str, list[Chunk]] = {}
        for chunk in self.all_chunks:
            by_id.setdefault(chunk.document_id, []).append(chunk)
        return [
            DocumentRecord(
                document_id=document_id,
                names=(chunks[0].source,),
                state="ready",
                pages=sum(1 for key in self.pages if key[0] == document_id),
                chunks=len(chunks),
                parser="testing",
                flags=(),
                reason="",
            )
            for document_id, chunks in sorted(by_id.items())
        ]

    def document(self, document_id: str) -> DocumentRecord | None:
        return next((record for record in self.documents() if record.document_id == document_id), None)

    def is_empty(self) -> bool:
        return not self.all_chunks

    def resolve(self, names: Sequence[str], folder: str = "", *, since: str = "", until: str = "") -> Sequence[str]:
        wanted = {name.lower() for name in names}
        return [
            record.document_id
            for record in self.documents()
            if wanted & {record.document_id, *(name.lower() for name in record.names)}
            or (folder and any(name.startswith(f"{folder}/") for name in record.names))
            or not (wanted or folder)
            if not (since or until) or (since or "0") <= self.dates.get(record.document_id, "") <= (until or "9")
        ]

    def save_answer(self, answer_id: str, question: str, events: Sequence[AnswerEvent]) -> None:
        self.answers[answer_id] = tuple(events)

    def answer(self, answer_id: str) -> Sequence[AnswerEvent] | None:
        return self.answers.get(answer_id)

    def newest_answers(self, limit: int, before: str = "") -> Sequence[KeptAnswer]:
        return newest_first(self.answers, limit, before)

    def save_decision(self, decision: Decision) -> None:
        self.decided[decision.answer_id, decision.n] = decision

    def decisions(self, answer_id: str = "") -> Sequence[Decision]:
        found = [each for key, each in sorted(self.decided.items()) if answer_id in ("", key[0])]
        return found if answer_id else sorted(found, key=lambda each: each.decided)

    def turns(self, session_id: str, count: int) -> Sequence[Turn]:
        return self.sessions.get(session_id, [])[-count:]

    def add_turn(self, session_id: str, turn: Turn) -> int:
        kept = self.sessions.setdefault(session_id, [])
        kept.append(replace(turn, ordinal=len(kept) + 1))
        return len(kept)


@dataclass(slots=True)
class ScriptedModel:
    """Replies from a queue, one list of events a question; an exception in the list is raised at its place."""

    replies: list[Sequence[ModelEvent | Exception]]
    id: str = "scripted"
    file_window: int = 0
    asked: list[tuple[Question, Context]] = field(default_factory=list)

    async def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]:
        self.asked.append((question, context))
        for event in self.replies.pop(0):
            if isinstance(event, Exception):
                raise event
            yield event


@dataclass(slots=True)
class InMemoryJobs:
    """A `JobQueue` whose worker is the test: `say` is what a worker would report."""

    jobs: dict[int, Job] = field(default_factory=dict)
    settled: dict[int, list[Mapping[str, Any]]] = field(default_factory=dict)

    def add(self, kind: str, arguments: Mapping[str, Any]) -> int:
        job_id = len(self.jobs) + 1
        self.jobs[job_id] = Job(job_id, kind, dict(arguments), "queued", 0, {})
        return job_id

    def say(self, job_id: int, state: str, outcomes: Sequence[Mapping[str, Any]] = (), **report: Any) -> None:
        self.settled.setdefault(job_id, []).extend(outcomes)
        self.jobs[job_id] = replace(self.get(job_id), state=state, attempts=1, report=report)

    def get(self, job_id: int) -> Job:
        if job_id not in self.jobs:
            raise NotFoundError(f"no job {job_id}")
        return self.jobs[job_id]

    def outcomes(self, job_id: int, after: int = 0) -> Sequence[Mapping[str, Any]]:
        return self.settled.get(job_id, [])[after:]

    def waiting(self) -> int:
        return sum(not job.is_over for job in self.jobs.values())


@dataclass(slots=True)
class InMemorySpending:
    """By day, in billionths of a US dollar."""

    days: dict[str, int] = field(default_factory=dict)

    def spent(self, day: str) -> int:
        return self.days.get(day, 0)

    def add(self, day: str, amount: int) -> None:
        self.days[day] = self.spent(day) + amount


@dataclass(slots=True)
class ScriptedRewriter:
    """Rewrites from a queue; an exception in it is raised, and a number is how many seconds it takes to say nothing."""

    replies: list[str | Exception | float]
    asked: list[tuple[tuple[Turn, ...], str]] = field(default_factory=list)

    async def rewrite(self, turns: Sequence[Turn], question: str) -> str:
        self.asked.append((tuple(turns), question))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            return reply
        await asyncio.sleep(reply)
        return ""


def _is_within(metadata: Metadata, scope: Scope) -> bool:
    if scope.document_ids and metadata["document_id"] not in scope.document_ids:
        return False
    if scope.element_types and metadata["element_type"] not in scope.element_types:
        return False
    first, last = int(metadata.get("page", 0)), int(metadata.get("last_page", 0))
    return not scope.pages or any(low <= last and first <= high for low, high in scope.page_runs)


def _holds(text: str, term: str) -> bool:
    """Terms are stems: a word that begins with one holds it."""
    return re.search(rf"(?<![a-z0-9]){re.escape(term)}", text.lower()) is not None
