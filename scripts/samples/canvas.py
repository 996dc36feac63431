"""A PDF being drawn, and the list of what was drawn where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pymupdf

from kb_qa.geometry import BBox
from samples.typesetting import Colour, Line, Style, broken, font, quote_parts, text_width

Align = Literal["left", "center", "right"]
Golden = dict[str, Any]

FURNITURE = frozenset({"header", "footer"})
DATE = "D:20250401090000Z"


@dataclass(frozen=True, slots=True)
class Entry:
    """A table cell to draw; plain strings stand for cells without spans."""

    text: str
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True, slots=True)
class TableLook:
    """Column widths and alignments, and which rules are drawn: around every cell, between rows, or none."""

    widths: Sequence[float]
    aligns: Sequence[Align]
    body: Style
    head: Style
    row_height: float = 24.0
    rules: Literal["grid", "rows", "none"] = "grid"
    rule_colour: Colour = (0.6, 0.65, 0.68)
    head_fill: Colour | None = None
    head_rows: int = 1
    strong_rows: frozenset[int] = frozenset()
    padding: float = 8.0


@dataclass
class Canvas:
    """Coordinates: points, origin top-left of the displayed page. `y` of text is its baseline."""

    name: str
    width: float
    height: float
    pdf: pymupdf.Document = field(default_factory=pymupdf.open)
    items: list[Golden] = field(default_factory=list)
    paragraphs: list[list[Line]] = field(default_factory=list)
    section: tuple[str, ...] = ()

    @property
    def page(self) -> pymupdf.Page:
        return self.pdf[-1]

    def new_page(self) -> None:
        self.pdf.new_page(width=self.width, height=self.height)

    def rectangle(self, box: BBox, *, fill: Colour | None = None, stroke: Colour | None = None) -> None:
        self.page.draw_rect(pymupdf.Rect(box.as_tuple()), color=stroke, fill=fill, width=0.7 if stroke else 0)

    def rule(self, start: tuple[float, float], end: tuple[float, float], colour: Colour, width: float = 0.7) -> None:
        self.page.draw_line(pymupdf.Point(start), pymupdf.Point(end), color=colour, width=width)

    def put(self, text: str, x: float, y: float, style: Style, align: Align = "left") -> Line:
        """Draw one line without recording it; `x` is its left end, middle or right end."""
        self.page.insert_font(
            fontname=style.font, fontbuffer=font(style.font).buffer
        )  # once a page; later calls do nothing
        left = x - text_width(text, style) * {"left": 0.0, "center": 0.5, "right": 1.0}[align]
        self.page.insert_text(
            (left, y),
            text,
            fontname=style.font,
            fontsize=style.size,
            color=style.colour,
            fill=style.colour,
            render_mode=2 if style.heavy else 0,
            border_width=0.03,
        )
        return Line(len(self.pdf), left, y, text, text, style)

    def text(self, text: str, x: float, y: float, style: Style, *, align: Align = "left", role: str = "body") -> Line:
        """Draw one line that stands alone."""
        line = self.put(text, x, y, style, align)
        self._record("line", text, line.bbox, role=role)
        return line

    def heading(self, text: str, x: float, y: float, style: Style, *, level: int) -> None:
        """Draw a heading; what follows belongs to its section. Level 1 is the outermost."""
        self.section = (*self.section[: level - 1], text)
        self._record("heading", text, self.put(text, x, y, style).bbox, role=f"heading-{level}")

    def paragraph(self, text: str, x: float, y: float, style: Style, *, width: float, role: str = "body") -> float:
        """Draw text broken into lines, first baseline at `y`; returns the baseline after the last."""
        lines = []
        for printed, reading in broken(text, style, width):
            placed = self.put(printed, x, y, style)
            lines.append(Line(placed.page, placed.x, y, printed, reading, style))
            self._record("line", printed, lines[-1].bbox, role=role)
            y += style.line_height
        self.paragraphs.append(lines)
        return y

    def item(self, mark: str, text: str, x: float, y: float, style: Style, *, width: float) -> float:
        """Draw a list item, its mark hanging left of its lines."""
        self.put(mark, x, y, style)
        indent = 18.0
        return self.paragraph(text, x + indent, y, style, width=width - indent, role="list-item")

    def image(self, text: str, box: BBox) -> None:
        """Record a picture or chart that was drawn in `box`; `text` is its caption."""
        self._record("image", text, box, role="figure")

    def table(
        self, name: str, rows: Sequence[Sequence[str | Entry | None]], x: float, y: float, look: TableLook
    ) -> float:
        """Draw a table with its top-left corner at (x, y); returns its lower edge. None: another cell spans there."""
        lefts = [x + sum(look.widths[:column]) for column in range(len(look.widths) + 1)]
        bottom = y + len(rows) * look.row_height
        if look.head_fill is not None:
            self.rectangle(BBox(x, y, lefts[-1], y + look.head_rows * look.row_height), fill=look.head_fill)
        for number, row in enumerate(rows):
            top = y + number * look.row_height
            for column, content in enumerate(row):
                if content is None:
                    continue
                entry = content if isinstance(content, Entry) else Entry(content)
                box = BBox(lefts[column], top, lefts[column + entry.columns], top + entry.rows * look.row_height)
                self._cell(name, entry, (number, column), box, look)
            if look.rules == "rows":
                self.rule((x, top), (lefts[-1], top), look.rule_colour)
        if look.rules == "rows":
            self.rule((x, bottom), (lefts[-1], bottom), look.rule_colour)
        return bottom

    def _cell(self, name: str, entry: Entry, place: tuple[int, int], box: BBox, look: TableLook) -> None:
        row, column = place
        header = row < look.head_rows
        style = look.head if header or row in look.strong_rows else look.body
        align: Align = "center" if entry.columns > 1 else look.aligns[column]
        x = {"left": box.x0 + look.padding, "center": box.center[0], "right": box.x1 - look.padding}[align]
        if look.rules == "grid":
            self.rectangle(box, stroke=look.rule_colour)
        line = self.put(entry.text, x, box.center[1] + style.size * 0.36, style, align) if entry.text else None
        self._record(
            "cell",
            entry.text,
            box,
            table=name,
            row=row,
            column=column,
            row_span=entry.rows,
            column_span=entry.columns,
            header=header,
            text_bbox=_rounded(line.bbox) if line else None,
        )

    def quotes(self, texts: Sequence[str]) -> list[Golden]:
        """Each quotation with the rectangles, one per line, in which it was drawn."""
        golden = []
        for text in texts:
            page, boxes = quote_parts(self.paragraphs, text)
            golden.append(
                {"document": self.name, "quote": text, "page": page, "rects": [_rounded(box) for box in boxes]}
            )
        return golden

    def pages(self) -> list[Golden]:
        return [
            {
                "document": self.name,
                "number": page.number + 1,
                "width": page.rect.width,
                "height": page.rect.height,
                "rotation": page.rotation,
            }
            for page in self.pdf
        ]

    def save(self, folder: Path, title: str) -> None:
        """Write the file: fonts cut down to what is used, nothing in it that changes from run to run."""
        self.pdf.subset_fonts()
        self.pdf.set_metadata({"title": title, "creationDate": DATE, "modDate": DATE})
        self.pdf.save(folder / self.name, garbage=4, deflate=True, no_new_id=True, reproducible=True)

    def _record(self, kind: str, text: str, box: BBox, **more: object) -> None:
        self.items.append(
            {
                "document": self.name,
                "page": len(self.pdf),
                "kind": kind,
                "text": text,
                "bbox": _rounded(box),
                "section": [] if more.get("role") in FURNITURE else list(self.section),
                **more,
            }
        )


def _rounded(box: BBox) -> list[float]:
    return list(box.rounded().as_tuple())
