"""The answer model with native citations: what it cites is known by numbers, and no text is compared."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from kb_qa.answers import BlockCitation, Context, Material, ModelEvent, Question
from kb_qa.errors import KbQaError
from kb_qa.geometry import Region
from kb_qa.guardrails.languages import language_tag_of
from kb_qa.models.cited_places import CitedBlocks, cited_place
from kb_qa.models.replies import RefusalWatch
from kb_qa.models.requests import Beside, MessagesRequest, ModelOptions, cited_request
from kb_qa.models.upstream import Upstream
from kb_qa.protocols import RegionPictures
from kb_qa.quality_reasons import reason_in

log = logging.getLogger(__name__)

Notes = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class PictureBudget:
    """At most so many pictures of tables and images go along with an answer's materials, of so many bytes together."""

    count: int = 0
    size: int = 4 * 1024 * 1024


def no_notes(document_id: str) -> Sequence[str]:
    return ()


class ClaudeModel:
    """`notes_of` gives what a reader should know of a document (blocking); the model is told, and cannot cite it."""

    def __init__(
        self,
        options: ModelOptions,
        upstream: Upstream,
        *,
        pictures: RegionPictures | None = None,
        budget: PictureBudget = PictureBudget(),
        notes_of: Notes = no_notes,
    ) -> None:
        self._options = options
        self._upstream = upstream
        self._pictures = pictures
        self._budget = budget
        self._notes_of = notes_of

    @property
    def id(self) -> str:
        return self._options.model_id

    async def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]:
        beside = Beside(
            notes=await asyncio.to_thread(self._notes, question, context),
            pictures=await self._drawn(context),
        )
        request = cited_request(question, context, self._options, beside)
        chunks = tuple(material.chunk.id for material in context.materials)
        async with aclosing(self.replied(request, question, chunks)) as events:
            async for event in events:
                yield event

    async def replied(
        self, request: MessagesRequest, question: Question, materials: tuple[str, ...]
    ) -> AsyncGenerator[ModelEvent]:
        """The events of the reply to a request that is built already."""

        def resolve(citation: object) -> Sequence[BlockCitation]:
            place = cited_place(citation, request.documents, request.results)
            return place.blocks if isinstance(place, CitedBlocks) else ()

        watch = RefusalWatch(language_tag_of(question.text))
        async with aclosing(self._upstream.events(request, resolve, question.language, materials)) as events:
            async for event in events:
                for passed in watch.passed(event):
                    yield passed

    def _notes(self, question: Question, context: Context) -> dict[int, Sequence[str]]:
        flags = {material.chunk.document_id: () for material in context.materials}
        notes = {
            document_id: [reason_in(question.language, flag) for flag in self._notes_of(document_id)]
            for document_id in flags
        }
        return {material.number: notes[material.chunk.document_id] for material in context.materials}

    async def _drawn(self, context: Context) -> dict[int, Sequence[bytes]]:
        """Pictures of the regions of tables and images, best material first, as far as the budget goes."""
        drawn: dict[int, list[bytes]] = {}
        count, size = self._budget.count, self._budget.size
        for material, region in _shown_regions(context.materials):
            if self._pictures is None or count < 1:
                break
            try:
                png = await self._pictures.png(material.chunk.document_id, region)
            except KbQaError as error:  # its text goes without it
                log.warning("a region of material %d has no picture: %s", material.number, error)
                continue
            if len(png) <= size:
                drawn.setdefault(material.number, []).append(png)
                count, size = count - 1, size - len(png)
        return {number: tuple(pictures) for number, pictures in drawn.items()}


def _shown_regions(materials: Sequence[Material]) -> list[tuple[Material, Region]]:
    return [
        (material, region)
        for material in materials
        if material.chunk.element_type in {"table", "image"}
        for region in material.chunk.regions
        if region.bbox is not None
    ]
