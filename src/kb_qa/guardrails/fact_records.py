"""Facts as compressed JSON and back, so that they are kept beside their element.

`unpack_facts(pack_facts(facts)) == facts`. Label sets and texts repeat from cell to cell: each is written once, and
facts refer to it by its number. Decimals are written as they print, so that no digit changes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

from kb_qa.geometry import BBox
from kb_qa.guardrails.directions import Direction
from kb_qa.guardrails.facts import Fact
from kb_qa.guardrails.quantities import Quantity
from kb_qa.records import well_formed

_QUANTITY = tuple(each.name for each in fields(Quantity))
_FACT = tuple(each.name for each in fields(Fact))
_SETS = frozenset({"labels", "row_labels", "context"})
_PAIRS = frozenset({"cell", "sentence"})
_NUMBERS = frozenset({"lo", "hi", "quantum"})


def pack_facts(facts: Sequence[Fact]) -> bytes:
    texts, sets = _Table(), _Table()
    rows = [_fact_row(fact, texts, sets) for fact in facts]
    written = {
        "texts": texts.values(str),
        "sets": sets.values(lambda words: [texts.number(word) for word in sorted(words)]),
        "facts": rows,
    }
    written["texts"] = texts.values(str)  # the sets have added theirs
    data = json.dumps(written, separators=(",", ":"), allow_nan=False)
    return zlib.compress(data.encode("ascii"), 6)


def unpack_facts(packed: bytes) -> tuple[Fact, ...]:
    """Raises ValueError for data of another shape."""
    try:
        data = json.loads(zlib.decompress(packed))
        texts = data["texts"]
        sets = [frozenset(texts[number] for number in numbers) for numbers in data["sets"]]
        return tuple(_fact(row, texts, sets) for row in data["facts"])
    except (zlib.error, KeyError, IndexError, TypeError, ArithmeticError) as error:
        raise ValueError("these are not packed facts") from error


class _Table:
    """Values by their number, in the order in which they came."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def values(self, written: Callable[[Any], Any]) -> list[Any]:
        return [written(value) for value in list(self._numbers)]


def _fact_row(fact: Fact, texts: _Table, sets: _Table) -> list[Any]:
    row: list[Any] = []
    for name in _FACT:
        value = getattr(fact, name)
        if name == "quantity":
            row.append(_quantity_row(value, texts))
        elif name in _SETS:
            row.append(sets.number(value))
        elif name == "periods":
            row.append([sets.number(parts) for parts in value])
        elif name == "direction":
            row.append([int(value.change), value.sign])
        elif isinstance(value, BBox):
            row.append(value.as_tuple())
        elif isinstance(value, str):
            row.append(texts.number(well_formed(value)))
        else:
            row.append(value)
    return row


def _fact(row: Sequence[Any], texts: Sequence[str], sets: Sequence[frozenset[str]]) -> Fact:
    values: dict[str, Any] = dict(zip(_FACT, row, strict=True))
    values["quantity"] = _quantity(values["quantity"], texts)
    for name in _SETS:
        values[name] = sets[values[name]]
    values["periods"] = tuple(sets[number] for number in values["periods"])
    change, sign = values["direction"]
    values["direction"] = Direction(bool(change), sign)
    for name in _PAIRS:
        values[name] = None if values[name] is None else tuple(values[name])
    values["bbox"] = None if values["bbox"] is None else BBox(*values["bbox"])
    for name in _TEXTS:
        values[name] = texts[values[name]]
    return Fact(**values)


def _quantity_row(quantity: Quantity, texts: _Table) -> list[Any]:
    row: list[Any] = []
    for name in _QUANTITY:
        value = getattr(quantity, name)
        if name == "value":
            row.append([str(value)] if isinstance(value, Decimal) else texts.number(well_formed(value)))
        elif name in _NUMBERS:
            row.append(None if value is None else str(value))
        elif name == "readings":
            row.append([str(each) for each in value])
        elif isinstance(value, str):
            row.append(texts.number(well_formed(value)))
        else:
            row.append(value)
    return row


def _quantity(row: Sequence[Any], texts: Sequence[str]) -> Quantity:
    values: dict[str, Any] = dict(zip(_QUANTITY, row, strict=True))
    value = values["value"]
    values["value"] = Decimal(value[0]) if isinstance(value, list) else texts[value]
    for name in _NUMBERS:
        values[name] = None if values[name] is None else Decimal(values[name])
    values["readings"] = tuple(map(Decimal, values["readings"]))
    for name in _QUANTITY_TEXTS:
        values[name] = texts[values[name]]
    return Quantity(**values)


_TEXTS = ("element_id", "document_id", "row", "column", "section", "scale_source", "currency_source", "tail")
_QUANTITY_TEXTS = ("kind", "raw", "role", "currency", "unit", "basis", "sign_source", "bound")
