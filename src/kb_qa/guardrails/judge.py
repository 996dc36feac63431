"""The judgement of one figure: printed in a source and bound to the claim's words, or computed from what is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb_qa.guardrails.bind import Binding, Claim, bind, matched
from kb_qa.guardrails.conflicts import conflicting
from kb_qa.guardrails.conversions import converted
from kb_qa.guardrails.corrections import corrected_raw
from kb_qa.guardrails.counters import LEAD, TAIL, beside, counts_the_same, is_day_of_month
from kb_qa.guardrails.derivation import Derived, is_finer_than_operands
from kb_qa.guardrails.exchange import exchanged
from kb_qa.guardrails.explicit import Failure, prove
from kb_qa.guardrails.extremes import outdone_by
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.implicit import derive
from kb_qa.guardrails.labels import tokens
from kb_qa.guardrails.materials import Materials
from kb_qa.guardrails.outcome import DerivationShown, FigureOutcome, Place, Reason, Status
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity, plain
from kb_qa.guardrails.reasons import reason_text
from kb_qa.guardrails.trends import goes_otherwise
from kb_qa.guardrails.values import Comparison, compare, kind_group

SURE = 0.9  # below this confidence of the recognition, a figure may have been misread
_MOST = 24
_AVERAGES = tokens("average averages mean avg 平均")
_RANK = {"exact": 0, "rounded": 1, "converted": 2}


@dataclass(frozen=True, slots=True)
class Judgement:
    """A status with what it rests on; `facts` are those of the claimed value, bound or not."""

    status: Status
    facts: tuple[Fact, ...] = ()
    derived: Derived | None = None
    reason: str = ""
    rival: Fact | None = None
    match: str = ""
    annotations: tuple[str, ...] = ()
    corrected: str = ""
    code: str = ""  # of the reason, where it says more than the status


@dataclass(frozen=True, slots=True)
class Bench:
    """What figures of one unit are judged by. `cited` are the source numbers that the unit cites."""

    materials: Materials
    language: str
    cited: frozenset[int] = frozenset()
    anchored: frozenset[int] = frozenset()  # ids of the facts that other figures of the unit are
    repair: bool = False


def judge(claim: Claim, bench: Bench, expression: str | None) -> Judgement:
    """Direct match, then the stated expression, then the implicit search."""
    if expression is not None:
        return _proven(claim, bench, expression)
    direct = _direct(claim, bench)
    if direct.status in {"exact", "rounded", "converted", "low_confidence", "conflict", "wrong_citation"}:
        return direct
    facts = bench.materials.facts
    derived = derive(claim, facts) or converted(claim, facts, bench.anchored) or exchanged(claim, facts, bench.anchored)
    if derived is not None:
        return Judgement("derived", derived.operands, derived)
    return direct


def _proven(claim: Claim, bench: Bench, expression: str) -> Judgement:
    outcome = prove(claim, expression, bench.materials.index, bench.materials.ledger)
    if isinstance(outcome, Failure):
        code = f"operand_{outcome.code}" if outcome.code in {"misbound", "currency"} else outcome.code
        text = reason_text(code, bench.language, raw=claim.quantity.raw, mine=outcome.detail)
        right = outcome.derived if bench.repair else None
        if right is not None and (printed := corrected_raw(claim.quantity, right.value, bench.language)):
            return Judgement("corrected", right.operands, right, reason=text, corrected=printed)
        return Judgement("misbound" if outcome.code == "misbound" else "unsupported", reason=text)
    return Judgement("derived", outcome.operands, outcome)


def _direct(claim: Claim, bench: Bench) -> Judgement:
    facts = bench.materials.facts
    compared = [(fact, compare(claim.quantity, fact)) for fact in bench.materials.index.near(claim.quantity)]
    equal = {
        id(fact): comparison for fact, comparison in compared if comparison.agreement and _counts_the_same(claim, fact)
    }
    candidates = [fact for fact, _ in compared if id(fact) in equal]
    if not candidates:
        return _unmatched(claim, compared, bench)
    fitting = [fact for fact in candidates if _is_same_way(claim, fact) and _is_an_average(claim, fact)]
    if not fitting:
        against = [fact for fact in candidates if _is_contrary(claim, fact)]
        if against:
            return _because(claim, bench, "contradicted", against[0])
        return Judgement("unsupported", reason=reason_text("unsupported", bench.language, raw=claim.quantity.raw))
    if len(fitting) > _MOST:  # a value that stands everywhere: the facts that share most words with the claim
        fitting = sorted(fitting, key=lambda fact: -len(matched(fact, claim.words)))[:_MOST]
    bindings = bind(claim, fitting, facts, frozenset(equal))
    bound = [binding.fact for binding in bindings if not binding.rule]
    if not bound:
        return _misbound(claim, bench, bindings)
    return _bound(claim, bench, bound, equal)


def _bound(claim: Claim, bench: Bench, bound: Sequence[Fact], equal: dict[int, Comparison]) -> Judgement:
    held = {id(fact): bench.materials.sources_of(fact) for fact in bound}
    cited = [fact for fact in bound if held[id(fact)] & bench.cited or (held[id(fact)] and not bench.cited)]
    if not cited:
        where = ", ".join(map(str, sorted(frozenset().union(*held.values()))))
        code = "wrong_citation" if where else "not_given"
        text = reason_text(code, bench.language, raw=claim.quantity.raw, where=where)
        return Judgement("wrong_citation", tuple(bound[:1]), reason=text)
    sure = [fact for fact in cited if is_sure(fact)]
    if not sure:
        return _because(claim, bench, "low_confidence", cited[0])
    against = [goes_otherwise(claim, fact, bench.materials.facts) for fact in sure]
    if all(against) and against[0] is not None:
        return _because(claim, bench, "contradicted", against[0])
    outdone = outdone_by(claim, sure, bench.materials.facts)
    if outdone is not None:
        text = reason_text("outdone", bench.language, raw=claim.quantity.raw, mine=_named(outdone))
        return Judgement("misbound", (sure[0],), reason=text, rival=outdone, code="outdone")
    ordered = sorted(sure, key=lambda fact: _RANK[equal[id(fact)].agreement])
    first = equal[id(ordered[0])]
    kept = tuple(fact for fact in ordered if equal[id(fact)].agreement == first.agreement)[:4]
    other = conflicting(claim, kept[0], bench.materials.facts, equal)
    if other is not None and not bench.cited:
        return _because(claim, bench, "conflict", kept[0], other)
    notes = tuple(
        note for note, given in (("bound_dropped", first.bound_dropped), ("conflict", other is not None)) if given
    )
    status: Status = "rounded" if first.agreement == "rounded" else first.agreement or "exact"
    if other is None:
        return Judgement(status, kept, match=first.agreement, annotations=notes)
    shown = _because(claim, bench, "conflict", kept[0], other)
    return replace(shown, status=status, facts=kept, match=first.agreement, annotations=notes)


def is_sure(fact: Fact) -> bool:
    """Whether it was printed, or read with enough confidence."""
    return fact.confidence is None or fact.confidence >= SURE


def _counts_the_same(claim: Claim, fact: Fact) -> bool:
    """A cell is told from others by its headers; in running text the characters beside a figure say what it counts."""
    if fact.cell is not None or claim.bare:
        return True
    quantity, printed = claim.quantity, fact.quantity
    if fact.calendar and quantity.raw.endswith("天"):
        return False
    lead = claim.text[max(0, quantity.start - LEAD) : quantity.start]
    sides = beside(lead, claim.text[quantity.end : quantity.end + TAIL])
    if printed.kind in PERIOD_KINDS and quantity.kind == "duration":
        return is_day_of_month(quantity, sides)
    return counts_the_same(quantity, sides, printed, beside(fact.lead, fact.tail))


def _is_an_average(claim: Claim, fact: Fact) -> bool:
    """What the words call an average is no single cell, unless its labels call it one."""
    if claim.bare or fact.cell is None or not claim.words & _AVERAGES:
        return True  # a question's "average life expectancy" may be what every cell of the table is
    return bool((fact.labels | fact.context) & _AVERAGES)


def _is_same_way(claim: Claim, fact: Fact) -> bool:
    """A change is no level, up is not down, and a negative cell is no positive figure without a word for it."""
    if claim.direction.change and not fact.direction.change and _is_level(claim, fact):
        return False
    if fact.direction.change and not claim.direction.change and not claim.bare and _is_plain_level(claim, fact):
        return False
    return not _is_contrary(claim, fact)


def _is_level(claim: Claim, fact: Fact) -> bool:
    """For a bare answer the question's words ask for the change; a source may name it without a word of direction."""
    return claim.quantity.kind in {"percent", "pp", "money", "number", "count"} and kind_group(
        claim.quantity
    ) == kind_group(fact.quantity)


def _is_plain_level(claim: Claim, fact: Fact) -> bool:
    return fact.cell is None and claim.quantity.kind in {"percent", "pp"} and fact.quantity.kind == claim.quantity.kind


def _is_contrary(claim: Claim, fact: Fact) -> bool:
    number = fact.number
    mine = claim.quantity.value
    if number is None or isinstance(mine, str) or not number:
        return False
    if claim.direction.change and claim.direction.sign and fact.direction.sign:
        way = fact.direction.sign
        return way != claim.direction.sign
    positive = mine > 0
    if positive == (number > 0):
        return False
    if number < 0:
        return not (claim.direction.sign < 0 or claim.loss or fact.neutral)
    return not (fact.direction.sign < 0 or fact.neutral)


def _unmatched(claim: Claim, compared: Sequence[tuple[Fact, Comparison]], bench: Bench) -> Judgement:
    """The nearest miss says why: more precise, another currency, another scale."""
    order = ("currency", "bound", "ambiguous", "false_precision", "scale")
    for code in order:
        for fact, comparison in compared:
            if comparison.objection == code:
                status: Status = "false_precision" if code == "false_precision" else "unsupported"
                text = reason_text(code, bench.language, raw=claim.quantity.raw, mine=_named(fact))
                return Judgement(status, reason=text, rival=fact)
    for fact in bench.materials.unseen:
        if compare(claim.quantity, fact).agreement:
            text = reason_text("unseen", bench.language, mine=_named(fact))
            return Judgement("unsupported", reason=text, rival=fact, code="unseen")
    return Judgement("unsupported", reason=reason_text("unsupported", bench.language, raw=claim.quantity.raw))


def _misbound(claim: Claim, bench: Bench, bindings: Sequence[Binding]) -> Judgement:
    binding = next((each for each in bindings if each.rival is not None), bindings[0])
    if binding.rival is None:
        text = reason_text("misbound_alone", bench.language, raw=claim.quantity.raw, mine=_about(binding.fact))
        return Judgement("misbound", (binding.fact,), reason=text)
    theirs = f"{_about(binding.rival)} = {binding.rival.printed}"
    text = reason_text("misbound", bench.language, raw=claim.quantity.raw, mine=_about(binding.fact), theirs=theirs)
    return Judgement("misbound", (binding.fact,), reason=text, rival=binding.rival)


def _because(claim: Claim, bench: Bench, status: Status, fact: Fact, other: Fact | None = None) -> Judgement:
    theirs = _named(other) if other is not None else ""
    text = reason_text(status, bench.language, raw=claim.quantity.raw, mine=_named(fact), theirs=theirs)
    return Judgement(status, (fact,), reason=text, rival=other)


def _about(fact: Fact) -> str:
    return fact.label or fact.printed


def _named(fact: Fact) -> str:
    return f"{fact.printed} ({_about(fact)})" if fact.cell is not None else fact.printed


def figure_outcome(claim: Claim, judgement: Judgement, bench: Bench) -> FigureOutcome:
    quantity = claim.quantity
    derivation = None
    annotations = judgement.annotations
    if judgement.derived is not None:
        derivation = _shown(claim, judgement.derived, bench)
        annotations += (derivation.warning,) if derivation.warning else ()
    supported = judgement.status in {"exact", "rounded", "converted"}
    code = "conflict" if supported else judgement.code or judgement.status  # a supported figure has no other reason
    nearest = tuple(place_of(fact) for fact in (judgement.rival, *judgement.facts) if fact is not None)
    return replace(
        outcome_of(quantity, judgement.status),
        support=tuple(place_of(fact, judgement.match) for fact in judgement.facts) if supported or derivation else (),
        derivation=derivation,
        reason=Reason(code, judgement.reason, nearest[:3]) if judgement.reason else None,
        annotations=annotations,
        corrected=judgement.corrected,
    )


def outcome_of(quantity: Quantity, status: Status, reason: str = "") -> FigureOutcome:
    return FigureOutcome(
        raw=quantity.raw,
        start=quantity.start,
        end=quantity.end,
        kind=quantity.kind,
        value=quantity.shown_value,
        status=status,
        quantum=plain(quantity.quantum),
        approximate=quantity.approximate,
        bound=quantity.bound,
        reason=Reason(status, reason) if reason else None,
    )


def quoted_outcome(quantity: Quantity, facts: Sequence[Fact], language: str) -> FigureOutcome:
    """A figure that is printed so, as sure as its best-read print."""
    sure = [fact for fact in facts if is_sure(fact)]
    if not sure:
        text = reason_text("low_confidence", language, raw=quantity.raw, mine=_named(facts[0]))
        reason = Reason("low_confidence", text, (place_of(facts[0]),))
        return replace(outcome_of(quantity, "low_confidence"), reason=reason)
    return replace(outcome_of(quantity, "exact"), support=tuple(place_of(fact, "exact") for fact in sure[:1]))


def place_of(fact: Fact, match: str = "") -> Place:
    return Place(
        element=fact.element_id,
        document=fact.document_id,
        page=fact.page,
        bbox=fact.bbox,
        printed=fact.printed,
        value=fact.quantity.shown_value,
        match=match,
        cell=fact.cell,
        row=fact.row if fact.cell else "",
        col=fact.column,
        scale_from=fact.scale_source,
        currency_from=fact.currency_source,
    )


def _shown(claim: Claim, derived: Derived, bench: Bench) -> DerivationShown:
    names = [bench.materials.names.get(id(fact), "F?") for fact in derived.operands]
    where = " · ".join(_where(fact) for fact in derived.operands)
    return DerivationShown(
        op=derived.operation,
        expr=_without_outer(derived.formula(names)),
        shown=f"{re.sub(' +', ' ', derived.shown(claim.quantity))}; {where}",
        operands=tuple(names),
        places=tuple(place_of(fact) for fact in derived.operands),
        origin=derived.origin,
        coincidence=plain(derived.coincidence),
        warning=derived.warning or ("derived_low_precision" if is_finer_than_operands(derived, claim.quantity) else ""),
    )


def _where(fact: Fact) -> str:
    page = f"p.{fact.page}" if fact.page is not None else fact.element_id
    label = f" {fact.row} × {fact.column}" if fact.cell else ""
    return f"{fact.printed.strip()} [{page}{label}]"


def _without_outer(text: str) -> str:
    """`((F1-F2)/F2)` → `(F1-F2)/F2`."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and index + 1 < len(text):
            return text
    return text[1:-1]
