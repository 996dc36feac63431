"""Whether a model's rewrite of a question may be asked: it says nothing that the reader did not ask about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb_qa.follow_ups.parts import measures_in, of_kind, parts_in
from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.languages import language_of
from kb_qa.guardrails.names import is_printed
from kb_qa.guardrails.questions import anchors

LONGEST = 400  # characters, and at least as many as the question has

_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")


def objection(rewrite: str, question: str, asked: Sequence[str]) -> str:
    """What is wrong with it, as the end of a sentence; empty where nothing is. `asked`: the turns' questions.

    Codes, periods, figures, names and measures must stand in the questions asked, and what the new question itself
    names must still be there.
    """
    if not rewrite or _CONTROL.search(rewrite):
        return "is not one line of text"
    if len(rewrite) > max(LONGEST, 2 * len(question)):
        return "is too long"
    if language_of(rewrite) != language_of(question):
        return "is in another language"
    sources = [question, *asked]
    known = normalise("\n".join(sources)).text
    for part in of_kind(parts_in(rewrite), "figure", "code"):
        if not is_printed(part.text, known):
            return f"holds {part.text!r}, which was not asked about"
    for anchor in anchors(rewrite):
        places = [known] if anchor.kind == "period" else sources  # `Q3` of one question, `2024` of another
        if not any(anchor.is_named_by(text) for text in places):
            return f"names {anchor.text!r}, which was not asked about"
    for measure in sorted(measures_in(rewrite)):
        if measure.removesuffix("s") not in known.lower():
            return f"asks for {measure!r}, which was not asked about"
    lost = [anchor.text for anchor in anchors(question) if not anchor.is_named_by(rewrite)]
    return f"has lost {lost[0]!r}" if lost else ""
