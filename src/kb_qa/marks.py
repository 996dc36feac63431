"""What an answer's claims mark in the documents they rest on: from the answer's stored events alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from kb_qa.answers import AnswerEvent, Language
from kb_qa.errors import NotFoundError
from kb_qa.geometry import BBox

# The data of stored events is plain JSON whose shape ARCHITECTURE.md fixes; `Any` stands for that.
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PageMarks:
    """The marked passages of a page: one rectangle a line, in points of the page as displayed."""

    page: int
    rects: tuple[BBox, ...]


@dataclass(frozen=True, slots=True)
class MarkedClaim:
    """Claim `ordinal` (from 1, in the order of the answer) and where it is borne out in one document."""

    ordinal: int
    text: str
    numbers: tuple[int, ...]  # of its citations, as shown
    pages: tuple[PageMarks, ...]


@dataclass(frozen=True, slots=True)
class MarkedDocument:
    """A document that an answer cites. `claims` is empty where nothing cited in it has a place on a page."""

    document_id: str
    name: str
    claims: tuple[MarkedClaim, ...]


def answer_text(events: Sequence[AnswerEvent]) -> str:
    """The released text, which the spans of citations and figures count in."""
    return "".join(str(event.data["text"]) for event in events if event.event == "delta")


def answer_language(events: Sequence[AnswerEvent]) -> Language:
    return "zh" if events[0].data.get("language") == "zh" else "en"


def cited(events: Sequence[AnswerEvent]) -> list[Data]:
    """The data of the citation events, in order."""
    return [cast(Data, event.data) for event in events if event.event == "citation"]


def figures_of(events: Sequence[AnswerEvent]) -> list[Data]:
    """The data of the figure events, in order."""
    return [cast(Data, event.data) for event in events if event.event == "figure"]


def line_rects(region: Data) -> tuple[BBox, ...]:
    """The rectangles of a cited region: one a line, or its box where its lines are not known."""
    boxes = region.get("rects") or ([] if region["bbox"] is None else [region["bbox"]])
    return tuple(BBox(*box) for box in boxes)


def marked_documents(events: Sequence[AnswerEvent]) -> tuple[MarkedDocument, ...]:
    """The documents in the order in which the answer cites them. A claim is one span of the answer."""
    text = answer_text(events)
    claims: dict[tuple[int, int], list[Data]] = {}
    names: dict[str, str] = {}
    for citation in cited(events):
        claims.setdefault((citation["start"], citation["end"]), []).append(citation)
        names.setdefault(citation["document_id"], citation["document"])
    return tuple(
        MarkedDocument(
            document_id,
            name,
            tuple(
                claim
                for ordinal, ((start, end), citations) in enumerate(claims.items(), 1)
                if (claim := _claim(ordinal, text[start:end], _of(citations, document_id))) is not None
            ),
        )
        for document_id, name in names.items()
    )


def chosen_documents(documents: Sequence[MarkedDocument], wanted: str = "") -> Sequence[MarkedDocument]:
    """All of them, or those that `wanted` names: an id, a name, or the last part of one; letter case does not matter.

    Raises NotFoundError where there is none.
    """
    if not documents:
        raise NotFoundError("this answer cites no document")
    key = _name_key(wanted)
    found = [
        document
        for document in documents
        if not wanted or wanted == document.document_id or f"/{_name_key(document.name)}".endswith(f"/{key}")
    ]
    if not found:
        names = ", ".join(repr(document.name) for document in documents)
        raise NotFoundError(f"this answer does not cite {wanted!r:.200}; it cites {names}")
    return found


def _name_key(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold().lstrip("/"))


def _of(citations: Sequence[Data], document_id: str) -> list[Data]:
    return [citation for citation in citations if citation["document_id"] == document_id]


def _claim(ordinal: int, text: str, citations: Sequence[Data]) -> MarkedClaim | None:
    rects: dict[int, dict[BBox, None]] = {}
    for citation in citations:
        for region in citation["regions"]:
            rects.setdefault(region["page"], {}).update(dict.fromkeys(line_rects(region)))
    pages = tuple(PageMarks(page, tuple(boxes)) for page, boxes in sorted(rects.items()) if boxes)
    numbers = tuple(dict.fromkeys(citation["number"] for citation in citations))
    return MarkedClaim(ordinal, text, numbers, pages) if pages else None
