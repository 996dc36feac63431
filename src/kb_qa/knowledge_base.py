"""The read side's one statement of order: question → retrieve → build_context → generate → check → cite."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from kb_qa.answers import AnswerEvent, Context, Filters, Hit, LevelChoice, Question, Refusal
from kb_qa.around import beside
from kb_qa.asked.naming import is_called
from kb_qa.choose import CONTEXT_TOKENS, PER_DOCUMENT, Room
from kb_qa.citation import worst_quality
from kb_qa.cite import AnswerWriter
from kb_qa.conversation import Conversation
from kb_qa.errors import EnvironmentProblemError, InputError, KbQaError, MissingIndexError
from kb_qa.evidence import materials_of_context
from kb_qa.generate import model_events
from kb_qa.guardrails.gate import Gate
from kb_qa.guardrails.languages import language_of
from kb_qa.guardrails.policies import STRICT, Policy
from kb_qa.meters import Stages
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.prompts import MOST_CAPTIONS, build_context
from kb_qa.protocols import AnswerModel, Library, QuestionRewriter, Retrieval
from kb_qa.refuse import before_generation, message_language
from kb_qa.transcript import Transcript
from kb_qa.whole_document import about_whole, read_whole

log = logging.getLogger(__name__)

# Hits asked for beyond what a context holds: descriptions of pictures among them take no place of print.
SPARE = 8


class _Untimed:
    def timed(self, stage: str) -> AbstractContextManager[None]:
        return nullcontext()


_UNTIMED = _Untimed()


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """Questions to one set of documents. Opened and closed by `wiring`. `original` finds a document's own file."""

    retriever: Retrieval
    library: Library
    model: AnswerModel
    original: Callable[[str], Path]
    top_k: int = 8
    per_document: int = PER_DOCUMENT
    context_tokens: int = CONTEXT_TOKENS
    trust_file_names: bool = False
    policy: Policy = STRICT
    rewriter: QuestionRewriter | None = None
    stages: Stages = _UNTIMED

    async def ask(
        self,
        question: str,
        *,
        filters: Filters = Filters(),
        level: LevelChoice = "auto",
        session_id: str = "",
        whole: str = "",
    ) -> AsyncGenerator[AnswerEvent]:
        """The answer as ordered events, stored under its id when the last one is out or nobody listens any more.

        With a `session_id`, a question may take up the ones asked there before. `whole` is the name or id of the one
        document that is asked about as a whole. An error that a reader should know of is the last event, in place of
        `end`.
        """
        asked = Question(question, language_of(question), filters, level)
        transcript = Transcript(
            secrets.token_hex(16), asked, self.library.page, self.library.flags, session_id=session_id
        )
        conversation = Conversation(self.library, session_id, self.rewriter)
        try:
            if whole:
                asked = await asyncio.to_thread(about_whole, asked, whole, self.library)
            with self.stages.timed("resolve"):
                transcript.question = await conversation.resolve(asked)
            async with aclosing(self._answer(transcript.question, transcript)) as events:
                async for event in events:
                    if event.event == "end":  # whoever sees it may ask on at once
                        await conversation.remember(transcript)
                    yield event
        except KbQaError as error:
            weight = logging.INFO if isinstance(error, InputError) else logging.WARNING  # the asker is told all of it
            log.log(weight, "answer %s failed: %s", transcript.answer_id, error)
            yield transcript.error(error)
        finally:
            await asyncio.shield(self._save(transcript, conversation))

    async def draft(self, question: str) -> Sequence[AnswerEvent]:
        """An answer that only quotes, kept nowhere: whether the documents answer the question, at no model's cost."""
        asked = Question(question, language_of(question))
        transcript = Transcript(secrets.token_hex(16), asked, self.library.page, self.library.flags)
        quoting = replace(self, model=ExtractiveModel(), stages=_UNTIMED)
        async with aclosing(quoting._answer(asked, transcript)) as events:
            return [event async for event in events]

    async def search(self, question: str, *, k: int, filters: Filters = Filters()) -> Sequence[Hit]:
        """At most k hits, best first. Raises MissingIndexError where nothing can be found because nothing is there."""
        with self.stages.timed("retrieve"):
            hits = await asyncio.to_thread(self.retriever.retrieve, question, k=k, filters=filters)
        if not hits:
            await asyncio.to_thread(self._require_documents)
        return await asyncio.to_thread(self._graded, hits)

    def _graded(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        return [
            replace(hit, quality=worst_quality(self.library.page(hit.chunk.document_id, number) for number in numbers))
            for hit in hits
            for numbers in [{region.page for region in hit.chunk.regions}]
        ]

    async def _answer(self, question: Question, transcript: Transcript) -> AsyncGenerator[AnswerEvent]:
        yield transcript.start(model=self.model.id, policy=self.policy.id, policy_hash=self.policy.hash)
        context, instead = await self._read(question)
        yield await asyncio.to_thread(transcript.sources, context, instead)
        with self.stages.timed("answer"):
            async with aclosing(self._written(question, context, transcript)) as events:
                async for event in events:
                    yield event

    async def _written(
        self, question: Question, context: Context, transcript: Transcript
    ) -> AsyncGenerator[AnswerEvent]:
        materials = await asyncio.to_thread(materials_of_context, context, self.library, self.policy)
        gate = Gate(question.text, context, materials, self.policy, language=message_language(question))
        writer = AnswerWriter(question, context, self.library, transcript, gate)
        refusal = await asyncio.to_thread(self._refused, question, context)
        if refusal is None:
            given = replace(context, figures=materials.ledger_lines(), called=self._called(context))
            async with aclosing(model_events(self.model, question, given)) as said:
                async for each in said:
                    for event in await asyncio.to_thread(writer.write, each):
                        yield event
                    if gate.stopped:
                        break
            refusal = writer.refusal()
        if refusal is not None:
            yield transcript.refusal(refusal, searched=await asyncio.to_thread(self._searched, question.filters))
        for event in writer.close():
            yield event

    async def _read(self, question: Question) -> tuple[Context, str]:
        """What the answer rests on; and why a document that was asked about as a whole goes in passages instead."""
        instead = ""
        if question.whole:
            found = await asyncio.to_thread(
                read_whole, question, self.library, self.original, window=self.model.file_window
            )
            if isinstance(found, Context):
                return found, ""
            instead = found
        return await asyncio.to_thread(self._passages, question), instead

    def _passages(self, question: Question) -> Context:
        most = None if len(self.retriever.identities()) == 1 else self.per_document  # alone, it crowds nobody out
        with self.stages.timed("retrieve"):
            found = self.retriever.find(
                question.text,
                k=self.top_k + SPARE,
                filters=question.filters,
                per_document=None if most is None else most + MOST_CAPTIONS,
            )
        if not found.hits:
            self._require_documents()
        with self.stages.timed("context"):
            context = build_context(
                question,
                found.hits,
                limit=self.top_k,
                per_document=most,
                room=Room(self.context_tokens, found.named, beside(found.hits, self.library, question.filters)),
                trust_file_names=self.trust_file_names,
            )
            return replace(context, named=found.named)

    def _called(self, context: Context) -> Mapping[str, Sequence[str]]:
        known = self.retriever.identities()
        documents = {material.chunk.document_id for material in context.materials}
        return {each: is_called(known[each]) for each in documents if each in known}

    def _searched(self, filters: Filters) -> int:
        """How many documents the question was put to."""
        if not filters.choose_documents:
            return len(self.retriever.identities())
        span = {"since": filters.since, "until": filters.until}
        return len(self.library.resolve(filters.documents, filters.folder, **span))

    def _refused(self, question: Question, context: Context) -> Refusal | None:
        return before_generation(
            question, context, identities=self.retriever.identities(), unrelated=self.library.unrelated()
        )

    async def _save(self, transcript: Transcript, conversation: Conversation) -> None:
        """An answer that cannot be stored, since the disk is full, was given all the same."""
        kept = transcript.answer_id, transcript.question.own_words, transcript.events
        try:
            with self.stages.timed("save"):
                await asyncio.to_thread(self.library.save_answer, *kept)
        except EnvironmentProblemError as error:
            log.warning("answer %s could not be stored: %s", transcript.answer_id, error)
        await conversation.remember(transcript)

    def _require_documents(self) -> None:
        if self.library.is_empty():
            raise MissingIndexError("there is no document to answer from; run kb-qa ingest first")
