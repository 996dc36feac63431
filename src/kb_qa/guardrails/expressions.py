"""Arithmetic that a model states for a figure: `(F12-F7)/F7`, `(4,132-3,541)/3,541`. A closed grammar, with limits.

    expression := term (("+" | "-") term)*
    term       := factor (("*" | "/") factor)*
    factor     := ("-" | "+")* atom ["^" factor]
    atom       := number | F-id | name "(" expression ("," expression)* ")" | "(" expression ")"
    name       := sum | avg | min | max | count | round

Nothing else is read: no other name, no attribute, no comparison. Where a comma may group or separate, it groups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from functools import reduce

from kb_qa.guardrails.quantities import CONTEXT

MAX_DEPTH = 6
MAX_OPERANDS = 24
MAX_LENGTH = 400

_TOKEN = re.compile(
    r"(?ai)\s*(?:(?P<fact>F\d{1,6})(?![A-Za-z0-9])"
    r"|(?P<number>(?:US\$|HK\$|RMB|[$€£¥])?\s?(?:\d{1,3}(?:,\d{3}){1,6}(?!\d)|\d{1,20})(?:\.\d{1,12})?"
    r"(?:\s?(?:%|thousand|million|billion|trillion|bn|mn|[百千]?[万亿])(?![A-Za-z]))?(?:元|人|件|股)?)"
    r"|(?P<name>sum|avg|average|mean|min|max|count|round)(?=\s*[(\[（])"
    r"|(?P<mark>[-+*/^()\[\],;×÷−–（）]))"
)
_CANONICAL = {"×": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")", "（": "(", "）": ")", ";": ","}
_NAMES = {"average": "avg", "mean": "avg"}
_FACE = re.compile(r"(?a)\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Literal:
    """A printed number of the expression, at `[start, end)` of its text; `value` is its face, without any scale."""

    printed: str
    value: Decimal
    start: int
    end: int

    @property
    def percent(self) -> bool:
        return self.printed.endswith("%")


@dataclass(frozen=True, slots=True)
class Named:
    """A fact of the ledger, by its id (`F12`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`operator` is one of `+ - * / ^`, `neg`, or a function's name."""

    operator: str
    arguments: tuple[Node, ...]


Node = Literal | Named | Operation


def parse(text: str) -> Node:
    """The tree of an expression; a leading `=` is allowed. ValueError says what is wrong with it."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the expression is longer than {MAX_LENGTH} characters")
    reader = _Reader(text, [*_tokens(text)])
    node = reader.expression(0)
    if reader.position != len(reader.tokens):
        raise ValueError(f"unexpected {reader.tokens[reader.position].text!r}")
    if sum(1 for _ in operands(node)) > MAX_OPERANDS:
        raise ValueError(f"more than {MAX_OPERANDS} operands")
    return node


def operands(node: Node) -> Iterator[Literal | Named]:
    """The numbers and facts of a tree, left to right."""
    if isinstance(node, Operation):
        for argument in node.arguments:
            yield from operands(argument)
    else:
        yield node


def literals(node: Node) -> tuple[Literal, ...]:
    return tuple(each for each in operands(node) if isinstance(each, Literal))


def evaluate(node: Node, values: Mapping[str, Decimal] | None = None) -> Decimal:
    """The value of a tree, with the facts' values by id. ValueError where it has none (division by zero)."""
    try:
        return _evaluated(node, values or {})
    except (DecimalException, TypeError) as error:  # TypeError: `round(1, 2, 3)`
        raise ValueError("the expression has no value") from error


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def _tokens(text: str) -> Iterator[_Token]:
    position = len(text) - len(text.lstrip().removeprefix("=").lstrip())
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"cannot read {text[position : position + 12]!r}")
        kind = match.lastgroup or ""
        printed = match[kind]
        yield _Token(kind, _CANONICAL.get(printed, printed), *match.span(kind))
        position = match.end()


@dataclass(slots=True)
class _Reader:
    """Recursive descent over the tokens. Lives only inside `parse`."""

    text: str
    tokens: list[_Token]
    position: int = 0

    def expression(self, depth: int) -> Node:
        return self._chain(("+", "-"), lambda: self._term(depth))

    def _term(self, depth: int) -> Node:
        return self._chain(("*", "/"), lambda: self._factor(depth))

    def _chain(self, operators: tuple[str, str], part: Callable[[], Node]) -> Node:
        node = part()
        while (operator := self._take(*operators)) is not None:
            node = Operation(operator, (node, part()))
        return node

    def _factor(self, depth: int) -> Node:
        negative = False
        while (sign := self._take("-", "+")) is not None:
            negative ^= sign == "-"
        node = self._atom(depth)
        if self._take("^"):
            node = Operation("^", (node, self._factor(depth + 1)))
        return Operation("neg", (node,)) if negative else node

    def _atom(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise ValueError(f"deeper than {MAX_DEPTH} brackets")
        if self.position >= len(self.tokens):
            raise ValueError("the expression ends too early")
        token = self.tokens[self.position]
        self.position += 1
        if token.kind == "number":
            return Literal(token.text.strip(), _face(token.text), token.start, token.end)
        if token.kind == "fact":
            return Named(token.text.upper())
        if token.kind == "name":
            self._need("(")
            arguments = [self.expression(depth + 1)]
            while self._take(","):
                arguments.append(self.expression(depth + 1))
            self._need(")")
            name = token.text.lower()
            return Operation(_NAMES.get(name, name), tuple(arguments))
        if token.text == "(":
            node = self.expression(depth + 1)
            self._need(")")
            return node
        raise ValueError(f"unexpected {token.text!r}")

    def _take(self, *marks: str) -> str | None:
        if self.position < len(self.tokens) and self.tokens[self.position].kind == "mark":
            mark = self.tokens[self.position].text
            if mark in marks:
                self.position += 1
                return mark
        return None

    def _need(self, mark: str) -> None:
        if self._take(mark) is None:
            raise ValueError(f"{mark!r} is missing")


def _face(printed: str) -> Decimal:
    match = _FACE.search(printed)
    return Decimal(match[0].replace(",", "")) if match else Decimal(0)


def _evaluated(node: Node, values: Mapping[str, Decimal]) -> Decimal:
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Named):
        if node.name not in values:
            raise ValueError(f"{node.name} is no fact of the ledger")
        return values[node.name]
    return apply(node.operator, [_evaluated(each, values) for each in node.arguments])


def apply(operator: str, values: Sequence[Decimal]) -> Decimal:
    """The value of one operation of the grammar; DecimalException or ValueError where it has none."""
    value = _APPLY[operator](*values)
    if not value.is_finite():  # `0^-1`
        raise ValueError("the expression has no value")
    return value


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    if abs(exponent) > 100:
        raise ValueError("an exponent above 100")
    return CONTEXT.power(base, exponent)


def _sum(*values: Decimal) -> Decimal:
    return reduce(CONTEXT.add, values)


def _round(value: Decimal, places: Decimal = Decimal(0)) -> Decimal:
    return CONTEXT.quantize(value, CONTEXT.scaleb(Decimal(1), -max(min(int(places), 12), -12)))


_APPLY: dict[str, Callable[..., Decimal]] = {
    "neg": CONTEXT.minus,
    "+": CONTEXT.add,
    "-": CONTEXT.subtract,
    "*": CONTEXT.multiply,
    "/": CONTEXT.divide,
    "^": _power,
    "sum": _sum,
    "avg": lambda *values: CONTEXT.divide(_sum(*values), Decimal(len(values))),
    "min": min,
    "max": max,
    "count": lambda *values: Decimal(len(values)),
    "round": _round,
}
