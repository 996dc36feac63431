"""`repair=recompute`: a wrong result of right operands is replaced, and never silently."""

from __future__ import annotations

import pytest

from kb_qa.guardrails.policies import Policy, is_stricter
from tests.figure_cases import INCOME, PROFIT, checked

REPAIR = Policy(repair="recompute")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (
            "Revenue grew 15.7%⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.",
            "Revenue grew 16.7% [recomputed] from 2023 to 2024.",
        ),
        (
            "Revenue rose by $951 million⟦4,132-3,541⟧ from 2023 to 2024.",
            "Revenue rose by $591 million [recomputed] from 2023 to 2024.",
        ),
        (
            "Revenue of 2023 and 2024 was $7,763 million⟦3,541+4,132⟧ in total.",
            "Revenue of 2023 and 2024 was $7,673 million [recomputed] in total.",
        ),
    ],
)
def test_a_wrong_result_is_recomputed_in_its_own_form(answer: str, text: str) -> None:
    """Grouping, decimals, scale, currency and unit stay as the answer prints them, and the mark says what was done."""
    outcome = checked(answer, INCOME, policy=REPAIR)
    assert outcome.text == text
    assert [each.status for each in outcome.figures if each.derivation] == ["corrected"]
    assert [claim.status for claim in outcome.claims] == ["corrected"]
    assert outcome.verdict == "derived"


def test_the_answers_language_marks_the_correction_and_the_reason_keeps_what_was_said() -> None:
    """A Chinese answer gets a Chinese mark; the outcome says what the expression gives."""
    answer = "2024年营业收入同比增长15.7%⟦(413,200-354,100)/354,100⟧。"
    outcome = checked(answer, PROFIT, question="2024年营业收入同比增长多少？", policy=REPAIR)
    assert outcome.text == "2024年营业收入同比增长16.7%〔按算式重算〕。"
    figure = next(each for each in outcome.figures if each.corrected)
    assert figure.raw == "15.7%"
    assert figure.reason is not None
    assert "16.69%" in figure.reason.detail


@pytest.mark.parametrize(
    "answer",
    [
        "Net income grew 15.7%⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.",  # operands of another row
        "Revenue fell 15.7%⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.",  # the words would say a fall
        "Revenue grew 15.7%⟦(4,132-3,999)/3,541⟧ from 2023 to 2024.",  # an operand that no source prints
        "Revenue grew by a third⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.",  # no digits to replace
    ],
)
def test_nothing_is_recomputed_from_doubtful_operands(answer: str) -> None:
    """Only a result is repaired: a misbound operand, a wrong direction and an unreadable form are refused."""
    assert checked(answer, INCOME, policy=REPAIR).verdict == "refuse"


def test_without_the_option_a_wrong_result_is_refused() -> None:
    """The default policy repairs nothing, and is stricter than one that does."""
    assert checked("Revenue grew 15.7%⟦(4,132-3,541)/3,541⟧ from 2023 to 2024.", INCOME).verdict == "refuse"
    assert REPAIR.hash != Policy().hash
    assert is_stricter(Policy(), REPAIR)
    assert not is_stricter(REPAIR, Policy())
