"""HTML, and what becomes HTML (Markdown, EPUB chapters, mail bodies): through unstructured's partition_html.

Three things are prepared on the tree before, because partition_html loses them: tables (it drops spans) are cut out,
read here and put back by a placeholder; blocks it removes or passes over (figures, forms, details, all outside `main`)
become plain blocks; a dash that begins a paragraph (it takes `– 3` for a bullet and keeps `3`) and a paragraph of one
character (it drops `7`) are shielded. Numbers of ordered lists, which it leaves out, are written into the items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree, html  # type: ignore[import-untyped]  # ships no types

from ingest.formulas import formula_text
from ingest.grids import MAX_CELLS, GridCell, table_passage
from ingest.hidden_styles import hiding_selectors, is_hidden_by
from ingest.list_numbers import write_list_numbers
from ingest.passages import Passage, prose, raised
from kb_qa.errors import LimitExceededError

# Marks of ours inside the prepared markup; a document's own are removed first.
_SHIELD, _CAPTION, _TABLE, _TABLE_END = "\ue000", "\ue001", "\ue002", "\ue003"
_MARKS = re.compile("[\ue000-\ue003]")
_UNSEEN = re.compile("[\ue000-\ue003\xad]|&shy;|&#173;")  # marks and soft hyphens
_PLACEHOLDER = re.compile(f"{_TABLE}(\\d+){_TABLE_END}")

_NEVER_TEXT = (
    "script style noscript template iframe object svg video audio canvas select textarea datalist button rp rt"
)
_RENAMED = {
    "main": "div",
    "details": "div",
    "summary": "p",
    "figure": "div",
    "form": "div",
    "fieldset": "div",
    "legend": "p",
    "dialog": "div",
    "label": "span",
    "menu": "ul",
    "dt": "p",
    "ins": "span",
}
_SHIELDED = re.compile(r"^(\s*)(?=[^\w\s\ue000-\ue003]|\S\s*$)")
_TABLE_PARTS = ("tbody", "thead", "tfoot", "tr", "td", "th", "caption")
_MAX_SPAN = 1000  # browsers' own bound for columns
_MAX_DEPTH = 120

_CATEGORIES = {"Title", "NarrativeText", "ListItem", "CodeSnippet", "Image", "Formula", "FigureCaption"}


def declared_encoding(data: bytes) -> str:
    """The encoding an HTML or XML file names in its first bytes; "" for none. GB2312 is read as what contains it."""
    found = re.search(rb"<meta[^>]+charset=[\"']?\s*([\w-]+)|^\s*<\?xml[^>]*encoding=[\"']([\w-]+)", data[:4096], re.I)
    name = (found.group(1) or found.group(2)).decode("ascii").lower() if found else ""
    return "gb18030" if name in {"gb2312", "gbk"} else name


def html_passages(text: str) -> tuple[list[Passage], str, tuple[str, ...]]:
    """Passages, the document's title and flags."""
    root = _tree(text)
    if root is None:
        return [], "", ()
    title = " ".join((root.findtext(".//title") or "").split())
    flags = ("text hidden by style left out",) if _remove_hidden(root) else ()
    _rename_blocks(root)
    write_list_numbers(root)
    tables = _cut_tables(root)
    _shield(root)
    body = root.find("body")
    prepared = html.tostring(root if body is None else body, encoding="unicode")
    return list(_passages(prepared, tables)), title, flags


def markdown_passages(text: str) -> tuple[list[Passage], str, tuple[str, ...]]:
    """As HTML; front matter is kept as text and gives the title.

    Not by Python-Markdown, as partition_md does: it runs lists that are indented by two or three blanks into one line.
    """
    from markdown_it import MarkdownIt

    front = re.match(r"---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", text, re.DOTALL)
    body = text[front.end() :] if front else text
    passages, title, flags = html_passages(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(body))
    if front and front.group(1).strip():
        passages.insert(0, Passage("CodeSnippet", front.group(1).strip()))
        found = re.search(r"^title:[ \t]*(.+)$", front.group(1), re.MULTILINE)
        title = found.group(1).strip().strip("\"'") if found else title
    return passages, title, flags


def table_cells(table: html.HtmlElement) -> list[GridCell]:
    """The cells of a `<table>` at their rows and columns, as HTML's own algorithm forms them."""
    rows = [row for row in table.iter("tr") if _owner(row) is table]
    taken: set[tuple[int, int]] = set()
    cells: list[GridCell] = []
    for row_index, row in enumerate(rows):
        column = 0
        in_head = row.getparent() is not None and row.getparent().tag == "thead"
        for cell in row.iterchildren("td", "th"):
            while (row_index, column) in taken:
                column += 1
            height = min(_span(cell, "rowspan") or len(rows), len(rows) - row_index)
            width = _span(cell, "colspan") or 1
            if len(taken) + height * width > MAX_CELLS:
                raise LimitExceededError(f"a table has more than {MAX_CELLS:,} cells; split the file")
            taken.update((row_index + down, column + right) for down in range(height) for right in range(width))
            header = True if in_head or cell.tag == "th" else None
            cells.append(GridCell(row_index, column, cell_text(cell), height, width, header))
            column += width
    return cells


def cell_text(cell: html.HtmlElement) -> str:
    """The text of a cell; line and block breaks are spaces, raised digits stay apart from what they follow."""
    parts: list[str] = []
    for event, node in etree.iterwalk(cell, events=("start", "end")):
        if event == "start":
            parts.append(" " if node.tag in _BREAKING and node is not cell else "")
            parts.append(node.text or "")
        else:
            parts.append(" " if node.tag in _BREAKING and node is not cell else "")
            parts.append((node.tail or "") if node is not cell else "")
    return _MARKS.sub("", re.sub(r"[ \t\r\n\f]+", " ", "".join(parts))).strip()


_BREAKING = frozenset({"br", "p", "div", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "tr", "td", "th"})


def _tree(text: str) -> html.HtmlElement | None:
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True)
    data = _UNSEEN.sub("", text).encode("utf-8", "replace")
    if not data.strip():
        return None
    try:
        root = html.document_fromstring(data, parser=parser)
    except etree.ParserError:  # nothing but comments
        return None
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):  # the rest of the page is left out
        raise LimitExceededError("the page nests its elements more than 2,000 deep; save it as text or PDF")
    return _flattened(root)


def _flattened(root: html.HtmlElement) -> html.HtmlElement:
    """The tree without nesting past what recursive readers bear."""
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        if depth >= _MAX_DEPTH and len(node):
            text = " ".join(" ".join(node.itertext()).split())
            for child in list(node):
                node.remove(child)
            node.text = text
        pending.extend((child, depth + 1) for child in node)
    return root


def _remove_hidden(root: html.HtmlElement) -> bool:
    """Removes what never is text and what a style hides; whether anything with text was hidden."""
    selectors = hiding_selectors("\n".join(node.text or "" for node in root.iter("style")))
    hidden = [node for node in root.iter(etree.Element) if is_hidden_by(node, selectors)]
    found = any(text.strip() for node in hidden for text in node.itertext())
    removed = hidden + list(root.iter(*_NEVER_TEXT.split(), "del", "s", "head"))
    for node in removed:
        if node is not root and node.getparent() is not None:
            node.drop_tree()
    return found


def _rename_blocks(root: html.HtmlElement) -> None:
    for formula in list(root.iter("math", "{*}math")):
        written = html.Element("span")
        written.text, written.tail = formula_text(formula), formula.tail
        formula.getparent().replace(formula, written)
    for node in root.iter(*_RENAMED):
        node.tag = _RENAMED[node.tag]
    for node in root.iter("figcaption"):
        node.tag = "p"
        node.text = _CAPTION + (node.text or "")
    for node in list(root.iter("sup")):
        _keep_apart(node)


def _keep_apart(node: html.HtmlElement) -> None:
    previous = node.getprevious()
    before = (previous.tail if previous is not None else node.getparent().text) or ""
    text = "".join(node.itertext()).strip()
    if (apart := raised(before, text)) != text:
        for child in list(node):
            node.remove(child)
        node.text = apart


def _cut_tables(root: html.HtmlElement) -> list[Passage]:
    """Replaces each data table by a placeholder paragraph. Tables that only lay out other things become blocks."""
    passages: list[Passage] = []
    for table in list(root.iter("table")):
        if _is_layout(table):
            own = [node for node in table.iter(*_TABLE_PARTS) if _owner(node) is table]
            for node in [table, *own]:
                node.tag = "div"
    _lift_tables(root)
    for table in list(root.iter("table")):
        caption = " ".join(" ".join(table.xpath("./caption//text()")).split())
        passage = table_passage(table_cells(table), caption=caption)
        holder = html.Element("div")
        holder.tail = table.tail
        if caption:
            holder.append(_paragraph(_CAPTION + caption))
        if passage is not None:
            holder.append(_paragraph(f"{_TABLE}{len(passages)}{_TABLE_END}"))
            passages.append(passage)
        table.getparent().replace(table, holder)
    return passages


def _lift_tables(root: html.HtmlElement) -> None:
    """Puts a table that stands in a cell of a data table behind the outermost one, under the label of its row."""
    for table in reversed([table for table in root.iter("table") if _owner(table) is not None]):
        outer = list(table.iterancestors("table"))[-1]
        row = next(table.iterancestors("tr"), None)
        label = cell_text(row[0]) if row is not None and len(row) and table not in row[0].iter() else ""
        holder = html.Element("div")
        if label:
            holder.append(_paragraph(_CAPTION + label))
        table.getparent().remove(table)
        holder.append(table)
        outer.addnext(holder)


def _paragraph(text: str) -> html.HtmlElement:
    node = html.Element("p")
    node.text = text
    return node


def _is_layout(table: html.HtmlElement) -> bool:
    if table.get("role") in {"presentation", "none"}:
        return True
    if table.find(".//table") is not None and not any(_owner(head) is table for head in table.iter("th", "caption")):
        return True
    return len(table.findall(".//td")) + len(table.findall(".//th")) <= 1


def _owner(node: html.HtmlElement) -> html.HtmlElement | None:
    return next(node.iterancestors("table"), None)


def _span(cell: html.HtmlElement, name: str) -> int:
    text = (cell.get(name) or "1").strip()
    return min(int(text), _MAX_SPAN) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def _shield(root: html.HtmlElement) -> None:
    """Puts a mark before a text that begins with a sign or is one character: neither is dropped then."""
    for node in root.iter(etree.Element):
        if node.text:
            node.text = _SHIELDED.sub(rf"\1{_SHIELD}", node.text)
        if node.tail:
            node.tail = _SHIELDED.sub(rf"\1{_SHIELD}", node.tail)


def _passages(prepared: str, tables: list[Passage]) -> Iterator[Passage]:
    from unstructured.partition.html import partition_html

    # languages=[""]: no language is guessed per file, nothing of ours reads it.
    for element in partition_html(text=prepared, languages=[""]):
        pieces = _PLACEHOLDER.split(element.text or "")
        for index, piece in enumerate(pieces):
            if index % 2:
                yield tables[int(piece)]
            elif piece.strip(" \n\t" + _SHIELD):
                yield _passage(element.category, piece, element.metadata.category_depth)


def _passage(category: str, text: str, depth: int | None) -> Passage:
    caption = _CAPTION in text
    text = _MARKS.sub("", text).strip("\n") if category == "CodeSnippet" else _MARKS.sub("", text).strip()
    if caption:
        return Passage("FigureCaption", text)
    if category == "Title":
        return Passage("Title", text, depth=depth or 0)
    if category in {"NarrativeText", "UncategorizedText"} or category not in _CATEGORIES:
        return prose(text)
    return Passage(category, text)
