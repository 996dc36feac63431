"""One configuration's questions, all observed; and its figures as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kb_qa.evaluation.intervals import quantile
from kb_qa.evaluation.scores import (
    Difference,
    Observed,
    Place,
    Rate,
    differences,
    distinct,
    document_rank,
    outcomes,
    page_rank,
    summary,
)
from kb_qa.listing import bbox_list

Line = dict[str, Any]
STAGES = ("retrieve", "context", "answer", "total")
_SHOWN_PAGES = 10
_MISSED = ("page_hit@5", "document_hit@1", "region_hit", "answer_contained", "figure_right", "refused_absent")


@dataclass(frozen=True, slots=True)
class Run:
    """`about` is what a reader should know of it: the knowledge base, the model, and what was set for it."""

    name: str
    observed: tuple[Observed, ...]
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def rates(self) -> dict[str, Rate]:
        return summary(self.observed)

    def seconds(self, stage: str) -> list[float]:
        answers = (each.answered for each in self.observed)
        return [answer.seconds[stage] for answer in answers if answer is not None and stage in answer.seconds]


def missed(observed: Observed) -> list[str]:
    """The names of the outcomes that are not as they should be; a document's place counts where no page is known."""
    found = outcomes(observed)
    names = [name for name in _MISSED if found.get(name) is False]
    if observed.case.pages and "document_hit@1" in names:
        names.remove("document_hit@1")
    return names + [name for name in ("refused_answerable", "failed") if found.get(name)]


def question_line(configuration: str, observed: Observed) -> Line:
    """What `--json` prints of a question."""
    case, answered = observed.case, observed.answered
    line: Line = {"id": case.id, "configuration": configuration, "question": case.question}
    expected: Line = {"document": case.document, "pages": sorted(case.pages), "answers": list(case.answers)}
    if case.region is not None:
        expected["region"] = {"page": case.region.page, "bbox": bbox_list(case.region.bbox)}
    line |= {"kind": case.kind, "expected": expected, "not_in_documents": case.absent}
    line["outcomes"] = outcomes(observed)
    line["ranks"] = {
        searcher or "ours": {"page": page_rank(observed, places), "document": document_rank(observed, places)}
        for searcher, places in observed.found.items()
    }
    line["found"] = [_place_line(place) for place in distinct(observed.found.get("", ()))[:_SHOWN_PAGES]]
    if answered is not None:
        line["answer"] = {
            "answer_id": answered.answer_id,
            "text": answered.text,
            "refused": answered.refused,
            "reason": answered.reason,
            "error": answered.error,
            "cited": [_place_line(place) for place in answered.cited],
            "figures": [{"raw": figure.raw, "supported": figure.supported} for figure in answered.figures],
        }
        line["seconds"] = {stage: round(value, 4) for stage, value in answered.seconds.items()}
    return line


def summary_line(runs: Sequence[Run]) -> Line:
    """What `--json` prints last."""
    line: Line = {
        "questions": len(runs[0].observed),
        "configurations": {run.name: _run_line(run) for run in runs},
    }
    if len(runs) == 2:
        found = differences(runs[0].observed, runs[1].observed)
        line["differences"] = {name: _difference_line(each) for name, each in found.items()}
    return {"summary": line}


def latencies(run: Run) -> Iterator[tuple[str, int, float, float]]:
    """(stage, n, median, 95th percentile) in seconds."""
    for stage in STAGES:
        if values := run.seconds(stage):
            yield stage, len(values), quantile(values, 0.5), quantile(values, 0.95)


def _run_line(run: Run) -> Line:
    rates = {}
    for name, rate in run.rates.items():
        low, high = rate.interval
        rates[name] = {"hits": rate.hits, "n": rate.n, "share": round(rate.share, 4)}
        rates[name] |= {"low": round(low, 4), "high": round(high, 4)}
    seconds = {
        stage: {"n": count, "p50": round(median, 4), "p95": round(late, 4)}
        for stage, count, median, late in latencies(run)
    }
    return {"about": dict(run.about), "rates": rates, "seconds": seconds}


def _difference_line(difference: Difference) -> Line:
    low, high = difference.interval
    return {
        "n": difference.n,
        "first": difference.first,
        "second": difference.second,
        "only_first": difference.only_first,
        "only_second": difference.only_second,
        "difference": round(difference.difference, 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def _place_line(place: Place) -> Line:
    return {"document": place.document, "document_id": place.document_id, "page": place.page} | (
        {} if place.bbox is None else {"bbox": bbox_list(place.bbox)}
    )
