"""How near passages come to questions that they do not answer: what one index calls evidence is measured on it.

Questions about what hardly any knowledge base holds are asked of the index; their best passages show how similar, and
how much in other words alike, passages are that have nothing to say. A question is too weakly supported where its own
best are no better than those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from kb_qa.answers import Hit, Language
from kb_qa.protocols import Unrelated
from kb_qa.retrieve import Retriever

# Passages are no evidence up to what 9 in 10 unrelated questions find at best.
SHARE = 0.9
# The share of chunks that come or go before it is measured again.
NOTABLE = 0.2


def measured(retriever: Retriever, *, embedder: str, chunks: int) -> Unrelated:
    """Asks the index of `chunks` chunks; a second or so."""
    near: dict[str, float] = {}
    for language, questions in _questions().items():
        best = [strength(retriever.retrieve(question, k=10)) for question in questions]
        near[language] = _quantile([dense for dense, _ in best])
        near[f"{language}-support"] = _quantile([support for _, support in best])
    return Unrelated(embedder, chunks, near)


def is_stale(known: Unrelated | None, *, embedder: str, chunks: int) -> bool:
    """Whether what was measured says nothing of the index any more."""
    if known is None or known.embedder != embedder:
        return True
    return abs(chunks - known.chunks) > NOTABLE * max(known.chunks, 1)


def strength(hits: Sequence[Hit]) -> tuple[float, float]:
    """The similarity of the nearest hit, and the largest share of the question that a hit says."""
    dense = max((hit.scores.get("dense", 0.0) for hit in hits), default=0.0)
    return dense, max((hit.scores.get("support", 0.0) for hit in hits), default=0.0)


def is_weak(hits: Sequence[Hit], language: Language, known: Unrelated | None) -> bool:
    """Whether the hits are no nearer than what unrelated questions find, in meaning and in words; False before it is
    known how near that is.
    """
    if known is None or not hits:
        return False
    dense, support = strength(hits)
    return dense <= known.near.get(language, -1.0) and support <= known.near.get(f"{language}-support", -1.0)


@cache
def _questions() -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for line in (files("kb_qa") / "offtopic.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            language, _, question = line.partition("\t")
            found.setdefault(language, []).append(question)
    return found


def _quantile(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return round(ordered[min(int(SHARE * len(ordered)), len(ordered) - 1)], 4)
