"""What a question names beside the company of a report, and the part, measure and form that it asks for."""

from __future__ import annotations

import pytest

from kb_qa.answers import Context, Hit, Material, Question
from kb_qa.elements import Block, Chunk
from kb_qa.extraction.request import request_of
from kb_qa.extraction.rows import said_row
from kb_qa.extraction.scales import stated
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quotations import is_row_quotation
from kb_qa.models.extractive import ExtractiveModel
from tests.quoted_blocks import chosen, row

EPSON = "Seiko Epson Corporation"
REVENUE, CHINA = row("Revenue", "1,128", "995"), row("China", "171", "144")


def test_a_place_that_is_named_beside_the_company_must_be_told() -> None:
    """All of the company's revenue is no answer where that from one country is asked for."""
    question = "What was Seiko Epson's revenue from China in 2024?"
    assert chosen(question, REVENUE, called=EPSON) == []
    assert chosen(question, REVENUE, CHINA, called=EPSON, prefix="Revenue by location") == [CHINA]
    assert chosen("What was Seiko Epson's revenue in 2024?", REVENUE, CHINA, called=EPSON) == [REVENUE]


def test_the_part_that_is_named_may_stand_under_segments() -> None:
    """Only who asks for no part at all is kept from the figures of one."""
    heading = "Segment information > External revenue"
    assert chosen("What was Seiko Epson's revenue from China in 2024?", CHINA, called=EPSON, prefix=heading) == [CHINA]
    assert chosen("What was Seiko Epson's revenue in 2024?", REVENUE, called=EPSON, prefix=heading) == []


def test_a_row_is_outdone_by_one_of_its_table_that_names_more() -> None:
    """The right row counts no day that was asked for, so that nothing is answered: the cost is no depreciation."""
    cost = "Item：Cost | Vehicles 2024：258"
    charge = "Item：Depreciation expense | Vehicles 2024：(61)"
    question = "What was the depreciation expense on vehicles in 2024?"
    assert chosen(question, cost, charge) == [charge]
    undated = "Item：Depreciation expense | Vehicles：n/a"
    assert chosen(question, cost, undated) == []


def test_a_deduction_may_be_negative_whatever_else_is_named() -> None:
    """`Assets` in the question do not make the depreciation of them one that is never below nothing."""
    charge = row("Depreciation expense", "(61)", "(58)")
    assert chosen("What was the depreciation expense on leased assets in 2024?", charge, prefix="Leased assets") == [
        charge
    ]


def statement(heading: str, number: int, figure: str) -> Material:
    text = f"Total equity | 2024：{figure}"
    block = Block(f"b{number}", f"e{number}", text.replace("2024：", ""), 0, len(text) - 5, labelled=text)
    chunk = Chunk(f"c{number}", "d", number, "a.pdf", 0, (block,), "table", "table", prefix=heading)
    return Material(number, Hit(chunk, {"fused": 1.0}), "a.pdf")


def equity(*headings: str) -> list[str]:
    figures = ("6,897", "7,164")
    materials = tuple(statement(heading, number, figures[number - 1]) for number, heading in enumerate(headings, 1))
    asked = Question("What was total equity in 2024?", "en")
    return [each.block.labelled for each in ExtractiveModel().choose(asked, Context(materials, "", ""))]


def test_the_company_alone_is_not_the_group() -> None:
    """Where the statements of the group are there, those of the company alone do not answer, however they rank."""
    group = "Consolidated Statement of Financial Position"
    assert equity("Company Statement of Financial Position", group) == ["Total equity | 2024：7,164"]
    assert equity("Company Statement of Financial Position") == ["Total equity | 2024：6,897"]


def test_of_sentences_that_say_the_same_words_the_one_that_says_them_together_answers() -> None:
    lenders = "The lenders committed to provide an aggregate of up to $85.0 million under the facility."
    total = "The aggregate commitments of the lenders under the facility equal $500.0 million."
    question = "How much are the aggregate commitments of the lenders under the facility?"
    assert chosen_prose(question, lenders, total) == [total]


def chosen_prose(question: str, *sentences: str) -> list[str]:
    blocks = tuple(Block(f"b{at}", "e", text, 0, len(text)) for at, text in enumerate(sentences))
    chunk = Chunk("c", "d", 1, "a.pdf", 0, blocks, "text", "text", prefix="Facility")
    material = Material(1, Hit(chunk, {"fused": 1.0}), "a.pdf")
    return [
        each.block.text for each in ExtractiveModel().choose(Question(question, "en"), Context((material,), "", ""))
    ]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("How much rent did we pay in 2024?", "In 2024 we paid rent of $333,000."),
        ("How many acres did we sell in 2024?", "In 2024 we sold 420 acres."),
        ("How many vehicles did we buy in 2024?", "In 2024 we bought 17 vehicles."),
    ],
)
def test_past_forms_are_those_of_their_verbs(question: str, sentence: str) -> None:
    other = "In 2024 rent was discussed twice, and 12 acres and vehicles were looked at."
    assert chosen_prose(question, other, sentence) == [sentence]


def test_what_leads_to_a_question_is_no_part_of_its_matter() -> None:
    said = [notion.said for notion in request_of("Over how many years are buildings depreciated?").topic]
    assert said == ["build", "depreci"]
    asked = request_of("What was revenue in the year ended March 31, 2022?")
    assert [notion.said for notion in asked.topic] == ["revenu"]


def test_a_yield_is_a_percentage_and_a_return_on_average_equity_no_average() -> None:
    assert request_of("What was the yield on loans in 2022?").wants_percent
    asked = request_of("What was the return on average equity in 2022?")
    assert asked.wants_percent and not asked.arithmetic
    assert request_of("What was the average revenue of 2021 and 2022?").arithmetic == "average"


def test_of_a_sentence_about_units_a_row_says_what_states_them() -> None:
    pairs = (("", "Lease liabilities"), ("2022", "27,117"))
    long = "The units are in millions of yen unless otherwise noted, and figures less than one million yen are rounded."
    assert said_row(pairs, long, chinese=False).endswith("27,117 (The units are in millions of yen)")
    long = "(RMB and US$ in thousands, except for share data and per share data, or otherwise noted)"
    assert said_row(pairs, long, chinese=False).endswith("27,117 (RMB and US$ in thousands)")
    assert said_row(pairs, "(in thousands)", chinese=False).endswith("27,117 (in thousands)")


def test_a_row_with_a_part_of_its_unit_line_is_quoted() -> None:
    """The part must say the unit: any other words of the line do not make a quotation."""
    labelled = "Lease liabilities | 2022：27,117 | The units are in millions of yen unless noted, rounded down."
    block = Block("b", "e", "Lease liabilities | 27,117", 0, 26, labelled=labelled)
    assert is_row_quotation("Lease liabilities; 2022: 27,117 (The units are in millions of yen)", block) == (True, True)
    assert is_row_quotation("Lease liabilities; 2022: 27,117 (rounded down)", block)[0] is False


def test_thousands_are_said_in_chinese_of_a_currency_alone() -> None:
    said = [("", "Total assets"), ("2022", "7,241")]
    scales = {("Totalassets", "7,241"): (3, "GBP")}
    assert stated(said, scales, chinese=True)[1] == ("2022", "7,241千英镑")
    assert stated(said, {("Totalassets", "7,241"): (3, "")}, chinese=True)[1] == ("2022", "7,241 thousand")


def test_a_negative_number_among_the_cells_of_a_said_row_is_negative() -> None:
    said = "Return on equity; Lending: (165.21); Other: (5.75) (in thousands)"
    assert [(each.raw, each.sign) for each in lex(said) if each.kind == "number"] == [("(165.21)", -1), ("(5.75)", -1)]
    assert [each.sign for each in lex("as follows: (1) loans; (2) deposits") if each.kind == "number"] == [0, 0]


def test_the_unit_in_a_columns_header_is_no_figure() -> None:
    said = "Lease liabilities; Millions of yen / March 31, / 2022: 27,117"
    assert [each.raw for each in lex(said) if each.kind == "count"] == []
    assert [each.raw for each in lex("They lost millions of yen.") if each.kind == "count"] == ["millions"]


def test_where_something_is_so_must_be_told_of_whatever_else_is_named() -> None:
    """The employees of a subsidiary are not those that it has in a country."""
    works = "Company：Tohoku Epson | Employees：2,165"
    assert chosen("How many employees does Tohoku Epson have?", works) == [works]
    assert chosen("How many employees does Tohoku Epson have in Brazil?", works) == []


def test_a_row_without_a_year_is_of_none_of_several() -> None:
    """`Changes in equity for 2024 and 2023` does not say of which year a row is."""
    row_of = "Amortization of stock-based compensation | Total：3,562"
    question = "What was the amortization of stock-based compensation in 2023?"
    assert chosen(question, row_of, prefix="Changes in equity for the years ended 2024 and 2023") == []
    assert chosen(question, row_of, prefix="Changes in equity for the year ended 2023") == [row_of]


def test_what_is_counted_is_the_noun_and_not_what_describes_it() -> None:
    holders = "The 20 largest shareholders of ordinary fully paid shares hold most of them."
    shares = "There are 675 ordinary shares."
    assert chosen_prose("How many ordinary shares are there?", holders) == []
    assert chosen_prose("How many ordinary shares are there?", holders, shares) == [shares]


def test_the_name_of_the_report_in_the_label_of_one_row_does_not_weigh_on_the_others() -> None:
    owners = row("Loss attributable to owners of Structural Monitoring Systems Plc", "(3,400)", "(1,900)")
    profit = row("Gross profit", "7,826", "7,082")
    question = "What was the gross profit of Structural Monitoring Systems in 2024?"
    assert chosen(question, owners, profit, called="Structural Monitoring Systems Plc") == [profit]
