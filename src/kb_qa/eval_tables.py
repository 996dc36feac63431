"""An evaluation's figures as tables in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kb_qa.answers import Language
from kb_qa.evaluation.labels import is_baseline, outcome_label, stage_label, word
from kb_qa.evaluation.report import shown_rate, shown_seconds
from kb_qa.evaluation.runs import Run, latencies
from kb_qa.evaluation.scores import differences
from kb_qa.rendering import terminal_text


def print_run(console: Console, runs: Sequence[Run], language: Language) -> None:
    for run in runs:
        told = " · ".join(f"{word(name, language)}: {value}" for name, value in run.about.items() if value)
        console.print(Text(terminal_text(f"{run.name} — {told}"), style="dim"))
    console.print(_rates(runs, language))
    if len(runs) == 2:
        console.print(_differences(runs, language))
    console.print(_seconds(runs, language))


def _rates(runs: Sequence[Run], language: Language) -> Table:
    table = _table(word("measure", language), word("n", language))
    for run in runs:
        table.add_column(run.name, justify="right")
        table.add_column(word("interval", language), justify="right", style="dim")
    table.add_column(word("baseline", language), justify="right")
    rates = [run.rates for run in runs]
    for name, rate in rates[0].items():
        if not is_baseline(name):
            cells = [cell for each in rates for cell in shown_rate(each.get(name))]
            beside = shown_rate(rates[0].get(f"{name}.bm25"))[0]
            table.add_row(outcome_label(name, language), str(rate.n), *cells, beside)
    return table


def _differences(runs: Sequence[Run], language: Language) -> Table:
    table = _table(f"{runs[0].name} → {runs[1].name}", word("n", language))
    for name in ("difference", "interval", "only"):
        table.add_column(word(name, language), justify="right")
    for name, each in differences(runs[0].observed, runs[1].observed).items():
        if not is_baseline(name):
            low, high = (f"{100 * end:+.1f}" for end in each.interval)
            only = f"{each.only_first} / {each.only_second}"
            difference = f"{100 * each.difference:+.1f}"
            table.add_row(outcome_label(name, language), str(each.n), difference, f"{low} … {high}", only)
    return table


def _seconds(runs: Sequence[Run], language: Language) -> Table:
    table = _table(word("stage", language), word("n", language))
    for run in runs:
        tail = f" {run.name}" if len(runs) > 1 else ""
        table.add_column(word("median", language) + tail, justify="right")
        table.add_column(word("late", language) + tail, justify="right")
    by_run = [{stage: rest for stage, *rest in latencies(run)} for run in runs]
    for stage, (count, _, _) in by_run[0].items():
        cells = [each[stage][1:] if stage in each else ("–", "–") for each in by_run]
        shown = [value if isinstance(value, str) else shown_seconds(float(value)) for pair in cells for value in pair]
        table.add_row(stage_label(stage, language), str(count), *shown)
    return table


def _table(first: str, second: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    table.add_column(second, justify="right")
    return table
