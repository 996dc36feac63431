"""A map of characters in the form in which SentencePiece and `tokenizers` hold it: a double-array trie and its texts.

The layout is darts-clone's: a unit of 32 bits holds a label (byte 0), whether a value follows (bit 8) and the offset of
its children (bits 10 to 30, exclusive-or with its own place); a unit with bit 31 holds a value, the place of the
replacement among the NUL-ended texts behind the trie.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping
from typing import Any

_BLOCK = 256  # a label is a byte, so that children of one offset lie in one block
_HAS_VALUE = 1 << 8
_VALUE = 1 << 31
_END = -1  # the key of a trie node under which its value stands


def charsmap(replacements: Mapping[str, str]) -> bytes:
    """What a tokenizer's `Precompiled` normaliser takes; keys are single characters, none of them NUL."""
    texts = bytearray()
    places: dict[str, int] = {}
    trie: dict[int, Any] = {}
    for character, text in sorted(replacements.items()):
        if text not in places:
            places[text] = len(texts)
            texts += text.encode() + b"\0"
        node = trie
        for byte in character.encode():
            node = node.setdefault(byte, {})
        node[_END] = places[text]
    units = _double_array(trie)
    return struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + bytes(texts)


def _double_array(trie: Mapping[int, Any]) -> list[int]:
    units = [0] * _BLOCK
    taken = {0}
    offset = 0
    waiting: deque[tuple[int, Mapping[int, Any]]] = deque([(0, trie)])
    while waiting:
        place, node = waiting.popleft()
        labels = [label for label in node if label != _END]
        wanted = [*labels, 0] if _END in node else labels
        offset += 1  # no two nodes share one: a label alone would not tell whose child it is
        while any(offset ^ label in taken for label in wanted):
            offset += 1
        units += [0] * (_BLOCK * (offset // _BLOCK + 1) - len(units))
        taken.update(offset ^ label for label in wanted)
        units[place] |= (place ^ offset) << 10
        if _END in node:
            units[place] |= _HAS_VALUE
            units[offset] = _VALUE | node[_END]
        for label in labels:
            units[offset ^ label] = label
            waiting.append((offset ^ label, node[label]))
    return units
