"""Values as plain JSON data and back: what the ledger stores, the index carries and the service prints.

`from_data(type(value), to_data(value)) == value` for every type of `elements`, `geometry` and `answers`. Fields that
have their default are left out, so a record written before a field existed still reads.
"""

from __future__ import annotations

import hashlib
import json
import math
import types
import unicodedata
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from kb_qa.elements import Chunk, Word
from kb_qa.geometry import BBox, Region

Value = TypeVar("Value")
Flat = dict[str, str | int | float | bool]

_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def well_formed(text: str) -> str:
    """`text` with lone surrogates, which no UTF-8 can carry, replaced one for one: offsets stay right."""
    return text if text.isascii() else text.translate(_SURROGATES)


def text_digest(text: str) -> bytes:
    """SHA-256 of the text as UTF-8: by it a text is found again that was embedded before."""
    return hashlib.sha256(well_formed(text).encode()).digest()


def readable(text: str) -> str:
    """Untrusted text as it may be shown: no controls but line breaks and tabs, nothing that turns the direction."""
    return "".join(each for each in text.replace("\r\n", "\n") if each in "\n\t" or not _is_hidden(each))


def _is_hidden(character: str) -> bool:
    return character in _TURNS or unicodedata.category(character) in ("Cc", "Cs")


def to_data(value: object) -> Any:
    """JSON-able data: dataclasses as objects, a bbox as `[x0, y0, x1, y1]`, tuples as arrays."""
    if isinstance(value, BBox):
        return list(value.as_tuple())
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name: to_data(item) for field, item in pairs if not _is_default(field, item)}
    if isinstance(value, tuple | list):
        return [to_data(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_data(item) for key, item in value.items()}
    return value


def from_data(kind: type[Value], data: Any) -> Value:
    """The value of `kind` that `to_data` made `data` from. Raises ValueError for data of another shape."""
    try:
        value: Value = _decoded(kind, data)
    except (AttributeError, TypeError, KeyError) as error:
        raise ValueError(f"not the data of a {kind.__name__}: {data!r:.200}") from error
    return value


def _is_default(field: Field[Any], item: object) -> bool:
    if field.default is not MISSING:
        return type(item) is type(field.default) and item == field.default
    return field.default_factory is not MISSING and item == field.default_factory()


@cache
def _field_types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decoded(kind: Any, data: Any) -> Any:
    if kind is BBox:
        return BBox(*data)
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: _decoded(part, data[name]) for name, part in _field_types(kind).items() if name in data})
    origin = get_origin(kind)
    if origin is tuple:
        return tuple(_decoded(get_args(kind)[0], item) for item in data)
    if origin in {Union, types.UnionType}:
        return None if data is None else _decoded(next(p for p in get_args(kind) if p is not type(None)), data)
    return data


def pack(value: object) -> bytes:
    """`to_data` as compressed JSON."""
    return zlib.compress(json.dumps(to_data(value), separators=(",", ":")).encode("ascii"), 6)


def unpack(kind: type[Value], packed: bytes) -> Value:
    return from_data(kind, json.loads(zlib.decompress(packed)))


def unpack_all(kind: type[Value], packed: bytes) -> tuple[Value, ...]:
    """What `pack` made of a tuple of `kind`."""
    return tuple(from_data(kind, item) for item in json.loads(zlib.decompress(packed)))


def pack_words(words: Iterable[Word]) -> bytes:
    """Words as compressed columns: about a third of the size of a row each."""
    words = tuple(words)
    columns = {
        "page": [word.page for word in words],
        "x0": [word.bbox.x0 for word in words],
        "y0": [word.bbox.y0 for word in words],
        "x1": [word.bbox.x1 for word in words],
        "y1": [word.bbox.y1 for word in words],
        "text": [word.text for word in words],
        "start": [word.start for word in words],
        "end": [word.end for word in words],
        "confidence": [word.confidence for word in words],
    }
    if all(word.confidence is None for word in words):
        del columns["confidence"]
    return zlib.compress(json.dumps(columns, separators=(",", ":")).encode("ascii"), 6)


def unpack_words(packed: bytes) -> tuple[Word, ...]:
    columns = json.loads(zlib.decompress(packed))
    count = len(columns["page"])
    boxes = map(BBox, columns["x0"], columns["y0"], columns["x1"], columns["y1"])
    confidences = columns.get("confidence", [None] * count)
    rest = (columns["text"], columns["start"], columns["end"], confidences)
    return tuple(map(Word, columns["page"], boxes, *rest))


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Where a chunk stands, from its index metadata alone: enough to build a citation (S5.3)."""

    document_id: str
    version: int
    source: str
    ordinal: int
    element_type: str
    category: str
    page: int | None
    regions: tuple[Region, ...]
    section: tuple[str, ...]
    origin: str
    confidence: float | None
    described_by: str = ""

    @property
    def shown_as(self) -> str:
        return "caption" if self.origin == "caption" else self.element_type


def metadata_of(chunk: Chunk) -> Flat:
    """The chunk's flat index metadata (S5.5). What is unknown has no key: indexes refuse None.

    `x0 … y1` are the first region's bbox, `regions` (JSON) is there where there is more than one, `section` is a JSON
    array. Numbers are plain even where a parser left numpy's, and a bbox that is not finite counts as unknown.
    """
    regions = tuple(Region(int(region.page), _finite(region.bbox)) for region in chunk.regions)
    flat: Flat = {
        "document_id": well_formed(str(chunk.document_id)),
        "version": int(chunk.version),
        "source": well_formed(str(chunk.source)),
        "ordinal": int(chunk.ordinal),
        "element_type": str(chunk.element_type),
        "category": well_formed(str(chunk.category)),
        "origin": str(chunk.origin),
    }
    if regions:
        flat["page"] = regions[0].page
        flat["last_page"] = max(region.page for region in regions)
        if (bbox := regions[0].bbox) is not None:
            flat |= dict(zip(("x0", "y0", "x1", "y1"), bbox.as_tuple(), strict=True))
    if len(regions) > 1:
        flat["regions"] = json.dumps(to_data(regions), separators=(",", ":"))
    if chunk.section:
        flat["section"] = json.dumps([well_formed(str(title)) for title in chunk.section], ensure_ascii=False)
    if chunk.confidence is not None and math.isfinite(chunk.confidence):
        flat["confidence"] = float(chunk.confidence)
    if chunk.described_by:
        flat["described_by"] = well_formed(chunk.described_by)
    return flat


def chunk_place(metadata: Mapping[str, Any]) -> ChunkPlace:
    """What `metadata_of` wrote, with None again where nothing was known."""
    page = metadata.get("page")
    if "regions" in metadata:
        regions = tuple(from_data(Region, item) for item in json.loads(metadata["regions"]))
    elif page is None:
        regions = ()
    else:
        corners = tuple(metadata[key] for key in ("x0", "y0", "x1", "y1") if key in metadata)
        regions = (Region(page, BBox(*corners) if corners else None),)
    return ChunkPlace(
        document_id=metadata["document_id"],
        version=metadata["version"],
        source=metadata["source"],
        ordinal=metadata["ordinal"],
        element_type=metadata["element_type"],
        category=metadata["category"],
        page=page,
        regions=regions,
        section=tuple(json.loads(metadata.get("section", "[]"))),
        origin=metadata["origin"],
        confidence=metadata.get("confidence"),
        described_by=metadata.get("described_by", ""),
    )


def _finite(bbox: BBox | None) -> BBox | None:
    return BBox(*(float(value) for value in bbox.as_tuple())) if bbox is not None and bbox.is_finite else None
