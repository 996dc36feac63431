"""Presentations, slide by slide.

Read through python-pptx and not through unstructured's partition_pptx: that one passes over charts (whose values are
figures), loses merged cells, and takes short Chinese lines for titles.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.grids import GridCell, one_line, table_passage
from ingest.limits import Limits
from ingest.number_formats import displayed
from ingest.passages import Passage, prose
from kb_qa.errors import LimitExceededError
from kb_qa.geometry import Page

if TYPE_CHECKING:
    from pptx.slide import Slide

_EMU_PER_POINT = 12700
_BODY_PLACEHOLDERS = frozenset({"BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT"})


def slide_passages(path: Path, limits: Limits) -> tuple[list[Passage], tuple[Page, ...], str, tuple[str, ...]]:
    """Passages, a page per slide (its size in points), the title and flags.

    A slide's title is the section of the rest of the slide.
    """
    import pptx

    presentation = pptx.Presentation(str(path))
    slides = list(presentation.slides)
    if len(slides) > limits.max_pages:
        raise LimitExceededError(f"{len(slides)} slides; the limit is {limits.max_pages} (KB_QA_MAX_PAGES)")
    width = (presentation.slide_width or 0) / _EMU_PER_POINT
    height = (presentation.slide_height or 0) / _EMU_PER_POINT
    pages = tuple(Page(number, width, height) for number in range(1, len(slides) + 1))
    passages = [passage for page, slide in enumerate(slides, 1) for passage in _slide_passages(slide, page)]
    pictures = sum(
        shape.shape_type is not None and shape.shape_type.name == "PICTURE" for s in slides for shape in s.shapes
    )
    flags = (f"{pictures} pictures not read",) if pictures else ()
    return passages, pages, presentation.core_properties.title or "", flags


def _slide_passages(slide: Slide, page: int) -> Iterator[Passage]:
    hidden = "the slide is hidden" if slide.element.get("show") in {"0", "false"} else ""
    title = slide.shapes.title
    heading = one_line(title.text_frame.text) if title is not None else ""
    # A slide without a title still ends the section of the slide before.
    yield Passage("Title", heading, depth=0, page=page, hidden=hidden)
    for shape in _in_reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape_passages(shape, page, hidden)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame):
        for paragraph in notes.paragraphs:
            yield prose(one_line(paragraph.text), page=page, hidden=hidden)


def _in_reading_order(shapes: Any) -> Iterator[Any]:
    """From top to bottom, then left to right; the shapes of a group stay together."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if shape.shape_type is not None and shape.shape_type.name == "GROUP":
            yield from _in_reading_order(shape.shapes)
        else:
            yield shape


def _shape_passages(shape: Any, page: int, hidden: str) -> Iterator[Passage]:
    if getattr(shape, "has_table", False):
        cells = _table_cells(shape.table)
        if (passage := table_passage(cells, page=page, hidden=hidden)) is not None:
            yield passage
    elif getattr(shape, "has_chart", False):
        yield from _chart_passages(shape.chart, page, hidden)
    elif shape.has_text_frame:
        for paragraph in shape.text_frame.paragraphs:
            text = one_line(paragraph.text)
            if _is_list_item(shape, paragraph):
                yield Passage("ListItem", text, page=page, hidden=hidden)
            else:
                yield prose(text, page=page, hidden=hidden)


def _is_list_item(shape: Any, paragraph: Any) -> bool:
    """A bullet of its own, or the one that body placeholders have from their layout."""
    properties = paragraph._p.pPr
    if properties is not None:
        tags = {child.tag.rpartition("}")[2] for child in properties}
        if "buNone" in tags:
            return False
        if tags & {"buChar", "buAutoNum", "buBlip"}:
            return True
    return bool(shape.is_placeholder) and shape.placeholder_format.type.name in _BODY_PLACEHOLDERS


def _table_cells(table: Any) -> list[GridCell]:
    return [
        GridCell(
            row=row_index,
            column=column_index,
            text=cell.text,
            row_span=cell.span_height if cell.is_merge_origin else 1,
            column_span=cell.span_width if cell.is_merge_origin else 1,
        )
        for row_index, row in enumerate(table.rows)
        for column_index, cell in enumerate(row.cells)
        if not cell.is_spanned
    ]


def _chart_passages(chart: Any, page: int, hidden: str) -> Iterator[Passage]:
    """The chart's stored values as a table: a row per category, a column per series."""
    title = one_line(chart.chart_title.text_frame.text) if chart.has_title and chart.chart_title.has_text_frame else ""
    if title:
        yield Passage("FigureCaption", title, page=page, hidden=hidden)
    for plot in chart.plots:
        categories = [str(category) for category in plot.categories]
        series = list(plot.series)
        cells = [GridCell(0, column + 1, one.name or "", header=True) for column, one in enumerate(series)]
        cells += [GridCell(row + 1, 0, name) for row, name in enumerate(categories)]
        for column, one in enumerate(series):
            code = _format_code(one)
            values = [displayed(value, code) for value in one.values]
            cells += [GridCell(row + 1, column + 1, text) for row, text in enumerate(values) if row < len(categories)]
        if (passage := table_passage(cells, caption=title, page=page, hidden=hidden)) is not None:
            yield passage


def _format_code(series: Any) -> str:
    codes = series._element.xpath("./c:val/c:numRef/c:numCache/c:formatCode")
    return str(codes[0].text or "General") if codes else "General"
