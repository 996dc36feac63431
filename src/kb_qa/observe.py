"""Cases → what was seen of each: asked of the knowledge base in this process, or of the service that owns its index."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kb_qa import remote
from kb_qa.answers import AnswerEvent, Filters
from kb_qa.errors import KbQaError
from kb_qa.evaluation.cases import Case
from kb_qa.evaluation.scores import Answered, Observed, Place, SaidFigure
from kb_qa.evaluation.values import decimals, quantity_of
from kb_qa.geometry import BBox, Page
from kb_qa.guardrails.outcome import SUPPORTED
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.listing import hit_line
from kb_qa.protocols import Library

Line = Mapping[str, Any]
Seconds = dict[str, float]
HITS = 60  # looked at; the first ten pages of them count


class Asker(Protocol):
    """What is measured."""

    def search(self, question: str, k: int, filters: Filters) -> Sequence[Line]:
        """Hits as `kb-qa search --json` prints them."""
        ...

    def ask(self, question: str, filters: Filters) -> tuple[Sequence[AnswerEvent], Seconds]:
        """The events of the answer, and how long its stages took."""
        ...


@dataclass(frozen=True, slots=True)
class HereAsker:
    """The knowledge base of this process, which times its own stages."""

    knowledge_base: KnowledgeBase

    def warm_up(self) -> None:
        """Loads what is loaded late, so that the first question is not timed with it."""
        self.search("?", 1, Filters())

    def search(self, question: str, k: int, filters: Filters) -> Sequence[Line]:
        hits = asyncio.run(self.knowledge_base.search(question, k=k, filters=filters))
        return [hit_line(rank, hit) for rank, hit in enumerate(hits, 1)]

    def ask(self, question: str, filters: Filters) -> tuple[Sequence[AnswerEvent], Seconds]:
        stages = _StageSeconds()
        watched = replace(self.knowledge_base, stages=stages)

        async def events() -> list[AnswerEvent]:
            return [event async for event in watched.ask(question, filters=filters)]

        started = time.perf_counter()
        told = asyncio.run(events())
        return told, stages.seconds | {"total": time.perf_counter() - started}


@dataclass(frozen=True, slots=True)
class RemoteAsker:
    """A running service, timed by when its events arrive: `retrieve` is then all that comes before the sources."""

    address: str
    key: str = ""

    def search(self, question: str, k: int, filters: Filters) -> Sequence[Line]:
        return remote.search(self.address, question, k=k, filters=filters, key=self.key)

    def ask(self, question: str, filters: Filters) -> tuple[Sequence[AnswerEvent], Seconds]:
        told, seconds = [], {}
        started = time.perf_counter()
        for event in remote.ask(self.address, question, filters=filters, level="auto", key=self.key):
            told.append(event)
            if event.event == "sources":
                seconds["retrieve"] = time.perf_counter() - started
        seconds["total"] = time.perf_counter() - started
        if "retrieve" in seconds:
            seconds["answer"] = seconds["total"] - seconds["retrieve"]
        return told, seconds


class _StageSeconds:
    """The stages of one question."""

    def __init__(self) -> None:
        self.seconds: Seconds = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the seconds by the clock, also of a stage that fails or is given up."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started


# A search that ours is held against: a question, and the ids of the documents it is limited to → pages, best first.
Search = Callable[[str, frozenset[str]], Sequence[Place]]


def observe(
    cases: Sequence[Case],
    asker: Asker,
    documents: Mapping[str, frozenset[str]],
    baselines: Mapping[str, Search],
    *,
    within: bool = False,
    answers: bool = True,
) -> Iterator[Observed]:
    """What is seen of each case, one after the other. `documents`: the ids that each case's name of one stands for.

    `within`: answers are asked of the expected document alone. A question that fails is observed as failed.
    """
    for case in cases:
        ids = documents.get(case.document, frozenset()) if case.document else frozenset[str]()
        found: dict[str, tuple[Place, ...]] = {}
        searched = 0.0  # the first time, over all documents
        for limit, tail in ((frozenset[str](), ""), *([(ids, "within")] if case.pools else [])):
            filters = Filters(documents=tuple(sorted(limit)))
            started = time.perf_counter()
            hits = asker.search(case.question, HITS, filters)
            searched = searched or time.perf_counter() - started
            found[tail] = tuple(place for hit in hits for place in places_of(hit))
            for name, search in baselines.items():
                found[f"{tail}.{name}" if tail else name] = tuple(search(case.question, limit))
        answered = None
        if answers:
            answered = answer_to(asker, case.question, Filters(documents=tuple(sorted(ids)) if within else ()))
        yield Observed(case, ids, found, answered, searched)


def named_documents(cases: Sequence[Case], library: Library) -> Mapping[str, frozenset[str]]:
    """The ids of the ready documents that each case's name stands for; none for a name that is not known."""
    names = dict.fromkeys(case.document for case in cases if case.document)
    return {name: frozenset(library.resolve((name,))) for name in names}


def unaskable(cases: Sequence[Case], documents: Mapping[str, frozenset[str]], library: Library) -> Iterator[str]:
    """What the questions expect of these documents and none of them has, one sentence a question: it would be counted
    as never found, whatever is done.
    """
    for case in cases:
        if not case.document:
            continue
        ids = documents[case.document]
        if not ids:
            yield f"question {case.id!r:.80} names {case.document!r:.200}, which cannot be asked"
        elif problem := next(_not_there(case, [[library.page(each, page) for each in ids] for page in case.pages]), ""):
            yield f"question {case.id!r:.80} expects {problem}, of {case.document!r:.200}"


def stored_pages(library: Library) -> list[Place]:
    """The text of every page that can be asked about, as it was read; a document without pages is one."""
    return [
        Place(record.document_id, record.names[0] if record.names else record.document_id, page, text=text)
        for record in library.documents()
        if record.state == "ready"
        for page, text in library.page_texts(record.document_id).items()
    ]


def _not_there(case: Case, pages: Sequence[Sequence[Page | None]]) -> Iterator[str]:
    """What no document has; `pages` are each document's, by page expected."""
    missing = [number for number, known in zip(case.pages, pages, strict=True) if not any(known)]
    if missing:
        yield f"page {min(missing)}, which is no page"
    expected = case.region
    if expected is not None and expected.bbox is not None:
        here = [page for known in pages for page in known if page is not None and page.number == expected.page]
        if not any(expected.bbox.intersection(BBox(0, 0, page.width, page.height)) for page in here):
            yield f"a region beside page {expected.page}, which is no place"


def answer_to(asker: Asker, question: str, filters: Filters) -> Answered:
    """An error of one question is its outcome: the others go on."""
    try:
        events, seconds = asker.ask(question, filters)
    except KbQaError as error:
        return Answered(error=str(error))
    return answered_of(events, seconds)


def answered_of(events: Sequence[AnswerEvent], seconds: Mapping[str, float]) -> Answered:
    data: Any = {name: [event.data for event in events if event.event == name] for name in _READ}
    end = data["end"][-1] if data["end"] else {}
    error = data["error"][-1]["message"] if data["error"] else ""
    if not error and not end.get("complete"):
        error = f"the answer is incomplete: {end.get('stop_reason', 'it was cut')}"
    return Answered(
        answer_id=data["start"][0]["answer_id"] if data["start"] else "",
        text="".join(each["text"] for each in data["delta"]),
        refused=bool(end.get("refused")),
        reason=data["refusal"][-1]["reason"] if data["refusal"] else "",
        cited=tuple(place for each in data["citation"] for place in places_of({**each, "text": each["cited_text"]})),
        figures=tuple(_figure(each) for each in data["figure"]),
        seconds=dict(seconds),
        error=error,
    )


_READ = ("start", "delta", "citation", "figure", "refusal", "end", "error")


def places_of(line: Line) -> list[Place]:
    """The regions of a hit or a citation as places; a document without pages is one place."""
    document = str(line["document_id"]), str(line["document"])
    if not line["regions"]:
        return [Place(*document, line.get("page"), None, str(line["text"]))]
    return [
        Place(*document, region["page"], BBox(*region["bbox"]) if region["bbox"] else None, str(line["text"]))
        for region in line["regions"]
    ]


def _figure(data: Any) -> SaidFigure:
    support = list(data["support"])
    values: list[object] = [data["quantity"]["value"], *(place["value"] for place in support)]
    printed = (quantity_of(str(text)) for text in (data["raw"], *(place["printed"] for place in support)))
    values += [quantity.value for quantity in printed if quantity is not None]
    return SaidFigure(
        raw=data["raw"],
        values=tuple(decimals(values)),
        quantum=next(iter(decimals([data["quantity"]["quantum"]])), decimals([0])[0]),
        supported=data["status"] in SUPPORTED and bool(support),
        places=tuple(_support(place) for place in support),
    )


def _support(place: Any) -> Place:
    bbox = BBox(*place["bbox"]) if place["bbox"] else None
    return Place(str(place.get("document_id") or ""), "", place["page"], bbox)
