"""A figure of a stored answer → every place in the knowledge base that tells its measure and period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb_qa.answers import AnswerEvent
from kb_qa.elements import Chunk, Element
from kb_qa.errors import NotFoundError
from kb_qa.evidence import element_facts
from kb_qa.geometry import Region, union_of
from kb_qa.guardrails.bind import Claim
from kb_qa.guardrails.claims import asked_of, claims_of
from kb_qa.guardrails.disputes import Telling, is_conflict, subject_of_claim, subject_of_fact, tellings
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.policies import STRICT, Policy
from kb_qa.guardrails.units import split_units
from kb_qa.marks import Data, answer_text, figures_of
from kb_qa.protocols import Library
from kb_qa.rendering import document_names
from kb_qa.terms import terms

# Chunks whose facts are looked at: the ones that say most of the measure's words.
CANDIDATES = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A telling with the document it stands in. `is_support`: the answer's figure rests on it."""

    telling: Telling
    source: str
    is_support: bool
    shown: Region | None = None  # what a picture of the place shows: the whole row, or the element of a sentence


@dataclass(frozen=True, slots=True)
class Dispute:
    """`figure` is the data of the figure's event. `places`: its own first, then those that contradict it."""

    figure: Data
    conflict: bool
    places: tuple[Place, ...]


def dispute(library: Library, events: Sequence[AnswerEvent], n: int, policy: Policy = STRICT) -> Dispute:
    """Figure `n` (the ordinal, from 1, of its event) with all places of its measure. Blocking: it searches.

    Raises NotFoundError where the answer has no such figure.
    """
    figure = figure_of(events, n)
    claim = _claim(events, figure, policy)
    if claim is None:
        return Dispute(figure, conflict=False, places=())
    own = _own_facts(library, figure, policy)
    subject = subject_of_fact(own[0]) if own else subject_of_claim(claim)
    sources = dict(document_names(events))
    chunks = _chunks(library, _words(own, claim))
    sources |= {chunk.document_id: chunk.source for chunk in chunks}
    found = tellings(subject, claim, _facts(library, chunks, own, policy), own)
    places = [_place(library, each, sources.get(each.fact.document_id, ""), own) for each in found]
    return Dispute(figure, is_conflict(found), tuple(sorted(places, key=_order)))


def figure_of(events: Sequence[AnswerEvent], n: int) -> Data:
    """The data of figure `n`. Raises NotFoundError."""
    figures = figures_of(events)
    if not 1 <= n <= len(figures):
        raise NotFoundError(f"this answer has no figure {n}")
    return figures[n - 1]


def _claim(events: Sequence[AnswerEvent], figure: Data, policy: Policy) -> Claim | None:
    """What the figure's sentence says of it; None where it claims nothing (a list number, a year)."""
    text = answer_text(events)
    question = str(events[0].data.get("standalone") or events[0].data.get("question", ""))
    start, end = next(
        ((start, end) for start, end in split_units(text) if start <= figure["start"] < end), (0, len(text))
    )
    sentence = text[start:end]
    return claims_of(sentence, lex(sentence), asked_of(question, aliases=policy.aliases), aliases=policy.aliases).get(
        figure["start"] - start
    )


def _listed(data: Mapping[str, object], name: str) -> Sequence[Data]:
    found = data.get(name)
    return found if isinstance(found, list | tuple) else ()


def _own_facts(library: Library, figure: Data, policy: Policy) -> list[Fact]:
    """The facts that support the figure: of its elements, those printed so at its places."""
    supports = _listed(figure, "support")
    facts = element_facts({str(each["element"]): None for each in supports}, library, policy)
    return [
        fact
        for each in supports
        for fact in facts.get(str(each["element"]), ())
        if fact.printed == each["printed"] and (each.get("cell") in (None, list(fact.cell or ())))
    ]


def _words(own: Sequence[Fact], claim: Claim) -> str:
    return " ".join(f"{fact.row} {fact.column}" for fact in own[:1]) or claim.text


def _chunks(library: Library, words: str) -> Sequence[Chunk]:
    matches = library.lexical(terms(words), CANDIDATES)
    return list(library.chunks([match.id for match in matches]).values())


def _facts(library: Library, chunks: Sequence[Chunk], own: Sequence[Fact], policy: Policy) -> Iterable[Fact]:
    elements: dict[str, Chunk | None] = {block.element_id: chunk for chunk in chunks for block in chunk.blocks}
    elements |= {fact.element_id: elements.get(fact.element_id) for fact in own}
    return (fact for facts in element_facts(elements, library, policy).values() for fact in facts)


def _place(library: Library, telling: Telling, source: str, own: Sequence[Fact]) -> Place:
    fact = telling.fact
    element = library.element(fact.element_id)
    shown = None if element is None or fact.page is None else _shown(element, fact, fact.page)
    return Place(telling, source, _is_support(fact, own), shown)


def _shown(element: Element, fact: Fact, page: int) -> Region:
    if fact.cell is None or element.table is None:
        return next((each for each in element.regions if each.page == page), Region(page, fact.bbox))
    row = [cell.bbox for cell in element.table.cells if cell.row == fact.cell[0] and cell.page == page]
    return Region(page, union_of([bbox for bbox in row if bbox is not None]) or fact.bbox)


def _is_support(fact: Fact, own: Sequence[Fact]) -> bool:
    return any(
        (fact.element_id, fact.cell, fact.quantity) == (each.element_id, each.cell, each.quantity) for each in own
    )


def _order(place: Place) -> tuple[object, ...]:
    fact = place.telling.fact
    contradicts = place.telling.contradicts
    return not place.is_support, not contradicts, place.source, fact.page or 0, fact.bbox.y0 if fact.bbox else 0.0
