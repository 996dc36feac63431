"""Boxes, regions and pages, in one space.

Unit: points (1/72 inch). Origin: top-left of the page *as a reader sees it* (CropBox and /Rotate applied), x to the
right, y down. Pages count from 1. Parsers convert into this space once, at their boundary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from kb_qa.errors import InvalidRegionError


@dataclass(frozen=True, slots=True)
class BBox:
    """An axis-parallel rectangle with x0 <= x1 and y0 <= y1."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        return max(self.width, 0.0) * max(self.height, 0.0)

    @property
    def center(self) -> tuple[float, float]:
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    @property
    def is_finite(self) -> bool:
        return all(math.isfinite(value) for value in self.as_tuple())

    def as_tuple(self) -> tuple[float, float, float, float]:
        return self.x0, self.y0, self.x1, self.y1

    def rounded(self, digits: int = 2) -> BBox:
        return BBox(*(round(value, digits) for value in self.as_tuple()))

    def union(self, other: BBox) -> BBox:
        return BBox(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def intersection(self, other: BBox) -> BBox | None:
        """The shared rectangle, or None where the two do not overlap (touching edges do not)."""
        x0, y0 = max(self.x0, other.x0), max(self.y0, other.y0)
        x1, y1 = min(self.x1, other.x1), min(self.y1, other.y1)
        return BBox(x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None

    def overlap(self, other: BBox) -> float:
        """Share of this box's area that lies inside `other`, 0..1."""
        shared = self.intersection(other)
        return shared.area / self.area if shared is not None and self.area else 0.0

    def iou(self, other: BBox) -> float:
        """Intersection over union, 0..1."""
        shared = self.intersection(other)
        if shared is None:
            return 0.0
        return shared.area / (self.area + other.area - shared.area)

    def contains_point(self, x: float, y: float) -> bool:
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def moved(self, across: float, down: float) -> BBox:
        return BBox(self.x0 + across, self.y0 + down, self.x1 + across, self.y1 + down)

    def expanded(self, margin: float) -> BBox:
        return BBox(self.x0 - margin, self.y0 - margin, self.x1 + margin, self.y1 + margin)

    def quad(self) -> tuple[float, ...]:
        """Its corners as PDF counts them: x and y of upper left, upper right, lower left, lower right."""
        return self.x0, self.y0, self.x1, self.y0, self.x0, self.y1, self.x1, self.y1

    def normalised(self, page: Page) -> tuple[float, float, float, float]:
        """The box as shares (0..1, four decimals) of the displayed page, for web viewers."""
        return (
            round(min(max(self.x0 / page.width, 0.0), 1.0), 4),
            round(min(max(self.y0 / page.height, 0.0), 1.0), 4),
            round(min(max(self.x1 / page.width, 0.0), 1.0), 4),
            round(min(max(self.y1 / page.height, 0.0), 1.0), 4),
        )


_NUMBER = r"[-+]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?(?:e[-+]?[0-9]{1,3})?|nan|inf|infinity)"
_BBOX = re.compile(rf"({_NUMBER}),({_NUMBER}),({_NUMBER}),({_NUMBER})", re.IGNORECASE)


def parse_bbox(text: str) -> BBox:
    """The box of `x0,y0,x1,y1` in points, whatever box they make: `picture.box_problem` judges that.

    Raises InvalidRegionError for what is not four numbers.
    """
    match = _BBOX.fullmatch(text)
    if match is None:
        raise InvalidRegionError("bbox must be four numbers in points: x0,y0,x1,y1")
    return BBox(*(float(value) for value in match.groups()))


def union_of(boxes: Iterable[BBox]) -> BBox | None:
    """The smallest box around all of `boxes`; None for none."""
    known = list(boxes)
    if len(known) < 2:
        return known[0] if known else None
    return BBox(
        min([box.x0 for box in known]),
        min([box.y0 for box in known]),
        max([box.x1 for box in known]),
        max([box.y1 for box in known]),
    )


@dataclass(frozen=True, slots=True)
class Region:
    """A place on a page. `bbox` is None where there is a page but no geometry (slides, sheets)."""

    page: int
    bbox: BBox | None


@dataclass(frozen=True, slots=True)
class Quality:
    """How far a page's text can be trusted: grade "good", "fair" or "poor", with the reasons in words."""

    grade: str = "good"
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page as displayed. `label` is the printed page label: shown, never used to open a page."""

    number: int
    width: float
    height: float
    rotation: int = 0
    label: str = ""
    quality: Quality = Quality()


def merge_regions(regions: Iterable[Region]) -> tuple[Region, ...]:
    """One region per page, in page order: the union of that page's boxes."""
    boxes: dict[int, BBox | None] = {}
    for region in regions:
        known = boxes.get(region.page)
        if known is None:
            boxes[region.page] = region.bbox
        elif region.bbox is not None:
            boxes[region.page] = known.union(region.bbox)
    return tuple(Region(page, boxes[page]) for page in sorted(boxes))
