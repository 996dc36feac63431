"""A chunk's terms by block as small numbers: what ranking compares with a question, without reading the text again.

Four bytes a term, little-endian, in the order in which the terms stand, in segments that each begin with `BLOCK`: the
chunk's section and prefix, then block after block; in a table row `LABEL` ends the first cell. At the end of a block
stand its amounts in normal form, where it prints them in another one: `41亿` as 4100000000.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kb_qa.elements import Block, Chunk
from kb_qa.figure_terms import amounts_in_other_forms
from kb_qa.terms import terms

BLOCK, LABEL = 0, 1
Codes = NDArray[np.uint32]


def sketch(chunk: Chunk) -> bytes:
    """Read it back with `codes_in`."""
    return np.fromiter(_codes(chunk), dtype="<u4").tobytes()


def codes_in(packed: bytes) -> Codes:
    codes: Codes = np.frombuffer(packed, dtype="<u4")
    return codes


@lru_cache(maxsize=100_000)
def code(term: str) -> int:
    """A term as a number above the marks; two terms share one with a probability of 1 to 4 billion."""
    return max(zlib.crc32(term.encode("utf-8", "replace")), LABEL + 1)


def codes(texts: Sequence[str]) -> Iterator[int]:
    return map(code, texts)


def _codes(chunk: Chunk) -> Iterator[int]:
    yield BLOCK
    yield from codes(terms("\n".join([*chunk.section, chunk.prefix])))
    for block in chunk.blocks:
        yield BLOCK
        label, rest = _parts(block, is_row=chunk.element_type == "table")
        if label:
            yield from codes(terms(label))
            yield LABEL
        yield from codes(terms(rest))
        yield from codes([form for _, forms in amounts_in_other_forms(rest) for form in forms])


def _parts(block: Block, *, is_row: bool) -> tuple[str, str]:
    """A row's first cell, and the rest of the block."""
    said = block.labelled or block.text
    if not is_row:
        return "", said
    label, bar, rest = said.partition(" | ")
    return (label, rest) if bar else ("", said)
