"""One reading of a page's text for all that PyMuPDF's table finder asks of it.

The finder reads the page anew for each search and for each table, and builds every character through objects of its
own, which costs more than the search itself. What it gets here is equal to what it would have read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import pymupdf
import pymupdf._table_headers
import pymupdf._table_refine
import pymupdf.table
from numpy.typing import NDArray

NEARLY = 0.05  # by so much, single precision cannot mistake the share of a rectangle in another
TEXT_SIGNS = ("cell_type", "count_alpha", "count_digit", "date_or_period_like", "numeric_like")
ROW_SIGNS = ("row_features", "row_vector")  # what these give is only read

Characters = list[dict[str, Any]]


@contextmanager
def shared_reads(page: pymupdf.Page) -> Iterator[None]:
    """Within, `page.find_tables` reads the text of an upright page once. Not for two threads at once."""
    reads = _Reads(page)
    headers = pymupdf._table_headers
    # What these say of a cell's text, and of a row, is asked again for every row that could end the header.
    remembered: dict[str, Any] = {name: functools.lru_cache(4096)(getattr(headers, name)) for name in TEXT_SIGNS}
    remembered |= {name: by_row(getattr(headers, name)) for name in ROW_SIGNS}
    page.get_text = reads.get_text
    try:
        with (
            replaced(pymupdf.table, make_chars=reads.make_chars, chars_in_rect=reads.chars_in_rect),
            replaced(headers, **remembered),
            replaced(pymupdf._table_refine, _refine_cell_background_rects=grounds_of_cells),
        ):
            yield
    finally:
        del page.get_text


def by_row(function: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
    """The function of a row's texts, asked once for each row."""
    known: dict[tuple[str, ...], Any] = {}

    def remembered(texts: list[str]) -> Any:
        row = tuple(texts)
        if row not in known:
            known[row] = function(texts)
        return known[row]

    return remembered


@contextmanager
def replaced(module: ModuleType, **functions: Any) -> Iterator[None]:
    """Within, the module has other functions of these names."""
    kept = {name: getattr(module, name) for name in functions}
    for name, function in functions.items():
        setattr(module, name, function)
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(module, name, function)


class _Reads:
    def __init__(self, page: pymupdf.Page) -> None:
        self._page = page
        self._get_text = page.get_text
        self._make_chars = pymupdf.table.make_chars
        self._chars_in_rect = pymupdf.table.chars_in_rect
        self._texts: dict[tuple[str, bool], Any] = {}
        self._text_page: pymupdf.TextPage | None = None
        self._characters: Characters = []
        self._boxes: NDArray[np.float64] = np.zeros((4, 0))

    def get_text(self, option: str = "text", **options: Any) -> Any:
        """In place of the page's method: what was read before, where nothing but the kind of reading is said."""
        if options:
            return self._get_text(option, **options)
        key = (option, bool(pymupdf.TOOLS.set_small_glyph_heights()))
        if key not in self._texts:
            self._texts[key] = self._get_text(option)
        return self._texts[key]

    def make_chars(self, page: pymupdf.Page, clip: Any = None) -> pymupdf.TextPage:
        """In place of PyMuPDF's function: fills its list of characters."""
        matrix = page.transformation_matrix
        if page is not self._page or clip is not None or tuple(matrix)[:4] != (1, 0, 0, -1):
            return self._make_chars(page, clip=clip)
        if self._text_page is None:
            self._text_page = page.get_textpage(flags=pymupdf.table.FLAGS)
            blocks = page.get_text("rawdict", textpage=self._text_page)["blocks"]
            self._characters = characters(blocks, page)
            keys = ("x0", "y0", "x1", "y1")
            self._boxes = np.array([[char[key] for char in self._characters] for key in keys])
        pymupdf.table.CHARS.extend(dict(char) for char in self._characters)
        return self._text_page

    def chars_in_rect(self, chars: Sequence[dict[str, Any]], rect: Sequence[float]) -> bool:
        """In place of PyMuPDF's function, with its choice of coordinates: y upwards for the characters."""
        if self._text_page is None or len(chars) != len(self._characters):
            return bool(self._chars_in_rect(chars, rect))
        x0, y0, x1, y1 = self._boxes
        return bool(((x0 >= rect[0]) & (x1 <= rect[2]) & (y0 >= rect[1]) & (y1 <= rect[3])).any())


def grounds_of_cells(raw_rects: Sequence[pymupdf.Rect], *, contain_frac: float = 0.9) -> list[pymupdf.Rect]:
    """In place of PyMuPDF's function, which compares all pairs as objects: the rectangles that lie in no larger one.

    Only pairs near its limits or past them are compared as it does, in single precision.
    """
    boxes = np.array([tuple(rect) for rect in raw_rects], np.float64).reshape(-1, 4)
    x0, y0, x1, y1 = boxes.T
    areas = (x1 - x0) * (y1 - y0)
    kept = []
    for index, rect in enumerate(raw_rects):
        shared = (np.minimum(x1, x1[index]) - np.maximum(x0, x0[index])).clip(0)
        shared *= (np.minimum(y1, y1[index]) - np.maximum(y0, y0[index])).clip(0)
        near = (shared >= (contain_frac - NEARLY) * areas[index]) & (areas > areas[index])
        larger = [raw_rects[other] for other in np.flatnonzero(near).tolist()]
        area = rect.get_area()
        nested = any(
            (rect & other).get_area() >= contain_frac * area and other.get_area() > area * 1.05 for other in larger
        )
        if area > 0 and not nested:
            kept.append(rect)
    return kept


def characters(blocks: Sequence[dict[str, Any]], page: pymupdf.Page) -> Characters:
    """The dictionaries that `pymupdf.table.make_chars` makes of a page's "rawdict"."""
    *_, left, height = map(np.float32, page.transformation_matrix)
    below = page.rect.height * page.number
    found: Characters = []
    for line in (line for block in blocks for line in block["lines"]):
        cosine, sine = (round(value, 4) for value in line["dir"])
        upright = sine == 0
        for span in sorted(line["spans"], key=lambda span: span["bbox"][0]):
            chars = sorted(span["chars"], key=lambda char: char["bbox"][0])
            color = pymupdf.sRGB_to_pdf(span["color"])
            bold = bool(span["flags"] & pymupdf.TEXT_FONT_BOLD or span["char_flags"] & 8)
            # MuPDF's numbers are of single precision, and so is what it makes of them.
            ys = height - np.array([(*char["bbox"][1::2], char["origin"][1]) for char in chars], np.float32)
            starts = left + np.array([char["origin"][0] for char in chars], np.float32)
            for char, start, (upper, lower, base) in zip(chars, starts.tolist(), ys.tolist(), strict=True):
                x0, y0, x1, y1 = char["bbox"]
                found.append(
                    {
                        "adv": x1 - x0 if upright else y1 - y0,
                        "bottom": y1,
                        "doctop": y0 + below,
                        "fontname": span["font"],
                        "height": y1 - y0,
                        "matrix": (cosine, -sine, sine, cosine, start, base),
                        "ncs": "DeviceRGB",
                        "non_stroking_color": color,
                        "non_stroking_pattern": None,
                        "object_type": "char",
                        "page_number": page.number + 1,
                        "size": span["size"] if upright else y1 - y0,
                        "stroking_color": color,
                        "stroking_pattern": None,
                        "bold": bold,
                        "text": char["c"],
                        "top": y0,
                        "upright": upright,
                        "width": x1 - x0,
                        "x0": x0,
                        "x1": x1,
                        "y0": min(upper, lower),
                        "y1": max(upper, lower),
                    }
                )
    return found
