"""Stored answers, and what readers decided of their figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kb_qa.answers import AnswerEvent, Decision
from kb_qa.errors import NotFoundError
from kb_qa.ledger import Ledger

FIRST = Decision("a1", 2, "reject", "the note on page 9 says 4,123", "4,132", 100.0)
SECOND = Decision("a0", 1, "accept", "", "16.7 %", 200.0)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "kb", create=True) as opened:
        yield opened


def test_answers_are_kept_by_id(ledger: Ledger) -> None:
    """The events of an answer come back equal; an unknown id is None; saving again replaces."""
    events = (
        AnswerEvent(1, "start", {"answer_id": "a1", "question": "净利润?"}),
        AnswerEvent(2, "delta", {"seq": 1, "text": "51,200\u2028"}),
        AnswerEvent(3, "end", {"complete": True}),
    )
    ledger.save_answer("a1", "净利润?", events[:1])
    ledger.save_answer("a1", "净利润?", events)
    assert ledger.answer("a1") == events
    assert ledger.answer("a2") is None


def test_answers_are_listed_newest_first(ledger: Ledger) -> None:
    """Page after page, without a gap; what was saved anew is as new as that; an unknown id is an error."""
    for answer_id in ("a", "b", "c", "a"):
        ledger.save_answer(answer_id, f"{answer_id}?", (AnswerEvent(1, "end", {"complete": True}),))
    assert [(each.answer_id, each.question) for each in ledger.newest_answers(2)] == [("a", "a?"), ("c", "c?")]
    assert [each.answer_id for each in ledger.newest_answers(2, before="c")] == ["b"]
    assert ledger.newest_answers(2, before="b") == []
    with pytest.raises(NotFoundError):
        ledger.newest_answers(2, before="gone")


def test_decisions_are_kept_by_figure(ledger: Ledger) -> None:
    """The last decision on a figure stands; of one answer by figure, of all the oldest first."""
    for decision in (SECOND, replace(FIRST, kind="accept"), FIRST, replace(FIRST, n=1, kind="note")):
        ledger.save_decision(decision)
    assert [each.n for each in ledger.decisions("a1")] == [1, 2]
    assert ledger.decisions() == [replace(FIRST, n=1, kind="note"), FIRST, SECOND]
    assert ledger.decisions("nobody") == []
