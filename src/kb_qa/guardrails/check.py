"""The check of one unit of an answer: every figure is printed in what the unit cites, or the unit is withheld.

Fail closed: an error, a numeral that the lexer does not cover and a figure without support all withhold the unit.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kb_qa.answers import Figure, FigureStatus, Support, Verdict
from kb_qa.guardrails.characters import BIDI_OVERRIDES
from kb_qa.guardrails.claims import asked_of, claims_of
from kb_qa.guardrails.echoes import is_abstained, is_negated
from kb_qa.guardrails.evidence import Evidence, is_printed
from kb_qa.guardrails.judge import Bench, judge
from kb_qa.guardrails.lexer import lex, uncovered
from kb_qa.guardrails.locales import spoken_locale
from kb_qa.guardrails.match import is_equal
from kb_qa.guardrails.materials import materials_of
from kb_qa.guardrails.messages import withheld_text
from kb_qa.guardrails.periods import is_named
from kb_qa.guardrails.protected import is_counting_label
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity
from kb_qa.guardrails.soft import contradiction

_log = logging.getLogger(__name__)

RELEASED: frozenset[FigureStatus] = frozenset({"exact", "question_echo", "exempt"})

_SURE = 0.9  # below this confidence of the recognition, a figure may have been misread
_BULLET = re.compile(r"\s*(?:[-*•>]\s+)?")
_PAGE_REFERENCE = re.compile(r"(?ai)(?:pages?|pp?\.) ?(\d{1,5})(?:[-–](\d{1,5}))?|第 ?(\d{1,5}) ?页")


@dataclass(frozen=True, slots=True)
class _Unit:
    """One unit and what it may rest on."""

    text: str
    cited: Sequence[Evidence]
    question: str
    echoes: frozenset[tuple[str, str]]  # kind and value of the question's quantities
    materials: int
    enumerator: int | None
    quantities: Sequence[Quantity]
    language: str
    locale: str


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
        return Verdict(released=False, text=_replacement(text, language, ()))
    released = all(figure.status in RELEASED for figure in figures)
    shown = text if released else _replacement(text, language, figures)
    return Verdict(released=released, text=shown, figures=figures)


def _replacement(text: str, language: str, figures: Sequence[Figure]) -> str:
    """The bullet, an accepted list number and the line's end stay, so that the lines around the gap stay whole."""
    bullet = _BULLET.match(text)
    lead = bullet[0] if bullet else ""
    first = figures[0] if figures else None
    if first is not None and first.kind == "enum" and first.status == "exempt":
        space = text[first.end :][: len(text[first.end :]) - len(text[first.end :].lstrip(" \t"))]
        lead = f"{text[: first.start].replace('**', '')}{first.raw}{space}"
    tail = text[len(text.rstrip()) :]
    return f"{lead}{withheld_text(language)}{tail}"


def _figures(
    text: str, cited: Sequence[Evidence], language: str, question: str, limits: tuple[int | None, int | None]
) -> tuple[Figure, ...]:
    # A quotation in a language with a decimal comma keeps its meaning, whatever the question's language.
    locale = "de" if spoken_locale(text) == "de" else language.partition("-")[0]
    quantities = lex(text, locale=locale)
    materials, enumerator = limits
    unit = _Unit(
        text=text,
        cited=cited,
        question=question,
        echoes=frozenset((each.kind, each.shown_value) for each in lex(question, locale=locale)),
        materials=len(cited) if materials is None else materials,
        enumerator=enumerator,
        quantities=quantities,
        language=language,
        locale=locale,
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


def _found(quantity: Quantity, printed: Sequence[tuple[Evidence, str]]) -> _Judgement:
    """What stands in the evidence is exact, unless only an unsure recognition read it there."""
    sure = [(each, raw) for each, raw in printed if each.confidence is None or each.confidence >= _SURE]
    support = tuple(dict.fromkeys(each.support(raw) for each, raw in sure or printed))
    if sure:
        return "exact", support, ""
    return "low_confidence", support, f"{quantity.raw} was recognised with a confidence below {_SURE}"


def _judge_marker(quantity: Quantity, unit: _Unit) -> _Judgement:
    numbers = [int(number) for number in re.findall(r"(?a)\d+", quantity.shown_value)]
    if quantity.shown_value in {"p", "circled"} or all(1 <= number <= unit.materials for number in numbers):
        return "exempt", (), "citation marker"
    return "unsupported", (), f"{quantity.raw} cites no material: there are {unit.materials}"


def _judge_enumerator(quantity: Quantity, unit: _Unit) -> _Judgement:
    """A list number follows the one before it or is 1, or the source's own item has it; `(45) employees` is none."""
    if any(_starts_with(quantity, each) for each in unit.cited):
        return "exempt", (), "list number of the source"
    number = int(quantity.shown_value) if quantity.shown_value.isdigit() else None
    follows = unit.enumerator is None or number in {1, unit.enumerator + 1}
    if number and follows and not is_counting_label(unit.text, *quantity.span, strict=unit.enumerator is None):
        return "exempt", (), "list number"
    return "unsupported", (), f"{quantity.raw} does not continue a list"


def _starts_with(label: Quantity, evidence: Evidence) -> bool:
    facts = [fact.quantity for fact in evidence.facts()[:1]]
    return any(each.role == "enum" and (each.value, each.raw) == (label.value, label.raw) for each in facts)


def _judge_name(quantity: Quantity, unit: _Unit) -> _Judgement:
    """Ids and references stand verbatim in the sources or in the question; a page, also where the evidence stands."""
    printed = [(each, quantity.raw) for each in unit.cited if is_printed(quantity.raw, each.said)]
    if printed:
        return _found(quantity, printed)
    if is_printed(quantity.raw, unit.question):
        return "exempt", (), "named in the question"
    pages = _PAGE_REFERENCE.fullmatch(quantity.raw)
    known = {region.page for each in unit.cited for region in each.regions}
    if pages and {int(number) for number in pages.groups() if number} <= known:
        return "exempt", (), "the page of the evidence"
    return "unsupported", (), f"{quantity.raw} is not in the cited materials"


def _judge_period(quantity: Quantity, unit: _Unit) -> _Judgement:
    printed = [(each, quantity.raw) for each in unit.cited if is_named(quantity, each.periods())]
    if printed:
        return _found(quantity, printed)
    return "unsupported", (), f"{quantity.raw} is not in the cited materials"


def _judge_figure(quantity: Quantity, unit: _Unit) -> _Judgement:
    bracketed = unit.text[quantity.start - 1 : quantity.start] + unit.text[quantity.end : quantity.end + 1]
    if bracketed in {"[]", "【】"} and not isinstance(quantity.value, str):
        return "unsupported", (), f"[{quantity.raw}] stands for a quantity like a citation marker"
    printed = [(each, fact.quantity.raw) for each in unit.cited for fact in each.facts() if is_equal(quantity, fact)]
    if printed:
        against = _against(quantity, unit)
        return ("unsupported", (), against) if against else _found(quantity, printed)
    if not quantity.soft:
        return "unsupported", (), f"{quantity.raw} is not printed in the cited materials"
    otherwise = contradiction(quantity, unit.text, [fact for each in unit.cited for fact in each.facts()])
    return ("unsupported", (), otherwise) if otherwise else ("exempt", (), "spelled-out count")


def _against(quantity: Quantity, unit: _Unit) -> str:
    """Why a printed figure is not the one that the unit's words name, or goes the other way; empty where nothing is.

    What repeats a cited block word for word says what the block says.
    """
    said = _collapsed(unit.text)
    if any(said in _collapsed(text) for each in unit.cited for text in (each.text, each.labelled)):
        return ""
    claim = claims_of(unit.text, unit.quantities, asked_of(unit.question, locale=unit.locale)).get(quantity.start)
    if claim is None:
        return ""
    materials = materials_of([[each.element(row)] for row, each in enumerate(unit.cited)], locale=unit.locale)
    judgement = judge(claim, Bench(materials, unit.language), None)
    # Without a rival the citation itself is what binds the figure.
    against = judgement.status == "contradicted" or (judgement.status == "misbound" and judgement.rival is not None)
    return judgement.reason if against else ""


def _collapsed(text: str) -> str:
    """The text without spaces, the marks at its ends, and the marks of a list."""
    return re.sub(r"\s", "", text).strip("-*•。.!！;；")


_JUDGES: dict[str, Callable[[Quantity, _Unit], _Judgement]] = {
    "marker": _judge_marker,
    "enum": _judge_enumerator,
    "id": _judge_name,
    "ref": _judge_name,
}


def _is_echo(quantity: Quantity, unit: _Unit) -> bool:
    """A figure of the question that the unit negates, or of which its clause says that it was not found."""
    if (quantity.kind, quantity.shown_value) not in unit.echoes:
        return False
    return is_negated(unit.text, quantity.start) or is_abstained(unit.text, *quantity.span)
