"""What the routes answer with, as `/openapi.json` describes it. Fields may be added; none of these goes.

The routes build their JSON themselves; a test holds them to these models.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from kb_qa.answers import EventName

Box = tuple[float, float, float, float]


class Problem(BaseModel):
    """What is wrong, for programs and for people; the service's log has more under the request's id."""

    code: str
    message: str
    request_id: str
    advice: str = Field(default="", description="what to do about a file that was not taken")


class Alive(BaseModel):
    status: Literal["ok"]


class Ready(BaseModel):
    status: Literal["ready"]
    documents: int = Field(description="that can be asked")


class NotReady(BaseModel):
    status: Literal["not ready"]
    reason: str


class Session(BaseModel):
    key_needed: bool
    signed_in: bool
    name: str | None = Field(description="of the key")
    scopes: list[str]


class ReasonOnPages(BaseModel):
    reason: str
    pages: int = Field(description="on how many")


class DocumentQuality(BaseModel):
    grade: str = Field(description="of the worst page")
    pages: dict[str, int] = Field(description="how many have each grade")
    reasons: list[ReasonOnPages]


class Document(BaseModel):
    document_id: str = Field(description="SHA-256 of its bytes")
    names: list[str]
    state: str
    pages: int
    chunks: int
    parser: str
    flags: list[str]
    reason: str = Field(description="why it is not ready")
    code: str
    advice: str = Field(description="what to do about it")
    quality: DocumentQuality | None = Field(description="how well its pages were read; none where it has no pages")
    size: int
    file_url: str


class Accepted(BaseModel):
    """An upload that is being read, or (without a job) one whose bytes are known already."""

    document_id: str
    name: str
    job: int | None
    state: str
    events_url: str
    replaces: str | None = Field(description="the document of the same name that answers until this one is ready")
    message: str


class Refused(BaseModel):
    """A file of a form that was not taken; the others were."""

    name: str
    code: str
    message: str
    advice: str = Field(description="what to do about it")


class AcceptedForm(BaseModel):
    documents: list[Accepted | Refused]


class Deleting(BaseModel):
    document_id: str
    state: str
    job: int | None


class Job(BaseModel):
    job: int
    kind: str
    state: str
    total: int | None
    done: int | None
    paused: str | None
    outcomes: list[dict[str, Any]]


class DocumentEvent(BaseModel):
    """One event of a document's way from upload to answer; `data` is JSON."""

    id: str = Field(pattern="^[0-9]+$")
    event: Literal["state", "end", "error"]
    data: str = Field(json_schema_extra={"contentMediaType": "application/json"})


class ReadPage(BaseModel):
    number: int
    width: float = Field(description="points, of the page as displayed")
    height: float
    label: str = Field(description="as printed on the page or told by the file")
    grade: str
    reasons: list[str] = Field(description="why the grade is not the best")


class Pages(BaseModel):
    document_id: str
    pages: list[ReadPage]


class PageElements(BaseModel):
    page: ReadPage
    elements: list[dict[str, Any]]


class DocumentElements(BaseModel):
    document_id: str
    elements: list[dict[str, Any]]
    next: int | None = Field(description="the `first` of the request for those that follow")


class Documents(BaseModel):
    name: str = Field(description="of the knowledge base")
    documents: list[Document]


class Region(BaseModel):
    page: int
    bbox: Box | None = Field(description="points from the top left of the page as displayed")


class Hit(BaseModel):
    rank: int
    document: str
    document_id: str
    page: int | None
    element_type: str
    section: list[str]
    regions: list[Region]
    text: str
    score: float


class Hits(BaseModel):
    hits: list[Hit]


class Event(BaseModel):
    """The same as in the stream of `POST /v1/ask`."""

    id: int
    event: str
    data: dict[str, Any]


class StreamedEvent(BaseModel):
    """One event of a `text/event-stream`; comments, which keep a connection open, stand between them."""

    id: str = Field(pattern="^[0-9]+$")
    event: EventName
    data: str = Field(json_schema_extra={"contentMediaType": "application/json"})


class Answer(BaseModel):
    id: str
    question: str
    text: str
    complete: bool
    outcome: dict[str, Any] = Field(description="what the guard says of every figure")
    events: list[Event]


class KeptAnswer(BaseModel):
    id: str
    question: str
    created: float = Field(description="seconds since 1970")
    refused: bool
    complete: bool
    documents: list[str] = Field(description="that it cites, by name")


class KeptAnswers(BaseModel):
    answers: list[KeptAnswer] = Field(description="newest first")
    next: str | None = Field(description="`before` of those that follow; null behind the last")


class Example(BaseModel):
    question: str
    document: str = Field(description="that answers it, by name")
    document_id: str


class Examples(BaseModel):
    examples: list[Example]


class CitedRegion(BaseModel):
    page_number: int | None
    box: Box | None = Field(description="shares (0..1) of the displayed page")
    rects: list[Box]
    quads: list[list[float]]
    region_url: str | None
    page_url: str | None


class ExportedCitation(CitedRegion):
    n: int
    number: int
    claim: str
    cited_text: str
    found: bool
    level: str
    label: str
    document: str
    document_id: str
    regions: list[CitedRegion]


class ExportedCitations(BaseModel):
    answer_id: str
    citations: list[ExportedCitation]


class Decision(BaseModel):
    answer_id: str
    n: int = Field(description="ordinal of the figure in its answer, from 1")
    raw: str = Field(description="the figure as shown")
    decision: str
    note: str
    decided: float = Field(description="seconds since 1970")
    by: str = Field(description="the key's name; empty where none is needed")


class Figures(BaseModel):
    answer_id: str
    figures: list[dict[str, Any]]


class FigurePlaces(BaseModel):
    answer_id: str
    n: int
    figure: dict[str, Any]
    conflict: bool
    places: list[dict[str, Any]]
    decision: Decision | None


class Decisions(BaseModel):
    decisions: list[Decision]
