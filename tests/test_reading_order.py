"""The order in which boxes are read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.reading_order import reading_order
from kb_qa.geometry import BBox


def test_columns_are_read_one_after_the_other() -> None:
    """Rows that happen to align do not mix two columns; a banner above and one below stay outside."""
    boxes = [
        BBox(50, 20, 550, 40),  # banner
        BBox(50, 60, 290, 100),
        BBox(310, 60, 550, 100),
        BBox(50, 110, 290, 150),
        BBox(310, 110, 550, 150),
        BBox(50, 170, 550, 200),  # banner
    ]
    assert reading_order(boxes) == [0, 1, 3, 2, 4, 5]


def test_three_columns_under_a_title_are_read_one_after_the_other() -> None:
    """The title over all of them comes first, a box across before what stands below it."""
    boxes = [BBox(50, 20, 550, 40)]
    boxes += [
        BBox(50 + 170 * column, 60 + 50 * row, 200 + 170 * column, 100 + 50 * row)
        for column in range(3)
        for row in range(2)
    ]
    boxes.append(BBox(50, 170, 550, 200))
    boxes += [BBox(50 + 170 * column, 220, 200 + 170 * column, 300) for column in range(3)]
    mixed = [boxes[index] for index in (10, 4, 7, 0, 2, 9, 6, 1, 3, 8, 5)]
    assert [mixed[index] for index in reading_order(mixed)] == boxes


def test_a_centred_heading_is_no_column() -> None:
    """Short headings at the left and in the middle are read from top to bottom."""
    boxes = [BBox(234, 111, 378, 133), BBox(81, 155, 219, 162), BBox(81, 166, 221, 173), BBox(81, 180, 532, 201)]
    assert reading_order(boxes) == [0, 1, 2, 3]


def test_a_heading_over_a_banner_does_not_join_the_column_above() -> None:
    """What stands left under two columns, close to a banner, is read after both columns."""
    boxes = [BBox(50, 60, 290, 300), BBox(310, 60, 550, 300), BBox(50, 330, 200, 345), BBox(50, 350, 550, 400)]
    assert reading_order(boxes) == [0, 1, 2, 3]


coordinates = st.floats(0, 500, allow_nan=False)


@given(st.lists(st.builds(lambda x, y, w, h: BBox(x, y, x + w, y + h), *[coordinates] * 4), max_size=25))
def test_every_box_is_read_once(boxes: list[BBox]) -> None:
    """Whatever the boxes, the order is a permutation of them."""
    assert sorted(reading_order(boxes)) == list(range(len(boxes)))
