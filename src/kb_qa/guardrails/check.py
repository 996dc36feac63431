"""The check of one unit of an answer: every figure is printed in what the unit cites, or the unit is withheld.

Fail closed: an error, a numeral that the lexer does not cover and a figure without support all withhold the unit.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from kb_qa.answers import Figure, FigureStatus, Support, Verdict
from kb_qa.guardrails.characters import BIDI_OVERRIDES
from kb_qa.guardrails.evidence import Evidence, is_printed
from kb_qa.guardrails.lexer import lex, uncovered
from kb_qa.guardrails.messages import withheld_text
from kb_qa.guardrails.periods import is_named
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity

_log = logging.getLogger(__name__)

RELEASED: frozenset[FigureStatus] = frozenset({"exact", "question_echo", "exempt"})

_MUTUAL = frozenset({"money", "number", "count"})
_DOLLARS = frozenset({"USD", "$?"})
_YUAN_OR_YEN = frozenset({"CNY", "JPY", "¥?"})
_ABSTENTION = re.compile(
    r"(?ai)\bnot (?:found|mentioned|stated|available|disclosed|provided|specified|contained|included|reported|given)\b"
    r"|\bno (?:information|mention|data|figures?)\b|\b(?:do|does) not (?:contain|mention|state"
    r"|include|provide|specify|say|give)\b"
    r"|未(?:找到|提及|提到|披露|说明|包含|提供|给出|涉及)|没有(?:找到|提及|提到|提供|相关|说明"
    r"|给出|包含)|无(?:相关|法)|找不到"
)
_NEGATION = re.compile(r"(?ai)(?:\bnot|\brather than|\binstead of|n't(?: be)?|而非|不是|并非|而不是|不等于)\s?$")
_LEAD = re.compile(r"(?a)\s*(?:[-*•>]\s+)?(?:(?:\d{1,3}[.)、．]|[(（]?[一二三四五六七八九十]{1,3}[)）、])\s*)?")
_NOUN = re.compile(r"(?a)[ -]([A-Za-z]{3,30})|([\u4e00-\u9fff]{2})")
_PAGE_REFERENCE = re.compile(r"(?ai)(?:pages?|pp?\.) ?(\d{1,5})(?:[-–](\d{1,5}))?|第 ?(\d{1,5}) ?页")


@dataclass(frozen=True, slots=True)
class _Unit:
    """One unit and what it may rest on."""

    text: str
    cited: Sequence[Evidence]
    question: str
    echoes: frozenset[tuple[str, str]]  # kind and value of the question's quantities
    abstains: bool
    materials: int
    enumerator: int | None


def check_unit(
    text: str,
    cited: Sequence[Evidence],
    *,
    language: str,
    question: str,
    materials: int | None = None,
    enumerator: int | None = None,
) -> Verdict:
    """The verdict on one unit (`split_units`) of an answer in `language` (a tag such as `en`, `zh`, `zh-Hant`).

    `cited` is what the unit cites: nothing cited, nothing supported. `materials` is how many numbered materials there
    are (by default the cited ones): a citation marker above it is a figure. `enumerator` is the list number of the
    unit before (0 for none): a line-start number must follow it, or be 1; None does not check this.
    Never raises: an error withholds the unit.
    """
    try:
        figures = _figures(text, cited, language, question, (materials, enumerator))
    except Exception:  # noqa: BLE001  fail closed (I1): whatever goes wrong in here must not release a figure
        _log.exception("the check of a unit failed; the unit is withheld")
        return Verdict(released=False, text=_replacement(text, language))
    released = all(figure.status in RELEASED for figure in figures)
    return Verdict(released=released, text=text if released else _replacement(text, language), figures=figures)


def _replacement(text: str, language: str) -> str:
    """The list lead and the line's end stay, so that the list and the lines around the gap stay whole."""
    lead = _LEAD.match(text)
    tail = text[len(text.rstrip()) :]
    return f"{lead[0] if lead else ''}{withheld_text(language)}{tail}"


def _figures(
    text: str, cited: Sequence[Evidence], language: str, question: str, limits: tuple[int | None, int | None]
) -> tuple[Figure, ...]:
    locale = language.partition("-")[0]
    quantities = lex(text, locale=locale)
    materials, enumerator = limits
    unit = _Unit(
        text=text,
        cited=cited,
        question=question,
        echoes=frozenset((each.kind, each.shown_value) for each in lex(question, locale=locale)),
        abstains=_ABSTENTION.search(text) is not None,
        materials=len(cited) if materials is None else materials,
        enumerator=enumerator,
    )
    judged = [_judged(quantity, unit) for quantity in quantities]
    gaps = uncovered(text, quantities)
    if not BIDI_OVERRIDES.isdisjoint(text) and quantities:
        gaps = ((0, len(text)),)  # what is read left to right is not what is shown
    judged += [Figure(text[start:end], start, end, "number", text[start:end], "unparsed") for start, end in gaps]
    return tuple(sorted(judged, key=lambda figure: (figure.start, figure.end)))


def _judged(quantity: Quantity, unit: _Unit) -> Figure:
    judge = _JUDGES.get(quantity.role, _judge_figure)
    if quantity.role == "figure" and quantity.kind in PERIOD_KINDS:
        judge = _judge_period
    status, support, reason = judge(quantity, unit)
    if status == "unsupported" and _is_echo(quantity, unit):
        status, support, reason = "question_echo", (), "quoted from the question in a negation"
    return Figure(
        raw=quantity.raw,
        start=quantity.start,
        end=quantity.end,
        kind=quantity.kind,
        value=quantity.shown_value,
        status=status,
        support=support,
        reason=reason,
    )


_Judgement = tuple[FigureStatus, tuple[Support, ...], str]


def _judge_marker(quantity: Quantity, unit: _Unit) -> _Judgement:
    numbers = [int(number) for number in re.findall(r"(?a)\d+", quantity.shown_value)]
    if quantity.shown_value in {"p", "circled"} or all(1 <= number <= unit.materials for number in numbers):
        return "exempt", (), "citation marker"
    return "unsupported", (), f"{quantity.raw} cites no material: there are {unit.materials}"


def _judge_enumerator(quantity: Quantity, unit: _Unit) -> _Judgement:
    printed = quantity.shown_value
    number = int(printed) if printed.isdigit() else None
    if unit.enumerator is None or number is None or number in {1, unit.enumerator + 1}:
        return "exempt", (), "list number"
    return "unsupported", (), f"{quantity.raw} does not continue a list"


def _judge_name(quantity: Quantity, unit: _Unit) -> _Judgement:
    """Ids and references stand verbatim in the sources or in the question; a page, also where the evidence stands."""
    support = tuple(each.support(quantity.raw) for each in unit.cited if is_printed(quantity.raw, each.said))
    if support:
        return "exact", support, ""
    if is_printed(quantity.raw, unit.question):
        return "exempt", (), "named in the question"
    pages = _PAGE_REFERENCE.fullmatch(quantity.raw)
    known = {region.page for each in unit.cited for region in each.regions}
    if pages and {int(number) for number in pages.groups() if number} <= known:
        return "exempt", (), "the page of the evidence"
    return "unsupported", (), f"{quantity.raw} is not in the cited materials"


def _judge_period(quantity: Quantity, unit: _Unit) -> _Judgement:
    support = tuple(each.support(quantity.raw) for each in unit.cited if is_named(quantity, each.periods()))
    if support:
        return "exact", support, ""
    return "unsupported", (), f"{quantity.raw} is not in the cited materials"


def _judge_figure(quantity: Quantity, unit: _Unit) -> _Judgement:
    support = tuple(
        each.support(fact.raw) for each in unit.cited for fact in each.facts() if is_equal(quantity, fact, each)
    )
    if support:
        return "exact", tuple(dict.fromkeys(support)), ""
    if quantity.soft:
        return _judge_soft(quantity, unit)
    return "unsupported", (), f"{quantity.raw} is not printed in the cited materials"


def _judge_soft(quantity: Quantity, unit: _Unit) -> _Judgement:
    """`two reasons` passes, unless the sources count the same noun otherwise ("four segments" against "three")."""
    noun = _noun_after(unit.text, quantity.end)
    for evidence in unit.cited if noun else ():
        for fact in evidence.facts():
            if fact.role == "figure" and fact.value != quantity.value and _noun_after_fact(evidence, fact) == noun:
                return "unsupported", (), f"the materials say {fact.raw} {noun}"
    return "exempt", (), "spelled-out count"


def _noun_after_fact(evidence: Evidence, fact: Quantity) -> str:
    in_text = evidence.text[fact.start : fact.end] == fact.raw
    return _noun_after(evidence.text if in_text else evidence.labelled, fact.end)


def _noun_after(text: str, position: int) -> str:
    match = _NOUN.match(text, position)
    return (match[1] or match[2]).lower().removesuffix("s") if match else ""


_JUDGES: dict[str, Callable[[Quantity, _Unit], _Judgement]] = {
    "marker": _judge_marker,
    "enum": _judge_enumerator,
    "id": _judge_name,
    "ref": _judge_name,
}


def _is_echo(quantity: Quantity, unit: _Unit) -> bool:
    """A figure of the question that the unit negates, or a sentence that says nothing was found."""
    if (quantity.kind, quantity.shown_value) not in unit.echoes:
        return False
    return unit.abstains or _NEGATION.search(unit.text[max(0, quantity.start - 16) : quantity.start]) is not None


def is_equal(claim: Quantity, fact: Quantity, evidence: Evidence) -> bool:
    """Rules V1, V2, V6, V8 and V12 at their strictest: same kind, unit and currency, the very value."""
    return (
        fact.role == "figure"
        and _is_same_kind(claim, fact, evidence)
        and _is_same_value(claim, fact)
        and _is_same_currency(claim, fact, evidence)
        and not (claim.basis and fact.basis and claim.basis != fact.basis)
        and _is_same_bound(claim, fact)
    )


def _is_same_kind(claim: Quantity, fact: Quantity, evidence: Evidence) -> bool:
    if claim.kind in _MUTUAL and fact.kind in _MUTUAL:
        if "money" in {claim.kind, fact.kind} and (claim.unit or fact.unit):
            return False
        return not (claim.unit and fact.unit) or claim.unit == fact.unit or "个" in {claim.unit, fact.unit}
    if claim.kind == fact.kind:
        return claim.unit == fact.unit
    # A bare number under a header that prints the unit: `年假天数（天）：15`.
    wanted = "%" if claim.kind == "percent" else claim.unit
    return fact.kind == "number" and bool(wanted) and wanted in evidence.units() and not evidence.states_scale()


def _is_same_value(claim: Quantity, fact: Quantity) -> bool:
    if isinstance(claim.value, str) or isinstance(fact.value, str):
        return claim.shown_value == fact.shown_value
    known = set(fact.readings) or {fact.value}
    wanted: set[Decimal] = set(claim.readings) or {claim.value}
    return wanted <= known


def _is_same_currency(claim: Quantity, fact: Quantity, evidence: Evidence) -> bool:
    """A claim may leave the currency out, and never add one that neither the figure nor its header prints."""
    if not claim.currency or claim.currency == fact.currency:
        return True
    if not fact.currency:
        named = evidence.units()
        return not evidence.states_scale() and any(_is_compatible(claim.currency, each) for each in named)
    return _is_compatible(claim.currency, fact.currency)


def _is_compatible(first: str, second: str) -> bool:
    pair = {first, second}
    return first == second or ("$?" in pair and pair <= _DOLLARS) or ("¥?" in pair and pair <= _YUAN_OR_YEN)


def _is_same_bound(claim: Quantity, fact: Quantity) -> bool:
    """A bound may be left out; `at least 5` holds for a printed 5, `more than 5` does not."""
    if not claim.bound or claim.bound == fact.bound:
        return True
    return not fact.bound and claim.bound in {">=", "<="}
