"""What is to be drawn: a page or a region of it, and why the page stands in for a region that cannot be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kb_qa.answers import Language
from kb_qa.geometry import BBox

DPI = 150
MAX_DPI = 600  # finer shows no more than this does; the budget of pixels may lower it further

BoxProblem = Literal["not_finite", "empty", "inverted", "off_page"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of page `page` (from 1): of `bbox` in points, `margin` points wider on each side, or of all of it.

    `marks` are tinted where they lie in the picture.
    """

    page: int
    bbox: BBox | None = None
    dpi: float = DPI
    margin: float = 0
    marks: tuple[BBox, ...] = ()


def box_problem(bbox: BBox, page: BBox) -> BoxProblem | None:
    """Why there is no picture of `bbox` on a page that takes up `page`; None where there is one."""
    if not bbox.is_finite:
        return "not_finite"
    if bbox.x1 < bbox.x0 or bbox.y1 < bbox.y0:
        return "inverted"
    if bbox.x1 == bbox.x0 or bbox.y1 == bbox.y0:
        return "empty"
    return "off_page" if bbox.intersection(page) is None else None


def problem_text(problem: BoxProblem, bbox: BBox, page: BBox, language: Language) -> str:
    """The problem in a reader's language, with the values that are wrong."""
    box = ", ".join(f"{value:g}" for value in bbox.as_tuple())
    size = f"{page.width:g} × {page.height:g}"
    if language == "zh":
        return {
            "not_finite": f"区域 ({box}) 含有非有限的数值",
            "empty": f"区域 ({box}) 没有面积",
            "inverted": f"区域 ({box}) 上下或左右颠倒，应满足 x0 < x1 且 y0 < y1",
            "off_page": f"区域 ({box}) 不在页面上，页面为 {size} 点",
        }[problem]
    return {
        "not_finite": f"the bbox ({box}) is not finite; give four numbers in points",
        "empty": f"the bbox ({box}) is empty; it must have x0 < x1 and y0 < y1",
        "inverted": f"the bbox ({box}) is inverted; it must have x0 < x1 and y0 < y1",
        "off_page": f"the bbox ({box}) lies off the page, which is {size} points",
    }[problem]


def instead_text(problem: BoxProblem, bbox: BBox, page: BBox, language: Language) -> str:
    """The same where the whole page is shown instead."""
    reason = problem_text(problem, bbox, page, language)
    return f"{reason}；因此显示整页。" if language == "zh" else f"{reason}; the whole page is shown instead"
