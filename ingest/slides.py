"""Presentations, slide by slide.

Read through python-pptx and not through unstructured's partition_pptx: that one passes over charts (whose values are
figures), loses merged cells, and takes short Chinese lines for titles. What python-pptx passes over is brought into its
sight first: shapes with formulas in them stand in alternatives, diagrams (SmartArt) in parts of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree  # type: ignore[import-untyped]  # ships no types

from ingest.charts import chart_passages
from ingest.embedded_pictures import EmbeddedPictures
from ingest.formulas import write_out_formulas
from ingest.grids import GridCell, one_line, table_passage
from ingest.limits import Limits
from ingest.passages import Passage, is_file_name, prose, raised
from kb_qa.errors import LimitExceededError
from kb_qa.geometry import Page

if TYPE_CHECKING:
    from pptx.slide import Slide

_EMU_PER_POINT = 12700
_BODY_PLACEHOLDERS = frozenset({"BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT"})
_FURNITURE = {"SLIDE_NUMBER": "PageNumber", "FOOTER": "Footer", "DATE": "Footer", "HEADER": "Header"}
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


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
    for slide in slides:
        _prepare(slide)
    pictures = EmbeddedPictures(limits)
    passages = [passage for page, slide in enumerate(slides, 1) for passage in _slide_passages(slide, page, pictures)]
    return passages, pages, presentation.core_properties.title or "", pictures.flags


def _prepare(slide: Slide) -> None:
    tree = slide.shapes._spTree
    for alternative in list(tree.iter(f"{_MC}AlternateContent")):
        choice = alternative.find(f"{_MC}Choice")
        for node in reversed(list(choice) if choice is not None else []):
            alternative.addnext(node)
        alternative.getparent().remove(alternative)
    write_out_formulas(tree, _run)


def _run(text: str) -> Any:
    run = etree.Element(f"{_A}r")
    etree.SubElement(run, f"{_A}t").text = text
    return run


def _is(shape: Any, name: str) -> bool:
    return _kind(shape) == name


def _kind(shape: Any) -> str:
    """The name of the shape's type; "" for those that python-pptx does not know."""
    try:
        return shape.shape_type.name if shape.shape_type is not None else ""
    except NotImplementedError:
        return ""


def _slide_passages(slide: Slide, page: int, pictures: EmbeddedPictures) -> Iterator[Passage]:
    hidden = "the slide is hidden" if slide.element.get("show") in {"0", "false"} else ""
    title = slide.shapes.title
    heading = " ".join(map(_paragraph_text, title.text_frame.paragraphs)) if title is not None else ""
    # A slide without a title still ends the section of the slide before.
    yield Passage("Title", heading, depth=0, page=page, hidden=hidden)
    for shape in _in_reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape_passages(shape, page, hidden, pictures)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame):
        for paragraph in notes.paragraphs:
            yield prose(_paragraph_text(paragraph), page=page, hidden=hidden)


def _in_reading_order(shapes: Any) -> Iterator[Any]:
    """From top to bottom, then left to right; the shapes of a group stay together."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if _is(shape, "GROUP"):
            yield from _in_reading_order(shape.shapes)
        else:
            yield shape


def _shape_passages(shape: Any, page: int, hidden: str, pictures: EmbeddedPictures) -> Iterator[Passage]:
    if getattr(shape, "has_table", False):
        cells = _table_cells(shape.table)
        if (passage := table_passage(cells, page=page, hidden=hidden)) is not None:
            yield passage
    elif getattr(shape, "has_chart", False):
        yield from chart_passages(shape.chart, page=page, hidden=hidden)
    elif (diagram := shape._element.find(f".//{_DIAGRAM}relIds")) is not None:
        for text in _diagram_texts(shape, diagram):
            yield prose(text, page=page, hidden=hidden)
    elif etree.QName(shape._element).localname == "pic":  # also one that fills a placeholder
        description = one_line(shape._element.nvPicPr.cNvPr.get("descr") or "")
        yield Passage("Image", "" if is_file_name(description) else description, page=page, hidden=hidden)
        yield from _picture_passages(shape, page, hidden, pictures)
    elif shape.has_text_frame:
        yield from _text_passages(shape, page, hidden)


def _picture_passages(shape: Any, page: int, hidden: str, pictures: EmbeddedPictures) -> list[Passage]:
    relation = shape._element.blip_rId
    part = shape.part.rels.get(relation) if relation else None
    if part is None or part.is_external:  # a picture that is elsewhere
        pictures.unread += 1
        return []
    return pictures.passages(part.target_part.blob, page=page, hidden=hidden)


def _text_passages(shape: Any, page: int, hidden: str) -> Iterator[Passage]:
    furniture = _FURNITURE.get(shape.placeholder_format.type.name) if shape.is_placeholder else None
    for paragraph in shape.text_frame.paragraphs:
        text = _paragraph_text(paragraph)
        if furniture is not None:
            yield Passage(furniture, text, page=page, hidden=hidden)
        elif _is_list_item(shape, paragraph):
            yield Passage("ListItem", text, page=page, hidden=hidden)
        else:
            yield prose(text, page=page, hidden=hidden)


def _paragraph_text(paragraph: Any) -> str:
    """The paragraph on one line; a raised number behind a digit is kept apart from it."""
    text = ""
    for node in paragraph._p:
        tag = etree.QName(node).localname
        piece = " " if tag == "br" else "".join(part.text or "" for part in node.iter(f"{_A}t"))
        properties = node.find(f"{_A}rPr")
        is_raised = properties is not None and (properties.get("baseline") or "").rstrip("%").isdigit()
        text += raised(text, piece) if is_raised and properties.get("baseline") not in {"0", "0%"} else piece
    return one_line(text)


def _diagram_texts(shape: Any, diagram: Any) -> Iterator[str]:
    """The texts of a diagram, which stand in a part beside the slide."""
    part = shape.part.related_part(diagram.get(f"{_RELATION}dm"))
    root = etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
    for point in root.iter(f"{_DIAGRAM}t"):
        for paragraph in point.iter(f"{_A}p"):
            yield one_line("".join(node.text or "" for node in paragraph.iter(f"{_A}t")))


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
