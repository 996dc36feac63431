"""Facts: what is read from an element, with labels, periods, scale, currency and their sources."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb_qa.elements import Cell, Element, Measure, ScaleSource, Table
from kb_qa.geometry import BBox, Region
from kb_qa.guardrails.facts import Fact, facts_of
from kb_qa.guardrails.materials import materials_of, source_elements
from kb_qa.guardrails.pipe_tables import elements_of
from tests.figure_cases import INCOME, PROFIT


def table_facts(text: str, *around: str) -> dict[str, Fact]:
    """The facts of the first element by their print."""
    element = elements_of("s1", text, page=3)[0]
    return {fact.printed: fact for fact in facts_of(element, around=around) if fact.body}


def value(fact: Fact) -> str:
    return fact.quantity.shown_value


@pytest.mark.parametrize(
    ("caption", "expected", "source"),
    [
        ("Revenue (USD in millions)", "4132000000", "in millions"),
        ("Revenue, expressed in thousands of U.S. dollars", "4132000", "in thousands"),
        ("RMB'000", "4132000", "RMB'000"),
        ("单位：万元", "41320000", "单位：万"),
        ("单位：人民币百万元", "4132000000", "单位：人民币百万"),
        ("(€ in billions)", "4132000000000", "in billions"),
        ("Revenue per year", "4132", ""),
    ],
)
def test_a_caption_gives_the_scale_and_says_where(caption: str, expected: str, source: str) -> None:
    """The power of ten of a caption or unit line applies to the cells, and is traced."""
    fact = table_facts(f"{caption}\n| | 2024 | 2023 |\n|---|---|---|\n| Revenue | 4,132 | 3,541 |")["4,132"]
    assert value(fact) == expected
    assert source in fact.scale_source


def test_the_nearest_statement_wins() -> None:
    """Cell, column, row, section, caption, text around: in this order."""
    text = (
        "(in millions)\n| | 2024 | 2023 (thousands) |\n|---|---|---|\n| Sales | 1,111 | 2,222 |\n"
        "| Shares (thousands) | 3,333 | 4,444 |\n| Grant | $5 billion | 6 |"
    )
    facts = table_facts(text, "All figures in billions.")
    assert value(facts["1,111"]) == "1111000000"
    assert value(facts["2,222"]) == "2222000"
    assert value(facts["3,333"]) == "3333000"
    assert value(facts["$5 billion"]) == "5000000000"
    assert (
        value(table_facts("| | 2024 |\n|---|---|\n| Sales | 7,777 |", "Amounts in billions.")["7,777"])
        == "7777000000000"
    )


@pytest.mark.parametrize(
    "label", ["Earnings per share", "每股收益", "Margin ratio", "Average employees", "Gross margin %"]
)
def test_some_rows_take_no_inherited_scale(label: str) -> None:
    """Per share, ratios, head counts and percentages are as printed."""
    fact = table_facts(f"(in thousands, except per share data)\n| | 2024 |\n|---|---|\n| {label} | 12.5 |")["12.5"]
    assert value(fact) == "12.5"


def test_percent_of_a_header_or_a_column() -> None:
    """A header's % and a column's first % hold for plain numbers, and not beside a currency."""
    text = "| | 2024 | Change (%) |\n|---|---|---|\n| Sales | $90 | 12.5 |\n| Costs | 70 | 3.1 |"
    facts = table_facts(text)
    assert [facts[each].quantity.kind for each in ("$90", "12.5", "3.1", "70")] == [
        "money",
        "percent",
        "percent",
        "number",
    ]
    column = table_facts("| | 2024 |\n|---|---|\n| Sales | 100.0% |\n| Costs | 40.5 |")
    assert column["40.5"].quantity.kind == "percent"


def test_labels_periods_and_sections() -> None:
    """Row and column paths, the section row above, and periods composed of row and column."""
    text = (
        "| | 2024 | 2023 |\n|---|---|---|\n| Overseas tax: | | |\n| Current year | 1,098 | 1,055 |\n| Q3 | 5.5 | 6.5 |"
    )
    facts = table_facts(text)
    assert facts["1,098"].row == "Current year"
    assert "overseas" in facts["1,098"].context
    assert facts["1,098"].periods == (frozenset({"y2024"}),)
    assert facts["6.5"].periods == (frozenset({"y2023", "Q3"}),)


def test_header_rows_of_several_lines_and_spans() -> None:
    """A period over a span of columns is in the path of each of them, and footnote marks do not hide a year."""
    text = "| | 2019 | | 2018 (4) | |\n|---|---|---|---|---|\n| | Men | Women | Men | Women |\n"
    text += "| Age | 86.8 | 88.9 | 87.3 | 89.3 |"
    facts = table_facts(text)
    assert facts["88.9"].column == "2019 Women"
    assert facts["87.3"].periods == (frozenset({"y2018"}),)


def test_a_parsed_table_keeps_boxes_and_its_stored_scale() -> None:
    """An element of ingest: header paths as stored, cell boxes, and the scale with its source."""
    box = BBox(10, 20, 60, 30)
    header = Cell(0, 1, 1, 1, "2024", 2, BBox(10, 5, 60, 15), header=True)
    cell = Cell(1, 1, 1, 1, "4,132", 2, box, row_headers=("Revenue",), column_headers=("2024",))
    table = Table((header, cell), scale=6, unit="USD", scale_source=ScaleSource("USD in millions", None))
    element = Element("e1", "d1", 0, "table", "Table", "", (Region(2, BBox(0, 0, 99, 99)),), table=table)
    (fact,) = [each for each in facts_of(element) if each.body]
    assert (value(fact), fact.bbox, fact.page, fact.cell) == ("4132000000", box, 2, (1, 1))
    assert (fact.scale_source, fact.quantity.currency) == ("USD in millions", "USD")


def test_the_document_decides_what_a_point_means() -> None:
    """By majority of the unambiguous; where nothing speaks, `1.234` keeps both readings, and `1,234` groups."""

    def readings(text: str) -> set[str]:
        materials = materials_of(source_elements([{"text": text}]))
        return {str(each) for fact in materials.facts for each in fact.quantity.readings}

    assert readings("a 1.234") == {"1.234", "1234"}
    assert readings("a 1.234, b 2.345.678,90, c 3,5 %") == set()
    assert readings("a 1,234") == set()


def test_the_ledger_names_every_figure() -> None:
    """F-numbers in the order of the sources, with page, labels, print and scale."""
    lines = materials_of(source_elements([{"text": INCOME, "page": 8}, {"text": PROFIT, "page": 9}])).ledger_lines()
    assert lines[0] == "F1 | p.8 | Revenue | 2024 | 4,132 | USD 10^6"
    assert any("营业收入 | 2024年 | 413,200 | CNY 10^4" in line for line in lines)


def test_text_facts_have_their_own_words_and_direction() -> None:
    """A clause's words, the periods of the sentence, and whether it is a change."""
    (element,) = elements_of("s1", "In 2024 sales rose 12% to $5 million, and costs were $3 million.")
    facts = {fact.printed: fact for fact in facts_of(element)}
    assert facts["12%"].direction.change
    assert facts["12%"].direction.sign == 1
    assert not facts["$5 million"].direction.change
    assert facts["$3 million"].labels == {"cost"}
    assert facts["$3 million"].periods == (frozenset({"y2024"}),)


def measured(measure: Measure | None, *, text: str = "4,132", label: str = "Revenue") -> Fact:
    """The fact of one body cell of a parsed table whose cells refer to measures."""
    header = Cell(0, 1, 1, 1, "2024", 1, None, header=True)
    cell = Cell(1, 1, 1, 1, text, 1, None, row_headers=(label,), column_headers=("2024",))
    other = Measure(3, "EUR", "page", ScaleSource("in thousands of euros", None))
    table = Table((header, replace(cell, measure=None if measure is None else 1)), measures=(other, measure or other))
    element = Element("e1", "d1", 0, "table", "Table", "", table=table)
    (fact,) = [each for each in facts_of(element, around=("in billions of USD",)) if each.body]
    return fact


def test_a_parsed_cell_is_counted_in_what_its_measure_says() -> None:
    """Scale, currency and their words come from the cell's own measure, whatever stands around the table."""
    words, sign = ScaleSource("USD in millions", None), ScaleSource("$4,132", None)
    fact = measured(Measure(6, "USD", "caption", words, unit_source=sign))
    assert (value(fact), fact.quantity.currency) == ("4132000000", "USD")
    assert (fact.scale_source, fact.currency_source) == ("USD in millions", "$4,132")


def test_a_cell_that_prints_its_scale_is_not_scaled_again() -> None:
    """A measure of scope `cell` is what the cell itself prints."""
    assert value(measured(Measure(6, "", "cell", ScaleSource("4 million", None)), text="4 million")) == "4000000"


def test_a_cell_without_measure_takes_no_scale() -> None:
    """Exempt cells (a ratio, a headcount) have none, though the table at large has one."""
    fact = measured(None, label="Employees")
    assert (value(fact), fact.quantity.scale) == ("4132", 0)


def test_two_scales_equally_near_are_ambiguous() -> None:
    """An ambiguous measure marks the fact, and it matches nothing."""
    assert measured(Measure(6, "", "caption", ScaleSource("in millions", None), ambiguous=True)).ambiguous


def test_what_heads_a_row_counts_nothing() -> None:
    """`Aged 21 to 64` names its row; no figure of the row competes with it for its words."""
    places = [(0, 0, "Group", ()), (0, 1, "2020", ()), (1, 0, "Aged 21 to 64", ()), (1, 1, "177", ("Aged 21 to 64",))]
    text, cells = "", []
    for row, column, said, heads in places:
        above = () if row == 0 else ("2020" if column else "Group",)
        span = (len(text), len(text) + len(said))
        cells.append(
            Cell(row, column, 1, 1, said, None, None, heads, above, header=row == 0, start=span[0], end=span[1])
        )
        text += f"{said}\n"
    element = replace(elements_of("s1", "a")[0], text=text, table=Table(tuple(cells)))
    found = {fact.printed: fact.body for fact in facts_of(element)}
    assert found["177"]
    assert not found["21 to 64"]
