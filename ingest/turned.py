"""Turns boxes, lines and drafts with their page, by quarter turns: a scan that lies on its side is read upright."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ingest.drafts import Draft, DraftTable
from ingest.page_text import Direction, PrintedLine
from kb_qa.elements import ScaleSource
from kb_qa.geometry import BBox, Region

CLOCKWISE: tuple[Direction, ...] = ("right", "down", "left", "up")


@dataclass(frozen=True, slots=True)
class Turn:
    """A clockwise turn by 0, 90, 180 or 270 degrees of a page of `width` × `height` points."""

    degrees: int
    width: float
    height: float

    @property
    def back(self) -> Turn:
        """The turn that undoes this one, from the page as it lies afterwards."""
        sideways = self.degrees % 180 != 0
        width, height = (self.height, self.width) if sideways else (self.width, self.height)
        return Turn(-self.degrees % 360, width, height)

    def box(self, box: BBox) -> BBox:
        if self.degrees == 90:
            return BBox(self.height - box.y1, box.x0, self.height - box.y0, box.x1)
        if self.degrees == 180:
            return BBox(self.width - box.x1, self.height - box.y1, self.width - box.x0, self.height - box.y0)
        if self.degrees == 270:
            return BBox(box.y0, self.width - box.x1, box.y1, self.width - box.x0)
        return box

    def line(self, line: PrintedLine) -> PrintedLine:
        words = tuple(replace(word, bbox=self.box(word.bbox)) for word in line.words)
        direction = line.direction
        if direction != "oblique":
            direction = CLOCKWISE[(CLOCKWISE.index(direction) + self.degrees // 90) % 4]
        return replace(line, words=words, bbox=self.box(line.bbox), direction=direction)

    def draft(self, draft: Draft) -> Draft:
        if self.degrees == 0:
            return draft
        return replace(
            draft,
            bbox=self.box(draft.bbox),
            lines=tuple(self.line(line) for line in draft.lines),
            caption=tuple(self.line(line) for line in draft.caption),
            table=None if draft.table is None else self._table(draft.table),
        )

    def _table(self, table: DraftTable) -> DraftTable:
        cells = tuple(
            replace(cell, bbox=self.box(cell.bbox), lines=tuple(self.line(line) for line in cell.lines))
            for cell in table.cells
        )
        return replace(
            table,
            cells=cells,
            bbox=self.box(table.bbox),
            caption=tuple(self.line(line) for line in table.caption),
            notes=tuple(replace(note, lines=tuple(self.line(line) for line in note.lines)) for note in table.notes),
            stated=tuple(replace(measure, source=self._source(measure.source)) for measure in table.stated),
        )

    def _source(self, source: ScaleSource) -> ScaleSource:
        if source.region is None or source.region.bbox is None:
            return source
        return replace(source, region=Region(source.region.page, self.box(source.region.bbox)))
