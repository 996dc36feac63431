"""A quotation is led to the document that holds it, or called unsupported."""

import pytest

from kb_qa.attribution import UNSUPPORTED, attribute
from kb_qa.locate import PrintedText
from tests.test_locate import printed

DOCUMENTS = {
    "X": PrintedText([printed("Net revenue was 4,812 million.", "Costs were 900 million in 2024.", id="x")]),
    "Y": PrintedText([printed("The plant in Leeds opened in May.", id="y")]),
    "Z": PrintedText([printed("Totai amount due in March is open", id="z", origin="ocr")]),
}


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("Net revenue was 9,999 million", id="a: in neither"),
        pytest.param("Net revenue was 900 million", id="b: stitched from far-apart words"),
        pytest.param("", id="d: empty"),
        pytest.param(" \n — “…” ", id="e: whitespace and punctuation"),
    ],
)
def test_f6_a_quote_that_stands_nowhere_is_unsupported(quote: str) -> None:
    """F6 (a), (b), (d), (e): nothing is marked in either document."""
    assert attribute(quote, "X", DOCUMENTS) == attribute(quote, "Y", DOCUMENTS) == UNSUPPORTED
    assert not attribute(quote, "X", DOCUMENTS).supported


def test_f6_a_quote_of_another_document_is_pointed_there() -> None:
    """F6 (c): a sentence of Y that points to X, or to nothing, is re-pointed to Y; X is never opened for it."""
    for pointed in ("X", "unknown"):
        found = attribute("The plant in Leeds opened", pointed, DOCUMENTS)
        assert (found.document_id, found.supported) == ("Y", True)
        assert found.located == DOCUMENTS["Y"].locate("The plant in Leeds opened")


def test_a_quote_where_it_points_to_stays_there() -> None:
    """A sentence that stands in the cited document is not looked for elsewhere."""
    twice = {**DOCUMENTS, "copy": DOCUMENTS["X"]}
    assert attribute("Costs were 900 million", "X", twice).document_id == "X"


def test_a_quote_of_several_other_documents_is_unsupported() -> None:
    """Which of two copies was meant cannot be known, so neither is marked."""
    twice = {**DOCUMENTS, "copy": DOCUMENTS["X"]}
    assert attribute("Costs were 900 million", "Y", twice) == UNSUPPORTED


def test_a_quote_is_re_pointed_only_to_the_letter() -> None:
    """A recognised text that is nearly the same is good enough where the quote points to it, and nowhere else."""
    assert attribute("Total amount due in March", "Z", DOCUMENTS).document_id == "Z"
    assert attribute("Total amount due in March", "X", DOCUMENTS) == UNSUPPORTED
