"""Tables that go on over the end of a page become one draft, with the rows of all their pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.drafts import Continuation, Draft, DraftCell, DraftTable, PageDraft
from ingest.layout import PAGE_NUMBER
from ingest.table_captions import NUMBERED
from ingest.table_headers import extent, in_blocks
from kb_qa.elements import FURNITURE

CONTINUED = re.compile(r"continued|cont['’]?d\b|\(cont\.?\)|续|續", re.IGNORECASE)
ALIGNED = 0.5  # share of the narrower column that lies over its counterpart
LONGEST_FURNITURE = 200


def with_joined_tables(pages: Sequence[PageDraft]) -> list[PageDraft]:
    """The pages, each table whose rows go on at the top of the next page taking up those rows.

    A table goes on where nothing stands between its parts but furniture, their columns lie over one another, and the
    later part says the header again or has none of its own.
    """
    drafts = [list(page.drafts) for page in pages]
    for number in range(len(pages) - 1):
        if not drafts[number] or not drafts[number + 1]:
            continue
        last, first = _last_body(drafts, number), _first_body(drafts, number + 1)
        if last is None or first is None:
            continue
        owner, place = _owner(drafts, pages, number, last)
        following = drafts[number + 1][first]
        joined = _joined(drafts[owner][place], following, pages[number + 1].page.number)
        if joined is not None:
            drafts[owner][place] = joined
            drafts[number + 1][first] = _moved(following)
    return [
        replace(page, drafts=tuple(draft for draft in members if not _is_moved(draft)))
        for page, members in zip(pages, drafts, strict=True)
    ]


def _moved(draft: Draft) -> Draft:
    """What stands in for a part that an earlier page took up, until all pages are joined: a table without cells."""
    table = draft.table
    return replace(draft, table=None if table is None else replace(table, cells=()))


def _is_moved(draft: Draft) -> bool:
    return draft.table is not None and not draft.table.cells


def _owner(drafts: Sequence[Sequence[Draft]], pages: Sequence[PageDraft], number: int, place: int) -> tuple[int, int]:
    """Where the draft is that took up the one at `place` of page `number`: itself, or one on an earlier page."""
    if not _is_moved(drafts[number][place]):
        return number, place
    page = pages[number].page.number
    for earlier in reversed(range(number)):
        for index, draft in enumerate(drafts[earlier]):
            if draft.table is not None and any(later == page for _, later in draft.table.page_starts):
                return earlier, index
    return number, place


def _last_body(drafts: Sequence[Sequence[Draft]], number: int) -> int | None:
    """The place of the table that the page ends with; None where it ends with something else."""
    for index in reversed(range(len(drafts[number]))):
        draft = drafts[number][index]
        if draft.table is not None:
            return index
        if not _stands_between(draft, drafts[number + 1]):
            return None
    return None


def _first_body(drafts: Sequence[Sequence[Draft]], number: int) -> int | None:
    for index, draft in enumerate(drafts[number]):
        if draft.table is not None:
            return index
        if not _stands_between(draft, drafts[number - 1]) and not CONTINUED.search(draft.text[:LONGEST_FURNITURE]):
            return None
    return None


def _stands_between(draft: Draft, beyond: Sequence[Draft]) -> bool:
    """Furniture, a footnote or hidden text; also what the page beyond the break says again at the same height."""
    if draft.hidden or draft.category in FURNITURE or draft.category == "Footnote":
        return True
    if draft.element_type != "text" or len(draft.text) > LONGEST_FURNITURE:
        return False
    if PAGE_NUMBER.match(draft.text):
        return True
    return any(
        other.element_type == "text"
        and _masked(other.text) == _masked(draft.text)
        and abs(other.bbox.y0 - draft.bbox.y0) <= draft.bbox.height
        for other in beyond
    )


def _masked(text: str) -> str:
    return re.sub(r"[\d\s]+", "", text).casefold()


def _joined(before: Draft, after: Draft, page: int) -> Draft | None:
    """`before` with the rows of `after`, which stands on `page`; None where that is another table."""
    first, second = before.table, after.table
    if first is None or second is None or before.origin != after.origin or not _is_level(first, second):
        return None
    columns = _counterparts(first, second)
    if columns is None or not _same_caption(first.caption_text, second.caption_text):
        return None
    headers = _headers_of_rest(first, second, columns)
    if headers is None:
        return None
    shift, _ = extent(first.cells)
    cells = tuple(
        replace(
            cell,
            row=cell.row + shift,
            column=columns[cell.column],
            column_span=columns[cell.column + cell.column_span - 1] - columns[cell.column] + 1,
        )
        for cell in second.cells
    )
    table = replace(
        first,
        cells=(*first.cells, *cells),
        headers=(*first.headers, *((start + shift, stop + shift) for start, stop in headers)),
        page_starts=(*first.page_starts, (shift, page)),
        notes=(*first.notes, *second.notes),
        stated=first.stated or second.stated,
        confidence=min((each for each in (first.confidence, second.confidence) if each is not None), default=None),
    )
    rest = Continuation(page, replace(after, table=None, lines=after.printed))
    return _with_rest(replace(before, table=table), rest)


def _with_rest(draft: Draft, rest: Continuation) -> Draft:
    following = draft.continuation
    if following is None:
        return replace(draft, continuation=rest)
    return replace(draft, continuation=replace(following, draft=_with_rest(following.draft, rest)))


def _is_level(*tables: DraftTable) -> bool:
    return all(line.direction == "right" for table in tables for cell in table.cells for line in cell.lines)


def _counterparts(first: DraftTable, second: DraftTable) -> list[int] | None:
    """For each column of the second table the column of the first that it continues; None where they do not fit."""
    above, below = _column_boxes(first.cells), _column_boxes(second.cells)
    if len(below) < 2 or len(below) > len(above) or len(below) < extent(second.cells)[1]:
        return None
    found: list[int] = []
    for column in sorted(below):
        x0, x1 = below[column]
        shared = {other: min(x1, right) - max(x0, left) for other, (left, right) in above.items()}
        best = max(shared, key=lambda other: shared[other])
        left, right = above[best]
        if shared[best] < ALIGNED * min(x1 - x0, right - left) or (found and best <= found[-1]):
            return None
        found.append(best)
    return found


def _column_boxes(cells: Sequence[DraftCell]) -> dict[int, tuple[float, float]]:
    """Left and right edge of each column, by the cells that stand in it alone."""
    boxes: dict[int, tuple[float, float]] = {}
    for cell in cells:
        if cell.column_span == 1:
            x0, x1 = boxes.get(cell.column, (cell.bbox.x0, cell.bbox.x1))
            boxes[cell.column] = (min(x0, cell.bbox.x0), max(x1, cell.bbox.x1))
    return boxes


def _same_caption(first: str, second: str) -> bool:
    """Whether the second caption may stand over a later part of the first table: the same number, or none at all."""
    number = NUMBERED.match(second)
    if number is None:
        return True
    own = NUMBERED.match(first)
    return own is not None and _masked_number(own.group()) == _masked_number(number.group())


def _masked_number(text: str) -> str:
    return re.sub(r"[\s.]+", "", text).casefold()


def _headers_of_rest(
    first: DraftTable, second: DraftTable, columns: Sequence[int]
) -> tuple[tuple[int, int], ...] | None:
    """The header rows of the second part: those that say the first's again. None where it has others of its own."""
    top = first.headers[0] if first.headers and first.headers[0][0] == 0 else (0, 0)
    repeated = 0
    while repeated < top[1] and _row_texts(second, repeated, columns) == _row_texts(first, repeated):
        repeated += 1
    later = tuple(block for block in second.headers if block[0] >= max(repeated, 1))
    if repeated:
        return ((0, repeated), *later)
    if not any(block[0] == 0 for block in second.headers):
        return second.headers
    # A first row taken for a header for want of one: it is none where real headers are set bold and it is not.
    return later if _is_bold(first, top) and not _is_bold(second, second.headers[0]) else None


def _row_texts(table: DraftTable, row: int, columns: Sequence[int] = ()) -> list[tuple[int, str]]:
    return sorted(
        (columns[cell.column] if columns else cell.column, "".join(cell.text.split()))
        for cell in table.cells
        if cell.row == row and cell.text
    )


def _is_bold(table: DraftTable, block: tuple[int, int]) -> bool:
    words = [
        word for cell in table.cells if in_blocks(cell.row, (block,)) for line in cell.lines for word in line.words
    ]
    return bool(words) and all(word.bold for word in words)
