"""Elements, hits and located quotes as JSON objects: the form in which the command line and the service list them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from kb_qa.answers import Decision, Hit, KeptAnswer, Located
from kb_qa.elements import Cell, Element, Measure, ScaleSource, Table
from kb_qa.geometry import BBox, Region

Line = dict[str, Any]


def element_line(element: Element) -> Line:
    line: Line = {
        "id": element.id,
        "order": element.order,
        "element_type": element.element_type,
        "category": element.category,
        "text": element.text,
        "regions": region_lines(element.regions),
        "section": list(element.section),
        "origin": element.origin,
        "confidence": element.confidence,
        "hidden": element.hidden or None,
    }
    if element.described_by:
        line["described_by"] = element.described_by
    if element.table is not None:
        line["table"] = _table_line(element.table)
    return line


def answer_line(kept: KeptAnswer) -> Line:
    """`documents` are the names of those that it cites, in the order of their first citation."""
    data: dict[str, Line] = {event.event: cast(Line, event.data) for event in kept.events}
    cited = (str(event.data["document"]) for event in kept.events if event.event == "citation")
    return {
        "id": kept.answer_id,
        "question": kept.question,
        "created": kept.created,
        "refused": "refusal" in data,
        "complete": is_complete(data),
        "documents": list(dict.fromkeys(cited)),
    }


def is_complete(data: Mapping[str, Line]) -> bool:
    """Whether an answer came to its end; `data` is that of its last event of each name."""
    return bool(data.get("end", {}).get("complete", False)) and "error" not in data


def decision_line(decision: Decision) -> Line:
    """`decided` is in seconds since 1970."""
    return {
        "answer_id": decision.answer_id,
        "n": decision.n,
        "raw": decision.raw,
        "decision": decision.kind,
        "note": decision.note,
        "decided": decision.decided,
        "by": decision.by,
    }


def hit_line(rank: int, hit: Hit) -> Line:
    chunk = hit.chunk
    return {
        "rank": rank,
        "document": chunk.source,
        "document_id": chunk.document_id,
        "page": chunk.page,
        "element_type": chunk.element_type,
        "section": list(chunk.section),
        **({"origin": chunk.origin, "described_by": chunk.described_by} if chunk.described_by else {}),
        "regions": region_lines(chunk.regions),
        "text": chunk.text,
        "score": hit.score,
        "quality": None if hit.quality is None else {"grade": hit.quality.grade, "reasons": list(hit.quality.reasons)},
    }


def located_line(located: Located, quote_id: object = None) -> Line:
    """`rects` has one rectangle per line of print. The id is the caller's own, given back.

    `confidence` is there where the words were read by OCR.
    """
    line: Line = {} if quote_id is None else {"id": quote_id}
    regions = [
        {"page": region.page, "bbox": bbox_list(region.bbox), "rects": [bbox_list(rect) for rect in region.rects]}
        for region in located.regions
    ]
    line |= {"found": located.found, "regions": regions, "method": located.method}
    return line if located.confidence is None else line | {"confidence": round(located.confidence, 4)}


def region_lines(regions: Iterable[Region]) -> list[Line]:
    return [{"page": region.page, "bbox": bbox_list(region.bbox)} for region in regions]


def bbox_list(bbox: BBox | None) -> list[float] | None:
    return None if bbox is None else list(bbox.rounded().as_tuple())


def _table_line(table: Table) -> Line:
    source = table.scale_source
    return {
        "caption": table.caption,
        "notes": list(table.notes),
        "note_regions": region_lines(table.note_regions),
        "scale": table.scale,
        "scale_source": None if source is None else _source_line(source),
        "unit": table.unit,
        "confidence": table.confidence,
        "measures": [_measure_line(measure) for measure in table.measures],
        "cells": [_cell_line(cell) for cell in table.cells],
    }


def _source_line(source: ScaleSource) -> Line:
    return {"text": source.text, "region": None if source.region is None else region_lines([source.region])[0]}


def _measure_line(measure: Measure) -> Line:
    """What figures of some cells are counted in; a cell names it by its place in the list."""
    return {
        "scale": measure.scale,
        "unit": measure.unit,
        "scope": measure.scope,
        "source": _source_line(measure.source),
        "unit_source": None if measure.unit_source is None else _source_line(measure.unit_source),
        "ambiguous": measure.ambiguous,
    }


def _cell_line(cell: Cell) -> Line:
    return {
        "row": cell.row,
        "column": cell.column,
        "row_span": cell.row_span,
        "column_span": cell.column_span,
        "text": cell.text,
        "page": cell.page,
        "bbox": bbox_list(cell.bbox),
        "row_headers": list(cell.row_headers),
        "column_headers": list(cell.column_headers),
        **({} if cell.measure is None else {"measure": cell.measure}),
        **({"address": cell.address} if cell.address else {}),
    }
