"""Limits of a search as a reader writes them, and the clear errors for what is none."""

import pytest

from kb_qa.answers import MOST_RUNS, Filters, Scope
from kb_qa.errors import InputError
from kb_qa.search_filters import MOST_PAGES, limits_told, page_numbers, span, told

SPANS = {
    "days": ("2024-03-31", "2024-04-01", ("2024-03-31", "2024-04-01")),
    "months": ("2024-2", "2024-02", ("2024-02-01", "2024-02-29")),
    "years": ("2023", "2024", ("2023-01-01", "2024-12-31")),
    "one end": ("", " 2024-06 ", ("", "2024-06-30")),
    "none": ("", "", ("", "")),
}


@pytest.mark.parametrize(("since", "until", "days"), SPANS.values(), ids=SPANS)
def test_days_months_and_years_are_spans_of_days(since: str, until: str, days: tuple[str, str]) -> None:
    """A year or a month counts from its first day, and up to its last."""
    assert span(since, until) == days


@pytest.mark.parametrize(
    "text", ["31.03.2024", "2024-13", "2024-02-30", "0000", "last year", "２０２４", "2024-03-31T10:00"]
)
def test_what_is_no_date_is_told(text: str) -> None:
    """The message shows the value and the forms that are read."""
    for since, until in ((text, ""), ("", text)):
        with pytest.raises(InputError, match="is no date; say 2024-03-31, 2024-03 or 2024"):
            span(since, until)


def test_a_span_that_ends_before_it_starts_is_told() -> None:
    """Rather than nothing found."""
    with pytest.raises(InputError, match="since '2024' and until '2023'"):
        span("2024", "2023")


def test_pages_are_numbers_and_ranges() -> None:
    """In the order given, each once."""
    assert page_numbers(["7", "3-5", "4"]) == (7, 3, 4, 5)


@pytest.mark.parametrize("text", ["0", "-1", "5-3", "x", "1,2", "", "99999999", "一", f"1-{MOST_PAGES + 1}"])
def test_what_is_no_page_is_told(text: str) -> None:
    """Pages count from 1, and a filter takes no more than it can hold."""
    with pytest.raises(InputError, match="page"):
        page_numbers([text])


def test_limits_in_words() -> None:
    """For messages: which documents, and what else."""
    filters = Filters(("a.pdf",), folder="x", since="2024-01-01", until="2024-12-31")
    assert told(filters) == "'a.pdf' and folder 'x' and dates since 2024-01-01 and dates until 2024-12-31"
    limits = {"pages": [1, 2], "element_types": ["table"], "since": "2024-01-01"}
    assert list(limits_told(limits)) == ["pages 1, 2", "table", "since 2024-01-01"]


def test_pages_are_asked_for_in_runs() -> None:
    """Neighbours are one run; of very many, those over the smallest gaps are joined, and none is left out."""
    assert Scope(pages=(5, 1, 2, 3, 9)).page_runs == ((1, 3), (5, 5), (9, 9))
    assert Scope(pages=(4,)).page_runs == ((4, 4),)
    assert Scope().page_runs == ()
    pages = (*range(1, 400, 2), 1000)
    runs = Scope(pages=pages).page_runs
    assert len(runs) == MOST_RUNS
    assert runs[-1] == (1000, 1000)
    assert all(any(first <= page <= last for first, last in runs) for page in pages)
