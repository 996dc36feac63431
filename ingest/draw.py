"""Draws what the parser saw: each page as a picture, with numbered boxes by type, cells, words, reading order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pymupdf

from ingest.limits import affordable_dpi
from kb_qa.elements import Element, ParsedDocument
from kb_qa.errors import InputError
from kb_qa.geometry import BBox
from kb_qa.pages import open_document

DPI = 110.0
MEGAPIXELS = 6.0
Colour = tuple[float, float, float]
COLOURS: dict[str, Colour] = {
    "Title": (0.80, 0.10, 0.10),
    "NarrativeText": (0.10, 0.35, 0.80),
    "ListItem": (0.05, 0.55, 0.60),
    "Table": (0.05, 0.55, 0.15),
    "Image": (0.60, 0.15, 0.70),
    "FigureCaption": (0.85, 0.40, 0.65),
    "Footnote": (0.55, 0.40, 0.10),
    "Formula": (0.90, 0.45, 0.00),
    "CodeSnippet": (0.30, 0.30, 0.30),
    "Header": (0.50, 0.50, 0.50),
    "Footer": (0.50, 0.50, 0.50),
    "PageNumber": (0.50, 0.50, 0.50),
}
OTHER: Colour = (0.75, 0.60, 0.00)
WORD: Colour = (0.65, 0.75, 0.95)
ORDER: Colour = (0.95, 0.55, 0.05)
LABEL_SIZE = 7.0
LEGEND_HEIGHT = 36.0
LINES = {"reading order / 阅读顺序": ORDER, "cell / 单元格": COLOURS["Table"], "word / 词": WORD}
CONTINUED = "+"  # after the number of an element that began in another column or on another page

_Placed = tuple[Element, BBox, str]


def draw_elements(file: Path, parsed: ParsedDocument, folder: Path) -> list[Path]:
    """Writes `P001.png` … into `folder`, one for each page of a PDF, a picture or a print, and returns their paths.

    Thick boxes are elements, numbered in the margin beside them, dashed where a reader cannot see the text; thin ones
    are cells and words; an orange line goes from element to element in reading order. A legend stands below the page.
    Raises InputError where nothing has a place.
    """
    if not any(region.bbox is not None for element in parsed.elements for region in element.regions):
        raise InputError(f"{file.name!r} has no places on pages to draw; its elements are text alone")
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"P{facts.number:03}.png" for facts in parsed.pages]
    with _opened(file, parsed) as document, pymupdf.open() as canvas:
        for facts, path in zip(parsed.pages, paths, strict=True):
            page = document[facts.number - 1]
            _paint(canvas, page)
            placed = _placed(parsed.elements, facts.number)
            _draw_page(canvas[-1], placed, facts.number)
            _draw_legend(canvas[-1], page.rect.height, [element for element, _, _ in placed])
            canvas[-1].get_pixmap(dpi=_dpi(canvas[-1]), alpha=False).save(path)
            canvas.delete_page(-1)
    return paths


def _opened(file: Path, parsed: ParsedDocument) -> pymupdf.Document:
    """What the boxes are on: the file, or what was printed of it."""
    return pymupdf.open(stream=parsed.rendering, filetype="pdf") if parsed.rendering else open_document(file)


def _paint(canvas: pymupdf.Document, page: pymupdf.Page) -> None:
    """A new page with the picture of `page`: whatever its rotation or crop, the new one is in display space."""
    sheet = canvas.new_page(width=page.rect.width, height=page.rect.height + LEGEND_HEIGHT)
    sheet.insert_image(page.rect, pixmap=page.get_pixmap(dpi=_dpi(page), alpha=False))


def _dpi(page: pymupdf.Page) -> int:
    return int(affordable_dpi(page.rect.width, page.rect.height, wanted=DPI, megapixels=MEGAPIXELS))


def _placed(elements: Sequence[Element], number: int) -> list[_Placed]:
    """The regions on the page, each with its element and the number that stands beside it."""
    return [
        (element, region.bbox, f"{element.order}{CONTINUED if place else ''}")
        for element in elements
        for place, region in enumerate(element.regions)
        if region.page == number and region.bbox is not None
    ]


def _draw_page(page: pymupdf.Page, placed: Sequence[_Placed], number: int) -> None:
    shape = page.new_shape()
    for element, box, _ in placed:
        _draw_parts(shape, element, number)
        shape.draw_rect(_rect(box))
        dashes = "[3 2] 0" if element.hidden else None
        shape.finish(color=COLOURS.get(element.category, OTHER), width=1.2, dashes=dashes)
    starts = [pymupdf.Point(box.x0 + 2, min(box.center[1], box.y0 + 8)) for _, box, _ in placed]
    for start, stop in itertools.pairwise(starts):
        shape.draw_line(start, stop)
        shape.finish(color=ORDER, width=0.8, stroke_opacity=0.7)
    for start in starts:
        shape.draw_circle(start, 1.6)
        shape.finish(color=ORDER, fill=ORDER)
    for element, box, label in placed:  # last, so that nothing covers them
        _draw_label(shape, label, box, COLOURS.get(element.category, OTHER))
    shape.commit()


def _draw_parts(shape: pymupdf.Shape, element: Element, number: int) -> None:
    """Words and cells of the element on this page."""
    words = [word.bbox for word in element.words if word.page == number]
    cells = element.table.cells if element.table is not None else ()
    places = [cell.bbox for cell in cells if cell.page == number and cell.bbox is not None]
    for boxes, colour, width in ((words, WORD, 0.4), (places, COLOURS["Table"], 0.5)):
        for box in boxes:
            shape.draw_rect(_rect(box))
        if boxes:
            shape.finish(color=colour, width=width)


def _draw_label(shape: pymupdf.Shape, text: str, box: BBox, colour: Colour) -> None:
    """White on the element's colour, in the margin beside the top of the box; at the page's edge, inside it."""
    width = pymupdf.get_text_length(text, fontsize=LABEL_SIZE) + 3
    left = box.x0 - width - 1 if box.x0 > width + 1 else box.x0
    plate = pymupdf.Rect(left, box.y0, left + width, box.y0 + LABEL_SIZE + 2)
    shape.draw_rect(plate)
    shape.finish(color=colour, fill=colour, fill_opacity=0.85, stroke_opacity=0.0)
    shape.insert_text((plate.x0 + 1.5, plate.y1 - 2), text, fontsize=LABEL_SIZE, color=(1, 1, 1))


def _draw_legend(page: pymupdf.Page, top: float, elements: Sequence[Element]) -> None:
    """What the colours stand for, of what is on the page, in rows as wide as the page."""
    shape = page.new_shape()
    names = {element.category: COLOURS.get(element.category, OTHER) for element in elements}
    x, y = 6.0, top + 3
    for name, colour in (names | LINES).items():
        english, _, chinese = name.partition(" / ")
        start = x + 11 + pymupdf.get_text_length(english, fontsize=LABEL_SIZE) + 3
        end = start + LABEL_SIZE * (len(chinese) + 1)
        if x > 6 and end > page.rect.width:
            x, start, end, y = 6.0, start - x + 6, end - x + 6, y + LABEL_SIZE + 4
        shape.draw_rect(pymupdf.Rect(x, y, x + 8, y + LABEL_SIZE))
        shape.finish(color=colour, fill=colour)
        shape.insert_text((x + 11, y + LABEL_SIZE - 1), english, fontsize=LABEL_SIZE)
        shape.insert_text((start, y + LABEL_SIZE - 1), chinese, fontname="china-s", fontsize=LABEL_SIZE)
        x = end
    shape.commit()


def _rect(box: BBox) -> pymupdf.Rect:
    return pymupdf.Rect(box.as_tuple())
