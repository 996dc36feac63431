"""The guard as a tool of its own: given sources, a question and an answer, what every figure of the answer rests on."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kb_qa.guardrails.bind import Claim
from kb_qa.guardrails.characters import BIDI_OVERRIDES
from kb_qa.guardrails.claims import Asked, asked_of, claims_of
from kb_qa.guardrails.crossing import cited_across_scripts
from kb_qa.guardrails.echoes import abstains, is_abstained, is_negated
from kb_qa.guardrails.exemptions import judge_token
from kb_qa.guardrails.explicit import strip
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.judge import Bench, Judgement, figure_outcome, is_sure, judge, outcome_of, quoted_outcome
from kb_qa.guardrails.languages import language_tag_of
from kb_qa.guardrails.lexer import lex, uncovered
from kb_qa.guardrails.locales import spoken_locale
from kb_qa.guardrails.materials import Materials, materials_of, source_elements
from kb_qa.guardrails.messages import refusal_text
from kb_qa.guardrails.outcome import ClaimOutcome, ClaimStatus, FigureOutcome, Outcome, Status
from kb_qa.guardrails.policies import STRICT, Policy
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity
from kb_qa.guardrails.reasons import reason_text
from kb_qa.guardrails.replacements import unit_text
from kb_qa.guardrails.units import split_units
from kb_qa.guardrails.windows import is_counted

_log = logging.getLogger(__name__)

# A sentence of so many figures, over so many facts, is no sentence: it is withheld and not computed for minutes.
MAX_COMPARISONS = 200_000
_CITED = re.compile(r"(?a)\d+")


def check_figures(
    sources: Iterable[Mapping[str, Any]], question: str, answer: str, *, policy: Policy = STRICT
) -> Outcome:
    """The outcome for `answer`, held against `sources`: dicts `{id, text, element_type?, page?, bbox?, confidence?}`,
    cited by position from 1, tables as pipe tables with their caption lines above.

    Pure and deterministic: the same input gives the same JSON. Raises ValueError where a source has no text.
    """
    materials = materials_of(source_elements(sources), locale=policy.locale, aliases=policy.aliases)
    return check_answer(materials, question, answer, policy=policy)


def check_answer(materials: Materials, question: str, answer: str, *, policy: Policy = STRICT) -> Outcome:
    """The same for materials that are at hand, with their facts."""
    stripped = strip(answer)
    text = stripped.text
    language = language_tag_of(question or text)
    asked = asked_of(question, locale=policy.locale, aliases=policy.aliases)
    claims: list[ClaimOutcome] = []
    enumerator = 0
    expressions = dict(stripped.expressions)
    for number, (start, end) in enumerate(split_units(text)):
        own = {place - start: said for place, said in expressions.items() if start < place <= end}
        unit = Unit(text[start:end], materials, asked, language, own, enumerator, policy)
        figures = unit.checked()
        numbers = [int(each.number) for each in figures if each.number]
        enumerator = numbers[-1] if numbers else enumerator
        moved = tuple(_moved(each, start) for each in figures) if start else figures
        withheld = any(policy.withholds(each) for each in figures)
        shown = unit_text(text[start:end], figures, language, policy, withheld=withheld)
        status: ClaimStatus = "corrected" if any(each.corrected for each in figures) else "released"
        status = "refused" if withheld else status
        claims.append(ClaimOutcome(number, start, end, status, shown, moved))
    return _noticed(_outcome(claims, text, language, policy), asked, materials, policy)


def _noticed(outcome: Outcome, asked: Asked, materials: Materials, policy: Policy) -> Outcome:
    """An answer to a question for a figure that has none, or nothing to rest one on: then it is no answer."""
    supported = any(each.supported and (each.support or each.derivation) for each in outcome.figures)
    if not asked.wants_figure or supported or abstains(outcome.visible) or outcome.verdict == "refuse":
        return outcome
    if any(source.text.strip() for source in materials.sources) or not outcome.visible.strip():
        return replace(outcome, notices=("no_figure",))
    text = refusal_text(outcome.language) if policy.mode == "strict" else outcome.text
    return replace(outcome, verdict="refuse", text=text, notices=("no_evidence",))


def _moved(figure: FigureOutcome, by: int) -> FigureOutcome:
    return replace(figure, start=figure.start + by, end=figure.end + by)


def _outcome(claims: Sequence[ClaimOutcome], visible: str, language: str, policy: Policy) -> Outcome:
    figures = [figure for claim in claims for figure in claim.figures]
    refused = [figure for figure in figures if not figure.supported]
    derived = sum(figure.status in {"derived", "corrected"} for figure in figures)
    withheld = sum(claim.status == "refused" for claim in claims)
    text = "".join(claim.text for claim in claims)
    said = [claim for claim in claims if claim.status != "refused" and claim.text.strip()]
    if withheld and (policy.granularity == "answer" or not said):
        text = refusal_text(language)
    return Outcome(
        verdict="refuse" if refused else "derived" if derived else "pass",
        language=language,
        text=text,
        visible=visible,
        claims=tuple(claims),
        policy_id=policy.id,
        policy_hash=policy.hash,
        withheld=withheld,
        stats={
            "figures": len(figures),
            "supported": len(figures) - len(refused),
            "derived": derived,
            "refused": len(refused),
            **{f"status.{name}": count for name, count in sorted(Counter(each.status for each in figures).items())},
        },
    )


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of an answer, to be checked. `expressions` by the place in `text` where they stood.

    `cited` are the sources that the unit cites: without any, nothing supports its figures but an expression that it
    states. None: the citation markers in the text say so, and where there are none all sources count. `block_facts`
    are the facts of the very blocks that it cites, `quoted` those of the blocks that it repeats word for word.
    """

    text: str
    materials: Materials
    asked: Asked
    language: str
    expressions: Mapping[int, str]
    enumerator: int
    policy: Policy
    cited: frozenset[int] | None = None
    block_facts: tuple[Fact, ...] = ()
    quoted: tuple[Fact, ...] = ()

    def checked(self) -> tuple[FigureOutcome, ...]:
        """Fail closed (I1): an error in here makes the whole unit unparsed."""
        try:
            return self._figures()
        except Exception:  # noqa: BLE001  whatever goes wrong must not release a figure
            _log.exception("the check of a unit failed; the unit is withheld")
            whole = Quantity("number", self.text, 0, len(self.text), raw=self.text)
            return (outcome_of(whole, "unparsed", reason_text("unparsed", self.language, raw=self.text)),)

    def _figures(self) -> tuple[FigureOutcome, ...]:
        locale = self.policy.locale or ("de" if spoken_locale(self.text) == "de" else "en")
        quantities = lex(self.text, locale=locale)
        if sum(map(is_counted, quantities)) * len(self.materials.facts) > MAX_COMPARISONS:
            raise OverflowError("more figures and facts than one sentence can be checked against")
        claims = claims_of(self.text, quantities, self.asked, aliases=self.policy.aliases)
        cited = self._cited(quantities)
        bench = Bench(self.materials, self.language, cited, repair=self.policy.repair == "recompute")
        found: list[FigureOutcome] = []
        later: list[Quantity] = []
        anchored: set[int] = set()
        for quantity in quantities:
            if not is_counted(quantity):
                found.append(judge_token(quantity, self.text, self.materials, self.asked, self._place(cited)))
                continue
            expression = self._expression(quantity, quantities)
            judgement = judge(claims[quantity.start], bench, expression)
            judgement = self._across_scripts(claims[quantity.start], judgement)
            anchored.update(id(fact) for fact in judgement.facts)
            again = expression is None and quantity.kind in {"measure", "duration", "money"}
            if again and judgement.status == "unsupported":
                later.append(quantity)
                continue
            found.append(
                self._settled(claims[quantity.start], figure_outcome(claims[quantity.start], judgement, bench))
            )
        anchors = replace(bench, anchored=frozenset(anchored)) if later else bench
        for quantity in later:
            claim = claims[quantity.start]
            outcome = figure_outcome(claim, judge(claim, anchors, None), anchors)
            found.append(self._settled(claim, outcome))
        found += self._gaps(quantities)
        return tuple(sorted(found, key=lambda figure: (figure.start, figure.end)))

    def _across_scripts(self, claim: Claim, judgement: Judgement) -> Judgement:
        """Where no word can be shared, and nothing else fits better, the cited block binds the figure."""
        if judgement.status != "misbound" or judgement.rival is not None or not self.block_facts:
            return judgement
        facts, agreement = cited_across_scripts(claim, self.block_facts, self.materials.facts)
        if not facts:
            return judgement
        if not any(is_sure(fact) for fact in facts):
            return replace(judgement, status="low_confidence", facts=tuple(facts[:1]))
        status: Status = "rounded" if agreement == "rounded" else "exact"
        return Judgement(status, tuple(fact for fact in facts if is_sure(fact))[:4], match=agreement)

    def _place(self, cited: frozenset[int]) -> tuple[str, int, frozenset[int]]:
        return self.language, self.enumerator, cited

    def _gaps(self, quantities: Sequence[Quantity]) -> list[FigureOutcome]:
        gaps = uncovered(self.text, quantities)
        if not BIDI_OVERRIDES.isdisjoint(self.text) and quantities:
            gaps = ((0, len(self.text)),)  # what is read left to right is not what is shown
        outcomes = []
        for start, end in gaps:
            raw = self.text[start:end]
            quantity = Quantity("number", raw, start, end, raw=raw)
            outcomes.append(outcome_of(quantity, "unparsed", reason_text("unparsed", self.language, raw=raw)))
        return outcomes

    def _expression(self, quantity: Quantity, quantities: Sequence[Quantity]) -> str | None:
        """The expression right behind the figure; one in the unit's last place belongs to its only figure."""
        for place, said in self.expressions.items():
            if quantity.end <= place <= quantity.end + 2 and not self.text[quantity.end : place].strip():
                return said
        return None

    def _cited(self, quantities: Sequence[Quantity]) -> frozenset[int]:
        if self.cited is not None:
            return self.cited
        count = len(self.materials.sources)
        numbers = {
            int(number)
            for each in quantities
            if each.role == "marker" and each.shown_value not in {"p", "circled"}
            for number in _CITED.findall(each.shown_value)
        }
        return frozenset(number for number in numbers if 1 <= number <= count)

    def _settled(self, claim: Claim, outcome: FigureOutcome) -> FigureOutcome:
        """What is printed nowhere may still be quoted in a negation, or structure the answer."""
        quantity = claim.quantity
        outcome = self._grounded(quantity, outcome)
        if not outcome.supported and self._is_echo(quantity):
            return outcome_of(quantity, "question_echo", reason_text("echo", self.language))
        if outcome.status in {"unsupported", "misbound"} and (quantity.soft or quantity.kind in {"number", "count"}):
            other = judge_token(quantity, self.text, self.materials, self.asked, self._place(frozenset()))
            return other if quantity.soft or other.supported else outcome
        bracketed = self.text[quantity.start - 1 : quantity.start] + self.text[quantity.end : quantity.end + 1]
        if bracketed in {"[]", "【】"} and quantity.kind not in PERIOD_KINDS:
            text = reason_text("bracketed", self.language, raw=quantity.raw)
            return outcome_of(quantity, "unsupported", text)
        return outcome

    def _grounded(self, quantity: Quantity, outcome: FigureOutcome) -> FigureOutcome:
        """A quotation says what its block says; a figure in a sentence that cites nothing has no source."""
        if self.cited is None:
            return outcome
        if not outcome.supported and (facts := [fact for fact in self.quoted if _is_same_print(fact, quantity)]):
            return quoted_outcome(quantity, facts, self.language)
        stated = outcome.derivation is not None and outcome.derivation.origin == "explicit"
        if outcome.supported and outcome.support and not self.cited and not stated:
            return outcome_of(quantity, "unsupported", reason_text("uncited", self.language, raw=quantity.raw))
        return outcome

    def _is_echo(self, quantity: Quantity) -> bool:
        if (quantity.kind, quantity.shown_value) not in self.asked.echoes:
            return False
        return is_negated(self.text, quantity.start) or is_abstained(self.text, *quantity.span)


def _is_same_print(fact: Fact, quantity: Quantity) -> bool:
    """The same characters, spaces aside."""
    return fact.quantity.role == quantity.role and _collapsed(fact.printed) == _collapsed(quantity.raw)


def _collapsed(text: str) -> str:
    return "".join(text.split())
