"""Turns boxes, lines and drafts with their page: a scan that lies on its side, or askew, is read upright."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ingest.drafts import Draft, DraftTable
from ingest.printed import Direction, PrintedLine, PrintedWord
from kb_qa.elements import ScaleSource
from kb_qa.geometry import BBox, Region, union_of

CLOCKWISE: tuple[Direction, ...] = ("right", "down", "left", "up")


@dataclass(frozen=True, slots=True)
class Turn:
    """A clockwise turn by `degrees` of a page of `width` × `height` points, about its middle.

    By a right angle for a page that was scanned on its side, by any angle for one that was laid askew. The turned page
    is as large as it must be to hold all of the old one; `onto` gives its size where that is another.
    """

    degrees: float
    width: float
    height: float
    onto: tuple[float, float] | None = None

    @property
    def frame(self) -> tuple[float, float]:
        """Width and height of the page as it lies afterwards."""
        if self.onto is not None:
            return self.onto
        if self._is_right:
            return (self.height, self.width) if self.degrees % 180 else (self.width, self.height)
        sine, cosine = abs(math.sin(math.radians(self.degrees))), abs(math.cos(math.radians(self.degrees)))
        return self.width * cosine + self.height * sine, self.width * sine + self.height * cosine

    @property
    def back(self) -> Turn:
        """The turn that undoes this one, from the page as it lies afterwards."""
        return Turn(-self.degrees % 360, *self.frame, onto=(self.width, self.height))

    @property
    def _is_right(self) -> bool:
        return self.degrees % 90 == 0

    def point(self, x: float, y: float) -> tuple[float, float]:
        width, height = self.frame
        if self._is_right:  # without the rounding of sines
            quarters = round(self.degrees / 90) % 4
            return ((x, y), (width - y, x), (width - x, height - y), (y, height - x))[quarters]
        angle = math.radians(self.degrees)
        across, down = x - self.width / 2, y - self.height / 2
        return (
            width / 2 + across * math.cos(angle) - down * math.sin(angle),
            height / 2 + across * math.sin(angle) + down * math.cos(angle),
        )

    def box(self, box: BBox) -> BBox:
        """The box around the turned box."""
        corners = [self.point(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]
        xs, ys = zip(*corners, strict=True)
        return BBox(min(xs), min(ys), max(xs), max(ys))

    def line(self, line: PrintedLine) -> PrintedLine:
        words = tuple(replace(word, bbox=self._word_box(word)) for word in line.words)
        direction = line.direction
        if direction != "oblique":
            direction = CLOCKWISE[(CLOCKWISE.index(direction) + round(self.degrees / 90)) % 4]
        return replace(
            line, words=words, bbox=union_of(word.bbox for word in words) or self.box(line.bbox), direction=direction
        )

    def _word_box(self, word: PrintedWord) -> BBox:
        """Around what OCR read askew. A text layer is level on the displayed page, and has to come back as it was."""
        if self._is_right or word.confidence is not None:
            return self.box(word.bbox)
        box = word.bbox
        x, y = self.point(*box.center)
        return BBox(x - box.width / 2, y - box.height / 2, x + box.width / 2, y + box.height / 2)

    def draft(self, draft: Draft) -> Draft:
        if self.degrees == 0:
            return draft
        lines, caption = tuple(map(self.line, draft.lines)), tuple(map(self.line, draft.caption))
        around = None if self._is_right or draft.element_type != "text" else union_of(line.bbox for line in lines)
        return replace(
            draft,
            bbox=around or self.box(draft.bbox),
            lines=lines,
            caption=caption,
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
