"""The report as one HTML file: nothing is loaded from elsewhere, no script runs, and every text is escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape as escape_html
from typing import Any

from kb_qa.answers import Language
from kb_qa.evaluation import plots
from kb_qa.evaluation.labels import is_baseline, outcome_label, stage_label, word
from kb_qa.evaluation.report_style import STYLE
from kb_qa.evaluation.runs import Run, latencies, missed
from kb_qa.evaluation.scores import (
    BAD,
    RANKS,
    Observed,
    Place,
    Rate,
    differences,
    distinct,
    document_rank,
    page_rank,
)
from kb_qa.rendering import terminal_text

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_CARDS = ("page_hit@5", "document_hit@1", "region_hit", "answer_contained", "figure_right", "refused_absent")
_SHOWN = 600  # characters of a text that was found
_FOUND = 5  # pages listed of a miss


@dataclass(frozen=True, slots=True)
class Crops:
    """PNG pictures of one miss: what was found (or cited) and what was expected; empty where there is none.

    A title says which document and page it is.
    """

    found: bytes = b""
    found_title: str = ""
    expected: bytes = b""
    expected_title: str = ""


def html_report(runs: Sequence[Run], crops: Mapping[str, Crops], *, language: Language, made: str) -> str:
    """The report on one run or two. `crops` by the ids of the first run's questions, `made` says when."""
    title = word("title", language)
    first = runs[0]
    parts = [
        f"<header><h1>{escape(title)}</h1>{_about(runs, language, made)}</header>",
        f'<section class="cards">{"".join(_cards(first, language))}</section>',
        *(_section("compared", language, _compared(runs, language)) for _ in runs[1:]),
        _section("pages", language, _page_bars(runs, language)),
        _section("refusals", language, _refusals(runs, language)),
        _section("latency", language, _latency(runs, language)),
        _section("rates", language, _rates(runs, language)),
        _section("misses", language, "".join(_misses(first, crops, language))),
        _section("all", language, _every(first, language)),
    ]
    return (
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def _section(name: str, language: Language, body: str) -> str:
    return f"<section><h2>{escape(word(name, language))}</h2>{body}</section>" if body else ""


def _about(runs: Sequence[Run], language: Language, made: str) -> str:
    lines = [f"{len(runs[0].observed)} {word('questions', language)} · {made}"]
    for run in runs:
        told = " · ".join(f"{word(name, language)}: {value}" for name, value in run.about.items() if value)
        lines.append(f"{run.name} — {told}" if len(runs) > 1 else told)
    return "".join(f'<p class="about" dir="auto">{escape(line)}</p>' for line in lines)


def _cards(run: Run, language: Language) -> Iterator[str]:
    rates = run.rates
    for name in _CARDS:
        rate = rates.get(name)
        if rate is None or (name == "document_hit@1" and "page_hit@5" in rates):
            continue
        low, high = rate.interval
        beside = rates.get(f"{name}.bm25")
        note = f"<small>BM25 {100 * beside.share:.0f} %</small>" if beside is not None else ""
        label = escape(outcome_label(name, language))
        yield (
            f'<div class="card"><b>{100 * rate.share:.0f}<i> %</i></b><span>{label}</span>'
            f"<small>n = {rate.n} · {100 * low:.0f}–{100 * high:.0f} %</small>{note}</div>"
        )


def _page_bars(runs: Sequence[Run], language: Language) -> str:
    """Over all documents and within the named one, where pages were expected; else whose document it is."""
    body: list[str] = []
    for kind, ranks, tail in (("page_hit", RANKS, ""), ("page_hit", RANKS, ".within"), ("document_hit", (1, 5), "")):
        names = [f"{kind}@{k}{tail}" for k in ranks]
        if names[0] not in runs[0].rates or (kind == "document_hit" and body):
            continue
        styles = ("ours", "second")
        series = [
            plots.Series(
                run.name if len(runs) > 1 else word("ours", language), style, [run.rates.get(name) for name in names]
            )
            for run, style in zip(runs, styles, strict=False)
        ]
        plain = [runs[0].rates.get(f"{name}.bm25") for name in names]
        series.append(plots.Series(word("baseline", language), "baseline", plain))
        title = outcome_label(f"{kind}@k{tail}", language)
        drawn = plots.bars([f"k = {k}" for k in ranks], series, title=title)
        body.append(f"<figure><figcaption>{escape(title)}</figcaption>{drawn}</figure>")
    note = f'<p class="note">{escape(word("baseline_note", language))} {escape(word("small", language))}</p>'
    return f'<div class="row">{"".join(body)}</div>{note}' if body else ""


def _refusals(runs: Sequence[Run], language: Language) -> str:
    figures = []
    for run in runs:
        cells: dict[tuple[int, int], int] = {}
        for each in run.observed:
            known = each.case.answers or each.case.pools or each.case.document or each.case.absent
            if each.answered is not None and not each.answered.error and known:
                place = (0 if each.case.absent else 1, 0 if each.answered.refused else 1)
                cells[place] = cells.get(place, 0) + 1
        rows = [word("absent", language), word("present", language)]
        columns = [word("refused", language), word("answered", language)]
        caption = f"<figcaption>{escape(run.name)}</figcaption>" if len(runs) > 1 else ""
        if cells:
            drawn = plots.matrix(cells, rows, columns, title=word("refusals", language))
            figures.append(f"<figure>{caption}{drawn}</figure>")
    return f'<div class="row">{"".join(figures)}</div>' if figures else ""


def _latency(runs: Sequence[Run], language: Language) -> str:
    blocks = []
    for run in runs:
        figures = []
        for stage, _, median, late in latencies(run):
            label = stage_label(stage, language)
            marks = {word("median", language): median, word("late", language): late}
            drawn = plots.histogram(run.seconds(stage), title=label, unit="s", marks=marks)
            told = (
                f"{word('median', language)} {shown_seconds(median)} · {word('late', language)} {shown_seconds(late)}"
            )
            figures.append(
                f"<figure><figcaption>{escape(label)}<small>{escape(told)}</small></figcaption>{drawn}</figure>"
            )
        if figures:
            name = f"<h3>{escape(run.name)}</h3>" if len(runs) > 1 else ""
            blocks.append(f'{name}<div class="row">{"".join(figures)}</div>')
    return "".join(blocks)


def _compared(runs: Sequence[Run], language: Language) -> str:
    found = differences(runs[0].observed, runs[1].observed)
    rows = {outcome_label(name, language): each for name, each in found.items() if not is_baseline(name)}
    if not rows:
        return ""
    names = f"{runs[0].name} → {runs[1].name}"
    drawn = plots.forest(rows, title=names)
    head = [word(name, language) for name in ("measure", "n")] + [run.name for run in runs]
    head += [word("difference", language), word("interval", language), word("only", language)]
    body = [
        [
            label,
            str(each.n),
            f"{each.first}",
            f"{each.second}",
            f"{100 * each.difference:+.1f}",
            f"{100 * each.interval[0]:+.1f} … {100 * each.interval[1]:+.1f}",
            f"{each.only_first} / {each.only_second}",
        ]
        for label, each in rows.items()
    ]
    others = {each.case.id: each for each in runs[1].observed}
    pairs = [(each, missed(each), missed(others[each.case.id])) for each in runs[0].observed if each.case.id in others]
    changed = [
        [each.case.id, each.case.question, *(", ".join(_tag(name, language) for name in side) or "✓" for side in sides)]
        for each, *sides in pairs
        if sides[0] != sides[1]
    ]
    heading = ["", word("changed", language), *(run.name for run in runs)]
    return f'<p class="note" dir="auto">{escape(names)}</p><figure>{drawn}</figure>{_table(head, body)}' + (
        _table(heading, changed) if changed else ""
    )


def _rates(runs: Sequence[Run], language: Language) -> str:
    head = [word("measure", language), word("n", language)]
    for run in runs:
        head += [run.name if len(runs) > 1 else word("ours", language), word("interval", language)]
    head.append(word("baseline", language))
    rates = [run.rates for run in runs]
    body = []
    for name in rates[0]:
        if is_baseline(name):
            continue
        row = [outcome_label(name, language), str(rates[0][name].n)]
        for each in rates:
            row += shown_rate(each.get(name))
        row.append(shown_rate(rates[0].get(f"{name}.bm25"))[0])
        body.append(row)
    return _table(head, body)


def _misses(run: Run, crops: Mapping[str, Crops], language: Language) -> Iterator[str]:
    wrong = [(each, names) for each in run.observed if (names := missed(each))]
    if not wrong:
        yield f"<p>{escape(word('no_misses', language))}</p>"
    for each, names in wrong:
        tags = "".join(f"<span>{escape(_tag(name, language))}</span>" for name in names)
        crop = crops.get(each.case.id, Crops())
        yield (
            f'<article><h3 dir="auto"><small>{escape(each.case.id)}</small> {escape(each.case.question)}</h3>'
            f'<p class="tags">{tags}</p><div class="pair">'
            f"<div><h4>{escape(word('expected', language))}</h4>{_expected(each, language)}"
            f"{_picture(crop.expected, crop.expected_title)}</div>"
            f"<div><h4>{escape(word('found', language))}</h4>{_seen(each, language)}"
            f"{_picture(crop.found, crop.found_title)}</div></div></article>"
        )


def _tag(name: str, language: Language) -> str:
    label = outcome_label(name, language).removesuffix(" ↓")
    return label if name in BAD else f"✗ {label}"


def _expected(each: Observed, language: Language) -> str:
    case = each.case
    if case.absent:
        return f"<p>{escape(word('absent', language))}: {escape(word('refused', language))}</p>"
    lines = [" / ".join(case.answers), case.document]
    lines.append(", ".join(word("page", language, page=page) for page in sorted(case.pages)))
    return "".join(f'<p dir="auto">{escape(line)}</p>' for line in lines if line)


def _seen(each: Observed, language: Language) -> str:
    found = each.found.get("", ())
    rank = page_rank(each, found) if each.case.pages else document_rank(each, found)
    told = word("not_found", language) if rank is None else word("rank", language, rank=rank)
    lines = [] if each.case.absent else [f"<p>{escape(told)}</p>"]
    answered = each.answered
    if answered is not None:
        said = answered.error or answered.text.strip() or f"{word('refused', language)} ({answered.reason})"
        lines.append(f'<p dir="auto" class="said">{escape(_cut(said))}</p>')
    places = "".join(
        f'<li dir="auto">{escape(place_title(place, language))}</li>' for place in distinct(found)[:_FOUND]
    )
    return "".join(lines) + (f"<ol>{places}</ol>" if places else "")


def _every(run: Run, language: Language) -> str:
    head = ["", word("questions", language), word("expected", language), word("found", language), ""]
    head.append(word("answer", language))
    body: list[list[Any]] = []
    for each in run.observed:
        found = each.found.get("", ())
        rank = page_rank(each, found) if each.case.pages else document_rank(each, found)
        known = bool(each.documents) and not each.case.absent
        answered = each.answered
        said = "" if answered is None else (answered.error or answered.text.strip() or word("refused", language))
        expected = word("absent", language) if each.case.absent else " / ".join(each.case.answers)
        place = "" if not known else word("not_found", language) if rank is None else word("rank", language, rank=rank)
        body.append([each.case.id, each.case.question, expected, place, "✗" if missed(each) else "✓", _cut(said)])
    return f"<details><summary>{len(run.observed)}</summary>{_table(head, body)}</details>"


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    rows = "".join("<tr>" + "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in row) + "</tr>" for row in body)
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table></div>'


def _picture(png: bytes, title: str) -> str:
    if not png:
        return f'<p class="note" dir="auto">{escape(title)}</p>' if title else ""
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure><img alt="{escape(title)}" src="data:image/png;base64,{data}">'
        f'<figcaption dir="auto">{escape(title)}</figcaption></figure>'
    )


def escape(text: str) -> str:
    """What documents and models say may hold anything: markup, controls, letters that turn a line around."""
    return escape_html(terminal_text(text))


def place_title(place: Place, language: Language) -> str:
    page = f" · {word('page', language, page=place.page)}" if place.page is not None else ""
    return f"{place.document}{page}"


def shown_rate(rate: Rate | None) -> list[str]:
    """The share and its interval in per cent."""
    if rate is None or not rate.n:
        return ["–", ""]
    low, high = rate.interval
    return [f"{100 * rate.share:.1f} %", f"{100 * low:.1f}–{100 * high:.1f} %"]


def shown_seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"
