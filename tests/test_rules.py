"""Every rule of the guard by its name: what it lets pass, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from kb_qa.guardrails.policies import Mode, Policy
from tests.figure_cases import INCOME, PROFIT, SEGMENTS, checked, passes, source, statuses

VALUES = [
    ("V1 kind", "The share is 12%.", "The share is 12 percentage points.", "The share is 12%."),
    ("V1 money is no counted unit", "The fee is 500元。", "The fee is 500人。", "The fee is 500元。"),
    ("V1 basis points", "It rose 0.25 percentage points.", "It rose 25%.", "It rose 25 basis points."),
    ("V1 per mille", "The levy is 0.3%.", "The levy is 3%.", "The levy is 3‰."),
    ("V1 tenths", "占比为30%。", "占比为3%。", "占比为三成。"),
    ("V2 exact", "Sales were 4,132.", "Sales were 4,123.", "Sales were 4,132."),
    ("V2 scaled", "收入为4.132亿元。", "收入为41.32亿元。", "收入为41,320万元。"),
    ("V3 half up", "The rate is 2.5%.", "The rate is 2.6%.", "The rate is 2.45%."),
    ("V3 half even", "The rate is 2.4%.", "The rate is 2.3%.", "The rate is 2.45%."),
    ("V4 whole numbers", "It has about 22,000 members.", "It has 22,000 members.", "It has 21,870 members."),
    ("V5 false precision", "Sales were $4.1 billion.", "Sales were $4.13 billion.", "Sales were $4.1 billion."),
    ("V5 minor units", "The fee is $35.00.", "The fee is $35.01.", "The fee is $35."),
    ("V6 currency", "The fee was HK$35.", "The fee was US$35.", "The fee was HK$35."),
    ("V6 a currency left out, or added", "The fee was 35 million.", "The fee was €35 million.", "Fee: $35 million."),
    ("V7 direction", "Sales fell 5%.", "Sales rose 5%.", "Sales fell 5%."),
    ("V7 change and level", "Margin rose to 18.4%.", "Margin rose 18.4%.", "Margin rose 1.8 points to 18.4%."),
    ("V8 bounds", "员工逾1万人。", "员工逾2万人。", "员工10,368人。"),
    ("V8 completed years", "员工工龄满10年。", "员工工龄不满10年。", "员工工龄满10年。"),
    ("V8 inverted", "At least 5 days' notice.", "At most 5 days' notice.", "At least 5 days' notice."),
    ("V9 ranges", "Guidance is 10–12 million.", "Guidance is 11 million.", "Guidance is 10 to 12 million."),
    ("V9 one end", "产能为10至12万吨。", "产能为10万吨。", "产能为10至12万吨。"),
    ("V10 coarser", "It ends in March 2025.", "It ends in April 2025.", "It ends on 31 March 2025."),
    ("V10 never finer", "It ends in March 2025.", "It ends on 30 March 2025.", "It ends in March 2025."),
    ("V11 counts", "There are three segments.", "There are four segments.", "The group has three segments."),
    ("V11 digits", "There are 3 segments.", "There are 7 segments.", SEGMENTS),
    ("V12 ids", "Order SKU-48213 shipped.", "Order SKU-48231 shipped.", "Order SKU 48213 shipped."),
    ("V12 clauses", "See section 4.2.", "See section 4.3.", "Section 4.2 applies."),
    ("V13 characters of OCR", "合计4,132件。", "合计4,123件。", "合计4,132件"),
]


@pytest.mark.parametrize(("right", "wrong", "text"), [each[1:] for each in VALUES], ids=[each[0] for each in VALUES])
def test_value_rules(right: str, wrong: str, text: str) -> None:
    """V1 to V13: one answer that agrees with the source, and one that does not."""
    assert passes(right, text)
    assert not passes(wrong, text)


@pytest.mark.parametrize(
    ("answer", "cash", "accepted"),
    [
        ("Cash was nearly half a billion dollars.", "$490.2 million", True),
        ("Cash was about half a billion dollars.", "$512.6 million", True),
        ("Cash was nearly half a billion dollars.", "$412.6 million", False),
        ("Cash was about half a billion dollars.", "$612.6 million", False),
        ("Cash was about a quarter million dollars.", "$251,300", True),
        ("Cash was about a quarter million dollars.", "$301,300", False),
        ("We have half a dozen shops.", "6", True),
        ("We have half a dozen shops.", "8", False),
    ],
)
def test_v3_a_fraction_word_is_no_wide_range(answer: str, cash: str, accepted: bool) -> None:
    """V3: half a billion is 0.5 billion, rounded at its own place, and not anything that is nearer to it than to 0."""
    assert passes(answer, f"Cash was {cash}. We have {cash} shops.") is accepted


def test_v8_a_dropped_bound_is_annotated() -> None:
    """V8: "more than 5 km" may be told as 5 km, and the outcome says that the bound was dropped."""
    (figure,) = checked("There are 5 km of pipe.", "There are more than 5 km of pipe.").figures
    assert (figure.status, figure.annotations) == ("exact", ("bound_dropped",))


@pytest.mark.parametrize(
    ("confidence", "mode", "withheld", "text"),
    [
        (0.95, "strict", 0, "Revenue was 45 million."),
        (0.85, "strict", 1, "Not found in the materials."),
        (0.85, "annotate", 0, "Revenue was 45 million✗."),
        (0.85, "off", 0, "Revenue was 45 million."),
    ],
)
def test_v13_unsure_recognition(confidence: float, mode: Mode, withheld: int, text: str) -> None:
    """V13: below 0.9 strict refuses, annotate marks, off only logs; the status is the same in all three."""
    given = source("Revenue was 45 million.", element_type="ocr", confidence=confidence)
    outcome = checked("Revenue was 45 million.", given, policy=Policy(mode=mode))
    assert (outcome.withheld, outcome.text) == (withheld, text)
    assert outcome.figures[0].status == ("exact" if confidence > 0.9 else "low_confidence")


GROWTH = "| | 2024 | 2022 |\n|---|---|---|\n| Sales | 121 | 100 |\n| Staff cost | 60 | 48 |"
MARGIN = "| | 2024 | 2023 |\n|---|---|---|\n| Margin | 17.0% | 18.1% |\n| Yield | 3.0% | 2.0% |"
USERS = "用户数由100万增长至400万。"
OPERATIONS = [
    ("growth", "Revenue grew 16.7% from 2023 to 2024.", "Revenue grew 12.5% from 2023 to 2024.", INCOME),
    ("growth in Chinese", "2024年净利润同比增长12.5%。", "2024年净利润同比增长16.7%。", PROFIT),
    ("growth over a change of sign", "Profit was 5 in 2024.", "Profit grew 150% from 2023 to 2024.", "a sign"),
    ("points", "Margin fell 1.1 percentage points from 2023 to 2024.", "Margin fell 1.1% from 2023 to 2024.", MARGIN),
    ("difference", "Revenue rose by $591 million from 2023 to 2024.", "Revenue rose by $57 million in 2024.", INCOME),
    ("sum", "The segments total $2,630 million.", "The segments total $2,150 million.", SEGMENTS),
    ("average", "Average sales in 2022 and 2024 were 110.5.", "Average sales in 2022 and 2024 were 54.", GROWTH),
    ("share", "Cloud is 45.6% of the total revenue.", "Cloud is 36.1% of the total revenue.", SEGMENTS),
    ("multiple as growth", "用户数增长了3倍。", "用户数增长了4倍。", USERS),
    ("multiple as level", "用户数增长至4倍。", "用户数增长至3倍。", USERS),
    ("doublings", "用户数翻了两番。", "用户数翻了三番。", USERS),
    ("CAGR", "Sales grew at a compound rate of 10.0%.", "Sales grew at a compound rate of 11.8%.", GROWTH),
    ("FX", "It cost US$2 million.", "It cost US$3 million.", "It cost RMB 14.2 million. The rate was US$1 = RMB 7.10."),
    ("unit", "It is 60 miles, or 96.6 km.", "It is 60 miles, or 69.6 km.", "It is 60 miles."),
    ("unit, affine", "It is 37 °C, or 98.6 °F.", "It is 37 °C, or 89.6 °F.", "It is 37 °C."),
]


@pytest.mark.parametrize(
    ("right", "wrong", "text"), [each[1:] for each in OPERATIONS], ids=[each[0] for each in OPERATIONS]
)
def test_operations(right: str, wrong: str, text: str) -> None:
    """Each row of the table of operations: computed from bound operands, and not from others."""
    given = "| | 2024 | 2023 |\n|---|---|---|\n| Profit | 5 | (10) |" if text == "a sign" else text
    assert passes(right, given)
    assert not passes(wrong, given)


EXPLICIT = [
    ("sum", "⟦sum(1,200, 950, 480)⟧", "The segments' revenue was $2,630 million{} in total.", SEGMENTS),
    ("average", "⟦avg(4,132, 3,541)⟧", "Average revenue of 2023 and 2024 was $3,836.5 million{}.", INCOME),
    ("minimum", "⟦min(4,132, 3,541)⟧", "The lower revenue of 2023 and 2024 was $3,541 million{}.", INCOME),
    ("maximum", "⟦max(1,200, 950, 480)⟧", "Segment revenue was $1,200 million{} at its highest.", SEGMENTS),
    ("count", "⟦count(1,200, 950, 480)⟧", "Segment revenue has 3{} entries.", SEGMENTS),
]


@pytest.mark.parametrize(
    ("mark", "answer", "text"), [each[1:] for each in EXPLICIT], ids=[each[0] for each in EXPLICIT]
)
def test_functions_of_expressions(mark: str, answer: str, text: str) -> None:
    """Functions in stated expressions: the right result is derived, another one refused."""
    assert checked(answer.format(mark), text).verdict == "derived"
    wrong = answer.format(mark)
    head, bracket, rest = wrong.partition("⟦")
    digit = next(index for index in range(len(head) - 1, -1, -1) if head[index].isdigit())
    changed = f"{head[:digit]}{(int(head[digit]) + 4) % 10}{head[digit + 1 :]}{bracket}{rest}"
    assert checked(changed, text).verdict == "refuse"


TEXT = "Revenue was $5 million in 2024; see clause 7. Call 400-810-8888. Version 2.4.1. 数百万用户。"
EXEMPTIONS: list[tuple[str, str, str, str, str]] = [
    ("citation markers", "Revenue was $5 million [1].", "Revenue was [812] million.", TEXT, ""),
    ("markers above the sources", "Revenue was $5 million [1].", "Revenue was $5 million [2].", TEXT, ""),
    ("enumerators", "1. Revenue was $5 million.\n2. It rose.", "3. 5 million users joined.", TEXT, ""),
    ("question echo", "No, not 30%.", "Yes, 30%.", TEXT, "Is it 30%?"),
    ("references", "See clause 7.", "See clause 9.", TEXT, ""),
    ("phone numbers", "Call 400-810-8888.", "Call 400-810-8889.", TEXT, ""),
    ("versions", "It is version 2.4.1.", "It is version 2.4.2.", TEXT, ""),
    ("ids of the question", "SKU-777 was not found.", "SKU-778 was not found.", TEXT, "Where is SKU-777?"),
    ("code spans", "Revenue was `$5 million`.", "Revenue was `$7 million`.", TEXT, ""),
    ("years", "It was $5 million in 2024.", "It was $5 million in 2019.", TEXT, ""),
    ("years in an abstention", "2026 was not found.", "In 2026 it was $5 million.", TEXT, "What was it in 2026?"),
    ("a range of one year", "From 2023 to 2024 it grew.", "From 2024 to 2024 it grew.", f"{TEXT} In 2023 it grew.", ""),
    ("vague quantities", "有数百万用户。", "有数千万用户。", TEXT, ""),
    ("bare one", "这是一些统一的标准。", "这是一百项标准。", TEXT, ""),
    ("soft counts", "There are two reasons.", "There are 2 reasons.", TEXT, ""),
    ("structure of the answer", "Here are 2 points:", "Here are 20 points:", TEXT, ""),
    ("quoted text", "“Revenue was $5 million.”", "“Revenue was $6 million.”", TEXT, ""),
]


@pytest.mark.parametrize(
    ("right", "wrong", "text", "question"), [each[1:] for each in EXEMPTIONS], ids=[each[0] for each in EXEMPTIONS]
)
def test_exemptions(right: str, wrong: str, text: str, question: str) -> None:
    """Each row of the table of exemptions: what is no figure passes, and its abuse does not."""
    assert passes(right, text, question=question)
    assert not passes(wrong, text, question=question)


TRAPS: list[tuple[str, str, str, str]] = [
    ("no NFKC: footnotes", "It shipped 1,234 units.", "It shipped 12,341 units.", "It shipped 1,234¹ units."),
    ("no NFKC: fractions", "It took 2½ years.", "It took 21 years.", "It took 2½ years."),
    ("no NFKC: powers", "There are 100,000 cells.", "There are 105 cells.", "There are 10⁵ cells."),
    ("years beside Chinese", "公司2024年成立。", "公司2023年成立。", "公司2024年成立。"),
    ("full-width commas", "共4,812台。", "共812台。", "共４，８１２台。"),
    ("per share and a caption's scale", "EPS was $1.25 in 2024.", "EPS was $1.25 million in 2024.", INCOME),
    ("currency outside a parenthesis", "The loss was $9.8 million.", "The loss was $9.8.", "A loss: $(9.8) million."),
    ("a note is no negative", "It sold 1,234 units.", "It sold 12,341 units.", "It sold 1,234(1) units."),
    (
        "the words total and ended",
        "Total costs were 90.",
        "Total costs were 40.",
        "| | A |\n|---|---|\n| Costs | 40 |\n| Total costs | 90 |",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "text"), [each[1:] for each in TRAPS], ids=[each[0] for each in TRAPS])
def test_traps(right: str, wrong: str, text: str) -> None:
    """Each trap of the design: the right reading passes and the wrong one does not."""
    assert passes(right, text)
    assert not passes(wrong, text)


def test_trap_currency_of_a_column() -> None:
    """A currency that only the first and the total row print holds for the rows between."""
    table = "| | Cost |\n|---|---|\n| Rent | $1,500 |\n| Travel | 820 |\n| Total | $2,320 |"
    assert passes("Travel was $820.", table)
    assert not passes("Travel was $1,500.", table)


@pytest.mark.parametrize(
    ("policy", "answer", "withheld"),
    [
        (Policy(overrides={"percent": "annotate"}), "Growth was 9%.", 0),
        (Policy(overrides={"percent": "annotate"}), "Sales were $9 million.", 1),
        (Policy(mode="annotate", overrides={"money": "strict"}), "Sales were $9 million.", 1),
        (Policy(mode="annotate", overrides={"money": "strict"}), "Growth was 9%.", 0),
        (Policy(overrides={"periods": "off"}), "Sales rose in 2019.", 0),
        (Policy(overrides={"markers": "annotate"}), "Sales rose [9].", 0),
        (Policy(overrides={"markers": "annotate", "marker": "strict"}), "Sales rose [9].", 1),
    ],
)
def test_overrides_by_kind_and_group(policy: Policy, answer: str, withheld: int) -> None:
    """A kind has its own mode, else its group's, else the policy's."""
    assert checked(answer, "Nothing here.", policy=policy).withheld == withheld


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (Policy(), "Sales were $5 million. [withheld: this figure was not found in the materials]"),
        (Policy(granularity="answer"), "Not found in the materials."),
        (Policy(mode="annotate", granularity="answer"), "Sales were $5 million. Costs were $9 million✗."),
        (Policy(granularity="answer", overrides={"money": "off"}), "Sales were $5 million. Costs were $9 million."),
    ],
)
def test_granularity(policy: Policy, text: str) -> None:
    """By unit only the wrong sentence is replaced; by answer all of it; where nothing is withheld neither."""
    assert (
        checked("Sales were $5 million. Costs were $9 million.", "Sales were $5 million.", policy=policy).text == text
    )


def test_every_supported_figure_names_its_place() -> None:
    """I6: element, page and box for what is printed, rounded, counted, converted or computed."""
    given: dict[str, Any] = source(f"{INCOME}\n\nThe route is 60 miles long.", bbox=[10, 20, 300, 400])
    answer = (
        "Revenue was $4.13 billion in 2024. Revenue grew 16.7% from 2023 to 2024. The route is 60 miles, about 96.6 km."
    )
    figures = [each for each in checked(answer, given).figures if each.kind != "year"]
    assert [each.status for each in figures] == ["rounded", "derived", "exact", "derived"]
    for figure in figures:
        places = figure.derivation.places if figure.derivation else figure.support
        assert places
        assert all(place.page == 8 and place.bbox is not None for place in places)


def test_statuses_of_the_outcome() -> None:
    """The words that the outcome has for right and wrong figures."""
    assert statuses("Revenue was $4.132 billion in 2024.", INCOME)["$4.132 billion"] == "exact"
    assert statuses("The share is 19.52%.", "The share ratio is 0.1952.")["19.52%"] == "converted"
    assert statuses("Sales rose 5%.", "Sales fell 5%.")["5%"] == "contradicted"
    assert statuses("Sales were $4.13 billion.", "Sales were $4.1 billion.")["$4.13 billion"] == "false_precision"
