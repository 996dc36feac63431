"""A question as retrieval understands it, without a model: its terms, things, names, periods, places and phrases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb_qa.answers import Language
from kb_qa.asked.concepts import Concept, ConceptBook
from kb_qa.asked.places import Places, places_in
from kb_qa.guardrails.languages import language_of
from kb_qa.guardrails.questions import Anchor, anchors
from kb_qa.terms import terms

# What a question says of the answer's form, or of the documents at large: it says nothing of the passage looked for.
_ASIDES = re.compile(
    r"(?ai)[^.?!]*\bif\b[^.?!]*\b(?:return|answer|respond|reply|say|write)\b[^.?!]*[.?!]?"
    r"|\b(?:according to|as mentioned in|as (?:stated|reported|disclosed) in|based on|listed in|(?:mentioned )?in)"
    r" the (?:(?:annual|quarterly) report|documents?|materials?|text|passage|context)\b,?"
    r"|如果?[^。？！]*(?:返回|回答|回复|请答)[^。？！]*[。？！]?|(?:根据|按照|依据)(?:文档|材料|文件|资料|上述|以上)[^，,。]{0,6}[，,]?"
)
_YEAR = re.compile(r"(?a)(?<!\d)(?:19|20)\d\d(?!\d)")
_FISCAL = re.compile(r"(?ai)\b(?:FY|F|CY)[ '-]?(?P<two>\d\d)\b(?!\d)")


@dataclass(frozen=True, slots=True)
class Asked:
    """`core` is the question without asides, `terms` its index terms in order, `years` as printed (`2023`).

    `about` is the core without the names, for a search inside documents that are about them.
    `phrases` must stand word for word; `captions` of `places` are among them.
    """

    text: str
    language: Language
    core: str
    about: str
    terms: tuple[str, ...]
    concepts: tuple[Concept, ...]
    names: tuple[Anchor, ...]
    years: tuple[str, ...]
    places: Places
    phrases: tuple[tuple[str, ...], ...]

    @property
    def other_terms(self) -> tuple[str, ...]:
        """The terms of the question in other words, and in the other language; empty where no other words are known."""
        own = {term for concept in self.concepts for term in concept.own}
        others = [term for concept in self.concepts for other in concept.others for term in other]
        return tuple(dict.fromkeys([*others, *(term for term in self.terms if term not in own)])) if others else ()


@lru_cache(maxsize=256)
def read_question(question: str, book: ConceptBook) -> Asked:
    core = " ".join(_ASIDES.sub(" ", question).split()) or question
    found = anchors(question)
    names = tuple(anchor for anchor in found if anchor.kind == "name")
    wanted = tuple(terms(core))
    places = places_in(core)
    quotes = [anchor.text for anchor in found if anchor.kind == "quote"]
    phrases = (tuple(terms(text)) for text in [*quotes, *places.captions])
    return Asked(
        text=question,
        language=language_of(question),
        core=core,
        about=_without(core, names),
        terms=wanted,
        concepts=book.found(core, wanted),
        names=names,
        years=tuple(dict.fromkeys([*_YEAR.findall(core), *(f"20{match['two']}" for match in _FISCAL.finditer(core))])),
        places=places,
        phrases=tuple(filter(None, phrases)),
    )


def _without(text: str, names: Sequence[Anchor]) -> str:
    for name in names:
        text = text.replace(name.text, " ")
    return " ".join(text.split()) or text
