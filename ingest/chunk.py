"""Elements → chunks: what is embedded and retrieved, made of blocks, the smallest units that can be cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from kb_qa.elements import FURNITURE, Block, Cell, Chunk, Element, Table, content_id
from kb_qa.geometry import Region, merge_regions
from kb_qa.guardrails.units import split_units

# A chunk's weight in Latin letters; a CJK character says about as much as three of them. 900 stays within the 512
# tokens that the default embedder reads, prefix included. `scripts/bench_chunks.py`, tatqa, n = 834, dense hit@1 and
# hit@5 (intervals ± .03): .580 and .830 at 450 with 769 chunks, .567 and .826 at 900 with 452, .559 and .826 at 1300
# with 371; as many letters are embedded at each. Rows with their headers and unit again and again: .530 and .788, with
# 29 % more letters; without what leads to a table and its groups .550 and .814; without prefix .486 and .746.
TARGET_WEIGHT = 900
CJK_WEIGHT = 3
# How far from a table, in elements, its caption, unit line or notes may stand.
CAPTION_REACH = 3

MOST_LEAD = 300  # weight of the sentence that leads to a table
_WORD = re.compile(r"[^\W\d_]{2}")
_LEADS = re.compile(r"(?i)[:：]\W*$|\b(?:follow(?:s|ing)|below|table|as follows)\b|下表|如下|以下|下列|下图|见表")

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the chunks of one version come from; `pipeline` is the version of the code that parsed them."""

    document_id: str
    version: int
    source: str
    pipeline: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block, and for a table's row the labels it stands under and does not print."""

    block: Block
    above: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    """Blocks that may share a chunk, and the element that stands for them."""

    head: Element
    prefix: str
    blocks: tuple[Block, ...]
    confidence: float | None
    context: str = ""


def chunk(elements: Sequence[Element], origin: Origin, *, target: int = TARGET_WEIGHT) -> tuple[Chunk, ...]:
    """Chunks in reading order. Running headers, footers and hidden text are left out.

    What a model wrote of a picture stands in chunks of its own, behind the one that holds the picture.
    """
    content = [element for element in elements if _is_content(element)]
    printed = [element for element in content if element.origin != "caption"]
    runs = [*_runs(printed)]
    starts = accumulate((run[0].order for run in runs), max)
    leads = [_lead(run, before) for run, before in zip(runs, [[], *runs], strict=False)]
    placed = [
        (start, 0, group)
        for start, run, lead in zip(starts, runs, leads, strict=True)
        for group in _cut(run, target, lead)
    ]
    for element in content:
        if element.origin == "caption":
            placed += [(element.order, 1, group) for group in _described(element, printed, target)]
    placed.sort(key=lambda each: each[:2])
    return tuple(_chunk(group, ordinal, origin) for ordinal, (_, _, group) in enumerate(placed))


def weight(text: str) -> int:
    return len(text) + (CJK_WEIGHT - 1) * len(_CJK.findall(text))


def _is_content(element: Element) -> bool:
    return element.category not in FURNITURE and not element.hidden and bool(element.text.strip())


def _runs(elements: Sequence[Element]) -> Iterator[Sequence[Element]]:
    """Consecutive text of one section together; a table or a picture with the lines beside it that are its own."""
    owners = _owners(elements)
    own: dict[int, list[int]] = {}
    for line, owner in owners.items():
        own.setdefault(owner, []).append(line)
    run: list[Element] = []
    before: Element | None = None
    for position, element in enumerate(elements):
        if position in owners:
            continue
        if before is not None and not _same_run(before, element):
            yield run
            run = []
        run += [elements[line] for line in sorted([*own.get(position, ()), position])]
        before = element  # not its notes, which can stand behind it: text after a table begins anew
    if run:
        yield run


def _owners(elements: Sequence[Element]) -> dict[int, int]:
    """Positions of caption, unit and notes lines, each with that of the nearest table or picture it belongs to."""
    owners: dict[int, int] = {}
    for position, element in enumerate(elements):
        if element.element_type == "text":
            continue
        own, notes = _own_lines(element), () if element.table is None else element.table.note_regions
        reach = CAPTION_REACH + len(notes)
        for line in range(max(position - reach, 0), min(position + reach + 1, len(elements))):
            beside = elements[line]
            if beside.element_type != "text":
                continue
            if not (beside.text in own or _is_caption(beside, element) or _is_note(beside, notes)):
                continue
            if line not in owners or abs(line - position) < abs(line - owners[line]):
                owners[line] = position
    return owners


def _own_lines(element: Element) -> frozenset[str]:
    if element.table is None:
        return frozenset()
    source = element.table.scale_source.text if element.table.scale_source is not None else ""
    return frozenset({element.table.caption, source, *element.table.notes} - {""})


def _is_note(beside: Element, notes: Sequence[Region]) -> bool:
    """Whether the element holds one of the notes: an element can hold several."""
    return any(
        note.page == region.page
        and note.bbox is not None
        and region.bbox is not None
        and note.bbox.overlap(region.bbox.expanded(1)) > 0.9
        for region in beside.regions
        for note in notes
    )


def _is_caption(beside: Element, owner: Element) -> bool:
    """A picture's caption, or the bracketed line above a table that says what its figures are."""
    if owner.element_type == "image":
        return beside.category == "FigureCaption" and abs(beside.order - owner.order) == 1
    bracketed = beside.text[:1] in "(（" and beside.text[-1:] in ")）"
    return bracketed and owner.order - beside.order == 1


def _same_run(before: Element, element: Element) -> bool:
    """Headings that follow one another open one run; any text goes on in it while the section stays or deepens."""
    if before.element_type != "text" or element.element_type != "text" or before.origin != element.origin:
        return False
    if element.category == "Title":
        return before.category == "Title" and element.section[: len(before.section)] == before.section
    return element.section == before.section or before.category == "Title"


def _lead(run: Sequence[Element], before: Sequence[Element]) -> str:
    """What the text before a table says of it: its last sentence, where that leads to what follows."""
    table = next((element for element in run if element.table is not None), None)
    if table is None or not before or before[-1].element_type != "text" or before[-1].category == "Title":
        return ""
    text = before[-1].text
    start, end = split_units(text)[-1]
    said = text[start:end].strip()
    return said if _LEADS.search(said) and weight(said) <= MOST_LEAD else ""


def _cut(run: Sequence[Element], target: int, lead: str = "") -> Iterator[_Group]:
    """Groups of at most the target weight, unless one block outweighs it."""
    text = (element for element in run if element.category != "Title")
    head = next((element for element in run if element.element_type != "text"), next(text, run[0]))
    confidences = [element.confidence for element in run if element.confidence is not None]
    confidence = min(confidences) if confidences else None
    prefix = _prefix(head)
    pieces: list[_Piece] = []
    total = 0

    def group() -> _Group:
        """A table's rows below a cut say what the rows above it said."""
        first = next((piece.above for piece in pieces if piece.block.labelled != piece.block.text), ())
        return _Group(
            head=head,
            prefix=prefix,
            blocks=tuple(piece.block for piece in pieces),
            confidence=confidence,
            context="\n".join(line for line in (lead, " / ".join(first)) if line),
        )

    for piece in (piece for element in run for piece in _pieces(element)):
        size = weight(piece.block.text)
        if pieces and total + size > target:
            yield group()
            pieces, total, lead = [], 0, ""
        pieces.append(piece)
        total += size
    if pieces:
        yield group()


def _described(element: Element, printed: Sequence[Element], target: int) -> Iterator[_Group]:
    """A model's words, to be found by the caption that is printed beside the picture as well."""
    titles = [beside.text for beside in printed if beside.element_type == "text" and _is_caption(beside, element)]
    for group in _cut([element], target):
        lines = dict.fromkeys(line for line in (group.prefix, *titles) if line)
        yield replace(group, prefix="\n".join(lines))


def _chunk(group: _Group, ordinal: int, origin: Origin) -> Chunk:
    regions = merge_regions(region for block in group.blocks for region in block.regions)
    page = regions[0].page if regions else ""
    return Chunk(
        id=content_id(origin.document_id, origin.pipeline, page, ordinal),
        document_id=origin.document_id,
        version=origin.version,
        source=origin.source,
        ordinal=ordinal,
        blocks=group.blocks,
        element_type=group.head.element_type,
        category=group.head.category,
        section=group.head.section,
        prefix=group.prefix,
        origin=group.head.origin,
        confidence=group.confidence,
        described_by=group.head.described_by,
        context=group.context,
    )


def _prefix(element: Element) -> str:
    """What gives the blocks their meaning: section path, a table's caption, unit and header."""
    lines = [" > ".join(element.section)]
    if element.table is not None:
        lines.append(element.table.caption)
        lines += _scale_line(element.table)
        lines.append(" | ".join(_header_names(element.table)))
    return "\n".join(dict.fromkeys(line for line in lines if line))


def _header_names(table: Table) -> Iterator[str]:
    by_column: dict[int, str] = {}
    for cell in table.cells:
        if not cell.header and cell.column_headers:
            by_column.setdefault(cell.column, " / ".join(cell.column_headers))
    return (by_column[column] for column in sorted(by_column))


def _pieces(element: Element) -> Iterator[_Piece]:
    if element.table is not None and element.table.cells:
        yield from _rows(element, element.table)
    else:
        yield from map(_Piece, _blocks(element))


def _blocks(element: Element) -> Iterator[Block]:
    if (
        element.element_type == "image" and element.origin != "caption"
    ):  # its caption, and each of its labels: a number in a chart is cited alone
        for line in re.finditer(r"[^\n]+", element.text):
            yield from _block(element, *line.span())
    elif element.element_type != "table" and element.category not in {"Title", "ListItem", "Formula", "CodeSnippet"}:
        for start, end in split_units(element.text):
            yield from _block(element, start, end)
    else:
        yield from _block(element, 0, len(element.text))


def _block(element: Element, start: int, end: int) -> Iterator[Block]:
    """The block of a range without the white space around it; none for white space alone."""
    text = element.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if text:
        end = start + len(text)
        regions = _regions(element, start, end)
        yield Block(_block_id(element, start, end), element.id, text, start, end, regions, labelled=text)


def _rows(element: Element, table: Table) -> Iterator[_Piece]:
    """One block per row that holds more than headers; where a table is nothing but headers, one per header row."""
    body = [row for row in table.rows if any(not cell.header for cell in row)]
    for row in body or [row for row in table.rows if row]:
        start, end = min(cell.start for cell in row), max(cell.end for cell in row)
        text = element.text[start:end]
        if not text.strip(" |"):
            continue
        places = [Region(cell.page, cell.bbox) for cell in row if cell.page is not None]
        regions = merge_regions(places) or _regions(element, start, end)
        spanning = _spanning(table, row[0].row)
        labelled = " | ".join([*_labelled(table, row, spanning), *_scale_line(table)])
        block = Block(_block_id(element, start, end), element.id, text, start, end, regions, labelled=labelled)
        yield _Piece(block, (*_groups(row, spanning), *(cell.text for cell in spanning)))


def _scale_line(table: Table) -> Iterator[str]:
    """The words that say what the figures are counted in: without them a row says less than it prints."""
    if table.scale_source is not None and table.scale_source.text:
        yield " ".join(table.scale_source.text.split())


def _spanning(table: Table, row: int) -> list[Cell]:
    """Cells of rows above that reach down into `row`: their label belongs to it too."""
    return [cell for cell in table.cells if cell.row < row < cell.row + cell.row_span and cell.text]


def _labelled(table: Table, row: Sequence[Cell], spanning: Sequence[Cell]) -> Iterator[str]:
    """The row's cells behind their headers; the first says which groups of rows it is in too: `Assets / Cash`.

    `Total due` under `Unit price` is no price: a label that stands among figures is said without the header there.
    """
    groups = _groups(row, spanning)
    is_first = True
    for cell in sorted([*row, *spanning], key=lambda cell: cell.column):
        if not cell.text:
            continue
        header = "" if is_first and _is_among_figures(cell, table) else " / ".join(cell.column_headers)
        is_first = False
        text = " / ".join([*groups, cell.text])
        groups = ()
        if header and not cell.header:
            yield f"{header}：{text}"
        else:
            yield text


def _is_among_figures(cell: Cell, table: Table) -> bool:
    """Whether a cell of words stands in a column of figures."""
    column = (each.text for each in table.cells if each.column == cell.column and not each.header and each.text)
    return cell.column > 0 and _WORD.search(cell.text) is not None and any(not _WORD.search(text) for text in column)


def _groups(row: Sequence[Cell], spanning: Sequence[Cell]) -> Sequence[str]:
    """The headings above the row that its cells know and do not print, without the colon that ends them."""
    printed = {cell.text for cell in (*row, *spanning)}
    path = max((cell.row_headers for cell in row if not cell.header), key=len, default=())
    return [text.rstrip(" :：") for text in path if text not in printed]


def _regions(element: Element, start: int, end: int) -> tuple[Region, ...]:
    """The union of the range's words in each region of the element: a paragraph has one in each column it runs through.

    The element's own regions where it has no words there.
    """
    words = [Region(word.page, word.bbox) for word in element.words if word.start < end and word.end > start]
    if len({region.page for region in element.regions}) == len(element.regions):
        return merge_regions(words) or element.regions
    parts = (merge_regions(word for word in words if _is_within(word, region)) for region in element.regions)
    return tuple(region for part in parts for region in part) or merge_regions(words) or element.regions


def _is_within(word: Region, region: Region) -> bool:
    if word.page != region.page or word.bbox is None or region.bbox is None:
        return False
    return region.bbox.contains_point(*word.bbox.center)


def _block_id(element: Element, start: int, end: int) -> str:
    return content_id(element.id, start, end)
