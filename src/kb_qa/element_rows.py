"""An element as a row of the ledger, and back."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import RowMapping

from kb_qa.elements import Element, ElementType, Origin, Table
from kb_qa.geometry import Region
from kb_qa.records import from_data, pack, pack_words, to_data, unpack, unpack_words


def element_row(element: Element, version: int, facts: bytes | None = None) -> dict[str, Any]:
    return {
        "version_id": version,
        "id": element.id,
        "order": element.order,
        "element_type": element.element_type,
        "category": element.category,
        "text": element.text,
        "origin": element.origin,
        "confidence": element.confidence,
        "hidden": element.hidden,
        "regions": to_data(element.regions),
        "section": list(element.section),
        "table": None if element.table is None else pack(element.table),
        "words": pack_words(element.words) if element.words else None,
        "facts": facts,
        "described_by": element.described_by,
    }


def element_of(row: RowMapping) -> Element:
    return Element(
        id=row["id"],
        document_id=row["document_id"],
        order=row["order"],
        element_type=cast(ElementType, row["element_type"]),
        category=row["category"],
        text=row["text"],
        regions=tuple(from_data(Region, region) for region in row["regions"]),
        section=tuple(row["section"]),
        origin=cast(Origin, row["origin"]),
        confidence=row["confidence"],
        words=unpack_words(row["words"]) if row["words"] else (),
        table=unpack(Table, row["table"]) if row["table"] else None,
        hidden=row["hidden"],
        described_by=row["described_by"],
    )
