"""PDF files for tests, made in memory, and the test that a box on a page holds ink."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pymupdf

from kb_qa.elements import Element, ParsedDocument
from kb_qa.geometry import BBox

Draw = Callable[[pymupdf.Page], None]


def write_pdf(path: Path, *draws: Draw, width: float = 595, height: float = 842) -> Path:
    """A file with one page for each drawing."""
    document = pymupdf.open()
    for draw in draws:
        draw(document.new_page(width=width, height=height))
    document.save(path)
    document.close()
    return path


def draw_grid(
    page: pymupdf.Page,
    rows: Sequence[Sequence[str]],
    *,
    origin: tuple[float, float] = (72, 100),
    cell: tuple[float, float] = (120, 24),
    size: float = 10,
    font: str = "helv",
) -> None:
    """A ruled grid with a string in each cell."""
    x0, y0 = origin
    width, height = cell
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            box = pymupdf.Rect(
                x0 + column * width, y0 + row * height, x0 + (column + 1) * width, y0 + (row + 1) * height
            )
            page.draw_rect(box, width=0.7)
            if text:
                page.insert_text((box.x0 + 4, box.y1 - 8), text, fontsize=size, fontname=font)


def texts(parsed: ParsedDocument, *, hidden: bool = False) -> list[str]:
    return [element.text for element in parsed.elements if bool(element.hidden) == hidden]


def tables(parsed: ParsedDocument) -> list[Element]:
    return [element for element in parsed.elements if element.element_type == "table"]


def ink(path: Path, page: int, box: BBox) -> float:
    """Share of dark pixels in the box on the displayed page (numbered from 1)."""
    with pymupdf.open(path) as document:
        pixmap = document[page - 1].get_pixmap(dpi=144, clip=pymupdf.Rect(box.as_tuple()), colorspace=pymupdf.csGRAY)
        if pixmap.width == 0 or pixmap.height == 0:
            return 0.0
        return float((np.frombuffer(pixmap.samples, np.uint8) < 128).mean())
