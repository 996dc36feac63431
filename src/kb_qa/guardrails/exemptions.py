"""Numerals that assert no quantity of their own: markers, list numbers, references, ids, periods, structural counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from kb_qa.guardrails.counts import counted
from kb_qa.guardrails.echoes import is_abstained, is_negated
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.judge import outcome_of, quoted_outcome
from kb_qa.guardrails.materials import Materials, Source
from kb_qa.guardrails.names import is_printed
from kb_qa.guardrails.outcome import FigureOutcome
from kb_qa.guardrails.periods import is_named, parts_of
from kb_qa.guardrails.protected import is_counting_label
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity
from kb_qa.guardrails.reasons import reason_text
from kb_qa.guardrails.soft import contradiction, structures

_PAGE = re.compile(r"(?ai)(?:pages?|pp?\.) ?(\d{1,5})(?:[-–](\d{1,5}))?|第 ?(\d{1,5}) ?页")
_ITEM = re.compile(r"(?am)^[ \t]{0,8}(?:[-*•]|\d{1,2}[.)、])[ \t]?\S")
_FROM = re.compile(r"(?ai)(?:\bfrom|\bbetween|从|由|自) ?(\S[^,;，。]{1,22}?) ?(?:to|and|through|至|到|和) ?$")

Place = tuple[str, int, frozenset[int]]  # language, the list number before, the sources that the unit cites


class Question(Protocol):
    """What an exemption may take from a question."""

    @property
    def text(self) -> str: ...

    @property
    def quantities(self) -> tuple[Quantity, ...]: ...

    @property
    def echoes(self) -> frozenset[tuple[str, str]]: ...


def judge_token(quantity: Quantity, text: str, materials: Materials, question: Question, place: Place) -> FigureOutcome:
    """The outcome of a quantity that is no measured figure, or of a soft count that no source prints."""
    match quantity.role:
        case "marker":
            return _marker(quantity, materials, place[0])
        case "enum":
            return _enumerator(quantity, text, materials, place)
        case "id" | "ref":
            return _name(quantity, materials, question, place)
        case _:
            if quantity.kind in PERIOD_KINDS:
                return _period(quantity, text, materials, question, place)
            return _soft(quantity, text, materials, place[0])


def _marker(quantity: Quantity, materials: Materials, language: str) -> FigureOutcome:
    count = len(materials.sources)
    numbers = [int(number) for number in re.findall(r"(?a)\d+", quantity.shown_value)]
    if quantity.shown_value in {"p", "circled"} or all(1 <= number <= count for number in numbers):
        return outcome_of(quantity, "exempt", reason_text("exempt_marker", language))
    if not numbers:  # a footnote mark
        return outcome_of(quantity, "exempt", reason_text("exempt_marker", language))
    return outcome_of(quantity, "unsupported", reason_text("marker", language, raw=quantity.raw, where=str(count)))


def _enumerator(quantity: Quantity, text: str, materials: Materials, place: Place) -> FigureOutcome:
    language, before, _ = place
    number = int(quantity.shown_value) if quantity.shown_value.isdigit() else None
    follows = number in {1, before + 1}
    if number and follows and not is_counting_label(text, *quantity.span, strict=False):
        return replace(outcome_of(quantity, "exempt", reason_text("exempt_enum", language)), number=str(number))
    if any(each.quantity.role == "enum" and each.printed == quantity.raw for each in materials.facts):
        return outcome_of(quantity, "exempt", reason_text("exempt_enum", language))
    return outcome_of(quantity, "unsupported", reason_text("enum", language, raw=quantity.raw))


def _sources(materials: Materials, cited: frozenset[int]) -> tuple[Source, ...]:
    """The cited sources; all of them where the unit cites none."""
    return tuple(source for source in materials.sources if not cited or source.number in cited)


def _name(quantity: Quantity, materials: Materials, question: Question, place: Place) -> FigureOutcome:
    """V12: verbatim, spaces and hyphens aside, in a source or in the question; a page, also where a source stands."""
    for source in materials.sources:
        if is_printed(quantity.raw, source.text):
            facts = [fact for fact in source.facts if is_printed(quantity.raw, fact.printed)]
            return quoted_outcome(quantity, facts, place[0]) if facts else outcome_of(quantity, "exact")
    if is_printed(quantity.raw, question.text):
        return outcome_of(quantity, "exempt", reason_text("exempt_question", place[0]))
    pages = _PAGE.fullmatch(quantity.raw)
    known = {page for source in materials.sources for page in source.pages}
    if pages and {int(number) for number in pages.groups() if number} <= known:
        return outcome_of(quantity, "exempt", reason_text("exempt_page", place[0]))
    return outcome_of(quantity, "unsupported", reason_text("unsupported", place[0], raw=quantity.raw))


def _period(quantity: Quantity, text: str, materials: Materials, question: Question, place: Place) -> FigureOutcome:
    if _is_empty_range(quantity, text) or _is_of_another_question(quantity, text, question):
        return outcome_of(quantity, "unsupported", reason_text("unsupported", place[0], raw=quantity.raw))
    for source in _sources(materials, place[2]):
        if is_named(quantity, source.periods):
            wanted = parts_of(quantity)
            facts = [fact for fact in source.facts if wanted and wanted <= parts_of(fact.quantity)]
            return quoted_outcome(quantity, facts, place[0]) if facts else outcome_of(quantity, "exact")
    if (quantity.kind, quantity.shown_value) in question.echoes and (
        is_negated(text, quantity.start) or is_abstained(text, *quantity.span)
    ):
        return outcome_of(quantity, "question_echo", reason_text("echo", place[0]))
    return outcome_of(quantity, "unsupported", reason_text("unsupported", place[0], raw=quantity.raw))


def _is_empty_range(quantity: Quantity, text: str) -> bool:
    """`from 2023 to 2023` is no range."""
    before = _FROM.search(text, 0, quantity.start)
    return before is not None and before[1].strip() == quantity.raw


def _is_of_another_question(quantity: Quantity, text: str, question: Question) -> bool:
    """`2024 was not found` does not answer what was asked of 2026; an answer that names 2026 as well may."""
    asked = [each for each in question.quantities if each.kind in PERIOD_KINDS]
    if not asked or any(each.raw in text or each.shown_value == quantity.shown_value for each in asked):
        return False
    return is_abstained(text, *quantity.span)


def _soft(quantity: Quantity, text: str, materials: Materials, language: str) -> FigureOutcome:
    """V11: refused where a source counts the same noun otherwise, counted where rows or items agree, else let be."""
    said = contradiction(quantity, text, _said(materials))
    if said:
        return outcome_of(quantity, "unsupported", reason_text("soft", language, raw=quantity.raw, mine=said))
    places = counted(quantity, text, materials)
    if places:
        return replace(outcome_of(quantity, "counted"), support=places)
    items = len(_ITEM.findall(text))
    if items > 1 and quantity.value == items:
        return outcome_of(quantity, "counted")
    if not quantity.soft and not structures(quantity, text):
        return outcome_of(quantity, "unsupported", reason_text("unsupported", language, raw=quantity.raw))
    soft = outcome_of(quantity, "exempt", reason_text("exempt_soft", language))
    return replace(soft, annotations=("soft",))


def _said(materials: Materials) -> Iterable[Fact]:
    """What the sources say in running text."""
    return (fact for source in materials.sources for fact in source.facts if fact.cell is None)
