"""Figures, periods and dates of a question and of a text meet in one term, however they are printed."""

import pytest

from kb_qa.figure_terms import figure_terms, question_terms


@pytest.mark.parametrize(
    ("term", "forms"),
    [
        pytest.param(
            "4100000000", ["4.1 billion", "4,100 million", "41亿", "41亿元", "US$4.1bn", "4,100,000,000"], id="amount"
        ),
        pytest.param("1234", ["(1,234)", "-1,234", "1,234.0"], id="sign"),
        pytest.param("18.4%", ["18.4%", "18.4 per cent", "18.4 percent", "百分之十八点四", "１８.４％"], id="percent"),
        pytest.param("2024q3", ["Q3 2024", "third quarter of 2024", "2024年第三季度", "2024Q3"], id="quarter"),
        pytest.param("2024h1", ["H1 2024", "first half of 2024", "2024年上半年"], id="half"),
        pytest.param(
            "2024-09-30",
            ["30 September 2024", "September 30, 2024", "2024-09-30", "2024年9月30日", "30/09/2024", "30 Sept. 2024"],
            id="date",
        ),
        pytest.param("2024-09", ["September 2024", "2024年9月", "Sept. 2024"], id="month"),
        pytest.param("fy2023", ["FY2023", "fiscal year 2023", "2023财年"], id="fiscal year"),
        pytest.param("2020", ["2019-2021", "Q3 2020", "31 March 2020", "2020年"], id="year"),
        pytest.param("23", ["twenty-three", "二十三"], id="words"),
    ],
)
def test_every_form_of_a_figure_has_its_normal_form(term: str, forms: list[str]) -> None:
    """What the guard reads as equal is found as equal, in a text and in a question."""
    assert {form: term in figure_terms(form) and term in question_terms(form) for form in forms} == dict.fromkeys(
        forms, True
    )


@pytest.mark.parametrize(
    "text", ["SKU-48213", "[3]", "two reasons", "0", "one third", "12:30", "10-12 percent of nothing", "No figure."]
)
def test_what_is_no_single_value_has_no_amount(text: str) -> None:
    """Ids, markers, soft counts, zero, clock times and ranges add no amount that other texts would meet."""
    assert not any(term.replace(".", "").isdigit() for term in figure_terms(text))


def test_a_question_looks_for_every_reading_and_a_text_says_one() -> None:
    """The locale of a document is known, a question's is not."""
    assert list(figure_terms("1.234", locale="de")) == ["1234"]
    assert {"1.234", "1234"} <= set(question_terms("1.234"))


def test_a_text_with_a_date_is_found_by_its_month() -> None:
    """And a question for a day is none for its month."""
    assert set(figure_terms("30 September 2024")) == {"2024-09-30", "2024-09", "2024"}
    assert "2024-09" not in question_terms("30 September 2024")


def test_a_question_keeps_its_words() -> None:
    """Words, identifiers and figures as printed stay terms beside the normal forms; each stands once."""
    found = question_terms("Was revenue of SKU-48213 above 4.1 billion, 4.1 billion?")
    assert {"revenu", "sku-48213", "48213", "4.1", "billion", "4100000000"} <= set(found)
    assert len(found) == len(set(found))
