"""Groups of rows under a heading of their own, such as `Assets:` over indented rows, one in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingest.drafts import DraftCell
from ingest.table_headers import Slots, in_blocks, is_value
from ingest.table_periods import is_period

INDENTED = 0.35  # of the type size: a label that begins as far to the right of another is set in


@dataclass(slots=True)
class _Group:
    """An open group: its heading, where and how that is printed, and whether its rows are set in under it.

    A group `is_parted` where a heading right below its own is of the other kind: that, and its siblings, are in it.
    """

    text: str
    indent: float
    style: tuple[bool, bool]
    is_period: bool
    set_in: bool | None = None  # None until its first row
    is_parted: bool = False


def row_groups(
    slots: Slots, size: tuple[int, int], blocks: Sequence[tuple[int, int]], texts: Mapping[tuple[int, int], str]
) -> dict[int, tuple[str, ...]]:
    """For each body row the headings of its groups, outermost first.

    A heading is a row in which only the first cell has text. Where the rows below it are set in, the group ends with
    the first that is not; where they are not, it goes on to the next heading of its kind. A heading that says nothing
    but a period is of another kind than one that says something else.
    """
    rows, columns = size
    groups: dict[int, tuple[str, ...]] = {}
    opened: list[_Group] = []
    after_heading = False
    for row in range(rows):
        if in_blocks(row, blocks):
            opened, after_heading = ([] if row and not in_blocks(row - 1, blocks) else opened), False
            continue
        heading = _heading(slots, row, columns, texts)
        if heading is None:
            _close(opened, slots.get((row, 0)))
            after_heading = False
        else:
            _close_for(opened, heading, after_heading=after_heading)
        if opened:
            groups[row] = tuple(group.text for group in opened)
        if heading is not None:
            opened.append(heading)
            after_heading = True
    return groups


def _heading(slots: Slots, row: int, columns: int, texts: Mapping[tuple[int, int], str]) -> _Group | None:
    anchored = {(cell.row, cell.column) for cell in (slots.get((row, column)) for column in range(columns)) if cell}
    filled = [place for place in sorted(anchored) if texts[place]]
    if len(filled) != 1 or filled[0] != (row, 0) or is_value(texts[filled[0]]):
        return None
    cell = slots[row, 0]
    words = [word for line in cell.lines for word in line.words]
    style = (all(word.bold for word in words), texts[filled[0]].isupper())
    return _Group(texts[filled[0]], _indent(cell), style, is_period(texts[filled[0]]))


def _indent(cell: DraftCell) -> float:
    """Where the label begins, in type sizes: labels of all sizes can be compared with the same measure."""
    return min((line.bbox.x0 / line.size for line in cell.lines), default=0.0) if cell.lines else 0.0


def _close(opened: list[_Group], label: DraftCell | None) -> None:
    """Ends the groups that a row of figures is not in, by where its label begins."""
    if label is None or not label.lines:
        return
    indent = _indent(label)
    while opened and opened[-1].set_in and indent < opened[-1].indent + INDENTED:
        opened.pop()
    if opened and opened[-1].set_in is None:
        for group in opened:
            if group.set_in is None:
                group.set_in = indent >= group.indent + INDENTED


def _close_for(opened: list[_Group], heading: _Group, *, after_heading: bool) -> None:
    """Ends the groups that a new heading is not in: those of its kind, and those set in as far or farther."""
    if after_heading and opened and opened[-1].is_period != heading.is_period:
        _part(opened[-1], heading)
    alike = [place for place, group in enumerate(opened) if _is_alike(heading, group, after_heading=after_heading)]
    if alike:
        del opened[alike[0] :]
        return
    while opened and not after_heading and not _is_inside(heading, opened[-1]):
        opened.pop()


def _part(group: _Group, heading: _Group) -> None:
    """Takes the heading, right below the group's, as the first of its parts; those of a period may hold totals."""
    group.is_parted = True
    if group.is_period and not _is_set_in(heading, group):
        group.set_in = False


def _is_alike(heading: _Group, group: _Group, *, after_heading: bool) -> bool:
    """Whether the heading is of the kind of the group's; after rows, a period ends a parted one however it is set."""
    if abs(group.indent - heading.indent) >= INDENTED or (group.is_parted and group.is_period != heading.is_period):
        return False
    return group.style == heading.style or (group.is_parted and heading.is_period and not after_heading)


def _is_inside(heading: _Group, group: _Group) -> bool:
    """Whether the heading heads a part of the group: it is set in under its heading, or as far left but plainer."""
    if _is_set_in(heading, group):
        return True
    level = abs(group.indent - heading.indent) < INDENTED
    return level and (group.style > heading.style or (group.is_parted and group.is_period != heading.is_period))


def _is_set_in(heading: _Group, group: _Group) -> bool:
    return heading.indent >= group.indent + INDENTED
