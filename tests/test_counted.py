"""A number of things: the noun that it counts stands by it."""

from __future__ import annotations

import pytest

from kb_qa.extraction.counted import counted_in, is_counted


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("How many branches did the bank close?", "It closed 12 of its rural branches.", True),
        (
            "How many branches did the bank close?",
            "It has branches in each town of the north, and won 12 points.",
            False,
        ),
        ("How many employees were there in 2023?", "Headcount stood at 1,204 on 31 December 2023.", True),
        ("How many homes were visited?", "Each year about 55,000 U.S. homes were visited.", True),
        ("How many voters were sampled?", "The number of sampled voters rose by a third to about 900.", True),
        ("How many pupils were tested?", "Pupils of 7- and 9-year cohorts were tested.", False),
        ("How many pupils were tested?", "The pupils were followed for 6 years.", False),
        ("For how many years were they followed?", "The pupils were followed for 6 years.", True),
        ("How many farms were let?", "Tenants had the highest odds of farms that were let (2.3).", False),
        ("How many farms were let?", "In all, 2.3 million farms were let.", True),
        ("How many schools closed?", "The differences 14 between them were small. Schools stayed open.", False),
    ],
)
def test_a_number_by_the_noun_that_it_counts(question: str, sentence: str, expected: bool) -> None:
    """Near it and in one clause, or said to be the number of them; no age, no span of years, no footnote mark."""
    assert is_counted(counted_in(question), sentence) is expected


def test_nothing_is_counted_where_no_number_is_asked_for() -> None:
    """What a question of an amount names is no counted noun."""
    assert counted_in("What was revenue in 2023?") == ()
