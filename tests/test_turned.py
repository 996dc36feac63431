"""Quarter turns of boxes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.turned import Turn
from kb_qa.geometry import BBox

inside = st.floats(0, 1)


@given(st.sampled_from([0, 90, 180, 270]), inside, inside, inside, inside)
def test_turning_back_restores_a_box(degrees: int, a: float, b: float, c: float, d: float) -> None:
    """A turn and its `back` undo each other, and a turned box stays on the turned page."""
    box = BBox(min(a, b) * 300, min(c, d) * 200, max(a, b) * 300, max(c, d) * 200)
    turn = Turn(degrees, 300, 200)
    turned = turn.box(box)
    page = BBox(0, 0, turn.back.width, turn.back.height).expanded(0.001)
    assert page.union(turned) == page
    assert turn.back.box(turned).as_tuple() == pytest.approx(box.as_tuple(), abs=1e-6)


def test_a_clockwise_quarter_turn_takes_the_top_left_to_the_top_right() -> None:
    """The direction of a turn is that of a clock."""
    assert Turn(90, 300, 200).box(BBox(0, 0, 10, 20)) == BBox(180, 0, 200, 10)
