"""The values that a chart of an Office file stores, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ingest.grids import GridCell, one_line, table_passage
from ingest.number_formats import displayed
from ingest.passages import Passage


def chart_passages(chart: Any, *, page: int | None = None, hidden: str = "") -> Iterator[Passage]:
    """The title of a python-pptx chart, and a table per plot: a row per category, a column per series."""
    title = one_line(chart.chart_title.text_frame.text) if chart.has_title and chart.chart_title.has_text_frame else ""
    if title:
        yield Passage("FigureCaption", title, page=page, hidden=hidden)
    try:
        plots = list(chart.plots)
    except ValueError:  # kinds that python-pptx does not know: stock, surface, pie of pie
        plots = []
        yield from _plain_passages(chart, title, page, hidden)
    for plot in plots:
        series = list(plot.series)
        pairs = any(one._element.xpath("./c:xVal") for one in series)
        cells = _pair_cells(chart, series) if pairs else _category_cells(plot, series)
        if (passage := table_passage(cells, caption=title, page=page, hidden=hidden)) is not None:
            yield passage


def _plain_passages(chart: Any, title: str, page: int | None, hidden: str) -> Iterator[Passage]:
    """The series of a chart of any kind, by what every kind stores."""
    series = [_Series(element, _series_name(element)) for element in chart._chartSpace.xpath("//c:ser")]
    labels = _values(series[0], "cat") if series else []
    cells = [GridCell(0, column, one.name, header=True) for column, one in enumerate(series, 1)]
    cells += [GridCell(row, 0, label, header=True) for row, label in enumerate(labels, 1)]
    for column, one in enumerate(series, 1):
        cells += [GridCell(row, column, text) for row, text in enumerate(_values(one, "val"), 1)]
    if (passage := table_passage(cells, caption=title, page=page, hidden=hidden)) is not None:
        yield passage


@dataclass(frozen=True, slots=True)
class _Series:
    """As python-pptx's, for kinds of charts that it does not know."""

    _element: Any
    name: str


def _series_name(element: Any) -> str:
    return one_line("".join(node.text or "" for node in element.xpath("./c:tx//c:v")))


def _category_cells(plot: Any, series: list[Any]) -> list[GridCell]:
    """Categories of several levels have a column of labels each, and an outer label spans its inner ones."""
    levels = [tuple(map(str, labels)) for labels in plot.categories.flattened_labels]
    depth = max((len(labels) for labels in levels), default=1)
    cells = [GridCell(0, depth + column, one.name or "", header=True) for column, one in enumerate(series)]
    for row, labels in enumerate(levels):
        for level, label in enumerate(labels):
            same = row and level < depth - 1 and levels[row - 1][: level + 1] == labels[: level + 1]
            if not same:
                height = _run_length(levels[row:], labels[: level + 1]) if level < depth - 1 else 1
                cells.append(GridCell(row + 1, level, label, row_span=height, header=True))
    for column, one in enumerate(series):
        code = _format_code(one, "val")
        for row, value in enumerate(one.values):
            if row < len(levels) or not levels:
                cells.append(GridCell(row + 1, depth + column, displayed(value, code)))
    return cells


def _run_length(levels: list[tuple[str, ...]], start: tuple[str, ...]) -> int:
    """How many of the first labels begin with `start`."""
    return next((n for n, labels in enumerate(levels) if labels[: len(start)] != start), len(levels))


def _pair_cells(chart: Any, series: list[Any]) -> list[GridCell]:
    """Points of a scatter or bubble chart: a row each, beside the name of their series and under the axes' titles."""
    titles = [_axis_title(chart, path) for path in ("b", "l")]
    cells = [GridCell(0, column, title, header=True) for column, title in enumerate(titles, 1) if title]
    row = 1
    for one in series:
        across, up = _values(one, "xVal"), _values(one, "yVal")
        points = list(zip_longest(across, up, fillvalue=""))
        if one.name and points:
            cells.append(GridCell(row, 0, one.name, row_span=len(points), header=True))
        for x, y in points:
            cells += [GridCell(row, 1, x), GridCell(row, 2, y)]
            row += 1
    return cells if row > 1 else []


def _axis_title(chart: Any, side: str) -> str:
    """The title of the axis at the bottom (`b`) or at the left (`l`)."""
    found = chart._chartSpace.xpath(f"//c:valAx[c:axPos/@val='{side}']/c:title//*[local-name()='t']")
    return one_line("".join(node.text or "" for node in found))


def _values(series: Any, name: str) -> list[str]:
    """The cached values of `xVal` or `yVal` as displayed, "" where a point has none."""
    found: dict[int, str] = {}
    code = _format_code(series, name)
    for point in series._element.xpath(f"./c:{name}//c:pt"):
        text = point.findtext("{*}v") or ""
        try:
            found[int(point.get("idx"))] = displayed(float(text), code)
        except ValueError:
            found[int(point.get("idx"))] = text
    return [found.get(index, "") for index in range(max(found, default=-1) + 1)]


def _format_code(series: Any, name: str) -> str:
    codes = series._element.xpath(f"./c:{name}/c:numRef/c:numCache/c:formatCode")
    return str(codes[0].text or "General") if codes else "General"
