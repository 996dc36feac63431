"""What answers come to, counted from their events for `/metrics`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kb_qa.answers import AnswerEvent
from kb_qa.protocols import Meter


async def tallied(meter: Meter, events: AsyncGenerator[AnswerEvent]) -> AsyncGenerator[AnswerEvent]:
    """The same events. An answer whose events are not taken to the last one was cut."""
    outcome = "cut"
    try:
        async with aclosing(events):
            async for event in events:
                outcome = _counted(meter, event, outcome)
                yield event
    except Exception:
        outcome = "failed"
        raise
    finally:
        meter.add("answers", outcome=outcome)


def _counted(meter: Meter, event: AnswerEvent, outcome: str) -> str:
    """The answer's outcome as of this event."""
    data = event.data
    if event.event == "refusal":
        meter.add("refusals", reason=str(data.get("reason", "")))
    elif event.event == "figure":
        meter.add("figures", status=str(data.get("status", "")))
    elif event.event == "withheld":
        meter.add("withheld", reason=_first_reason(data.get("figures")))
    elif event.event == "error":
        return "failed"
    elif event.event == "end":
        return "refused" if data.get("refused") else "answered" if data.get("complete") else "cut"
    return outcome


def _first_reason(figures: object) -> str:
    """The code of why the first figure has no support; the status where it says none."""
    first = figures[0] if isinstance(figures, list) and figures else None
    if not isinstance(first, dict):
        return "none"
    reason = first.get("reason")
    return str(reason.get("code", "none")) if isinstance(reason, dict) else str(first.get("status", "none"))
