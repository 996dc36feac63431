"""Sources that disagree, and sources that support nothing: what the verdict says of them."""

from __future__ import annotations

import pytest

from tests.figure_cases import INCOME, checked, passes, source

OTHER = INCOME.replace("4,132", "4,231")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (INCOME, OTHER),
        ("Revenue was $4,132 million in 2024.", "Revenue was $4,231 million in 2024."),
        (INCOME, "Revenue was $4,231 million in 2024."),
    ],
    ids=["two tables", "two texts", "a table and a text"],
)
def test_an_uncited_figure_that_another_source_denies_is_a_conflict(first: str, second: str) -> None:
    """Two values under one label and period: refused without a citation, and both are shown."""
    figure = checked("Revenue was $4,132 million in 2024.", first, second).figures[0]
    assert figure.status == "conflict"
    assert figure.reason is not None
    assert {place.element for place in figure.reason.nearest} == {"s1", "s2"}
    cited = checked("Revenue was $4,132 million in 2024 [1].", first, second).figures[0]
    assert (cited.status, cited.annotations) == ("exact", ("conflict",))
    assert [place.element for place in cited.support] == ["s1"]
    assert cited.reason is not None
    assert cited.reason.code == "conflict"
    assert "s2" in {place.element for place in cited.reason.nearest}


@pytest.mark.parametrize(
    "second",
    [
        "Revenue was $4.1 billion in 2024.",  # the same, rounded
        "Revenue was $3,541 million in 2023.",  # another year
        "Costs were $4,231 million in 2024.",  # another label
        "Revenue rose by 12% in 2024.",  # another kind
    ],
)
def test_what_is_no_conflict(second: str) -> None:
    """Rounding, another period, another label and another kind contradict nothing."""
    assert passes("Revenue was $4,132 million in 2024.", "Revenue was $4,132 million in 2024.", second)


def test_words_that_tell_two_sources_apart_leave_no_conflict() -> None:
    """Where the claim names the subject that only one of the sources names, the other one is not meant."""
    texts = ("Acme: revenue was $4,132 million in 2024.", "Bolt: revenue was $4,231 million in 2024.")
    assert passes("Acme's revenue was $4,132 million in 2024.", *texts)
    assert not passes("Revenue was $4,132 million in 2024.", *texts)


@pytest.mark.parametrize("more", [{"hidden": "white text"}, {"origin": "caption"}], ids=["hidden", "a model's caption"])
def test_unseen_text_is_never_the_only_support_and_the_verdict_says_so(more: dict[str, str]) -> None:
    """What no reader can see, or a model wrote, supports nothing, defines no scale and contradicts nothing."""
    unseen = source("Revenue was $4,132 million in 2024.", **more)
    outcome = checked("Revenue was $4,132 million in 2024.", unseen)
    figure = outcome.figures[0]
    assert (outcome.verdict, figure.status) == ("refuse", "unsupported")
    assert figure.reason is not None
    assert figure.reason.code == "unseen"
    seen = {"id": "s2", "text": "Revenue was $4,132 million in 2024."}
    assert checked("Revenue was $4,132 million in 2024.", unseen, seen).verdict == "pass"
    denied = source("Revenue was $9,999 million in 2024.", **more)
    assert checked("Revenue was $4,132 million in 2024.", denied, seen).verdict == "pass"
    table = {"id": "s3", "text": "| | 2024 |\n|---|---|\n| Revenue | 4,132 |"}
    scale = source("All amounts are stated in millions.", **more)
    assert checked("Revenue was 4,132 million in 2024.", scale, table).verdict == "refuse"
