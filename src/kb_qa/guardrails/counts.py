"""Counts that no source prints and that its rows or list items are: `the company has three segments`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from kb_qa.elements import Element, Table
from kb_qa.guardrails.labels import tokens
from kb_qa.guardrails.materials import Materials
from kb_qa.guardrails.operations import says_total
from kb_qa.guardrails.outcome import Place
from kb_qa.guardrails.quantities import Quantity
from kb_qa.guardrails.units import split_units

_MOST = 200  # rows or items
_ITEM = re.compile(r"(?am)^[ \t]{0,8}(?:[-*•]|\d{1,3}[.)、)]|[(（]\d{1,3}[)）])[ \t]?\S.*$")
_NOUN = re.compile(r"(?a)[ -]?([A-Za-z]{2,30}(?:[ -][A-Za-z]{2,30}){0,3})|([\u4e00-\u9fff]{2,8})")


def counted(quantity: Quantity, text: str, materials: Materials) -> tuple[Place, ...]:
    """The rows of a table, or items of a list, that are as many as claimed and that the noun behind it names."""
    noun = _NOUN.match(text, quantity.end)
    if noun is None or not isinstance(quantity.value, Decimal) or not 1 < quantity.value <= _MOST or quantity.scale:
        return ()
    words = tokens(noun[0])
    for source in materials.sources:
        for element in source.elements:
            if element.hidden or element.origin == "caption":
                continue
            for named, places in _lists(element):
                if len(places) == quantity.value and not words.isdisjoint(named):
                    return tuple(places)
    return ()


def _lists(element: Element) -> Iterator[tuple[frozenset[str], Sequence[Place]]]:
    """(what the items are, by the words over them; one place for each)."""
    if element.table is not None:
        yield _rows(element, element.table)
        return
    items = [*_ITEM.finditer(element.text)]
    if len(items) > 1:
        units = split_units(element.text[: items[0].start()])
        lead = element.text[slice(*units[-1])] if units else ""
        words = tokens(f"{lead} {' '.join(element.section[-1:])}")
        yield words, [_place(element, match[0].strip()) for match in items]


def _rows(element: Element, table: Table) -> tuple[frozenset[str], list[Place]]:
    body = [cell for cell in table.cells if not cell.header and cell.row_headers]
    labels: dict[int, str] = {}
    for cell in body:
        labels.setdefault(cell.row, cell.row_headers[-1])
    first = min(labels, default=0)
    stub = [cell.text for cell in table.cells if cell.header and cell.column == 0 and cell.row < first]
    places = [
        _place(element, label, cell=(row, 0))
        for row, label in sorted(labels.items())
        if label.strip() and not says_total(label)
    ]
    return tokens(" ".join((*stub, table.caption))), places


def _place(element: Element, printed: str, cell: tuple[int, int] | None = None) -> Place:
    region = element.regions[0] if element.regions else None
    return Place(
        element=element.id,
        page=region.page if region else None,
        bbox=region.bbox if region else None,
        printed=printed[:80],
        value="1",
        match="counted",
        cell=cell,
        row=printed[:80] if cell else "",
    )
