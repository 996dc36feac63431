"""A context holds the best hits: no document crowds it, unless it is asked about, and its size is bounded."""

from __future__ import annotations

import pytest

from kb_qa.answers import Hit
from kb_qa.choose import Room, chosen_hits, estimated_tokens, within_budget
from tests.factories import DOCUMENT, make_chunk

OTHER = "e" * 64


def hits(count: int, *, document_id: str = DOCUMENT, coverage: float = 0.5) -> list[Hit]:
    chunks = [make_chunk(f"Text {number}.", ordinal=number, document_id=document_id) for number in range(count)]
    return [Hit(chunk, {"fused": 1.0, "coverage": coverage}) for chunk in chunks]


def test_no_document_crowds_a_context_unless_the_question_names_it() -> None:
    """Three of each at most; of a document that the question names, as many as there are places."""
    found = [*hits(6), *hits(2, document_id=OTHER)]
    assert len(chosen_hits(found, limit=8, per_document=3)) == 5
    assert len(chosen_hits(found, limit=6, per_document=3, named={DOCUMENT})) == 6
    assert len(chosen_hits(found, limit=8, per_document=None)) == 8


@pytest.mark.parametrize(("coverage", "expected"), [(0.9, OTHER), (0.4, DOCUMENT)], ids=["says more", "says less"])
def test_a_misread_name_loses_nothing(coverage: float, expected: str) -> None:
    """Where another document says more of the question, its best passage has the last place."""
    found = [*hits(9), *hits(1, document_id=OTHER, coverage=coverage)]
    assert chosen_hits(found, limit=5, per_document=3, named={DOCUMENT})[-1].chunk.document_id == expected


def test_the_budget_bounds_hits_and_what_stands_beside_them() -> None:
    """What stands beside a hit comes right behind it, once; the first hit is kept whatever its size."""
    found = hits(3)
    beside = {found[0].chunk.id: [make_chunk("Before.", ordinal=7)], found[1].chunk.id: [found[2].chunk]}
    ordinals = [hit.chunk.ordinal for hit in within_budget(found, Room(beside=beside))]
    assert ordinals == [0, 7, 1, 2]
    assert [hit.chunk.ordinal for hit in within_budget(found, Room(tokens=1))] == [0]


@pytest.mark.parametrize(("text", "least"), [("word " * 100, 100), ("净利润" * 100, 200)], ids=["English", "Chinese"])
def test_an_estimate_is_rather_too_high(text: str, least: int) -> None:
    """About as many tokens as tokenizers make, and no fewer."""
    assert least <= estimated_tokens(text) <= 2 * least
