"""Rewrites an ONNX graph so that the runtime can fuse it: a PRelu of one slope becomes the LeakyRelu that it is.

ONNX Runtime computes a convolution and its LeakyRelu in one pass; a PRelu it computes apart, and turns the whole map
into another order of its numbers before and after. What comes out is the same. The file is read as the protocol
buffer that it is, by field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

# Field numbers of the messages, and the kinds of a number that are used of them.
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER = 1, 5
NODE_INPUT, NODE_OP, NODE_ATTRIBUTE = 1, 4, 5
TENSOR_DIMS, TENSOR_KIND, TENSOR_NAME, TENSOR_RAW = 1, 2, 8, 9
ATTRIBUTE_NAME, ATTRIBUTE_FLOAT, ATTRIBUTE_KIND = 1, 2, 20
FLOAT_TENSOR, FLOAT_ATTRIBUTE = 1, 1

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5  # wire types

Field = tuple[int, int, bytes | int]  # number, wire type, value


def with_leaky_relus(model: bytes) -> bytes:
    """The model (a serialised ModelProto). Raises ValueError where it is none."""
    return _written(
        (number, wire, _graph(value) if number == MODEL_GRAPH and isinstance(value, bytes) else value)
        for number, wire, value in _fields(model)
    )


def _graph(graph: bytes) -> bytes:
    fields = list(_fields(graph))
    slopes = dict(_slope(value) for value in _messages(fields, GRAPH_INITIALIZER) if _is_one_float(value))
    nodes = {node: _node(node, slopes) for node in _messages(fields, GRAPH_NODE)}
    freed = _inputs(nodes) - _inputs(nodes.values())  # the runtime would complain of tensors that no node uses
    kept: list[Field] = []
    for number, wire, value in fields:
        if isinstance(value, bytes) and number == GRAPH_NODE:
            kept.append((number, wire, nodes[value]))
        elif not isinstance(value, bytes) or number != GRAPH_INITIALIZER or _name(value) not in freed:
            kept.append((number, wire, value))
    return _written(kept)


def _inputs(nodes: Iterable[bytes]) -> set[bytes]:
    return {name for node in nodes for name in _messages(_fields(node), NODE_INPUT)}


def _node(node: bytes, slopes: dict[bytes, bytes]) -> bytes:
    fields = list(_fields(node))
    inputs = _messages(fields, NODE_INPUT)
    if _messages(fields, NODE_OP) != [b"PRelu"] or len(inputs) != 2 or inputs[1] not in slopes:
        return node
    attribute = _written(
        [
            (ATTRIBUTE_NAME, BYTES, b"alpha"),
            (ATTRIBUTE_FLOAT, FOUR_BYTES, slopes[inputs[1]]),
            (ATTRIBUTE_KIND, VARINT, FLOAT_ATTRIBUTE),
        ]
    )
    kept = [field for field in fields if field[0] not in (NODE_OP, NODE_INPUT)]
    own = [(NODE_INPUT, BYTES, inputs[0]), (NODE_OP, BYTES, b"LeakyRelu"), (NODE_ATTRIBUTE, BYTES, attribute)]
    return _written([*own, *kept])


def _is_one_float(tensor: bytes) -> bool:
    fields = list(_fields(tensor))
    dims = [value for number, _, value in fields if number == TENSOR_DIMS]
    raw = _messages(fields, TENSOR_RAW)
    is_float = (TENSOR_KIND, VARINT, FLOAT_TENSOR) in fields
    return is_float and all(dim == 1 for dim in dims) and len(raw) == 1 and len(raw[0]) == struct.calcsize("<f")


def _slope(tensor: bytes) -> tuple[bytes, bytes]:
    return _name(tensor), _messages(_fields(tensor), TENSOR_RAW)[0]


def _name(tensor: bytes) -> bytes:
    return b"".join(_messages(_fields(tensor), TENSOR_NAME))


def _messages(fields: Iterable[Field], number: int) -> list[bytes]:
    return [value for found, _, value in fields if found == number and isinstance(value, bytes)]


def _fields(message: bytes) -> Iterator[Field]:
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = _number(message, at)
            yield number, wire, value
            continue
        if wire not in (BYTES, FOUR_BYTES, EIGHT_BYTES):
            raise ValueError(f"no protocol buffer: wire type {wire} at byte {at}")
        length = 4 if wire == FOUR_BYTES else 8
        if wire == BYTES:
            length, at = _number(message, at)
        if at + length > len(message):
            raise ValueError(f"no protocol buffer: a field of {length} bytes at byte {at} of {len(message)}")
        yield number, wire, message[at : at + length]
        at += length


def _number(message: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and the place after it."""
    value = shift = 0
    while at < len(message):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("no protocol buffer: it ends within a number")


def _written(fields: Iterable[Field]) -> bytes:
    parts = []
    for number, wire, value in fields:
        parts.append(_as_number(number << 3 | wire))
        if isinstance(value, int):
            parts.append(_as_number(value))
        else:
            parts.extend((_as_number(len(value)), value) if wire == BYTES else (value,))
    return b"".join(parts)


def _as_number(value: int) -> bytes:
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
