"""Plots as SVG that a page can hold: sizes in pixels, colours by class, every text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from kb_qa.evaluation.scores import Difference, Rate

_BINS = 24
_ROUND = (1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True)
class Series:
    """Bars of one colour: `style` is the CSS class, a rate (or none) for each group."""

    label: str
    style: str
    rates: Sequence[Rate | None]


def bars(groups: Sequence[str], series: Sequence[Series], *, title: str) -> str:
    """Grouped bars of shares with their 95 % intervals."""
    left, top, height, bar = 44, 16, 200, 34
    group = bar * len(series) + 34
    width = left + group * len(groups) + 8
    parts = [*_share_lines(left, top, width, height)]
    for place, name in enumerate(groups):
        start = left + 17 + place * group
        for at, each in enumerate(series):
            rate = each.rates[place]
            if rate is not None and rate.n:
                parts += _bar(rate, each, start + at * bar, top + height, height=height, width=bar - 6)
        middle = start + bar * len(series) / 2 - 3
        parts.append(_text(middle, top + height + 18, name, "label", anchor="middle"))
    return _svg(width, top + height + 30, parts, title) + _legend(series)


def histogram(values: Sequence[float], *, title: str, unit: str, marks: Mapping[str, float]) -> str:
    """How often a duration came up, from 0 to the longest, with lines at some values."""
    left, top, width, height = 8, 18, 300, 84
    end = _round_up(max([*values, 1e-4]))
    counts = [0] * _BINS
    for value in values:
        counts[min(int(value / end * _BINS), _BINS - 1)] += 1
    most, step = max(counts), (width - 2 * left) / _BINS
    parts = []
    for place, number in enumerate(counts):
        if number:
            tall = max(number / most * height, 2)
            box = f'x="{left + place * step + 1:.1f}" y="{top + height - tall:.1f}" width="{step - 2:.1f}"'
            parts.append(f'<rect class="ours" {box} height="{tall:.1f}" rx="1.5"/>')
    parts.append(f'<path class="axis" d="M{left} {top + height}H{width - left}"/>')
    for style, (name, value) in zip(("median", "late"), marks.items(), strict=False):
        x = left + min(value / end, 1.0) * (width - 2 * left)
        parts.append(
            f'<path class="mark {style}" d="M{x:.1f} {top - 4}V{top + height}"><title>{escape(name)}</title></path>'
        )
    parts.append(_text(left, top + height + 14, "0", "tick"))
    parts.append(_text(width - left, top + height + 14, f"{end:g} {unit}", "tick", anchor="end"))
    return _svg(width, top + height + 20, parts, title)


def forest(rows: Mapping[str, Difference], *, title: str) -> str:
    """Differences of shares with their 95 % intervals around no difference; to the right the second is larger."""
    left, right, row, top = 250, 120, 26, 22
    span = 300
    width, height = left + span + right, top + row * len(rows) + 8
    reach = max([0.1, *(abs(end) for each in rows.values() for end in each.interval)])
    reach = min(_round_up(reach), 1.0)

    def x(value: float) -> float:
        return left + span / 2 + value / reach * span / 2

    parts = [
        f'<path class="{"zero" if not value else "grid"}" d="M{x(value):.1f} {top - 6}V{height - 8}"/>'
        + _text(x(value), top - 10, f"{100 * value:+.0f}" if value else "0", "tick", anchor="middle")
        for value in (-reach, -reach / 2, 0.0, reach / 2, reach)
    ]
    for place, (name, each) in enumerate(rows.items()):
        y = top + row * place + row / 2
        low, high = each.interval
        parts.append(_text(left - 12, y + 4, name, "label", anchor="end"))
        parts.append(f'<path class="whisker" d="M{x(low):.1f} {y}H{x(high):.1f}"/>')
        parts.append(f'<circle class="dot" cx="{x(each.difference):.1f}" cy="{y}" r="4.5"/>')
        told = f"{100 * each.difference:+.1f} (n = {each.n})"
        parts.append(_text(left + span + 12, y + 4, told, "tick"))
    return _svg(width, height, parts, title)


def matrix(cells: Mapping[tuple[int, int], int], rows: Sequence[str], columns: Sequence[str], *, title: str) -> str:
    """Counts in a grid; the diagonal is right. A cell is the darker the larger its share of its row is."""
    left, top, wide, tall = 150, 28, 120, 58
    parts = [
        _text(left + wide * at + wide / 2, top - 10, name, "label", anchor="middle") for at, name in enumerate(columns)
    ]
    for row, name in enumerate(rows):
        whole = sum(cells.get((row, column), 0) for column in range(len(columns)))
        y = top + tall * row
        parts.append(_text(left - 12, y + tall / 2 + 4, name, "label", anchor="end"))
        for column in range(len(columns)):
            number, x = cells.get((row, column), 0), left + wide * column
            share = number / whole if whole else 0.0
            style = "right" if row == column else "wrong"
            parts.append(
                f'<rect class="cell {style}" x="{x + 2}" y="{y + 2}" width="{wide - 4}" height="{tall - 4}" rx="4" '
                f'style="--strength:{0.12 + 0.68 * share if number else 0.05:.2f}"/>'
            )
            shown = f"{number}" + (f"  ({100 * share:.0f} %)" if whole else "")
            parts.append(_text(x + wide / 2, y + tall / 2 + 5, shown, "value", anchor="middle"))
    return _svg(left + wide * len(columns) + 4, top + tall * len(rows) + 6, parts, title)


def _share_lines(left: int, top: int, width: int, height: int) -> Iterator[str]:
    for percent in (0, 25, 50, 75, 100):
        y = top + height - height * percent / 100
        yield f'<path class="{"grid" if percent else "axis"}" d="M{left} {y:.1f}H{width - 8}"/>'
        yield _text(left - 8, y + 4, f"{percent} %", "tick", anchor="end")


def _bar(rate: Rate, series: Series, x: float, base: float, *, height: float, width: float) -> Iterator[str]:
    low, high = rate.interval
    tall = max(rate.share * height, 1)
    told = f"{series.label}: {rate.hits} / {rate.n} = {100 * rate.share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
    middle = x + width / 2
    box = f'x="{x:.1f}" y="{base - tall:.1f}" width="{width:.1f}" height="{tall:.1f}"'
    yield (f'<rect class="{series.style}" {box} rx="2"><title>{escape(told)}</title></rect>')
    yield (
        f'<path class="whisker" d="M{middle:.1f} {base - low * height:.1f}V{base - high * height:.1f}'
        f'M{middle - 4:.1f} {base - low * height:.1f}h8M{middle - 4:.1f} {base - high * height:.1f}h8"/>'
    )
    yield _text(middle, base - high * height - 4, f"{100 * rate.share:.0f}", "value", anchor="middle")


def _legend(series: Sequence[Series]) -> str:
    items = "".join(f'<span><i class="{each.style}"></i>{escape(each.label)}</span>' for each in series)
    return f'<p class="legend">{items}</p>'


def _text(x: float, y: float, text: str, style: str, *, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    box = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<svg {box} role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _round_up(value: float) -> float:
    """The next of … .1, .2, .5, 1, 2, 5, 10 …"""
    power = 10.0 ** floor(log10(value))
    return next((step * power for step in _ROUND if step * power >= value * (1 - 1e-9)), 10 * power)
