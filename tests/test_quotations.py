"""A unit that repeats its block says what the block says; one that turns it around does not."""

import pytest

from kb_qa.elements import Block
from kb_qa.guardrails.quotations import is_quotation, is_row_quotation
from tests.gate_answers import passes, source

ROW = Block(
    "b", "e", "Net sales | 8,412 | 7,900", 0, 25, labelled="Item：Net sales | 2024：8,412 | 2023：7,900 | in millions"
)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("- The link is valid for 45 minutes.\n", True),
        ("link is valid for 45 minutes", True),
        ("45 minutes", False),
        ("The link is valid for 54 minutes.", False),
        ("", False),
    ],
)
def test_a_quotation_is_most_of_its_block(text: str, quoted: bool) -> None:
    """Spaces, list marks and the last mark do not count; a figure alone is no quotation."""
    assert is_quotation(text, Block("b", "e", "The link is valid for 45 minutes.", 0, 33)) is quoted


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("Item: Net sales; 2024: 8,412 (in millions)", (True, True)),
        ("Item：Net sales，2024：8,412，2023：7,900", (True, False)),
        ("Item: Net sales; 2023: 7,900", (True, False)),
        ("Item: Net sales; 2023: 8,412", (False, True)),
        ("Item: Costs; 2024: 8,412", (False, False)),
        ("2024: 8,412", (False, False)),
        ("Item: Net sales; 2024: 8,412 (in billions)", (False, True)),
    ],
)
def test_a_row_is_quoted_with_its_own_headers(text: str, quoted: tuple[bool, bool]) -> None:
    """The label comes first, every cell stands under its header, and only the row's own unit may follow."""
    assert is_row_quotation(text, ROW) == quoted


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("Research; Year Ended / 2025: 3,423 (in millions)", (True, True)),
        ("Year Ended / 2025: 3,423 (in millions)", (False, False)),
        ("Costs; Year Ended / 2025: 3,423 (in millions)", (False, False)),
    ],
)
def test_a_row_whose_label_has_no_header_is_quoted_too(text: str, quoted: tuple[bool, bool]) -> None:
    """The label stands for itself, and still comes first."""
    row = Block("b", "e", "Research | 3,423", 0, 16, labelled="Research | Year Ended / 2025：3,423 | in millions")
    assert is_row_quotation(text, row) == quoted


@pytest.mark.parametrize(
    ("text", "released"),
    [
        ("Item: Net sales; 2024: 8,412 (in millions)", True),
        ("Item: Net sales; 2024: 8,412", False),
        ("Item: Net sales; 2024: 7,900 (in millions)", False),
    ],
)
def test_a_quoted_row_that_is_scaled_needs_its_unit(text: str, released: bool) -> None:
    """8,412 alone is a millionth of what the table says."""
    row = source("", labelled="Item：Net sales | 2024：8,412 | 2023：7,900 | in millions")
    assert passes(text, row, question="What were net sales in 2024?") is released
