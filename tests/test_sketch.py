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


def test_amounts_stand_in_normal_form_too() -> None:
    """At the end of their block, where they are printed in another form; periods and plain numbers add nothing."""
    chunk = make_chunk("营收为48.6亿元，2024年", "Sales of 4,860 million", "4,860 and 12%")
    found = {*codes_in(sketch(chunk)).tolist()}
    blocks = sum(each == BLOCK for each in codes_in(sketch(chunk)))
    assert blocks == 4 and code("4860000000") in found
    printed = terms("营收为48.6亿元，2024年") + terms("Sales of 4,860 million") + terms("4,860 and 12%")
    assert len(codes_in(sketch(chunk))) == blocks + len(printed) + 2  # 48.6亿 and 4,860 million
