"""Turns of boxes by right and other angles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.printed import PrintedWord, line_of
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


@given(st.floats(-20, 380), inside, inside)
def test_turning_back_restores_a_point(degrees: float, x: float, y: float) -> None:
    """At any angle a point of the page lies on the turned page, and comes back to where it was."""
    turn = Turn(degrees, 300, 200)
    across, down = turn.point(x * 300, y * 200)
    width, height = turn.frame
    assert -1e-6 <= across <= width + 1e-6
    assert -1e-6 <= down <= height + 1e-6
    assert turn.back.point(across, down) == pytest.approx((x * 300, y * 200), abs=1e-6)


@pytest.mark.parametrize(("confidence", "grows"), [(None, False), (0.9, True)], ids=["text layer", "ocr"])
def test_askew_only_boxes_of_what_ocr_read_grow(confidence: float | None, grows: bool) -> None:
    """A stamp in the text layer of a page scanned askew is level, and comes back to its own box."""
    box = BBox(100, 50, 180, 62)
    line = line_of([PrintedWord(box, "stamped", 10, 60, confidence=confidence)])
    turn = Turn(5, 300, 200)
    back = turn.back.line(turn.line(line)).bbox
    assert back.center == pytest.approx(box.center)
    assert (back.height > 13) == grows
