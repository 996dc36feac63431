"""A chunk's terms survive the packing, in order, with the places where blocks and row labels end."""

from __future__ import annotations

from kb_qa.sketch import BLOCK, LABEL, code, codes_in, sketch
from kb_qa.terms import terms
from tests.factories import make_chunk


def test_a_sketch_has_prefix_labels_and_blocks() -> None:
    """Section and prefix first, then each row with its first cell apart."""
    chunk = make_chunk(
        "Net sales | 4,812", "Costs | 900", element_type="table", section=("Results",), prefix="In millions"
    )
    expected = [BLOCK, *map(code, terms("Results In millions")), BLOCK, *map(code, terms("Net sales")), LABEL]
    expected += [code("4812"), BLOCK, code("cost"), LABEL, code("900")]
    assert [*codes_in(sketch(chunk))] == expected


def test_running_text_has_no_labels() -> None:
    """A bar in a sentence ends no label."""
    assert LABEL not in codes_in(sketch(make_chunk("Either a | or b.")))
