"""What a reader sees of a unit under a policy: as it is, with figures marked, or a text in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb_qa.guardrails.messages import withheld_text
from kb_qa.guardrails.outcome import FigureOutcome
from kb_qa.guardrails.policies import Policy

MARK = "✗"
_BULLET = re.compile(r"\s*(?:[-*•>]\s+)?")


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` stands in place of `[start, end)` of a unit."""

    start: int
    end: int
    text: str


def unit_text(text: str, figures: Sequence[FigureOutcome], language: str, policy: Policy, *, withheld: bool) -> str:
    """The unit's text as released; spans count from the unit's start."""
    if withheld:
        return replaced(text, figures, language)
    parts, position = [], 0
    for edit in edits(figures, policy):
        parts += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*parts, text[position:]])


def edits(figures: Sequence[FigureOutcome], policy: Policy) -> tuple[Edit, ...]:
    """What a released unit shows otherwise than it was written, in order."""
    found: list[Edit] = []
    position = 0
    for figure in figures:
        if figure.corrected and figure.start >= position:
            found.append(Edit(figure.start, figure.end, figure.corrected))
            position = figure.end
        elif policy.marks(figure) and figure.end > position:
            found.append(Edit(figure.end, figure.end, MARK))
            position = figure.end
    return tuple(found)


def replaced(text: str, figures: Sequence[FigureOutcome], language: str) -> str:
    """The bullet, an accepted list number and the line's end stay, so that the lines around the gap stay whole."""
    bullet = _BULLET.match(text)
    lead = bullet[0] if bullet else ""
    first = figures[0] if figures else None
    if first is not None and first.kind == "enum" and first.status == "exempt":
        behind = text[first.end :]
        space = behind[: len(behind) - len(behind.lstrip(" \t"))]
        lead = f"{text[: first.start].replace('**', '')}{first.raw}{space}"
    return f"{lead}{withheld_text(language)}{text[len(text.rstrip()) :]}"
