"""The sources of one answer, with their facts: what a check is held against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, get_args

from kb_qa.elements import Element, Origin
from kb_qa.geometry import BBox
from kb_qa.guardrails.fact_index import FactIndex
from kb_qa.guardrails.facts import Fact, facts_of
from kb_qa.guardrails.labels import DEFAULT_ALIASES, Aliases
from kb_qa.guardrails.locales import locale_of
from kb_qa.guardrails.numerals import document_locale
from kb_qa.guardrails.periods import parts_of
from kb_qa.guardrails.pipe_tables import elements_of
from kb_qa.guardrails.quantities import Quantity

_ORIGINS: Mapping[str, Origin] = {**{each: each for each in get_args(Origin)}, "ocr": "ocr"}


@dataclass(frozen=True, slots=True)
class Source:
    """Source number `number` (from 1) as it is cited: the facts that it holds, and all that it says.

    `periods` are the quantities that name one, those of its headings included. `elements` have rows and items to count.
    """

    number: int
    facts: tuple[Fact, ...]
    text: str
    periods: tuple[Quantity, ...] = ()
    pages: frozenset[int] = frozenset()
    elements: tuple[Element, ...] = ()


@dataclass(frozen=True, slots=True)
class Materials:
    """All sources of one answer. `ledger` names every figure by F-number, in the order of the sources.

    `facts` are those of whole elements: what stands outside every source competes, and supports nothing.
    """

    sources: tuple[Source, ...]
    facts: tuple[Fact, ...]
    ledger: Mapping[str, Fact]
    names: Mapping[int, str] = field(default_factory=dict)  # F-number by id() of the fact
    holders: Mapping[int, frozenset[int]] = field(default_factory=dict)  # source numbers by id() of the fact
    index: FactIndex = field(default_factory=lambda: FactIndex(()), compare=False)  # of `facts`
    unseen: tuple[Fact, ...] = ()  # of text that a reader cannot see, or that a model wrote: they support nothing

    def sources_of(self, fact: Fact) -> frozenset[int]:
        """The sources that hold the fact; none where it only stands beside what they hold."""
        return self.holders.get(id(fact), frozenset())

    def ledger_lines(self) -> tuple[str, ...]:
        """The ledger as a prompt shows it: `F12 | p.8 | Revenue | 2024 | 4,132 | USD 10^6`."""
        return tuple(_ledger_line(name, fact) for name, fact in self.ledger.items())


_AMBIGUOUS = re.compile(r"(?a)(?<![\d.,])\d{1,3}\.\d{3}(?![\d.,])")


def materials_of(
    groups: Sequence[Sequence[Element]], *, locale: str = "", aliases: Aliases = DEFAULT_ALIASES
) -> Materials:
    """The materials of numbered groups of elements. A table may take its scale from the text nearest to it."""
    texts = [
        [element.text for element in group if element.table is None and not _is_unseen(element)] for group in groups
    ]
    locale = locale or _locale("\n".join(element.text for group in groups for element in group))
    sources = []
    for index, group in enumerate(groups):
        around = _around(texts, index)
        facts = tuple(
            fact
            for element in group
            if not _is_unseen(element)
            for fact in _facts(element, around if element.table is not None else (), locale, aliases)
        )
        text = "\n".join(element.text for element in group if not _is_unseen(element))
        pages = frozenset(region.page for element in group for region in element.regions)
        sources.append(Source(index + 1, facts, text, periods_of(facts), pages, tuple(group)))
    unseen = tuple(
        fact
        for group in groups
        for element in group
        if _is_unseen(element)
        for fact in _facts(replace(element, origin="parser"), (), locale, aliases)
    )
    return assembled(sources, unseen=unseen)


def periods_of(facts: Iterable[Fact]) -> tuple[Quantity, ...]:
    return tuple(fact.quantity for fact in facts if parts_of(fact.quantity))


def assembled(sources: Sequence[Source], beside: Iterable[Fact] = (), unseen: tuple[Fact, ...] = ()) -> Materials:
    """The materials of these sources; `beside` are facts of their elements that stand in none of them."""
    holders: dict[int, set[int]] = {}
    held: dict[int, Fact] = {}
    for source in sources:
        for fact in source.facts:
            held[id(fact)] = fact
            holders.setdefault(id(fact), set()).add(source.number)
    figures = [fact for fact in held.values() if fact.number is not None and fact.quantity.role == "figure"]
    ledger = {f"F{number}": fact for number, fact in enumerate(figures, 1)}
    facts = (*held.values(), *(fact for fact in beside if id(fact) not in held))
    return Materials(
        sources=tuple(sources),
        facts=facts,
        ledger=ledger,
        names={id(fact): name for name, fact in ledger.items()},
        holders={key: frozenset(numbers) for key, numbers in holders.items()},
        index=FactIndex(facts),
        unseen=unseen,
    )


def _is_unseen(element: Element) -> bool:
    return bool(element.hidden) or element.origin == "caption"


def _locale(text: str) -> str:
    """The documents' locale by majority. Where nothing speaks, `1,234` groups; a `1.234` leaves both readings open."""
    return locale_of(text) or ("" if _AMBIGUOUS.search(text) or document_locale(text) == "de" else "en")


def source_elements(given: Iterable[Mapping[str, Any]]) -> list[tuple[Element, ...]]:
    """The elements of given sources, pipe tables read: `{id, text, element_type?, page?, bbox?, origin?, confidence?,
    hidden?}`; `hidden` says why a reader cannot see the text.

    Raises ValueError where a source has no text.
    """
    groups = []
    known: set[str] = set()
    for number, source in enumerate(given, 1):
        text = source.get("text")
        if not isinstance(text, str):
            raise ValueError(f"source {number} has no text")
        page, bbox, confidence = source.get("page"), source.get("bbox"), source.get("confidence")
        if page is not None and not isinstance(page, int):
            raise ValueError(f"source {number}: page must be a number, not {page!r}")
        name = str(source.get("id") or f"s{number}")
        name = f"{name}#{number}" if name in known else name
        known.add(name)
        origin = _ORIGINS.get(str(source.get("origin") or source.get("element_type")), "text-layer")
        found = elements_of(
            name,
            text,
            page=page,
            bbox=BBox(*(float(value) for value in bbox)) if bbox else None,
            origin=origin,
            confidence=float(confidence) if confidence is not None else None,
        )
        hidden = str(source.get("hidden") or "")
        groups.append(tuple(replace(element, hidden=hidden) for element in found) if hidden else found)
    return groups


def _around(texts: Sequence[Sequence[str]], index: int) -> tuple[str, ...]:
    """The texts near source `index`: its own, those before it from near to far, then those behind it."""
    before = [text for group in reversed(texts[:index]) for text in reversed(group)]
    behind = [text for group in texts[index + 1 :] for text in group]
    return (*reversed(texts[index]), *before, *behind)


@lru_cache(maxsize=512)
def _facts(element: Element, around: tuple[str, ...], locale: str, aliases: Aliases) -> tuple[Fact, ...]:
    return facts_of(element, around=around, locale=locale, aliases=aliases)


def _ledger_line(name: str, fact: Fact) -> str:
    page = f"p.{fact.page}" if fact.page is not None else "-"
    scale = f"10^{fact.quantity.scale}" if fact.quantity.scale else ""
    unit = " ".join(part for part in (fact.quantity.currency or fact.quantity.unit, scale) if part)
    return " | ".join((name, page, fact.row[:80], fact.column, fact.printed, unit))
