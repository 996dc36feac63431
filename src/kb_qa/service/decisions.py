"""What readers decided of figures: one decision, all of them, and the record to download."""

from __future__ import annotations

import asyncio
import csv
import io
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from kb_qa.answers import AnswerEvent, Decision, DecisionKind
from kb_qa.dispute import figure_of
from kb_qa.listing import decision_line
from kb_qa.marks import figures_of
from kb_qa.protocols import Library
from kb_qa.records import well_formed
from kb_qa.rendering import document_names
from kb_qa.service.encoding import AsciiJSONResponse, one_line
from kb_qa.service.parts import CallerOf, UsedParts
from kb_qa.service.pictures import PathNumber

router = APIRouter(prefix="/v1")

COLUMNS: Final = (
    "decided_at", "by", "decision", "note", "figure", "status", "document", "page", "question", "answer_id", "n",
)  # fmt: skip
# Spreadsheets take a cell that begins so for a formula, whoever wrote it.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")

OfAnswer = Annotated[str, Query(max_length=64, description="of this answer alone")]


class DecisionBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    decision: DecisionKind
    note: Annotated[str, Field(max_length=4000)] = ""

    @model_validator(mode="after")
    def _has_something_to_say(self) -> DecisionBody:
        if self.decision == "note" and not self.note.strip():
            raise ValueError("a note has no text")
        return self


@router.put("/answers/{answer_id}/figures/{n}/decision")
async def decide(answer_id: str, n: PathNumber, body: DecisionBody, caller: CallerOf, parts: UsedParts) -> Response:
    """Accept, reject, or note; the last decision on a figure stands."""
    library = parts.knowledge_base.library
    events = await parts.open_answers.find(library, answer_id)
    raw = str(figure_of(events, n)["raw"])
    by = caller.name if caller.key_id else ""
    decision = Decision(answer_id, n, body.decision, body.note.strip(), raw, time.time(), by)
    await asyncio.to_thread(library.save_decision, decision)
    return AsciiJSONResponse(decision_line(decision))


@router.get("/decisions")
async def exported_decisions(parts: UsedParts) -> Response:
    """All decisions, the oldest first."""
    decided = await asyncio.to_thread(parts.knowledge_base.library.decisions)
    return AsciiJSONResponse({"decisions": [decision_line(each) for each in decided]})


@router.get("/decisions.jsonl")
async def decisions_as_lines(parts: UsedParts, answer: OfAnswer = "") -> Response:
    """The record, an object a line, each decision with its figure, question and place."""
    rows = await asyncio.to_thread(_record, parts.knowledge_base.library, answer)
    return _download("".join(f"{one_line(row)}\n" for row in rows), "application/x-ndjson", "decisions.jsonl")


@router.get("/decisions.csv")
async def decisions_as_table(parts: UsedParts, answer: OfAnswer = "") -> Response:
    """The same for a spreadsheet; what one would take for a formula begins with an apostrophe."""
    rows = await asyncio.to_thread(_record, parts.knowledge_base.library, answer)
    return _download(f"\ufeff{_csv(rows)}", "text/csv", "decisions.csv")


def _record(library: Library, answer_id: str) -> list[dict[str, object]]:
    decided = library.decisions(answer_id)
    answers = {each: library.answer(each) or () for each in {decision.answer_id for decision in decided}}
    return [_row(decision, answers[decision.answer_id]) for decision in decided]


def _row(decision: Decision, events: Sequence[AnswerEvent]) -> dict[str, object]:
    figures = figures_of(events)
    figure: Mapping[str, Any] = figures[decision.n - 1] if decision.n <= len(figures) else {}
    place: Mapping[str, Any] = next(iter(figure.get("support") or ()), {})
    return {
        "decided_at": datetime.fromtimestamp(decision.decided, UTC).isoformat(timespec="seconds"),
        "by": decision.by,
        "decision": decision.kind,
        "note": decision.note,
        "figure": decision.raw,
        "status": figure.get("status", ""),
        "document": document_names(events).get(place.get("document_id", ""), ""),
        "page": place.get("page"),
        "question": events[0].data.get("question", "") if events else "",
        "answer_id": decision.answer_id,
        "n": decision.n,
    }


def _csv(rows: Iterable[Mapping[str, object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows([_cell(row[column]) for column in COLUMNS] for row in rows)
    return file.getvalue()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _download(text: str, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(well_formed(text), media_type=media_type, headers=headers)
