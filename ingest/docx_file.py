"""Word documents through unstructured's partition_docx, after what it does not see was brought into its sight.

It reads the paragraphs and tables that stand in the body itself. Content controls, tracked insertions, text boxes,
formulas and tables inside cells are lifted there first; deleted and hidden text is taken out; raised digits are kept
apart from figures. Where a note, a chart or a picture is anchored, a mark is left, and what it stands for follows.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree, html  # type: ignore[import-untyped]  # ships no types

from ingest.charts import chart_passages
from ingest.embedded_pictures import EmbeddedPictures
from ingest.formulas import write_out_formulas
from ingest.grids import one_line, table_passage
from ingest.limits import Limits
from ingest.markup import table_cells
from ingest.passages import Passage, is_file_name, prose, raised

if TYPE_CHECKING:
    from docx.document import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_EMBEDDED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"

_WRAPPERS = ("sdtContent", "sdt", "smartTag", "customXml", "fldSimple")
# Marks of ours in the prepared document; its own characters of these numbers are removed first.
_SHIELD = "\ue000"  # before a sign that would be taken for a bullet and dropped
_ANCHOR, _ANCHOR_END = "\ue001", "\ue002"  # around the number of what follows the paragraph or table
_FORMULA, _LABEL = "\ue003", "\ue004"  # before a paragraph that is a formula, or a label of a table inside a cell
_MARKS = re.compile("[\ue000-\ue004]")
_ANCHORS = re.compile(f"{_ANCHOR}(\\d+){_ANCHOR_END}")
_HEADING = re.compile(r"Heading (\d)")


def word_passages(path: Path, limits: Limits) -> tuple[list[Passage], str, tuple[str, ...]]:
    """Passages, the document's title and flags."""
    import docx
    from unstructured.partition.docx import partition_docx

    document = docx.Document(str(path))
    flags, anchored = _prepare(document, EmbeddedPictures(limits))
    prepared = io.BytesIO()
    document.save(prepared)
    prepared.seek(0)
    passages: list[Passage] = []
    for element in partition_docx(file=prepared, languages=[""]):
        caption = passages[-1].text if passages and passages[-1].category == "FigureCaption" else ""
        passage, anchors = _passage(element, caption)
        if passage is not None:
            passages.append(passage)
        for number in anchors:
            passages += anchored[number]
    return passages, document.core_properties.title or "", flags


def _prepare(document: Document, pictures: EmbeddedPictures) -> tuple[tuple[str, ...], list[list[Passage]]]:
    """Flags, and what follows each anchor, by its number."""
    body = document.element.body
    for text in body.iter(f"{_W}t"):
        text.text = _MARKS.sub("", text.text or "")
    _accept_changes(body)
    for node in list(body.iter(f"{_MC}Fallback", f"{_W}sdtPr", f"{_W}sdtEndPr")):
        _remove(node)
    hidden = _remove_hidden(body)
    for node in list(body.iter(*(_W + name for name in _WRAPPERS))):
        _unwrap(node)
    _lift_text_boxes(body)
    _lift_tables(body)
    write_out_formulas(body, _formula_run)
    anchored = _anchored(document, pictures)
    for paragraph in body.iter(f"{_W}p"):
        _keep_raised_apart(paragraph)
        _shield(paragraph)
    _name_headings(document)
    return (*pictures.flags, *["hidden text left out"] * hidden), anchored


def without_changes(path: Path, target: Path) -> None:
    """Writes the document as it is once all tracked changes are accepted: printed, both versions would show."""
    import docx

    document = docx.Document(str(path))
    _accept_changes(document.element.body)
    document.save(str(target))


def _accept_changes(body: Any) -> None:
    for row in [row for row in body.iter(f"{_W}tr") if row.find(f"{_W}trPr/{_W}del") is not None]:
        _remove(row)
    for node in list(body.iter(f"{_W}del", f"{_W}moveFrom")):
        _remove(node)
    for node in list(body.iter(f"{_W}ins", f"{_W}moveTo")):
        _unwrap(node)


def _run(text: str) -> Any:
    run = etree.Element(f"{_W}r")
    made = etree.SubElement(run, f"{_W}t")
    made.text = text
    made.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return run


def _formula_run(text: str) -> Any:
    return _run(f"{_FORMULA}{text}")


def _remove(node: Any) -> None:
    if node.getparent() is not None:
        node.getparent().remove(node)


def _unwrap(node: Any) -> None:
    parent = node.getparent()
    if parent is None:
        return
    position = parent.index(node)
    for child in reversed(list(node)):
        parent.insert(position, child)
    parent.remove(node)


def _remove_hidden(body: Any) -> bool:
    hidden = [run for run in body.iter(f"{_W}r") if _is_on(run.find(f"{_W}rPr/{_W}vanish"))]
    for run in hidden:
        _remove(run)
    return any((text.text or "").strip() for run in hidden for text in run.iter(f"{_W}t"))


def _is_on(flag: Any) -> bool:
    return flag is not None and flag.get(f"{_W}val") not in {"0", "false", "off"}


def _lift_text_boxes(body: Any) -> None:
    """Puts the paragraphs of a text box behind the paragraph it is anchored to."""
    for box in list(body.iter(f"{_W}txbxContent")):
        anchor = next(box.iterancestors(f"{_W}p"), None)
        if anchor is not None:
            for block in reversed(list(box)):
                anchor.addnext(block)


def _lift_tables(body: Any) -> None:
    """Puts a table that stands in a cell behind the outermost one, under the label of its row."""
    for table in reversed([table for table in body.iter(f"{_W}tbl") if table.getparent().tag == f"{_W}tc"]):
        cell = table.getparent()
        row = cell.getparent()
        outer = list(table.iterancestors(f"{_W}tbl"))[-1]
        cells = row.findall(f"{_W}tc")
        label = "" if cells[0] is cell else "".join(node.text or "" for node in cells[0].iter(f"{_W}t"))
        paragraph = etree.Element(f"{_W}p")
        paragraph.append(_run(f"{_LABEL}{label}" if label.strip() else ""))
        outer.addnext(table)
        outer.addnext(paragraph)


def _anchored(document: Document, pictures: EmbeddedPictures) -> list[list[Passage]]:
    """What follows each anchor; the anchors are written into the body."""
    body = document.element.body
    anchored: list[list[Passage]] = []
    notes = {kind: _notes(document, kind) for kind in ("footnote", "endnote")}
    counts = dict.fromkeys(notes, 0)
    for node in list(body.iter(f"{_W}footnoteReference", f"{_W}endnoteReference", f"{_DRAWING}docPr", _CHART, _BLIP)):
        if node.tag == _CHART:
            passages = _chart(document, node.get(_RELATION) or "")
        elif node.tag == _BLIP:
            passages = _picture(document, node.get(_EMBEDDED) or "", pictures)
        elif node.tag == f"{_DRAWING}docPr":
            description = one_line(node.get("descr") or "")
            passages = [Passage("Image", description)] if description and not is_file_name(description) else []
        else:
            kind = etree.QName(node).localname.removesuffix("Reference")
            counts[kind] += 1
            text = notes[kind].get(node.get(f"{_W}id") or "", "")
            passages = [Passage("Footnote", f"[{counts[kind]}] {text}")] if text else []
        run = next(node.iterancestors(f"{_W}r"), None)
        if passages and run is not None:
            run.addnext(_run(f"{_ANCHOR}{len(anchored)}{_ANCHOR_END}"))
            anchored.append(passages)
    return anchored


def _notes(document: Document, kind: str) -> dict[str, str]:
    """The texts of the footnotes or endnotes by their ids."""
    notes: dict[str, str] = {}
    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith(f"/{kind}s"):
            continue
        root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
        for note in root:
            if note.get(f"{_W}type") is None:
                text = " ".join("".join(node.text or "" for node in note.iter(f"{_W}t")).split())
                notes[note.get(f"{_W}id") or ""] = _MARKS.sub("", text)
    return notes


def _picture(document: Document, relation: str, pictures: EmbeddedPictures) -> list[Passage]:
    part = document.part.rels.get(relation)
    if part is None or part.is_external:  # a picture that is elsewhere
        pictures.unread += 1
        return []
    return pictures.passages(part.target_part.blob)


def _chart(document: Document, relation: str) -> list[Passage]:
    from pptx.chart.chart import Chart
    from pptx.oxml import parse_xml

    part = document.part.rels.get(relation)
    if part is None or part.is_external:
        return []
    chart = Chart(parse_xml(part.target_part.blob), None)  # type: ignore[no-untyped-call]  # python-pptx has no types
    return list(chart_passages(chart))


def _keep_raised_apart(paragraph: Any) -> None:
    before = ""
    for run in paragraph.iter(f"{_W}r"):
        texts = list(run.iter(f"{_W}t"))
        text = "".join(node.text or "" for node in texts)
        position = run.find(f"{_W}rPr/{_W}vertAlign")
        if texts and position is not None and position.get(f"{_W}val") == "superscript":
            texts[0].text = raised(before, text)
            for node in texts[1:]:
                node.text = ""
        before = text or before


def _shield(paragraph: Any) -> None:
    first = next((node for node in paragraph.iter(f"{_W}t") if (node.text or "").strip()), None)
    if first is not None and re.match(r"\s*[^\w\s]", first.text):
        first.text = _SHIELD + first.text.lstrip()


def _name_headings(document: Document) -> None:
    """Styles of one's own that carry an outline level get the name of the built-in heading of that level."""
    for style in document.styles:
        name = style.name or ""
        if name.startswith(("Heading", "Title", "Normal")) or (level := _outline_level(style)) is None:
            continue
        style.element.find(f"{_W}name").set(f"{_W}val", f"heading {level + 1}")


def _outline_level(style: Any) -> int | None:
    """The outline level, 0..8, of the style or of what it is based on; 9 means body text."""
    for _ in range(10):
        if style is None:
            return None
        found = style.element.find(f"{_W}pPr/{_W}outlineLvl")
        if found is not None:
            text = found.get(f"{_W}val") or ""
            return int(text) if text.isdigit() and int(text) < 9 else None
        style = getattr(style, "base_style", None)
    return None


def _passage(element: Any, caption: str) -> tuple[Passage | None, list[int]]:
    """The passage of an element, and the numbers of the anchors in it. `caption` is that of a table that follows it."""
    if element.category == "Table":
        markup = element.metadata.text_as_html or ""
        anchors = [int(number) for number in _ANCHORS.findall(markup)]
        markup = _MARKS.sub("", _ANCHORS.sub("", markup))
        cells = table_cells(html.fragment_fromstring(markup)) if markup else []
        return table_passage(cells, caption=caption), anchors
    anchors = [int(number) for number in _ANCHORS.findall(element.text)]
    marked = _ANCHORS.sub("", element.text).lstrip(_SHIELD)
    text = one_line(_MARKS.sub("", marked))
    style = element.metadata.style_name or ""
    if marked.startswith(_LABEL) or style.lower() == "caption":
        return Passage("FigureCaption", text), anchors
    if marked.startswith(_FORMULA):
        return Passage("Formula", text), anchors
    if element.category in {"Header", "Footer", "ListItem"}:
        return Passage(element.category, text), anchors
    if heading := _HEADING.match(style):
        return Passage("Title", text, depth=int(heading.group(1))), anchors
    if style == "Title":
        return Passage("Title", text, depth=0), anchors
    return Passage("Title", text) if element.category == "Title" else prose(text), anchors
