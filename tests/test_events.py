"""Sentences that say that something happened."""

from __future__ import annotations

import pytest

from kb_qa.extraction.events import event_of, is_said_to_happen, tells


@pytest.mark.parametrize(
    ("sentence", "happened"),
    [
        ("In May the board approved a share repurchase program.", True),
        ("We completed the acquisition of Globex in 2022.", True),
        ("We may acquire other companies.", False),
        ("We did not repurchase any shares.", False),
        ("If we acquired a business, we would account for it as such.", False),
        ("Acquisitions involve risks that were announced before.", False),
        ("公司于5月完成股份回购。", True),
        ("公司未回购股份。", False),
    ],
)
def test_what_may_or_did_not_happen_is_no_answer(sentence: str, happened: bool) -> None:
    """Doubt, condition and negation say nothing."""
    assert is_said_to_happen(sentence) is happened


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("Which leadership positions changed at Acme in the reporting period?", "leadership"),
        ("What are the names of new products launched by Acme?", "launch"),
        ("What was revenue?", ""),
        ("公司推出了哪些新产品？", "launch"),
    ],
)
def test_events_that_are_asked_for(question: str, event: str) -> None:
    """Changes of leaders and launches of products have names to be told."""
    assert event_of(question) == event


@pytest.mark.parametrize(
    ("event", "sentence", "told"),
    [
        ("leadership", "In March, Jane Doe was appointed Chief Executive Officer.", True),
        ("leadership", "The Chief Executive Officer leads the company.", False),
        ("leadership", "The board may appoint a new Chief Executive Officer.", False),
        ("launch", "In June we launched the Lumenbox Pro.", True),
        ("launch", "we launched several products.", False),
        ("launch", "We may introduce Lumenbox Pro.", False),
    ],
)
def test_a_sentence_tells_of_an_event(event: str, sentence: str, told: bool) -> None:
    """With a verb that says it happened, and a name."""
    assert tells(event, sentence) is told
