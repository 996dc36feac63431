"""Each feature is 0..1, grows with what it says, and costs nothing where the question has no use for it."""

from __future__ import annotations

import numpy as np
import pytest

from kb_qa.asked.concepts import concept_book
from kb_qa.asked.reading import read_question
from kb_qa.elements import Chunk
from kb_qa.ranking import FEATURES, WEIGHTS, Candidate, features_of, score
from kb_qa.sketch import codes_in, sketch
from tests.factories import make_chunk


def candidate(chunk: Chunk) -> Candidate:
    pages = tuple(region.page for region in chunk.regions)
    return Candidate(chunk.id, chunk.document_id, chunk.ordinal, chunk.element_type, pages, codes_in(sketch(chunk)))


def feature(name: str, question: str, *chunks: Chunk) -> list[float]:
    asked = read_question(question, concept_book())
    features = features_of(asked, [candidate(chunk) for chunk in chunks], {}).matrix
    assert features.shape == (len(chunks), len(FEATURES))
    assert ((features >= 0) & (features <= 1.03)).all()
    return [float(value) for value in features[:, FEATURES.index(name)]]


def test_a_block_that_says_all_covers_more_than_two_that_say_half() -> None:
    """Coverage is that of the best block with its headers."""
    whole = make_chunk("Annual leave at grade P5 is ten days.", "Other.")
    halves = make_chunk("Annual leave is granted.", "Grade P5 is senior.", ordinal=1)
    more, less = feature("coverage", "annual leave grade P5", whole, halves)
    assert more > less > 0


def test_a_row_label_that_is_asked_for() -> None:
    """`Net sales` is what is asked for, `Net sales of discontinued segments` is more than that."""
    rows = [
        make_chunk(f"{label} | 4,812", element_type="table", ordinal=n)
        for n, label in enumerate(("Net sales", "Net sales of discontinued segments", "Goodwill"))
    ]
    exact, longer, other = feature("label", "What were net sales?", *rows)
    assert exact > longer > other == 0


def test_order_years_and_phrases() -> None:
    """Neighbours of the question that are neighbours, its years, and what it quotes."""
    right, wrong = (
        make_chunk("In 2022 operating lease cost rose."),
        make_chunk("Lease of 2021: operating cost.", ordinal=1),
    )
    assert feature("order", "operating lease cost", right, wrong) == pytest.approx([1, 0])
    assert feature("years", "operating lease cost in 2022", right, wrong) == [1, 0]
    assert feature("phrase", 'Where is "operating lease" said?', right, wrong) == [1, 0]


def test_another_name_counts_nearly_as_much() -> None:
    """A synonym covers the question's words, and a Chinese name those of an English question."""
    chunks = [make_chunk(text, ordinal=n) for n, text in enumerate(("Revenue: 4", "营业收入：4", "Goodwill: 4"))]
    own, other, none = feature("coverage", "What was revenue?", *chunks)
    assert own > other > 0.8 > none


def test_an_amount_is_known_in_another_form() -> None:
    """`4,860 million` is 48.6亿, and no other amount that shares a word with it."""
    same, other = make_chunk("收入：48.6亿元"), make_chunk("Revenue: 12 million", ordinal=1)
    more, less = feature("coverage", "4,860 million", same, other)
    assert more > 0.8 and less < 0.05


def test_no_words_in_common_and_no_candidates() -> None:
    """A question of stop words, and a search that found nothing, have their features too."""
    assert feature("coverage", "what is it?", make_chunk("Goodwill")) == [0]
    assert features_of(read_question("x", concept_book()), [], {}).matrix.shape == (0, len(FEATURES))
    assert score(np.ones((1, len(FEATURES)))) == pytest.approx(sum(WEIGHTS.values()))


def test_nearness_is_counted_in_deviations() -> None:
    """The nearest has 1, what no search found 0, and the scale of an embedder's similarities makes no difference."""
    chunks = [make_chunk(f"Goodwill {number}", ordinal=number) for number in range(4)]
    asked, column = read_question("goodwill", concept_book()), FEATURES.index("dense")

    def near(*similarities: float) -> list[float]:
        found = {"dense": {chunk.id: value for chunk, value in zip(chunks, similarities, strict=False)}}
        return [float(each) for each in features_of(asked, [*map(candidate, chunks)], found).matrix[:, column]]

    close, wide = near(0.90, 0.88, 0.86), near(0.9, 0.7, 0.5)
    assert close == pytest.approx(wide)
    assert close[0] == 1 > close[1] > close[2] > close[3] == 0
    assert near(0.9) == [1, 0, 0, 0]
