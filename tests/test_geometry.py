"""Boxes are pure values: their algebra holds for any finite boxes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.errors import InvalidRegionError
from kb_qa.geometry import BBox, Page, Region, merge_regions, parse_bbox, union_of

coordinates = st.floats(-1000, 1000, allow_nan=False, width=32)
boxes = st.tuples(coordinates, coordinates, coordinates, coordinates).map(
    lambda c: BBox(min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)


@given(boxes, boxes)
def test_union_holds_both_boxes(first: BBox, second: BBox) -> None:
    """The union is the same both ways round and holds every corner of both."""
    union = first.union(second)
    assert union == second.union(first)
    for box in (first, second):
        assert union.contains_point(box.x0, box.y0)
        assert union.contains_point(box.x1, box.y1)


@given(boxes, boxes)
def test_intersection_lies_in_both_boxes(first: BBox, second: BBox) -> None:
    """What two boxes share lies inside each; no shared area means no intersection."""
    shared = first.intersection(second)
    if shared is None:
        assert first.iou(second) == 0
    else:
        assert first.union(shared) == first
        assert second.union(shared) == second


def test_iou_of_halves() -> None:
    """Two boxes that share half of each have an IoU of a third."""
    assert BBox(0, 0, 2, 1).iou(BBox(1, 0, 3, 1)) == pytest.approx(1 / 3)


def test_overlap_is_a_share_of_the_first_box() -> None:
    """Overlap is measured against the box it is asked of; an empty box overlaps nothing."""
    assert BBox(0, 0, 2, 2).overlap(BBox(1, 0, 9, 9)) == pytest.approx(0.5)
    assert BBox(1, 1, 1, 1).overlap(BBox(0, 0, 2, 2)) == 0


def test_normalised_box_is_clipped_and_rounded() -> None:
    """Web boxes are shares of the displayed page with four decimals, never outside 0..1."""
    page = Page(1, width=300, height=600)
    assert BBox(-5, 100, 100, 700).normalised(page) == (0.0, 0.1667, 0.3333, 1.0)


def test_union_of_nothing_is_none() -> None:
    """There is no box around no boxes."""
    assert union_of([]) is None


def test_merge_regions_keeps_one_region_a_page_in_page_order() -> None:
    """Regions of a page become their union; a page without geometry stays a page without geometry."""
    merged = merge_regions([Region(2, BBox(0, 0, 1, 1)), Region(1, None), Region(2, BBox(5, 5, 6, 6)), Region(1, None)])
    assert merged == (Region(1, None), Region(2, BBox(0, 0, 6, 6)))


def test_a_box_is_read_from_four_numbers() -> None:
    """Commands and addresses give a box as x0,y0,x1,y1."""
    assert parse_bbox("1,2.5,30,40") == BBox(1, 2.5, 30, 40)


@pytest.mark.parametrize("text", ["nan,0,1,1", "0,-inf,1,1", "1e309,0,1,1", "5,0,1,9", "1,1,1,2", "-3,-4,-1,-2"])
def test_four_numbers_are_read_whatever_box_they_make(text: str) -> None:
    """What is wrong with a box is told where the page is known."""
    assert len(parse_bbox(text).as_tuple()) == 4


@pytest.mark.parametrize("text", ["", "1,2,3", "1,2,3,4,5", "a,b,c,d", "1_0,0,2,2", "１,2,3,4", "1, 2,3,4"])
def test_what_is_no_box_is_told(text: str) -> None:
    """Anything but four numbers is an error and not a guess."""
    with pytest.raises(InvalidRegionError):
        parse_bbox(text)


def test_a_quad_has_its_corners_in_the_order_of_pdf() -> None:
    """Upper left, upper right, lower left, lower right."""
    assert BBox(1, 2, 30, 40).quad() == (1, 2, 30, 2, 1, 40, 30, 40)
