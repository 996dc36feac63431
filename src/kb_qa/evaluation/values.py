"""Whether an answer says what was expected: as a text, and as a value, however it is written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quantities import CONTEXT, Quantity

# A printed value may be a rounding of the expected one, but not of anything near it.
_COARSEST = Decimal("0.05")
_SPACE = re.compile(r"\s+")
_GAP = re.compile(r"(?<=[\u3400-\u9fff，。；：、]) | (?=[\u3400-\u9fff，。；：、])")
_PLURAL_KINDS = frozenset({"money", "count", "measure", "number"})


def is_figure(expected: str) -> bool:
    """Whether the expected answer is one quantity and nothing else."""
    return quantity_of(expected) is not None


def quantity_of(expected: str) -> Quantity | None:
    """The one quantity that a text is made of, sign and unit included; None where it says anything else."""
    text = expected.strip()
    found = [each for each in lex(text) if each.role == "figure"]
    if len(found) != 1:
        return None
    rest = text[: found[0].start] + text[found[0].end :]
    return found[0] if not any(character.isalnum() for character in rest) else None


def contained(expected: str, answer: str) -> bool:
    """Whether an answer says a text, whatever its case, width and spaces are; or its value, where it is one."""
    wanted, said = _plain(expected), _plain(answer)
    inner = re.escape(wanted)
    start = r"(?<![\w.,])" if wanted[:1].isascii() and wanted[:1].isalnum() else ""
    end = r"(?![\w])(?![.,]\d)" if wanted[-1:].isascii() and wanted[-1:].isalnum() else ""
    if wanted and re.search(start + inner + end, said):
        return True
    quantity = quantity_of(expected)
    return quantity is not None and any(same_value(quantity, each) for each in lex(answer) if each.role == "figure")


def same_value(expected: Quantity, said: Quantity) -> bool:
    """Whether two quantities can be one value: of like kind, each within what the other's last place leaves open."""
    if isinstance(expected.value, str) or isinstance(said.value, str):
        return str(expected.value) == str(said.value) and expected.kind == said.kind
    alike = expected.kind == said.kind or {expected.kind, said.kind} <= _PLURAL_KINDS or "number" in {
        expected.kind, said.kind,
    }  # fmt: skip
    return alike and is_value(expected, said.value, said.quantum)


def is_value(expected: Quantity, value: Decimal, quantum: Decimal = Decimal(0)) -> bool:
    """Whether `value`, printed at `quantum`, is the expected one, signs left out: brackets and words say them too."""
    if isinstance(expected.value, str):
        return False
    wanted, said = abs(expected.value), abs(value)
    if wanted == said:
        return True
    coarser = max(abs(quantum), abs(expected.quantum))
    if coarser > CONTEXT.multiply(_COARSEST, max(wanted, said)):
        return False
    return abs(CONTEXT.subtract(wanted, said)) * 2 <= coarser


def decimals(values: Iterable[object]) -> list[Decimal]:
    """Those of the values, as events carry them, that are numbers."""
    found = []
    for value in values:
        try:
            number = Decimal(str(value))
        except InvalidOperation:
            continue
        if number.is_finite():
            found.append(number)
    return found


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _GAP.sub("", _SPACE.sub(" ", folded)).strip(" .。,，;；\"'“”")
