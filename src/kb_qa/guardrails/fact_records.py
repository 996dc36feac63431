"""Facts as compressed JSON and back, so that they are kept beside their element.

`unpack_facts(pack_facts(facts)) == facts`. Rows of values in the order of the fields; texts and label sets repeat
from cell to cell, so each is written once and referred to by its number. Decimals are written as they print.
"""

from __future__ import annotations

import json
import types
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kb_qa.guardrails.facts import Fact
from kb_qa.records import well_formed


def pack_facts(facts: Sequence[Fact]) -> bytes:
    tables = _Tables()
    codec = _codec_of(Fact)
    rows = [codec.write(fact, tables) for fact in facts]
    data = {"facts": rows, "sets": [*tables.sets], "texts": [*tables.texts]}
    return zlib.compress(json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii"), 6)


def unpack_facts(packed: bytes) -> tuple[Fact, ...]:
    """Raises ValueError for data of another shape, such as that of another version's facts."""
    try:
        data = json.loads(zlib.decompress(packed))
        texts = data["texts"]
        sets = [frozenset(texts[number] for number in numbers) for numbers in data["sets"]]
        codec = _codec_of(Fact)
        return tuple(codec.read(row, texts, sets) for row in data["facts"])
    except (zlib.error, AttributeError, KeyError, IndexError, TypeError, ValueError, ArithmeticError) as error:
        raise ValueError("these are not packed facts") from error


class _Tables:
    """Texts and sets by their number, in the order in which they came."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.sets: dict[tuple[int, ...], int] = {}

    def text(self, text: str) -> int:
        return _number(self.texts, well_formed(text))

    def set(self, words: frozenset[str]) -> int:
        return _number(self.sets, tuple(self.text(word) for word in sorted(words)))


def _number(table: dict[Any, int], value: Hashable) -> int:
    return table.setdefault(value, len(table))


@dataclass(frozen=True, slots=True)
class _Codec:
    """How values of one type are written and read."""

    write: Callable[[Any, _Tables], Any]
    read: Callable[[Any, Sequence[str], Sequence[frozenset[str]]], Any]


_AS_IT_IS = _Codec(lambda value, tables: value, lambda data, texts, sets: data)
_TEXT = _Codec(lambda value, tables: tables.text(value), lambda data, texts, sets: texts[data])
_DECIMAL = _Codec(lambda value, tables: str(value), lambda data, texts, sets: Decimal(data))
_SET = _Codec(lambda value, tables: tables.set(value), lambda data, texts, sets: sets[data])
# A decimal or a text: the decimal is the one that is written as a string.
_VALUE = _Codec(
    lambda value, tables: str(value) if isinstance(value, Decimal) else tables.text(value),
    lambda data, texts, sets: Decimal(data) if isinstance(data, str) else texts[data],
)
_PLAIN: Mapping[Any, _Codec] = {str: _TEXT, Decimal: _DECIMAL, bool: _AS_IT_IS, int: _AS_IT_IS, float: _AS_IT_IS}


@cache
def _codec_of(kind: Any) -> _Codec:
    """Raises TypeError for a type that facts do not have."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal and all(isinstance(each, str) for each in arguments):
        return _TEXT
    if origin is Literal:
        return _AS_IT_IS
    if origin is frozenset and arguments == (str,):
        return _SET
    if origin in {Union, types.UnionType}:
        known = [each for each in arguments if each is not types.NoneType]
        return _VALUE if set(known) == {Decimal, str} else _optional(_codec_of(known[0]))
    if origin is tuple:
        repeated = arguments[-1] is Ellipsis
        return _sequence(_codec_of(arguments[0])) if repeated else _row(tuple, map(_codec_of, arguments))
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return _record(kind, {field.name: _codec_of(hints[field.name]) for field in fields(kind)})
    raise TypeError(f"no way to write a {kind!r}")


def _optional(inner: _Codec) -> _Codec:
    return _Codec(
        lambda value, tables: None if value is None else inner.write(value, tables),
        lambda data, texts, sets: None if data is None else inner.read(data, texts, sets),
    )


def _sequence(inner: _Codec) -> _Codec:
    return _Codec(
        lambda value, tables: [inner.write(each, tables) for each in value],
        lambda data, texts, sets: tuple(inner.read(each, texts, sets) for each in data),
    )


def _row(made: Callable[[Any], Any], codecs: Any) -> _Codec:
    parts: tuple[_Codec, ...] = tuple(codecs)
    return _Codec(
        lambda value, tables: [codec.write(each, tables) for codec, each in zip(parts, value, strict=True)],
        lambda data, texts, sets: made(codec.read(each, texts, sets) for codec, each in zip(parts, data, strict=True)),
    )


def _record(kind: Any, codecs: Mapping[str, _Codec]) -> _Codec:
    parts = tuple(codecs.items())
    return _Codec(
        lambda value, tables: [codec.write(getattr(value, name), tables) for name, codec in parts],
        lambda data, texts, sets: kind(
            *(codec.read(each, texts, sets) for (_, codec), each in zip(parts, data, strict=True))
        ),
    )
