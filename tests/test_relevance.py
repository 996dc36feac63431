"""Whether a block answers a question: the right thing, currency, time and teller."""

from __future__ import annotations

import pytest

from kb_qa.answers import Context, Hit, Material, Question
from kb_qa.elements import Block, Chunk
from kb_qa.models.extractive import ExtractiveModel
from tests.quoted_blocks import chosen, row


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What was net revenue in 2024?", "Net sales"),
        ("What was the net profit in 2024?", "Net income"),
        ("What is the Cash flow from operations?", "Net cash provided by (used in) operating activities"),
    ],
)
def test_a_row_under_another_name_of_the_same_thing(question: str, label: str) -> None:
    """A report says net sales where it is asked for revenue."""
    right = row(label, "853", "651")
    assert chosen(question, row("Gross profit", "3,365", "2,907"), right) == [right]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What was revenue in 2024?", "Cost of revenue"),
        ("What was revenue?", "Deferred revenue"),
        ("What were total deposits at year-end?", "Total assets"),
        ("What was the gross margin (%)?", "Gross profit"),
        ("What was the number of patents?", "Patent costs"),
    ],
)
def test_a_row_of_another_thing_is_no_answer(question: str, label: str) -> None:
    """A label says a thing in full, and nothing besides."""
    assert chosen(question, row(label, "853", "651")) == []


@pytest.mark.parametrize(
    ("currency", "figures", "answered"),
    [
        ("USD", "$ 8,412", True),
        ("AUD", "$ 8,412", False),
        ("AUD", "A$ 8,412", True),
        ("USD", "A$ 8,412", False),
        ("USD", "€ 8,412", False),
        ("EUR", "€ 8,412", True),
        ("USD", "8,412", False),
    ],
)
def test_the_currency_that_is_asked_for(currency: str, figures: str, answered: bool) -> None:
    """A sign that others share is a US dollar where nothing else is named; it is no other."""
    assert bool(chosen(f"What was net revenue in {currency}?", row("Net sales", figures, "1"))) is answered


def test_a_sale_is_no_sales() -> None:
    """What has the stem of another name of the thing is not that thing."""
    said = "On March 9, 2023, there were 180 holders of record at the last reported sale of our common stock."
    assert chosen("What was the revenue?", said) == []
    assert chosen("What was the revenue?", "Sales were $180 million.") == ["Sales were $180 million."]


def test_a_parents_own_statements_are_passed_by() -> None:
    """Their rows are those of the group only where nothing says whose they are."""
    rows = (row("Net income", "853", "651"), row("Equity in undistributed income of subsidiary", "5", "6"))
    assert chosen("What was net income?", *rows) == []
    assert chosen("What was net income?", rows[0], prefix="Parent company only") == []
    assert chosen("What was net income?", rows[0]) == [rows[0]]


def test_rows_of_earlier_periods_than_the_report() -> None:
    """Without a period in the question, the last one is meant."""
    old = row("Net income", "853", years=("Year ended December 31, 2021",))
    new = row("Staff", "853", "651", years=("Year ended December 31, 2023", "Year ended December 31, 2022"))
    assert chosen("What was net income?", old, new, new) == []
    assert chosen("What was net income in 2021?", old, new, new) == [old]


def test_a_sentence_of_another_year() -> None:
    """The report's own year is not what a sentence tells of that names another."""
    said = "We expect capital expenditure of $310 million in 2025."
    assert chosen("What was capital expenditure in 2024?", said, prefix="Annual Report 2024") == []
    assert chosen("What was capital expenditure in 2025?", said, prefix="Annual Report 2024") == [said]


@pytest.mark.parametrize(
    ("question", "said", "answered"),
    [
        ("Did Acme Ltd announce a share buyback?", "The board approved a share repurchase program.", True),
        ("Did Acme Ltd announce a share buyback?", "We may repurchase shares under a program.", False),
        ("Did Acme Ltd announce a share buyback?", "No share repurchase program was approved.", False),
        ("Did Acme Ltd mention any acquisitions?", "In 2022 we completed the acquisition of Globex.", True),
        ("Did Acme Ltd mention any acquisitions?", "A joint venture closed on the acquisition of a house.", False),
        ("Did Acme Ltd mention any acquisitions?", row("Acquisitions", "48", "22"), False),
    ],
)
def test_whether_something_happened(question: str, said: str, answered: bool) -> None:
    """Only a sentence that says it did, of the one who reports."""
    assert bool(chosen(question, said)) is answered


def test_a_superlative_is_said_by_the_document() -> None:
    """Nothing shows that a figure is the largest but a text that says so."""
    question = "What was the largest spending on executive compensation?"
    assert chosen(question, row("Executive compensation spending", "5", "4")) == []


def test_a_price_is_no_number_of_days() -> None:
    """A question for an amount is not answered by other figures."""
    assert (
        chosen("What is the price of a yearly plan?", "You can return a yearly plan within 14 days at its price.") == []
    )


def test_the_name_may_stand_on_the_cover_alone() -> None:
    """What the document is called names its company."""
    sales = row("Net sales", "8,412", "7,650")
    assert chosen("What were net sales of Globex?", sales) == []
    assert chosen("What were net sales of Globex?", sales, called="Globex annual report") == [sales]


ENDED = "Acme Ltd, year ended 30 June 2022\nBalance as at 30 June 2022"


@pytest.mark.parametrize(
    ("question", "cells", "told"),
    [
        ("Which leadership positions changed at Acme Ltd?", ("Director", "Jane Doe (Appointed on 1 July 2022)"), True),
        ("Which leadership positions changed at Acme Ltd?", ("Director", "Jane Doe (Appointed on 1 July 2012)"), False),
        ("Which leadership positions changed at Acme Ltd?", ("Director", "Jane Doe"), False),
        ("Which leadership positions changed at Acme Ltd in 2021?", ("CFO", "Jane Doe (Appointed May 2021)"), True),
        ("Which leadership positions changed at Acme Ltd in 2021?", ("CFO", "Jane Doe (Appointed May 2022)"), False),
        ("Acme Ltd在2021年有哪些管理层变动？", ("董事", "王明（2021年5月任命）"), True),
        ("Acme Ltd在2021年有哪些管理层变动？", ("董事", "王明（2015年5月任命）"), False),
    ],
)
def test_a_row_tells_who_was_appointed_in_the_year_asked_for(question: str, cells: tuple[str, str], told: bool) -> None:
    """A list of directors answers with those that came in the reported year, or in the one that is named."""
    said = f"Position：{cells[0]} | Name：{cells[1]}"
    assert chosen(question, said, prefix=ENDED) == ([said] if told else [])


@pytest.mark.parametrize(
    ("question", "told", "right"),
    [
        ("What is the handling fee rate?", ("47.31%", "26.79%"), False),
        ("What is the handling fee rate?", ("47.31%", "Those who ship abroad pay it."), True),
        ("What were the marketing costs?", ("Staff costs rest on market prices of shares.",), False),
        ("How many victims were teachers?", ("They found 100 shells and a note that named a victim.",), False),
        ("Who audited the accounts of the fund?", ("The accounts of the fund are published in May.",), False),
        ("Who audited the accounts of the fund?", ("The accounts of the fund were audited by Ms Reed.",), True),
    ],
)
def test_a_sentence_says_what_is_asked_itself(question: str, told: tuple[str, ...], right: bool) -> None:
    """A heading alone says it of one figure only; of a pair both are named; an act is what its doer is asked for."""
    assert chosen(question, *told, prefix="Handling fee rate") == ([told[0]] if right else [])


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How many fund managers were hired?", "Fund managers not hired"),
        ("How many fund managers were hired?", "No fund managers"),
    ],
)
def test_a_row_of_those_who_did_not_is_another(question: str, label: str) -> None:
    """Though all its other words are asked for."""
    right = row("Fund managers hired", "31", "29", unit="")
    assert chosen(question, row(label, "88", "90", unit=""), right) == [right]


def test_what_is_counted_is_no_broken_number() -> None:
    """A table of ratios has the words of the counts beside it; thousands may be broken."""
    ratio = row("Fund managers", "13.5", "14.1", unit="")
    assert chosen("How many fund managers were there in 2024?", ratio, unit="") == []
    assert chosen("How many fund managers were there in 2024?", ratio, unit="(in thousands)") == [ratio]


def test_a_caption_is_no_answer_where_its_rows_are() -> None:
    """It says of what they are; which table it is, is no word of what is asked."""
    prefix = "Table 4-1. Estimated savings by kind"
    idle = "Idling less | Low：0.5% | High：10%"
    told = ("Table 4-1.", "Estimated savings by kind", idle, "Braking less | Low：1% | High：3%")
    assert chosen("What does Table 4-1 say of idling?", *told, prefix=prefix) == [idle]


def test_a_sentence_in_a_cell_answers_whatever_its_row_is_called() -> None:
    """A table of texts: all that is asked stands in one of them."""
    text = "Item：Books and supplies | Description：By one survey the mean price of textbooks was $1,122 in 2010."
    assert chosen("What was the price of textbooks?", text) == [text]
    assert chosen("What was the price of laboratory textbooks?", text) == []


def test_another_thing_than_the_document_is_named_in_the_passage() -> None:
    """A document tells of many agencies; what one of them did is no answer for another."""
    told = "The customs service opened 1,212 fraud inquiries in 2011."
    texts = {"c1": told, "c2": "The NFTA opened an office in May."}
    chunks = [
        Chunk(name, "d", 1, "a.pdf", 0, (Block(name, "e", text, 0, len(text), labelled=text),), "text", "Text")
        for name, text in texts.items()
    ]
    materials = tuple(Material(at, Hit(chunk, {"fused": 1.0}), "a.pdf") for at, chunk in enumerate(chunks, 1))
    question = Question("How many fraud inquiries did the NFTA open in 2011?", "en")

    def answered(called: str) -> int:
        return len(ExtractiveModel().choose(question, Context(materials, "", "", called={"d": (called,)})))

    assert answered("Annual report on fraud") == 0
    assert answered("In 2010 inquiries by the NFTA rose by more than 44 percent over 2009.") == 0
    assert answered("Annual report of the NFTA") == 1


def test_a_sentence_is_of_the_year_of_its_passage() -> None:
    """Where that tells of one year alone."""
    told = "About 12 million people needed a carer."
    question = "How many people needed a carer in 2010?"
    assert chosen(question, "In 2010 the survey was taken.", told) == [told]
    assert chosen(question, "It was taken in 2010, after one in 2005.", told) == []


def test_a_column_of_the_reports_own_period() -> None:
    """`本报告期` is the quarter that the whole report is of, and no other."""
    quarter = "项目：营业收入 | 本报告期：475.11 | 上年同期：569.22"
    asked = "2018年第一季度的营业收入是多少？"
    assert chosen(asked, quarter, called="某某公司2018年第一季度报告") == [quarter]
    assert chosen(asked, quarter, called="某某公司2019年第一季度报告") == []


def test_what_stands_in_a_column_that_is_left_out_is_not_said() -> None:
    """The row has the words of all its headers; the answer only those of its columns."""
    table = (
        "System：Norway | School rate before exchange：57 | School rate after exchange：83 | Overall answer quota：71"
    )
    told = "The overall school rate for Norway, 76.6 percent without exchange, meets the rule."
    assert chosen("What was the overall school rate for Norway without exchange?", table, told) == [told]


def test_a_day_stands_in_the_sentence_that_is_asked_about() -> None:
    """A passage of several sentences may tell the time of another thing."""
    other = "The portal was launched. A guide for editors will follow by early 2012."
    assert chosen("When was the portal launched?", other) == []
    right = "The portal was launched by the U.S. Treasury in May 2009. A guide will follow."
    assert chosen("When was the portal launched?", other, right) == [right]


def test_columns_of_one_name_and_two_figures_are_no_answer() -> None:
    """The heading that told them apart is lost."""
    twice = "Age：80+ | Owners / no.：3,542 | Owners / no.：2,949"
    assert chosen("How many owners were aged 80+?", twice, unit="") == []
    assert chosen("How many owners were aged 80+?", twice.replace("Owners / no.：2,949", "Rent：9"), unit="")


def test_a_table_whose_caption_names_something_else() -> None:
    """The title of the whole document names both; another table there is captioned with what is asked for."""
    rows = {"Unfit": "Region：South | Unfit homes / no.：88", "Damp": "Region：North | homes / no.：31"}
    chunks = [
        Chunk(
            *(f"c{at}", "d", 1, "a.pdf", 0),
            *((Block(f"b{at}", f"e{at}", f"North: {kind}", 0, 11, labelled=said),), "table", "Table"),
            section=("Unfit and damp homes",),
            prefix=f"Unfit and damp homes\nTable {at}. {kind} homes by region",
        )
        for at, (kind, said) in enumerate(rows.items(), 1)
    ]
    materials = tuple(Material(at, Hit(chunk, {"fused": 1.0}), "a.pdf") for at, chunk in enumerate(chunks, 1))
    context, model = Context(materials, "", ""), ExtractiveModel()
    assert model.choose(Question("How many unfit homes are there in the North?", "en"), context) == ()
    assert model.choose(Question("How many damp homes are there in the North?", "en"), context)[0].block.id == "b2"


def test_the_year_of_a_book_is_no_period_of_what_is_told() -> None:
    """A reference in brackets names its author before the year."""
    question = "What was the total population in 1995?"
    assert chosen(question, "The population of 20 towns is weighted by a program (Shah 1995).") == []
    right = "The total population was 20 million (March 1995)."
    assert chosen(question, right) == [right]
