"""What a question leads to: hits, a context, citations, figures, verdicts, and the events an answer is made of.

An answer *is* its ordered stream of events. Offsets are characters of the answer's text; pages count from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kb_qa.elements import Block, Chunk
from kb_qa.geometry import BBox, Quality, Region

Language = Literal["en", "zh"]
DecisionKind = Literal["accept", "reject", "note"]
Level = Literal["text", "page", "region"]
LevelChoice = Literal["auto", "text", "page", "region"]


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is limited to; what is empty sets no limit. Documents by name or id.

    `since` and `until` are days, `2024-03-31`, and belong to what they bound; a document without a date is in no span.
    """

    documents: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    element_types: tuple[str, ...] = ()
    folder: str = ""
    since: str = ""
    until: str = ""

    @property
    def choose_documents(self) -> bool:
        return bool(self.documents or self.folder or self.since or self.until)

    def passes(self, chunk: Chunk) -> bool:
        """Whether the chunk stands on one of the pages and is of one of the types; its document is not looked at."""
        if self.element_types and chunk.element_type not in self.element_types:
            return False
        return not self.pages or any(region.page in self.pages for region in chunk.regions)


# How many runs of pages an index is asked for; more are joined over the smallest gaps between them.
MOST_RUNS = 50


@dataclass(frozen=True, slots=True)
class Scope:
    """What an index is asked for: `Filters` with the documents by their ids; what is empty sets no limit."""

    document_ids: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    element_types: tuple[str, ...] = ()

    @property
    def page_runs(self) -> tuple[tuple[int, int], ...]:
        """The pages as ranges, both ends included. They may hold pages that are not asked for: `Filters.passes`."""
        pages = sorted(set(self.pages))
        gaps = sorted(range(1, len(pages)), key=lambda i: pages[i - 1] - pages[i])
        cuts = sorted(i for i in gaps[: MOST_RUNS - 1] if pages[i] - pages[i - 1] > 1)
        starts, ends = [0, *cuts], [*cuts, len(pages)]
        return tuple((pages[start], pages[end - 1]) for start, end in zip(starts, ends, strict=True)) if pages else ()


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Question:
    """`text` stands alone; `asked` is what the reader typed where that took up earlier questions, else empty.

    `carried_filters` says that some of `filters` are those of an earlier question. `named_before` pairs each
    name that was carried over with the documents that an earlier answer about it cites: they are about it.
    """

    text: str
    language: Language
    filters: Filters = Filters()
    level: LevelChoice = "auto"
    asked: str = ""
    carried_filters: bool = False
    whole: str = ""  # the id of the document that it is about as a whole
    named_before: frozenset[tuple[str, str]] = frozenset()

    @property
    def own_words(self) -> str:
        """The reader's: they decide the language of what is said to him."""
        return self.asked or self.text


MAX_QUESTION = 4000  # characters
# What a session may be called; ids that the service makes are of this form, too.
SESSION_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a session, and where its answer is kept; what was answered is not part of it, on purpose.

    `ordinal` counts the session's turns from 1. `documents` are the ids of those that the answer cites, `filters` what
    the search was limited to, `time` seconds since 1970.
    """

    ordinal: int
    question: str
    standalone: str
    answer_id: str
    documents: tuple[str, ...] = ()
    filters: Filters = Filters()
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found for a question. `scores` by what scored; higher is better.

    `dense` is a cosine similarity, `lexical` a negated BM25, `coverage` the share of the question that one block says,
    `fused` the sum of reciprocal ranks. `quality` is that of the chunk's worst page, None where it has no pages.
    """

    chunk: Chunk
    scores: Mapping[str, float]
    quality: Quality | None = None

    @property
    def score(self) -> float:
        """What the hits are ordered by."""
        return self.scores.get("rerank", self.scores["fused"])


@dataclass(frozen=True, slots=True)
class Found:
    """At most as many hits as were wanted, best first; `named` are the ids of documents that the question names."""

    hits: tuple[Hit, ...]
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Material:
    """Material number `number` (from 1) of a context. `label` is what readers see: `briefing.pdf · P4·表格`."""

    number: int
    hit: Hit
    label: str

    @property
    def chunk(self) -> Chunk:
        return self.hit.chunk


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A whole PDF or picture that goes to a model as it is. `pages` is 1 for a picture."""

    document_id: str
    media_type: str
    data: bytes
    pages: int

    @property
    def is_pdf(self) -> bool:
        return self.media_type == "application/pdf"


@dataclass(frozen=True, slots=True)
class Context:
    """The numbered materials, rendered for readers (S5.4) and, neutrally named, for a model.

    Where a `whole` file is asked about, the materials are all that was read of it. `figures` are the lines of the fact
    ledger: every figure of the materials with its F-number. `called` is all that each document is called, by its id:
    its company may stand on the cover alone. `named` are the ids of documents that the question surely names.
    """

    materials: tuple[Material, ...]
    for_readers: str
    for_models: str
    whole: WholeFile | None = None
    figures: tuple[str, ...] = ()
    called: Mapping[str, Sequence[str]] = field(default_factory=dict)
    named: frozenset[str] = frozenset()

    def block(self, material: int, block: int) -> Block:
        """Block `block` (from 0) of material `material` (from 1). IndexError where there is none."""
        if material < 1 or block < 0:
            raise IndexError(f"no block {block} in material {material}")
        return self.materials[material - 1].chunk.blocks[block]


@dataclass(frozen=True, slots=True)
class Located:
    """Where a quote stands: per page the union box and one rectangle per line. `method` says how it was matched.

    `confidence`, 0..1, is that of the worst read word, lowered by the share of characters that differ; None where
    nothing was read by OCR.
    """

    found: bool
    regions: tuple[LocatedRegion, ...] = ()
    method: str = "none"
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class LocatedRegion:
    page: int
    bbox: BBox
    rects: tuple[BBox, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """Claim `[start, end)` of the answer → block → regions.

    `number` is the number as shown. `located` holds the rectangles of the quoted words; where they were not found it
    is empty and the regions are the block's own.
    """

    number: int
    start: int
    end: int
    cited_text: str
    level: Level
    label: str
    document_id: str
    document: str
    element_type: str
    element_id: str = ""
    section: tuple[str, ...] = ()
    regions: tuple[Region, ...] = ()
    located: Located = Located(found=False)
    origin: str = "text-layer"
    described_by: str = ""  # the model, where the origin is `caption`: no print of the page


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reader decided of figure `n` (the ordinal, from 1, of its event) of an answer.

    A `note` alone neither accepts nor rejects. `decided` is in seconds since 1970, `raw` the figure as shown, `by` the
    name of the key that it was decided with; empty where none is needed.
    """

    answer_id: str
    n: int
    kind: DecisionKind
    note: str = ""
    raw: str = ""
    decided: float = 0.0
    by: str = ""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it is stored. `created` is in seconds since 1970."""

    answer_id: str
    question: str
    created: float
    events: tuple[AnswerEvent, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """`reason` is nothing_found, too_weak, not_named, no_evidence or unsupported.

    `missing` is what no material names; `nearest` are the labels of the passages that came nearest and are too weak.
    """

    reason: str
    message: str
    missing: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


# What a model yields, in order; materials count from 1, blocks from 0.


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class BlockCitation:
    """The text since the last citation rests on block `block` of material `material`."""

    material: int
    block: int


@dataclass(frozen=True, slots=True)
class SpanEnd:
    """The end of one of the model's text blocks: what follows rests on citations of its own, or on none."""


COST = "cost_nano_usd"  # beside the tokens of a usage: what they cost, in billionths of a US dollar


@dataclass(frozen=True, slots=True)
class ModelStop:
    """The last thing a model yields. `stop_reason` in the Messages API's words; `usage` counts tokens by kind.

    `COST` stands beside them where the model has a price.
    """

    stop_reason: str
    usage: Mapping[str, int] = field(default_factory=dict)


ModelEvent = TextDelta | BlockCitation | SpanEnd | ModelStop

EventName = Literal[
    "queued",  # before `start` where many ask at once; its id is 0, it is not stored
    "start",
    "sources",
    "delta",
    "citation",
    "figure",
    "uncited",
    "withheld",
    "refusal",
    "references",
    "usage",
    "end",
    "error",
]


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """One event of an answer. `id` counts from 1 (0 before `start`); `data` is plain JSON data, nothing else."""

    id: int
    event: EventName
    data: Mapping[str, object]
