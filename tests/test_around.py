"""What stands beside a hit comes along where the hit does not say by itself what it is about, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb_qa.answers import Hit
from kb_qa.around import beside
from kb_qa.elements import Chunk
from kb_qa.testing import InMemoryLibrary
from tests.factories import make_chunk


def found(*chunks: Chunk, of: int) -> list[int]:
    hit = next(chunk for chunk in chunks if chunk.ordinal == of)
    return [chunk.ordinal for chunk in beside([Hit(hit, {"fused": 1.0})], InMemoryLibrary(chunks)).get(hit.id, ())]


@pytest.mark.parametrize(
    ("before", "text", "after", "expected"),
    [
        pytest.param("Acme runs two plants.", "It sold one in 2022.", "Other.", [0], id="pronoun"),
        pytest.param("星河科技成立于2001年。", "该公司总部在上海。", "其他。", [0], id="该"),
        pytest.param("Acme runs two plants.", "Acme sold one in 2022.", "Other.", [], id="says it itself"),
        pytest.param("Rules.", "You may claim the following:", "Taxi and train.", [2], id="colon"),
        pytest.param("规定。", "可报销的费用如下：", "出租车、火车。", [2], id="如下"),
    ],
)
def test_the_sentence_before_and_the_rest_of_a_list(before: str, text: str, after: str, expected: list[int]) -> None:
    """A pronoun takes what names its subject along; a colon, what it announces."""
    assert found(*(make_chunk(each, ordinal=n) for n, each in enumerate((before, text, after))), of=1) == expected


def test_a_list_that_is_cut_goes_on() -> None:
    """Items of one section behind one another; text behind a list is no part of it."""
    items = [replace(make_chunk(f"Item {n}", ordinal=n), category="ListItem") for n in range(2)]
    assert found(*items, make_chunk("Text.", ordinal=2), of=0) == [1]
    assert found(*items, make_chunk("Text.", ordinal=2), of=1) == []


def test_the_notes_of_a_marked_row() -> None:
    """A row with a mark takes along the chunk of its section that holds the note; a table without marks none."""
    marked = make_chunk("Net sales (1) | 4,812", element_type="table", prefix="In millions")
    plain = make_chunk("Net sales | 4,812", element_type="table", prefix="In millions")
    rest, notes = make_chunk("Costs | 9", ordinal=1, element_type="table"), make_chunk("(1) Restated.", ordinal=2)
    assert found(marked, rest, notes, of=0) == [2]
    assert found(plain, rest, notes, of=0) == []


def test_another_section_says_nothing_of_a_pronoun() -> None:
    """What ends another section is not what is spoken of."""
    other = make_chunk("Acme runs two plants.", section=("Plants",))
    assert found(other, make_chunk("It sold one.", ordinal=1, section=("Sales",)), of=1) == []
