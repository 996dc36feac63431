"""A scripted knowledge base and renderer for the tests of the service, and a real server to put them behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb_qa.answers import AnswerEvent, Decision, Filters, Hit, KeptAnswer
from kb_qa.document_record import DocumentRecord
from kb_qa.elements import Chunk, Element
from kb_qa.errors import NotFoundError
from kb_qa.geometry import Page
from kb_qa.guardrails.policies import STRICT, Policy
from kb_qa.marks import MarkedClaim
from kb_qa.picture import Picture
from kb_qa.protocols import ChunkSketch
from kb_qa.service import create_app
from kb_qa.service.intake import Intake
from kb_qa.service.received import Room
from kb_qa.settings import Settings
from kb_qa.testing import InMemoryJobs
from kb_qa.testing.fakes import newest_first
from kb_qa.testing.serving import serving

DOCUMENT = "ab" * 32
OTHER = "cd" * 32
ANSWER = "a" * 32
# A picture of one pixel; what the service does with pictures does not depend on what they show.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63680000008200815f0f5e0b"
    "0000000049454e44ae426082"
)

Step = AnswerEvent | Exception | float | threading.Event  # an event, a failure, silence for seconds or until it is set


def events(*named: tuple[str, dict[str, object]]) -> list[AnswerEvent]:
    """Events numbered from 1."""
    return [AnswerEvent(number, name, data) for number, (name, data) in enumerate(named, 1)]  # type: ignore[arg-type]


def citation(n: int = 1, *, start: int = 0, end: int = 0, **changed: object) -> tuple[str, dict[str, object]]:
    """A `citation` event about a passage on page 2, printed on two lines."""
    data: dict[str, object] = {
        "n": n,
        "number": n,
        "start": start,
        "end": end,
        "cited_text": "Revenue was 4,812 million",
        "found": True,
        "level": "region",
        "label": "report.pdf · P2·table",
        "document": "report.pdf",
        "document_id": DOCUMENT,
        "element_type": "table",
        "regions": [
            {
                "page": 2,
                "bbox": [60.0, 80.0, 300.0, 120.0],
                "box": [0.1, 0.1, 0.5, 0.15],
                "rects": [[120.0, 80.0, 300.0, 100.0], [60.0, 100.0, 180.0, 120.0]],
            }
        ],
        "page_url": f"/v1/documents/{DOCUMENT}/pages/2.png",
        "region_url": f"/v1/documents/{DOCUMENT}/pages/2/region.png?bbox=60,80,300,120",
    }
    return "citation", data | changed


def plain_answer(text: str = "Revenue was 4,812 million.", question: str = "What was revenue?") -> list[AnswerEvent]:
    return events(
        ("start", {"answer_id": ANSWER, "question": question, "language": "en", "model": "scripted"}),
        ("sources", {"sources": []}),
        ("delta", {"seq": 1, "text": text}),
        citation(1, start=0, end=len(text)),
        ("usage", {"input_tokens": 1}),
        ("end", {"complete": True, "stop_reason": "end_turn", "refused": False, "withheld": 0}),
    )


def record(document_id: str = DOCUMENT, name: str = "report.pdf", **changed: Any) -> DocumentRecord:
    given: dict[str, Any] = {
        "document_id": document_id,
        "names": (name,),
        "state": "ready",
        "pages": 2,
        "chunks": 5,
        "parser": "pymupdf",
        "flags": (),
        "reason": "",
        "size": 1234,
    }
    return DocumentRecord(**(given | changed))


@dataclass
class ScriptedLibrary:
    records: list[DocumentRecord] = field(default_factory=lambda: [record()])
    page_sizes: dict[tuple[str, int], Page] = field(
        default_factory=lambda: {(DOCUMENT, number): Page(number, 600, 800) for number in (1, 2)}
    )
    elements: list[Element] = field(default_factory=list)
    answers: dict[str, Sequence[AnswerEvent]] = field(default_factory=dict)
    decided: list[Decision] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)

    def name(self) -> str:
        return "年度报告"

    def is_empty(self) -> bool:
        return not any(record.state == "ready" for record in self.documents())

    def documents(self) -> Sequence[DocumentRecord]:
        return self.records

    def edition(self) -> str:
        return str(len(self.records))

    def chunk_ids_at(self, places: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        return {}

    def sketches(self, ids: Sequence[str]) -> Mapping[str, ChunkSketch]:
        return {}

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        return {}

    def document(self, document_id: str) -> DocumentRecord | None:
        return next((each for each in self.documents() if each.document_id == document_id), None)

    def named(self, name: str) -> str | None:
        return next((each.document_id for each in self.records if name in each.names), None)

    def withdraw(self, document_id: str) -> None:
        self.withdrawn.append(document_id)

    def page(self, document_id: str, number: int) -> Page | None:
        return self.page_sizes.get((document_id, number))

    def pages(self, document_id: str) -> Sequence[Page]:
        return [page for (known, _), page in self.page_sizes.items() if known == document_id]

    def elements_on(self, document_id: str, number: int) -> Sequence[Element]:
        return [each for each in self.elements if any(region.page == number for region in each.regions)]

    def elements_from(self, document_id: str, first: int, count: int) -> Sequence[Element]:
        found = [each for each in self.elements if each.document_id == document_id and each.order >= first]
        return sorted(found, key=lambda each: each.order)[:count]

    def answer(self, answer_id: str) -> Sequence[AnswerEvent] | None:
        return self.answers.get(answer_id)

    def newest_answers(self, limit: int, before: str = "") -> Sequence[KeptAnswer]:
        return newest_first(self.answers, limit, before)

    def decisions(self, answer_id: str = "") -> Sequence[Decision]:
        return [each for each in self.decided if answer_id in ("", each.answer_id)]


@dataclass
class ScriptedKnowledgeBase:
    """Answers every question with `script`; tells when its generator was closed."""

    script: list[Step] = field(default_factory=lambda: [*plain_answer()])
    library: ScriptedLibrary = field(default_factory=ScriptedLibrary)
    originals: Mapping[str, Path] = field(default_factory=dict)
    hits: Sequence[Hit] = ()
    policy: Policy = STRICT
    asked: list[tuple[str, Filters, str]] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    wholes: list[str] = field(default_factory=list)
    searched: list[tuple[str, int, Filters]] = field(default_factory=list)
    started: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)

    async def ask(
        self, question: str, *, filters: Filters = Filters(), level: str = "auto", session_id: str = "", whole: str = ""
    ) -> AsyncGenerator[AnswerEvent]:
        self.asked.append((question, filters, level))
        self.sessions.append(session_id)
        self.wholes.append(whole)
        self.started.set()
        try:
            for step in self.script:
                if isinstance(step, AnswerEvent):
                    yield step
                elif isinstance(step, Exception):
                    raise step
                elif isinstance(step, threading.Event):
                    await asyncio.to_thread(step.wait, 60)
                else:
                    await asyncio.sleep(step)
        finally:
            self.closed.set()

    async def draft(self, question: str) -> Sequence[AnswerEvent]:
        return [step for step in self.script if isinstance(step, AnswerEvent)]

    async def search(self, question: str, *, k: int, filters: Filters) -> Sequence[Hit]:
        self.searched.append((question, k, filters))
        return self.hits

    def original(self, document_id: str) -> Path:
        if document_id not in self.originals:
            raise NotFoundError("there is no original of this document")
        return self.originals[document_id]


@dataclass
class CountingRenderer:
    calls: list[tuple[object, ...]] = field(default_factory=list)
    problem: Exception | None = None

    async def picture(self, path: Path, document_id: str, picture: Picture) -> bytes:
        self._count((document_id, picture))
        return PNG

    def kept(self, document_id: str, picture: Picture) -> bytes | None:
        return None

    async def highlighted(self, path: Path, document_id: str, claims: Sequence[MarkedClaim]) -> Path:
        """The original stands for its marked copy."""
        self._count((document_id, tuple(claims)))
        return path

    def _count(self, call: tuple[object, ...]) -> None:
        self.calls.append(call)
        if self.problem is not None:
            raise self.problem


def scripted_intake(kb: Path, library: ScriptedLibrary, jobs: InMemoryJobs | None = None, **changed: Any) -> Intake:
    """Uploads below `kb`, of at most a megabyte; the worker is the test."""
    limits = {"most_waiting": 5, "most_open": 3} | changed
    return Intake(jobs or InMemoryJobs(), library, library.withdraw, Room(kb, most=1 << 20, keep_free=0), **limits)


@contextmanager
def served(
    knowledge_base: Any,
    renderer: Any | None = None,
    settings: Settings | None = None,
    intake: Intake | None = None,
    **config: Any,
) -> Iterator[str]:
    """The base URL of a uvicorn of its own on a free port."""
    app = create_app(knowledge_base, renderer or CountingRenderer(), settings or Settings(), intake=intake)
    with serving(app, log_config=None, **config) as base:
        yield base
