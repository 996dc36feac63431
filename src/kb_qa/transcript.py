"""The events of one answer, in order, with the text, offsets and counts that they share.

The answer's text is its deltas joined; every `start` and `end` is an offset into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from kb_qa.addresses import area_url, page_url
from kb_qa.answers import (
    COST,
    AnswerEvent,
    Citation,
    Context,
    EventName,
    Filters,
    Material,
    ModelStop,
    Question,
    Refusal,
    WholeFile,
)
from kb_qa.citation import worst_quality
from kb_qa.elements import Chunk
from kb_qa.errors import KbQaError
from kb_qa.figure_events import figure_data
from kb_qa.geometry import BBox, Page, Quality, Region
from kb_qa.guardrails.gate import COMPLETE
from kb_qa.guardrails.outcome import FigureOutcome
from kb_qa.quality_reasons import reason_in

PageLookup = Callable[[str, int], Page | None]
FlagsLookup = Callable[[str], Sequence[str]]
TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})
TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


@dataclass(slots=True)
class Transcript:
    """Each method appends one event and returns it.

    `page_of` gives sizes, for shares of the page, and quality; `flags_of` what a reader should know of a document.
    """

    answer_id: str
    question: Question
    page_of: PageLookup
    flags_of: FlagsLookup = field(default=lambda document_id: ())
    events: list[AnswerEvent] = field(default_factory=list)
    length: int = 0
    citations: int = 0
    figures: int = 0
    withheld_sentences: int = 0
    deltas: int = 0
    refused: bool = False
    session_id: str = ""

    def start(self, *, model: str, policy: str, policy_hash: str = "") -> AnswerEvent:
        data: dict[str, object] = {
            "answer_id": self.answer_id,
            "question": self.question.own_words,
            "language": self.question.language,
            "model": model,
            "policy": policy,
            "policy_hash": policy_hash,
        }
        return self._append("start", data | self._conversation())

    def sources(self, context: Context, instead: str = "") -> AnswerEvent:
        """A document that is read whole is one source; `instead` says why passages of it are read."""
        given = context.materials[:1] if context.whole is not None else context.materials
        sources = [self._source(material) for material in given]
        if context.whole is not None:
            sources = [self._whole(context.whole, source) for source in sources]
        asked = self.question.whole
        whole = {"document_id": asked, "sent": context.whole is not None, "reason": instead} if asked else None
        return self._append("sources", {"sources": sources} | ({"whole": whole} if whole else {}))

    def _whole(self, whole: WholeFile, source: dict[str, object]) -> dict[str, object]:
        regions = [Region(number, None) for number in range(1, whole.pages + 1)]
        return source | {
            "page": None,
            "section": [],
            "text": "",
            "label": source["document"],
            "regions": [],
            "quality": self._quality(whole.document_id, regions),
            "score": 1.0,
            "region_url": None,
        }

    def delta(self, text: str) -> AnswerEvent:
        self.deltas += 1
        self.length += len(text)
        return self._append("delta", {"seq": self.deltas, "text": text})

    def citation(self, citation: Citation) -> AnswerEvent:
        self.citations += 1
        pages = [region.page for region in citation.regions]
        region_url = f"/v1/answers/{self.answer_id}/citations/{self.citations}/region.png"
        has_geometry = any(region.bbox is not None for region in citation.regions)
        return self._append(
            "citation",
            {
                "n": self.citations,
                "number": citation.number,
                "start": citation.start,
                "end": citation.end,
                "cited_text": citation.cited_text,
                "found": citation.located.found,
                "level": citation.level,
                "label": citation.label,
                "document": citation.document,
                "document_id": citation.document_id,
                "element_type": citation.element_type,
                **_origin(citation),
                "section": list(citation.section),
                "regions": self._cited_regions(citation),
                "quality": self._quality(citation.document_id, citation.regions),
                "page_url": page_url(citation.document_id, pages[0]) if has_geometry else None,
                "region_url": region_url if has_geometry else None,
            },
        )

    def quality(self, document_id: str, regions: Sequence[Region]) -> Quality | None:
        """How far the pages under the regions can be trusted: the worst of them. None where there are no pages."""
        return worst_quality(self.page_of(document_id, number) for number in {region.page: None for region in regions})

    def _quality(self, document_id: str, regions: Sequence[Region]) -> dict[str, object] | None:
        quality = self.quality(document_id, regions)
        if quality is None:
            return None
        reasons = [reason_in(self.question.language, reason) for reason in quality.reasons]
        return {"grade": quality.grade, "reasons": reasons}

    def figure(self, figure: FigureOutcome, *, unit: int, span: tuple[int, int]) -> AnswerEvent:
        """A figure of unit `unit`; `span` counts in the answer's text."""
        self.figures += 1
        data = figure_data(figure)
        data.pop("span")
        return self._append("figure", {"n": self.figures, "unit": unit, "start": span[0], "end": span[1], **data})

    def uncited(self, span: tuple[int, int], text: str) -> AnswerEvent:
        """A statement at `span` that cites nothing; `text` says so, and is no part of the answer's text."""
        return self._append("uncited", {"start": span[0], "end": span[1], "text": text})

    def withheld(self, text: str, figures: Sequence[FigureOutcome], *, unit: int) -> AnswerEvent:
        """`text` stands in place of the unit; `at` is the length of the answer's text before it."""
        self.withheld_sentences += 1
        named = [figure_data(figure) for figure in figures]
        return self._append("withheld", {"text": text, "at": self.length, "unit": unit, "figures": named})

    def refusal(self, refusal: Refusal, *, searched: int) -> AnswerEvent:
        """`searched` documents, and within which limits: what a reader may want to ask otherwise."""
        self.refused = True
        filters = self.question.filters
        chosen = [name for name in (*filters.documents, filters.folder) if name]
        data: dict[str, object] = {
            "reason": refusal.reason,
            "message": refusal.message,
            "missing": list(refusal.missing),
            "searched": {"documents": searched, "chosen": chosen, **_beside_documents(filters)},
        }
        if refusal.nearest:
            data["nearest"] = list(refusal.nearest)
        return self._append("refusal", data)

    def references(self, *, style: str, text: str, items: Sequence[Mapping[str, object]]) -> AnswerEvent:
        return self._append("references", {"style": style, "text": text, "items": [dict(item) for item in items]})

    def usage(self, usage: Mapping[str, int]) -> AnswerEvent:
        """Tokens by kind; `cost` (US dollars) and `cache_hit_rate` are null where no model was paid for."""
        read, whole = usage.get("cache_read_input_tokens", 0), sum(usage.get(kind, 0) for kind in TOKENS[:3])
        tokens: dict[str, object] = {kind: usage.get(kind, 0) for kind in TOKENS}
        cost = usage[COST] / 1e9 if COST in usage else None
        return self._append("usage", tokens | {"cost": cost, "cache_hit_rate": read / whole if whole else None})

    def end(self, stop: ModelStop, stats: Mapping[str, int] = MappingProxyType({})) -> AnswerEvent:
        """`stats` are what the gate counted; the figures are counted by the outcome (`figure_events`)."""
        return self._append(
            "end",
            {
                "complete": stop.stop_reason in COMPLETE,
                "stop_reason": stop.stop_reason,
                "truncated": stop.stop_reason in TRUNCATED,
                "refused": self.refused,
                "withheld": self.withheld_sentences,
                "stats": dict(stats),
            },
        )

    def error(self, error: KbQaError) -> AnswerEvent:
        return self._append(
            "error",
            {
                "code": error.code,
                "message": str(error),
                "retryable": error.retryable,
                "request_id": self.answer_id,
            },
        )

    @property
    def cited_documents(self) -> tuple[str, ...]:
        """Ids, in the order of their first citation."""
        cited = (str(event.data["document_id"]) for event in self.events if event.event == "citation")
        return tuple(dict.fromkeys(cited))

    def _conversation(self) -> dict[str, object]:
        """The session, and what was taken over from its earlier questions; nothing where nothing was."""
        question, filters = self.question, self.question.filters
        told: dict[str, object] = {
            "session_id": self.session_id,
            "standalone": question.text if question.asked else "",
            "carried_documents": [name for name in (*filters.documents, filters.folder) if name]
            if question.carried_filters
            else [],
            "carried_filters": _beside_documents(filters) if question.carried_filters else {},
        }
        return {name: value for name, value in told.items() if value}

    def _append(self, name: EventName, data: Mapping[str, object]) -> AnswerEvent:
        event = AnswerEvent(len(self.events) + 1, name, data)
        self.events.append(event)
        return event

    def _source(self, material: Material) -> dict[str, object]:
        chunk = material.chunk
        first = next((region for region in chunk.regions if region.bbox is not None), None)
        return {
            "n": material.number,
            "document_id": chunk.document_id,
            "document": chunk.source,
            "page": chunk.page,
            "element_type": chunk.element_type,
            **_origin(chunk),
            "section": list(chunk.section),
            "text": chunk.text,
            "label": material.label,
            "regions": [self._region(chunk.document_id, region) for region in chunk.regions],
            "quality": self._quality(chunk.document_id, chunk.regions),
            "document_flags": [reason_in(self.question.language, flag) for flag in self.flags_of(chunk.document_id)],
            "score": round(material.hit.score, 6),
            "page_url": page_url(chunk.document_id, first.page) if first is not None else None,
            "region_url": area_url(chunk.document_id, first) if first is not None else None,
        }

    def _cited_regions(self, citation: Citation) -> list[dict[str, object]]:
        """The located words of each page; the block's own regions where the words have no place."""
        if not citation.located.regions:
            return [
                {**self._region(citation.document_id, region), "rects": _rects([region.bbox])}
                for region in citation.regions
            ]
        return [
            {
                **self._region(citation.document_id, Region(region.page, region.bbox)),
                "rects": _rects(region.rects),
            }
            for region in citation.located.regions
        ]

    def _region(self, document_id: str, region: Region) -> dict[str, object]:
        """`bbox` in points, `box` as shares of the displayed page; null where there is no geometry."""
        page = self.page_of(document_id, region.page)
        if region.bbox is None or page is None:
            return {"page": region.page, "bbox": None, "box": None}
        bbox = list(region.bbox.rounded().as_tuple())
        return {"page": region.page, "bbox": bbox, "box": list(region.bbox.normalised(page))}


def _origin(source: Chunk | Citation) -> dict[str, object]:
    """Whose words they are: `described_by` names the model that wrote them of a picture."""
    told = {"origin": source.origin, "described_by": source.described_by}
    return {name: value for name, value in told.items() if value}


def _rects(boxes: Sequence[BBox | None]) -> list[list[float]]:
    return [list(box.rounded().as_tuple()) for box in boxes if box is not None]


def _beside_documents(filters: Filters) -> dict[str, object]:
    told = {
        "pages": list(filters.pages),
        "element_types": list(filters.element_types),
        "since": filters.since,
        "until": filters.until,
    }
    return {name: value for name, value in told.items() if value}
