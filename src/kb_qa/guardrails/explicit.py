"""Explicit expressions behind a figure: `16.7%⟦=(F12-F7)/F7⟧`, `⟦(4,132-3,541)/3,541⟧`.

The arithmetic must be right, every operand must be a fact that the claim's words name, and the dimensions must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, DecimalException

from kb_qa.guardrails.bind import Claim, bind
from kb_qa.guardrails.derivation import Derived, agrees
from kb_qa.guardrails.exchange import rates
from kb_qa.guardrails.expressions import Literal, Named, Node, Operation, apply, operands, parse
from kb_qa.guardrails.fact_index import FactIndex
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.operations import operations
from kb_qa.guardrails.periods import Parts
from kb_qa.guardrails.quantities import CONTEXT, ONE, PERIOD_KINDS, Quantity
from kb_qa.guardrails.series import year_of
from kb_qa.guardrails.values import compare, is_same_currency, kind_group
from kb_qa.guardrails.whole_years import divided, is_whole

MARK = re.compile(r"[ \u00a0]?⟦([^⟦⟧]{0,400})⟧")
_CONSTANTS = frozenset(Decimal(each) for each in (*range(1, 13), 100, 360, 365, 1000, 10**6))
_HUNDRED = Decimal(100)
_AMOUNTS = frozenset({"money", "number", "count"})


@dataclass(frozen=True, slots=True)
class Stripped:
    """`text` without the marks, and the expression of each by where it stood in `text`."""

    text: str
    expressions: tuple[tuple[int, str], ...]
    unclosed: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an expression proves nothing: a code, what it is about, and what it gives where only the result is wrong."""

    code: str
    detail: str = ""
    derived: Derived | None = None


@dataclass(frozen=True, slots=True)
class _Term:
    """A value and its dimension: `const`, `ratio`, `percent`, `mixed`, or a group of kinds (`amount`, `measure:km`)."""

    value: Decimal
    dimension: str


def strip(text: str) -> Stripped:
    """Marks are for the guard alone: no reader sees them."""
    parts: list[str] = []
    found: list[tuple[int, str]] = []
    length = position = 0
    for match in MARK.finditer(text):
        parts.append(text[position : match.start()])
        length += match.start() - position
        found.append((length, match[1]))
        position = match.end()
    rest = text[position:]
    return Stripped("".join([*parts, rest]), tuple(found), unclosed="⟦" in rest or "⟧" in rest)


def prove(claim: Claim, expression: str, index: FactIndex, ledger: Mapping[str, Fact]) -> Derived | Failure:
    """The derivation that the expression states, or why it is none."""
    try:
        tree = parse(expression)
    except ValueError as error:
        return Failure("expression", str(error))
    failure: Failure | None = None
    for constants in (True, False):
        proof = _Proof(claim, tree, index, ledger, constants)
        outcome = proof.result()
        if isinstance(outcome, Derived):
            return outcome
        failure = failure or outcome
        if not proof.has_choice:
            break  # the other reading is the same
    return failure or Failure("expression")


class _Proof:
    """One reading of an expression. `constants`: a small divisor or factor is a constant before it is a fact."""

    def __init__(self, claim: Claim, tree: Node, index: FactIndex, ledger: Mapping[str, Fact], constants: bool) -> None:
        self.claim, self.tree, self.index, self.ledger, self.constants = claim, tree, index, ledger, constants
        self.facts = index.facts
        self.used: list[Fact] = []
        self.names: list[str] = []
        self.operator = tree.operator if isinstance(tree, Operation) else "="
        exchanges = claim.quantity.currency and self.operator in {"*", "/"}
        # The words name the amount and not the rate: a rate is bound by the currencies that it names.
        self.rates = {id(rate.fact): rate for rate in rates(index.facts)} if exchanges else {}
        self.has_choice = False  # an operand may be a constant or a fact

    def result(self) -> Derived | Failure:
        places = {id(node): place for node, place in _places(self.tree, "")}
        self.resolved: dict[int, list[Fact]] = {}
        for operand in operands(self.tree):
            found = self._facts_of(operand)
            constant = isinstance(operand, Literal) and _may_be_constant(operand, places[id(operand)])
            self.has_choice |= constant and bool(found)
            if constant and (self.constants or not found):
                continue
            if not found:
                return Failure("operand", operand.printed if isinstance(operand, Literal) else operand.name)
            self.resolved[id(operand)] = found
        if not self.resolved:
            return Failure("operand", "")
        named = self.claim.periods
        self.claim = replace(self.claim, periods=divided(named, self.tree, self.resolved))
        chosen = self._chosen()
        if isinstance(chosen, Failure):
            return chosen
        if self.claim.periods != named and not is_whole(named, self.tree, chosen):
            return Failure("period")
        if not self._covers_periods([*chosen.values()]):
            return Failure("period")
        if stranger := self._stranger(chosen):
            return Failure("misbound", f"{stranger.printed} ({stranger.label})")
        return self._computed(chosen)

    def _is_between(self, fact: Fact) -> bool:
        """A year inside the range that the claim names, where there are operands for more than its ends."""
        years = sorted(part for parts in self.claim.periods for part in parts if part[0] == "y")
        year = year_of(fact)
        return len(self.resolved) > 2 and len(years) > 1 and years[0] < year < years[-1]

    def _facts_of(self, operand: Literal | Named) -> list[Fact]:
        if isinstance(operand, Named):
            return [self.ledger[operand.name]] if operand.name in self.ledger else []
        return [fact for fact in self.index.of_face(operand.value) if _may_be(fact, operand)]

    def _chosen(self) -> dict[int, Fact] | Failure:
        """Each operand's bound fact. One period named, and the other operand of the same label stands beside it."""
        matching = frozenset(id(fact) for found in self.resolved.values() for fact in found)
        # a printed total of the very value claimed is no rival of its parts
        matching |= {
            id(fact) for fact in self.index.near(self.claim.quantity) if compare(self.claim.quantity, fact).agreement
        }
        chosen: dict[int, Fact] = {}
        open_: dict[int, list[Fact]] = {}
        for key, found in self.resolved.items():
            wide = Claim(found[0].quantity, self.claim.all_words, self.claim.all_words, self.claim.periods)
            bindings = [bind(_for(wide, fact), [fact], self.facts, matching)[0] for fact in found]
            bound = [
                each.fact for each in bindings if not each.rule or (self._is_rate(each.fact) and each.rule != "B1")
            ]
            if bound:
                # `21.0% - 21.0%`: two operands of one print are two facts
                free = [fact for fact in bound if not any(fact is other for other in chosen.values())] or bound
                wanted = self._open_years(chosen.values())
                chosen[key] = max(free, key=lambda fact: (year_of(fact) in wanted, bool(fact.periods)))
            else:
                open_[key] = [binding.fact for binding in bindings if binding.rule in {"B1", "B2"}]
                if not open_[key]:
                    rival = bindings[0].rival
                    detail = f"{found[0].printed} ({found[0].label})"
                    return Failure("misbound", f"{detail} / {rival.printed} ({rival.label})" if rival else detail)
        for key, found in open_.items():
            beside = [fact for fact in found if any(_same_series(fact, other) for other in chosen.values())]
            if len(self.claim.periods) != 1:
                beside = [fact for fact in beside if self._is_between(fact)]
            if not beside:
                return Failure("misbound", f"{found[0].printed} ({found[0].label})")
            chosen[key] = beside[0]
        return chosen

    def _is_rate(self, fact: Fact) -> bool:
        rate = self.rates.get(id(fact))
        return rate is not None and is_same_currency(self.claim.quantity.currency, rate.of(self.operator))

    def _open_years(self, chosen: Iterable[Fact]) -> set[str]:
        """Years that the claim names and no operand has yet."""
        named = {part for parts in self.claim.periods for part in parts if part[0] == "y"}
        return named - {year_of(fact) for fact in chosen}

    def _covers_periods(self, chosen: Sequence[Fact]) -> bool:
        """Every period named has an operand; a 0 stands for a cell that prints a dash."""
        dated = [fact.periods for fact in chosen if fact.periods]
        named = {_named_years(each) for each in self.claim.periods}
        said = {part for periods in dated for parts in periods for part in parts}
        missing = [each for each in named if each.isdisjoint(said)]
        zeros = sum(isinstance(each, Literal) and not each.value for each in operands(self.tree))
        return not dated or len(missing) <= zeros

    def _stranger(self, chosen: Mapping[int, Fact]) -> Fact | None:
        """In `(a-b)/c` for a growth, the operand that is no other period of the same row, or no base of the change."""
        tree, claim = self.tree, self.claim
        if "growth" not in operations(claim.quantity, claim.question if claim.bare else claim.text):
            return None
        if not isinstance(tree, Operation) or tree.operator != "/":
            return None
        change, base = (_bare(argument) for argument in tree.arguments)
        if not isinstance(change, Operation) or change.operator != "-":
            return None
        new, old = (chosen.get(id(_bare(argument))) for argument in change.arguments)
        below = chosen.get(id(base))
        if new is None or old is None or below is None:
            return None
        if new.body and old.body and new.labels != old.labels and new.row_labels != old.row_labels:
            return old
        bases = {abs(each.number or 0) for each in _earlier(new, old)}
        return None if abs(below.number or 0) in bases else below

    def _computed(self, chosen: Mapping[int, Fact]) -> Derived | Failure:
        self.used, self.names = [], []
        try:
            term = self._term(self.tree, chosen)
        except (ValueError, TypeError, DecimalException) as error:
            return Failure("dimension", str(error))
        value = _in_unit_of(self.claim.quantity, term)
        if value is None:
            return Failure("dimension", term.dimension)
        wanted = self.claim.quantity.value
        if not isinstance(wanted, Decimal):
            return Failure("dimension")
        signed = CONTEXT.minus(wanted) if self.claim.direction.sign < 0 < wanted else wanted
        if not self._is_in_one_currency():
            return Failure("currency", ", ".join(fact.printed for fact in self.used))
        derived = Derived(self.operator, "".join(self.names), tuple(self.used), value, origin="explicit")
        if agrees(value, signed, self.claim.quantity):
            return derived
        if self._misses_by_rounding(value, wanted):
            return replace(derived, warning="rounding_difference")
        right = replace(derived, value=CONTEXT.minus(value)) if signed != wanted else derived
        return Failure("result", derived.shown(self.claim.quantity), right)

    def _is_in_one_currency(self) -> bool:
        """Operands of one currency, and the claim's; two only where one operand is the rate between them."""
        found = {fact.quantity.currency for fact in self.used} - {""}
        claimed = self.claim.quantity.currency
        strange = {each for each in found if not is_same_currency(claimed or each, each)}
        if len(found) < 2 and not strange and not (claimed and not found):
            return True
        return any(self._is_rate(fact) for fact in self.used)

    def _misses_by_rounding(self, value: Decimal, wanted: Decimal) -> bool:
        """A printed total that the sum of its rounded parts misses by at most half a last place for each (尾差)."""
        tree = self.tree
        if not isinstance(tree, Operation) or tree.operator not in {"+", "sum"} or not self.used:
            return False
        if not any(
            compare(self.claim.quantity, fact).agreement == "exact" for fact in self.index.near(self.claim.quantity)
        ):
            return False
        place = max(fact.quantity.quantum for fact in self.used)
        allowed = CONTEXT.divide(CONTEXT.multiply(place, Decimal(len(self.used))), Decimal(2))
        return abs(CONTEXT.subtract(value, wanted)) <= allowed

    def _term(self, node: Node, chosen: Mapping[int, Fact]) -> _Term:
        if isinstance(node, (Literal, Named)):
            return self._operand(node, chosen)
        terms = []
        wraps = node.operator not in {"+", "-", "*", "/", "^", "neg"}
        self.names.append(f"{node.operator}(" if wraps else "-" if node.operator == "neg" else "(")
        for index, argument in enumerate(node.arguments):
            if index:
                self.names.append(", " if wraps else node.operator)
            terms.append(self._term(argument, chosen))
        self.names.append("" if node.operator == "neg" else ")")
        return _applied(node.operator, terms)

    def _operand(self, node: Literal | Named, chosen: Mapping[int, Fact]) -> _Term:
        fact = chosen.get(id(node))
        if fact is None:
            assert isinstance(node, Literal)
            self.names.append(node.printed)
            return _Term(node.value, "const")
        if fact not in self.used:
            self.used.append(fact)
        self.names.append(f"{{{self.used.index(fact)}}}")
        number = fact.number or Decimal(0)
        dimension = "ratio" if id(fact) in self.rates else _dimension(fact.quantity)
        return _Term(abs(number) if isinstance(node, Literal) else number, dimension)


def _named_years(parts: Parts) -> Parts:
    return frozenset(part for part in parts if part[0] == "y") or parts


def _bare(node: Node) -> Node:
    """The node without its sign."""
    while isinstance(node, Operation) and node.operator == "neg":
        node = node.arguments[0]
    return node


def _earlier(new: Fact, old: Fact) -> tuple[Fact, ...]:
    """What a change is measured from: the value of the earlier year. Either one, where no years tell them apart."""
    years = year_of(new), year_of(old)
    if not all(years) or years[0] == years[1]:
        return new, old
    return (old,) if years[1] < years[0] else (new,)


def _for(claim: Claim, fact: Fact) -> Claim:
    return Claim(fact.quantity, claim.words, claim.all_words, claim.periods)


def _same_series(fact: Fact, other: Fact) -> bool:
    return fact.element_id == other.element_id and fact.labels == other.labels


def _may_be(fact: Fact, literal: Literal) -> bool:
    """Whether a fact of that number is one that a sign-less literal may mean: it writes 197 for a cell (197)."""
    quantity = fact.quantity
    if quantity.role != "figure" or quantity.kind in PERIOD_KINDS or fact.ambiguous:
        return False
    return quantity.kind == "percent" or not literal.percent


def _places(node: Node, place: str) -> Iterator[tuple[Node, str]]:
    yield node, place
    if isinstance(node, Operation):
        for index, argument in enumerate(node.arguments):
            inner = f"{node.operator}{index}" if node.operator != "neg" else place
            yield from _places(argument, inner)


def _may_be_constant(literal: Literal, place: str) -> bool:
    """Constants scale, divide and raise; only 0 and 1 are added."""
    if place[:1] in {"*", "/", "^"} or place in {"round1"}:
        return literal.value == ONE if place == "/0" else literal.value in _CONSTANTS
    return literal.value in {Decimal(0), ONE}


def _dimension(quantity: Quantity) -> str:
    return quantity.kind if quantity.kind in {"percent", "pp"} else kind_group(quantity)


def _applied(operator: str, terms: Sequence[_Term]) -> _Term:
    value = apply(operator, [term.value for term in terms])
    dimensions = [term.dimension for term in terms]
    first = dimensions[0]
    if operator in {"neg", "round", "^"}:
        return _Term(value, first)
    if operator == "count":
        return _Term(value, "amount")
    if operator == "*":
        return _Term(*_product(terms, value))
    if operator == "/":
        if dimensions[1] == "const":
            return _Term(value, first)
        if dimensions[1] == "percent" and first not in {"percent", "pp", "const"}:
            return _Term(CONTEXT.multiply(value, _HUNDRED), first)  # the whole of which so much is the part
        same = first == dimensions[1] or {first, dimensions[1]} <= {"percent", "pp"}
        return _Term(value, "ratio" if same else "mixed")
    rest = set(dimensions) - {"const"}
    if operator == "-" and dimensions == ["const", "percent"] and terms[0].value == ONE:
        return _Term(CONTEXT.subtract(ONE, CONTEXT.divide(terms[1].value, _HUNDRED)), "ratio")  # 1-15%
    if len(rest) > 1 and rest != {"percent", "pp"}:
        raise ValueError(f"{' and '.join(sorted(rest))} do not add up")
    if (
        "const" in dimensions
        and rest
        and rest != {"ratio"}
        and any(term.value for term in terms if term.dimension == "const")
    ):
        raise ValueError("a constant is added to a quantity")
    return _Term(value, next(iter(rest), "const"))


def _product(terms: Sequence[_Term], value: Decimal) -> tuple[Decimal, str]:
    first, second = (term.dimension for term in terms)
    if "const" in {first, second}:
        other = first if second == "const" else second
        constant = terms[0].value if first == "const" else terms[1].value
        return value, "percent" if other == "ratio" and constant == _HUNDRED else other
    if "percent" in {first, second}:
        other = first if second == "percent" else second
        return CONTEXT.divide(value, _HUNDRED), other
    if "ratio" in {first, second}:
        return value, first if second == "ratio" else second
    return value, "mixed"


def _in_unit_of(claim: Quantity, term: _Term) -> Decimal | None:
    """The computed value in the unit that the claim prints; None where it is of another kind."""
    if claim.kind in {"percent", "pp"}:
        if term.dimension == "ratio":
            return CONTEXT.multiply(term.value, _HUNDRED) if claim.kind == "percent" else None
        return term.value if term.dimension in {"percent", "pp"} else None
    if claim.kind in {"multiple", "doubling"}:
        return term.value if term.dimension in {"ratio", "const"} else None
    if claim.kind in _AMOUNTS:
        if term.dimension == "ratio":
            return term.value if not claim.scale and not claim.currency and not claim.unit else None
        return term.value if term.dimension in {"amount", "mixed"} else None
    return term.value if term.dimension == kind_group(claim) else None
