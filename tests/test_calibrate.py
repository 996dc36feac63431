"""What is no evidence is measured on the index, and anew once the index is another one."""

from __future__ import annotations

import pytest

from kb_qa.answers import Hit
from kb_qa.calibrate import is_stale, is_weak, measured
from kb_qa.protocols import Unrelated
from tests.factories import make_chunk
from tests.test_retrieve import retriever

KNOWN = Unrelated("e5", 100, {"en": 0.8, "en-support": 0.3, "zh": 0.75, "zh-support": 0.2})


@pytest.mark.parametrize(
    ("dense", "support", "weak"),
    [
        pytest.param(0.79, 0.2, True, id="neither"),
        pytest.param(0.81, 0.2, False, id="near in meaning"),
        pytest.param(0.79, 0.5, False, id="the same words"),
    ],
)
def test_weak_is_what_unrelated_questions_find(dense: float, support: float, *, weak: bool) -> None:
    """Neither nearer nor in more of the same words; never before it was measured."""
    hits = [Hit(make_chunk("x"), {"fused": 1.0, "dense": dense, "support": support})]
    assert is_weak(hits, "en", KNOWN) is weak
    assert is_weak(hits, "en", None) is False


@pytest.mark.parametrize(
    ("embedder", "chunks", "stale"),
    [("e5", 100, False), ("e5", 115, False), ("e5", 130, True), ("e5", 70, True), ("other", 100, True)],
)
def test_measured_anew_after_notable_changes(embedder: str, chunks: int, *, stale: bool) -> None:
    """Another model, or a fifth more or fewer chunks."""
    assert is_stale(KNOWN, embedder=embedder, chunks=chunks) is stale
    assert is_stale(None, embedder=embedder, chunks=chunks)


def test_measuring_asks_the_index_in_both_languages() -> None:
    """What is found for unrelated questions is weak by itself; a question of the documents is not."""
    searched = retriever(make_chunk("Annual leave is fifteen days at grade P5.", "年假为十五天。"))
    known = measured(searched, embedder="hash", chunks=1)
    assert {*known.near} == {"en", "en-support", "zh", "zh-support"}
    assert not is_weak(searched.retrieve("How many days is annual leave at grade P5?", k=3), "en", known)
    unrelated = ("When did dinosaurs become extinct?", "Who discovered penicillin?", "Why do cats purr?")
    assert any(is_weak(searched.retrieve(question, k=3), "en", known) for question in unrelated)
