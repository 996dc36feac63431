"""What this process counted since it started, as Prometheus reads it."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping

# name → what it counts; each is `kb_qa_<name>_total`.
COUNTED: Mapping[str, str] = {
    "model_calls": "Calls to a language model by outcome: ok, or the code of the error.",
    "model_retries": "Calls to a language model that were tried again.",
    "model_tokens": "Tokens of language models by kind.",
    "model_cost_usd": "What calls to language models cost by KB_QA_PRICES, in US dollars.",
    "http_requests": "Requests by route and status.",
    "http_seconds": "What requests took, streams to their end, by route.",
    "answers": "Answers by outcome: answered, refused, failed (an error), cut (nobody listened any more).",
    "refusals": "Refusals by reason.",
    "figures": "Figures of answers by status.",
    "withheld": "Sentences that were withheld, by the reason of their first figure.",
    "stages": "How often each stage of a question ran.",
    "stage_seconds": "What the stages of questions took together.",
    "model_cache_misses": "Calls whose materials were to be read from the prompt cache and were not.",
    "ingest_worker_deaths": "Ingest workers of this service that ended and were started again.",
}
Labels = tuple[tuple[str, str], ...]

_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Counters:
    """Adds up, from any thread. A name that is not in `COUNTED` is a defect: KeyError."""

    def __init__(self) -> None:
        self._values: dict[str, dict[tuple[tuple[str, str], ...], float]] = {
            name: defaultdict(float) for name in COUNTED
        }
        self._lock = threading.Lock()

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        with self._lock:
            self._values[name][tuple(sorted(labels.items()))] += amount

    def value(self, name: str, **labels: str) -> float:
        with self._lock:
            return self._values[name].get(tuple(sorted(labels.items())), 0.0)

    def cache_hit_ratio(self) -> float:
        """The share of all input tokens that the prompt cache had, 0..1; 0 before the first."""
        tokens = [self.value("model_tokens", kind=kind) for kind in _INPUT]
        return tokens[-1] / sum(tokens) if sum(tokens) else 0.0

    def text(self, gauges: Mapping[str, tuple[str, float | Mapping[str, float]]]) -> str:
        """The exposition format. `gauges`: name → (what it says, its value, or its values by `state`)."""
        return "\n".join([*self._lines(), *_gauge_lines(gauges)]) + "\n"

    def _lines(self) -> Iterator[str]:
        for name, says in COUNTED.items():
            full = f"kb_qa_{name}_total"
            yield from (f"# HELP {full} {says}", f"# TYPE {full} counter")
            with self._lock:
                values = dict(self._values[name])
            for labels, value in sorted(values.items()):
                yield f"{full}{_label_text(labels)} {value:.10g}"


def _gauge_lines(gauges: Mapping[str, tuple[str, float | Mapping[str, float]]]) -> Iterator[str]:
    for name, (says, given) in gauges.items():
        yield from (f"# HELP kb_qa_{name} {says}", f"# TYPE kb_qa_{name} gauge")
        if isinstance(given, Mapping):
            for state, value in sorted(given.items()):
                yield f"kb_qa_{name}{_label_text((('state', state),))} {value:.10g}"
        else:
            yield f"kb_qa_{name} {given:.10g}"


def _label_text(labels: Labels) -> str:
    def escaped(value: str) -> str:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{escaped(value)}"' for name, value in labels) + "}" if labels else ""
