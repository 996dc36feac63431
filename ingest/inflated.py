"""How large the streams of a PDF become: a file of a kilobyte can hold a gigabyte."""

from __future__ import annotations

import re
import zlib

import pymupdf

from ingest.limits import BYTES_PER_MB, Limits
from kb_qa.errors import LimitExceededError

_MOST = 1032  # times what a Flate stream can grow
_FLATE = re.compile(r"/(?:FlateDecode|Fl)\b")
_PIECE = 1 << 20


def check_inflated(document: pymupdf.Document, name: str, limits: Limits) -> None:
    """Raises LimitExceededError where what the file's compressed streams hold, pictures aside, is past the limit.

    Pictures are bounded by the pixels of a render. Streams are inflated piece by piece and kept nowhere; those of a
    file too small to be past the limit are not touched.
    """
    budget = limits.max_inflated_mb * BYTES_PER_MB
    streams = [(xref, depth) for xref in range(1, document.xref_length()) if (depth := _flate_depth(document, xref))]
    bound = sum(_raw_length(document, xref) * _MOST**depth for xref, depth in streams)
    if bound <= budget:
        return
    total = 0
    for xref, depth in streams:
        total += _inflated_length(document.xref_stream_raw(xref) or b"", depth, budget - total)
        if total > budget:
            raise LimitExceededError(
                f"{name!r} inflates to more than {limits.max_inflated_mb} MB; the limit is KB_QA_MAX_INFLATED_MB"
            )


def _flate_depth(document: pymupdf.Document, xref: int) -> int:
    """How many times over the object's stream is compressed; 0 for no stream, and for a picture's."""
    if not document.xref_is_stream(xref) or document.xref_get_key(xref, "Subtype")[1] == "/Image":
        return 0
    return len(_FLATE.findall(document.xref_get_key(xref, "Filter")[1]))


def _raw_length(document: pymupdf.Document, xref: int) -> int:
    kind, text = document.xref_get_key(xref, "Length")
    return int(text) if kind == "int" else len(document.xref_stream_raw(xref) or b"")


def _inflated_length(data: bytes, depth: int, budget: int) -> int:
    """The length of the innermost content, counted up to just past the budget. Damaged streams end where they break."""
    layers = [zlib.decompressobj() for _ in range(depth)]
    return _fed(layers, data, budget)


def _fed(layers: list[zlib._Decompress], data: bytes, budget: int) -> int:
    if not layers:
        return len(data)
    first, *rest = layers
    total = 0
    while data and total <= budget:
        try:
            piece = first.decompress(data, _PIECE)
        except zlib.error:
            break
        data = first.unconsumed_tail
        total += _fed(rest, piece, budget - total)
        if not piece and not data:
            break
    return total
