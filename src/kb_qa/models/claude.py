"""The answer model with native citations: what it cites is known by numbers, and no text is compared."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from kb_qa.answers import BlockCitation, Context, Language, Material, ModelEvent, Question, WholeFile
from kb_qa.errors import KbQaError, ModelRejectedError
from kb_qa.geometry import Region
from kb_qa.guardrails.languages import language_tag_of
from kb_qa.models.cited_places import CitedBlocks, CitedPages, cited_place
from kb_qa.models.replies import Cited, RefusalWatch
from kb_qa.models.requests import WHOLE_PDF, Beside, ModelOptions, cited_request
from kb_qa.models.upstream import Upstream
from kb_qa.models.whole_files import HostedFiles, Upload
from kb_qa.prompts import ledger_texts
from kb_qa.protocols import PagePlaces, RegionPictures
from kb_qa.quality_reasons import reason_in

log = logging.getLogger(__name__)

NEUTRAL_FILE_NAME = "document"  # a file's own name is untrusted, and the host may show it to the model

Notes = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class PictureBudget:
    """At most so many pictures of tables and images go along with an answer's materials, of so many bytes together."""

    count: int = 0
    size: int = 4 * 1024 * 1024


def no_notes(document_id: str) -> Sequence[str]:
    return ()


class ClaudeModel:
    """`notes_of` gives what a reader should know of a document (blocking); the model is told, and cannot cite it.

    `places` finds the quotes of whole PDFs; without it they are dropped.
    """

    def __init__(
        self,
        options: ModelOptions,
        upstream: Upstream,
        *,
        pictures: RegionPictures | None = None,
        budget: PictureBudget = PictureBudget(),
        notes_of: Notes = no_notes,
        places: PagePlaces | None = None,
    ) -> None:
        self._options = options
        self._upstream = upstream
        self._pictures = pictures
        self._budget = budget
        self._notes_of = notes_of
        self._places = places
        self._hosted = HostedFiles()

    @property
    def id(self) -> str:
        return self._options.model_id

    @property
    def file_window(self) -> int:
        return self._options.window

    async def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]:
        whole = context.whole
        beside = Beside(
            notes=await asyncio.to_thread(self._notes, question, context),
            pictures={} if whole is not None else await self._drawn(context),
            instructions=ledger_texts(context, question.language),
            file_id="" if whole is None else await self._hosted.file_id(whole, self._uploaded(question.language)),
        )
        try:
            async with aclosing(self._answered(question, context, beside)) as events:
                async for event in events:
                    yield event
        except ModelRejectedError:
            # Nothing was said yet: a request is rejected as a whole. An upload that is gone is the one thing to mend.
            if whole is None or not beside.file_id or not self._hosted.forget(whole):
                raise
            async with aclosing(self._answered(question, context, replace(beside, file_id=""))) as events:
                async for event in events:
                    yield event

    async def _answered(self, question: Question, context: Context, beside: Beside) -> AsyncGenerator[ModelEvent]:
        request = cited_request(question, context, self._options, beside)
        materials = tuple(material.chunk.id for material in context.materials)

        def resolve(citation: object) -> Sequence[Cited]:
            match cited_place(citation, request.documents, request.results):
                case CitedBlocks() as place:
                    return place.blocks
                case CitedPages() as place if request.documents[place.document : place.document + 1] == (WHOLE_PDF,):
                    return (place,)
                case _:
                    return ()

        watch = RefusalWatch(language_tag_of(question.text))
        async with aclosing(self._upstream.events(request, resolve, question.language, materials)) as events:
            async for event in events:
                placed = await self._placed(context, event) if isinstance(event, CitedPages) else (event,)
                for each in placed:
                    for passed in watch.passed(each):
                        yield passed

    async def _placed(self, context: Context, cited: CitedPages) -> Sequence[BlockCitation]:
        """The blocks that a quote of a whole PDF stands in, on its pages and nowhere else."""
        if self._places is None:
            return ()
        blocks = await asyncio.to_thread(self._places.blocks, context, cited.pages, cited.quote)
        if not blocks:
            log.warning("a quote stands on none of the pages %s that it is said to be from", list(cited.pages))
        return blocks

    def _uploaded(self, language: Language) -> Upload:
        async def upload(whole: WholeFile) -> str:
            return await self._upstream.upload(NEUTRAL_FILE_NAME, whole.data, whole.media_type, language)

        return upload

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
