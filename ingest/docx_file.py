"""Word documents through unstructured's partition_docx, after what it does not see was brought into its sight.

It reads the paragraphs and tables that stand in the body itself. Content controls, tracked insertions, text boxes and
formulas are lifted there first; deleted and hidden text is taken out; raised digits are kept apart from figures.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree, html  # type: ignore[import-untyped]  # ships no types

from ingest.grids import one_line, table_passage
from ingest.markup import table_cells
from ingest.passages import Passage, prose

if TYPE_CHECKING:
    from docx.document import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_FOOTNOTES = re.compile(r"/(?:footnotes|endnotes)$")

_WRAPPERS = ("sdtContent", "sdt", "ins", "moveTo", "smartTag", "customXml", "fldSimple")
_SHIELD = "\ue000"  # before a sign that would be taken for a bullet and dropped; removed again
_HEADING = re.compile(r"Heading (\d)")


def word_passages(path: Path) -> tuple[list[Passage], str, tuple[str, ...]]:
    """Passages, the document's title and flags."""
    import docx
    from unstructured.partition.docx import partition_docx

    document = docx.Document(str(path))
    flags = _prepare(document)
    notes = list(_notes(document))
    prepared = io.BytesIO()
    document.save(prepared)
    prepared.seek(0)
    elements = partition_docx(file=prepared, languages=[""])
    passages = [passage for element in elements if (passage := _passage(element)) is not None]
    return passages + notes, document.core_properties.title or "", flags


def _prepare(document: Document) -> tuple[str, ...]:
    body = document.element.body
    pictures, charts = len(list(body.iter(_PICTURE))), len(list(body.iter(_CHART)))
    for node in list(body.iter(f"{_MC}Fallback", f"{_W}del", f"{_W}moveFrom", f"{_W}sdtPr", f"{_W}sdtEndPr")):
        _remove(node)
    hidden = _remove_hidden(body)
    for name in _WRAPPERS:
        for node in list(body.iter(_W + name)):
            _unwrap(node)
    _lift_text_boxes(body)
    for formula in list(body.iter(f"{_M}oMath")):
        _write_out(formula)
    for paragraph in body.iter(f"{_W}p"):
        _keep_raised_apart(paragraph)
        _shield(paragraph)
    _name_headings(document)
    notes = [f"{pictures} pictures not read"] * bool(pictures) + [f"{charts} charts not read"] * bool(charts)
    return tuple(notes + ["hidden text left out"] * hidden)


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


def _write_out(formula: Any) -> None:
    """Replaces a formula by a run of its characters."""
    text = "".join(node.text or "" for node in formula.iter(f"{_M}t"))
    run = etree.SubElement(formula.getparent(), f"{_W}r")
    etree.SubElement(run, f"{_W}t").text = text
    formula.getparent().replace(formula, run)


def _keep_raised_apart(paragraph: Any) -> None:
    """A raised number behind a digit is a note or an exponent: `250⁹` must not become 2509."""
    before = ""
    for run in paragraph.iter(f"{_W}r"):
        texts = list(run.iter(f"{_W}t"))
        text = "".join(node.text or "" for node in texts)
        raised = run.find(f"{_W}rPr/{_W}vertAlign")
        if raised is not None and raised.get(f"{_W}val") == "superscript" and text.isdigit() and before[-1:].isdigit():
            texts[0].text = f"^{text}" if re.search(r"(?<!\d)10$", before) else f" [{text}]"
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


def _notes(document: Document) -> Iterator[Passage]:
    for relation in document.part.rels.values():
        if relation.is_external or not _FOOTNOTES.search(relation.reltype):
            continue
        root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
        for note in root:
            text = " ".join("".join(node.text or "" for node in note.iter(f"{_W}t")).split())
            if text and note.get(f"{_W}type") is None:
                yield Passage("Footnote", f"[{note.get(f'{_W}id')}] {text}")


def _passage(element: Any) -> Passage | None:
    if element.category == "Table":
        markup = element.metadata.text_as_html or ""
        return table_passage(table_cells(html.fragment_fromstring(markup))) if markup else None
    text = one_line(element.text.replace(_SHIELD, ""))
    style = element.metadata.style_name or ""
    if element.category in {"Header", "Footer", "ListItem"}:
        return Passage(element.category, text)
    if heading := _HEADING.match(style):
        return Passage("Title", text, depth=int(heading.group(1)))
    if style == "Title":
        return Passage("Title", text, depth=0)
    return Passage("Title", text) if element.category == "Title" else prose(text)
