"""Disputes: all places of one measure and period, whatever they print."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kb_qa.guardrails.bind import Claim
from kb_qa.guardrails.claims import asked_of, claims_of
from kb_qa.guardrails.disputes import Subject, Telling, is_conflict, subject_of_claim, subject_of_fact, tellings
from kb_qa.guardrails.facts import Fact, facts_of
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.pipe_tables import elements_of

REPORT = (
    "(USD in millions)\n| | 2024 | 2023 |\n|---|---|---|\n| Net revenue | 4,132 | 3,541 |\n| Net income | 512 | 300 |"
)
PRESS = "(USD in millions)\n| | 2024 |\n|---|---|\n| Net revenue | 4,123 |"
LETTER = "Net revenue reached $4.13 billion in 2024."
SEGMENT = "Europe segment\n(USD in millions)\n| | 2024 |\n|---|---|\n| Net revenue | 900 |"
GROWTH = "Net revenue grew 17% in 2024."
ZH = "单位：万元\n| 项目 | 2024年 | 2023年 |\n|---|---|---|\n| 营业收入 | 4,132 | 3,541 |\n| 净利润 | 512 | 300 |"
ZH_LETTER = "2024年营业收入为4,321万元。"


def facts(*texts: str) -> list[Fact]:
    return [
        fact
        for number, text in enumerate(texts)
        for element in elements_of(f"s{number}", text, page=1)
        for fact in facts_of(element)
    ]


def claim(text: str, question: str = "") -> Claim:
    """The claim of the last figure of a sentence."""
    quantities = lex(text)
    return list(claims_of(text, quantities, asked_of(question)).values())[-1]


def supported(printed: str, *texts: str) -> Subject:
    return subject_of_fact(next(fact for fact in facts(*texts) if fact.printed == printed))


def shown(found: Sequence[Telling]) -> dict[str, tuple[bool, bool]]:
    return {each.fact.printed: (each.agrees, each.contradicts) for each in found}


def test_every_place_of_the_measure_is_found() -> None:
    """Another table and a sentence that tell the same measure and year; no other row, year or change."""
    said = claim("Net revenue was $4,132 million in 2024.")
    found = tellings(supported("4,132", REPORT), said, facts(REPORT, PRESS, LETTER, GROWTH))
    assert shown(found) == {"4,132": (True, False), "4,123": (False, True), "$4.13 billion": (False, True)}
    assert is_conflict(found)


def test_places_that_agree_are_no_conflict() -> None:
    """A rounded answer agrees with what it was rounded from."""
    said = claim("Net revenue was $4.1 billion in 2024.")
    found = tellings(supported("4,132", REPORT), said, facts(REPORT, LETTER))
    assert shown(found) == {"4,132": (True, False), "$4.13 billion": (True, False)}
    assert not is_conflict(found)


def test_a_quoted_cell_has_the_scale_of_its_table() -> None:
    """The answer repeats the row, `4,132`, under its unit line: 4.13 billion in a letter is the same."""
    said = claim("Net revenue: 4,132 in 2024.")
    own = [fact for fact in facts(REPORT) if fact.printed == "4,132"]
    found = tellings(subject_of_fact(own[0]), said, facts(REPORT, LETTER, PRESS), own)
    assert shown(found) == {"4,132": (True, False), "$4.13 billion": (True, False), "4,123": (False, True)}


def test_another_segment_is_shown_and_no_conflict() -> None:
    """The same labels under another caption tell another thing: side by side, not against each other."""
    said = claim("Net revenue was $4,132 million in 2024.")
    group = "Group results\n" + REPORT
    found = tellings(supported("4,132", group), said, facts(group, SEGMENT))
    assert shown(found) == {"4,132": (True, False), "900": (False, False)}
    assert not is_conflict(found)


def test_a_chinese_measure() -> None:
    """营业收入 of a table and of a sentence of the same year."""
    found = tellings(supported("4,132", ZH), claim("2024年营业收入为4,132万元。"), facts(ZH, ZH_LETTER))
    assert shown(found) == {"4,132": (True, False), "4,321万元": (False, True)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Net revenue was $5,000 million in 2024.", {"4,132"}, id="the row that the sentence names"),
        pytest.param("Net income was $5,000 million in 2023.", {"300"}, id="its year"),
        pytest.param("Net revenue was $5,000 million.", set(), id="no year, so no place is of the same one"),
        pytest.param("It was $5,000 million in 2024.", set(), id="no measure"),
    ],
)
def test_a_figure_without_support_has_places_too(text: str, expected: set[str]) -> None:
    """The sentence of an unsupported figure says which places it is about."""
    said = claim(text)
    assert {each.fact.printed for each in tellings(subject_of_claim(said), said, facts(REPORT))} == expected
