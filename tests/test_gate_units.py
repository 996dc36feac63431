"""The check of one unit, and the units an answer is cut into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.answers import BlockCitation, TextDelta
from kb_qa.guardrails.languages import language_of, language_tag_of
from kb_qa.guardrails.messages import refusal_text, withheld_text
from kb_qa.guardrails.names import is_printed
from kb_qa.guardrails.outcome import SUPPORTED
from kb_qa.guardrails.units import split_units
from tests.gate_answers import BOX, STOP, all_fed, gate_over, passes, settled, source, statuses


def items(count: int) -> str:
    """A list of so many items that say nothing of a figure."""
    return "".join(f"{number}. Good.\n" for number in range(1, count + 1))


def test_a_supported_figure_names_its_spot() -> None:
    """A printed figure is released with element, page, box and the printed string."""
    unit = settled("Revenue was $4,132 million [1].", source("Total revenue was $4,132 million."))
    assert not unit.withheld
    (support,) = unit.figures[0].support
    assert (support.element, support.document, support.page, support.bbox) == ("e0", "d0", 8, BOX)
    assert support.printed == "$4,132 million"


def test_an_unsupported_figure_withholds_the_unit_in_the_questions_language() -> None:
    """The sentence goes, its list number and line end stay."""
    unit = settled("2. 员工4,913人。\n", source("员工21,870人"), question="多少人？", before="1. 良好。\n")
    assert unit.withheld
    assert unit.instead == f"2. {withheld_text('zh')}\n"


def test_no_evidence_no_figure() -> None:
    """A unit that cites nothing asserts no figure."""
    assert not passes("Revenue was 5.")
    assert passes("Revenue was good.")


@pytest.mark.parametrize(
    ("claim", "printed", "released"),
    [
        ("$1200", "$1,200", True),
        ("12.0%", "12%", True),
        ("1,000,000", "1\u00a0000\u00a0000", True),
        ("41.32亿元", "413,200万元", True),
        ("3.2亿元", "三亿二千万元", True),
        ("3.02亿元", "三亿二千万元", False),
        ("1,800万", "一千八百万", True),
        ("22,000 customers", "twenty-two thousand customers", True),
        ("1.5 percentage points", "150 basis points", True),
        ("三成", "30%", True),
        ("1.8%", "1.8 percentage points", False),
        ("US$3.5 million", "HK$3.5 million", False),
        ("US$3.5 million", "$3.5 million", True),
        ("$5", "5", False),
        ("5", "$5", True),
        ("41.32万元", "41.32亿元", False),
        ("4.1 billion", "4,132 million", True),
        ("4,132", "4,l32", False),
        ("1,234", "1,234¹", True),
        ("1.25%", "12.5%", False),
        ("1,250人", "1,250件", False),
        ("10–12 million", "10-12 million", True),
        ("10 million", "10–12 million", False),
        ("more than 5 km", "5 km", False),
        ("at least 5 km", "5 km", True),
        ("5 km", "more than 5 km", True),
        ("March 31, 2025", "31 March 2025", True),
        ("March 13, 2025", "31 March 2025", False),
        ("March 2025", "31 March 2025", True),
        ("31 March 2025", "March 2025", False),
        ("in 2024", "2024年", True),
        ("in 2024", "FY24", True),
        ("in 2025", "2024", False),
        ("SKU-48213", "SKU 48213", True),
        ("SKU-48214", "SKU-48213", False),
        ("A32", "A320", False),
        ("section 4.2", "section 4.2.1", False),
        ("ISO 9001:2015", "ISO 9001:2015", True),
    ],
)
def test_printed_or_withheld(claim: str, printed: str, released: bool) -> None:
    """The very value of the same kind, unit and currency is printed in what is cited, or the unit is withheld."""
    assert passes(f"The note says {claim}.", source(f"The note is {printed}.")) is released


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("100 benchmarks arrived.", "100"),
        ("There are three hundred datasets.", "three hundred"),
        ("It has a dozen plants.", "a dozen"),
        ("It is half of sales.", "half"),
        ("Sales doubled.", "doubled"),
        ("Millions of users came.", "Millions"),
    ],
)
def test_no_small_number_slips_through_d8(text: str, raw: str) -> None:
    """Case D8: digits, words and doublings all need support."""
    assert statuses(text, source("Nothing is counted here."))[raw] == "unsupported"


def test_structural_counts_pass_unless_contradicted_d8() -> None:
    """Case D8: "two reasons" structures the answer; "four segments" against a source's three is refused."""
    assert passes("There are two reasons.", source("Some text."))
    assert not passes("It has four segments.", source("The group has three segments."))


def test_references_and_markers_pass_and_one_invented_figure_is_named_d7() -> None:
    """Case D7: list numbers, markers, sections, quarters, standards, versions, pages are not refused; 4,913 is."""
    text = "1. Section 4.5 and ISO 9001, Python 3.11, Covid-19, the 52-week high of Q3 2024, page 12 [1] [p.3] P4·表格."
    said = source("Section 4.5 covers ISO 9001, Python 3.11 and Covid-19; 52-week high in Q3 2024, see page 12.")
    assert passes(text, said)
    invented = text.replace("page 12", "page 12 and 4,913 units")
    assert [raw for raw, status in statuses(invented, said).items() if status not in SUPPORTED] == ["4,913"]


def test_citation_markers_stay_within_the_materials() -> None:
    """`[1]` of one material is a marker; `[812] million` and `[9]` are not."""
    said = source("Revenue was good.")
    assert passes("It was good [1].", said)
    assert not passes("It was good [9].", said)
    assert statuses("Profit was [812] million.", said)["812"] == "unsupported"


def test_list_numbers_are_consecutive_where_the_caller_counts() -> None:
    """`42.` in front of a sentence is no list number after item 1."""
    said = source("Nothing.")
    assert passes("2. Nothing.", said, before=items(1))
    assert not passes("42. Nothing.", said, before=items(1))


def test_the_question_is_no_evidence() -> None:
    """A figure of the question passes only where it is negated, or nothing was found."""
    said = source("Revenue grew 12% in 2024.")
    question = "Is it true that revenue grew 30% in 2024?"
    assert not passes("Yes, revenue grew 30% in 2024.", said, question=question)
    assert passes("No: growth was 12% in 2024, not 30%.", said, question=question)
    assert passes("The 2026 revenue was not found in the materials.", said, question="What was revenue in 2026?")
    assert passes("材料中未找到2026年的营业收入信息。", said, question="2026年营业收入是多少？")
    assert not passes("The 2027 revenue was not found.", said, question="What was revenue in 2026?")


@pytest.mark.parametrize("text", ["It was ㊀.", "It was \u202e2314\u202c.", "It was 𐄇."])
def test_what_the_lexer_cannot_read_is_withheld(text: str) -> None:
    """Invariant I2: a numeral without a reading, or shown in another order than written, is unparsed."""
    unit = settled(text, source(text))
    assert unit.withheld
    assert "unparsed" in {figure.status for figure in unit.figures}


class BrokenFacts(tuple[Any, ...]):
    """Facts that cannot be read."""

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("unreadable")


def test_an_error_withholds_the_unit(caplog: pytest.LogCaptureFixture) -> None:
    """Invariant I1: an exception is logged and never a release."""
    gate = gate_over([source("It was 5.")])
    gate.materials = replace(gate.materials, facts=BrokenFacts())
    (unit,) = all_fed(gate, [TextDelta("It was 5."), BlockCitation(1, 0), STOP])
    assert unit.withheld
    assert "withheld" in caplog.text


def test_headers_name_periods_and_units_of_a_row() -> None:
    """A table row is read with its column headers and headings: `2024年：413,200`, `（元）`."""
    row = source("", labelled="项目：营业收入 | 2024年：413,200", context="2023年至2024年（件）")
    assert passes("2024年营业收入为413,200件。", row)
    assert not passes("2022年营业收入为413,200件。", row)
    assert passes("P5的基本工资为22,000元。", source("", labelled="职级：P5 | 基本工资（元）：22000"))
    assert not passes("收入为22,000元。", source("", labelled="项目：收入 | 金额（万元）：22000"))


def test_a_figure_of_the_headings_supports_no_claim() -> None:
    """Captions and headings name periods and units; a figure is printed in the block itself."""
    assert not passes("It has 37 units.", source("It has units.", context="Store 37 of the list"))


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("P9", "ｐ９ 薪资", True),
        ("P9", "P90", False),
        ("SKU-1", "sku1", True),
        ("4.2", "4.2.1", False),
        ("", "a", False),
    ],
)
def test_is_printed(phrase: str, text: str, expected: bool) -> None:
    """Codes match whole, whatever their width, case, spaces and hyphens."""
    assert is_printed(phrase, text) is expected


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("It was $4.1 billion [1]. Apple Inc. grew.", ["It was $4.1 billion [1]. ", "Apple Inc. grew."]),
        ("1. 收入41.32亿元[1]。\n2. 员工【2】。", ["1. 收入41.32亿元[1]。\n", "2. 员工【2】。"]),
        ("“增长3.5%！”[2] 下一句；再一句", ["“增长3.5%！”[2] ", "下一句；", "再一句"]),
        ("| a | 1 |\n| b | 2 |\n- item", ["| a | 1 |\n", "| b | 2 |\n", "- item"]),
        ("See No. 5, e.g. U.S. sales. Done", ["See No. 5, e.g. U.S. sales. ", "Done"]),
        ("Is it? Yes! 【材料1】Good", ["Is it? ", "Yes! 【材料1】", "Good"]),
        ("", []),
    ],
)
def test_units(text: str, units: list[str]) -> None:
    """Sentences, items and rows; never inside a number, after an abbreviation or a list number."""
    assert [text[start:end] for start, end in split_units(text)] == units


@given(st.text(alphabet='a1. 。！?\n[]()“”；【】"-|元', max_size=60))
def test_units_are_lossless(text: str) -> None:
    """The units are the whole text, in order, and none is empty."""
    spans = split_units(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@pytest.mark.parametrize(
    ("question", "language", "tag"),
    [
        ("What was revenue?", "en", "en"),
        ("营业收入是多少？", "zh", "zh-Hans"),
        ("營業收入是多少？", "zh", "zh-Hant"),
        ("P9 的基本工资是多少？", "zh", "zh-Hans"),
        ("What does 合同 mean in this agreement between the parties?", "en", "en"),
        ("売上高はいくらですか", "en", "ja"),
        ("매출은 얼마입니까", "en", "ko"),
        ("", "en", "en"),
    ],
)
def test_language_of_the_question(question: str, language: str, tag: str) -> None:
    """The answer is in the question's language; the message texts know more of them."""
    assert language_tag_of(question) == tag
    assert language != "zh" or language_of(question) == "zh"
    assert language != "en" or tag in {"ja", "ko"} or language_of(question) == "en"


def test_messages_have_eight_languages() -> None:
    """Every language has its own two texts; an unknown one gets English."""
    tags = ["zh-Hans", "zh-Hant", "en", "ja", "ko", "de", "fr", "es"]
    assert len({refusal_text(tag) for tag in tags}) == len({withheld_text(tag) for tag in tags}) == 8
    assert refusal_text("zh") == refusal_text("zh-CN") == "材料中未找到相关信息。"
    assert refusal_text("zh-TW") == refusal_text("zh-Hant")
    assert refusal_text("xx") == "Not found in the materials."


@pytest.mark.parametrize(
    ("claim", "printed", "released"),
    [
        ("Revenue was $4,132 million.", "Revenue was $4.132 million.", False),
        ("Revenue was $4.132 million.", "Revenue was $4.132 million.", True),
        ("Revenue was $4.132 million.", "Total revenue $4.132 million", True),
        ("Revenue was $4,132 million.", "Total revenue $4,132 million", True),
        ("Umsatz: 4,132 million.", "Der Umsatz betrug im Jahr 4.132 million und ist", True),
        ("Umsatz: 4.132 million.", "Der Umsatz betrug im Jahr 4.132 million und ist", False),
        ("Der Umsatz betrug im Jahr 4.132 million.", "Der Umsatz betrug im Jahr 4.132 million.", True),
        ("收入为413.200万元。", "收入413,200万元", False),
    ],
)
def test_separators_are_read_as_the_block_prints_them(claim: str, printed: str, released: bool) -> None:
    """Without a stored locale the block's words decide; where they do not, both print the same separators."""
    assert passes(claim, source(printed)) is released


@pytest.mark.parametrize(
    ("claim", "row", "released"),
    [
        ("年假22000天。", "年假（天）：15 | 工资（元）：22000", False),
        ("年假15元。", "年假（天）：15 | 工资（元）：22000", False),
        ("有15人。", "年假（天）：15 | 工资（元）：22000", False),
        ("年假15天，工资22000元。", "年假（天）：15 | 工资（元）：22000", True),
        ("It grew 15%.", "Headcount：15 | Growth (%)：20", False),
        ("It grew 20%.", "Headcount：15 | Growth (%)：20", True),
        ("Sales were EUR 15.", "Sales (USD)：15 | Cost (EUR)：20", False),
        ("Sales were USD 15.", "Sales (USD)：15 | Cost (EUR)：20", True),
        ("Leave is 15 days.", "Grade：P5 | Days of annual leave：15", True),
        ("有413,200年。", "项目：收入 | 2024年：413,200", False),
        ("有15件。", "产品：甲 | 数量（万件）：15", False),
        ("有15件。", "产品：甲 | 数量（件）：15", True),
        ("账期5000天。", "客户：甲 | 账期（30天）：5000", False),
        ("工资1800元。", "职级：P5 | 工资（元/月）：1800", True),
        ("It was £5.", "Item：Revenue | 2024：5 | (£m)", False),
        ("工资22000元。", "项目：工资 | 2024年：22000 | 单位：元", True),
        ("上年22000元。", "项目：工资 | 上年：22000 | 单位：元", True),
        ("工资22000元。", "项目：工资 | 2024年：22000 | 单位：万元", False),
        ("工资22000元。", "项目：工资 | 年假（天）：22000 | 单位：元", False),
        ("It was USD 4,132.", "Item：Revenue (USD) | 2024：4,132 | in millions", False),
        ("毛利率32.5%。", "项目：毛利率（%） | 2024年：32.5", True),
    ],
)
def test_a_cell_takes_units_only_from_its_own_header(claim: str, row: str, released: bool) -> None:
    """A bare number takes its unit, `%` or currency from its own header; a line for the whole table comes after it."""
    cells = " | ".join(part.partition("：")[2] for part in row.split(" | "))
    assert passes(claim, source(cells, labelled=row)) is released


def test_the_header_row_names_no_unit_for_other_columns() -> None:
    """The unit in one column's header is no unit of the next; a line for the whole table is."""
    assert not passes("年假15元。", source("", labelled="年假：15 | 工资（元）：22000"))
    assert passes("Sales were USD 15.", source("", labelled="Item：Sales | Amount：15 | USD"))


@pytest.mark.parametrize(
    ("text", "released"),
    [
        ("Yes, revenue was 9,999 million, which is not stated elsewhere.", False),
        ("Revenue was 9,999 million, which is not stated elsewhere.", False),
        ("Revenue was 9,999 million not mentioned in the notes.", False),
        ("Yes, it is not stated that revenue was 9,999 million.", False),
        ("No information on costs and revenue was 9,999 million.", False),
        ("No information on costs, revenue was 9,999 million.", False),
        ("The 9,999 million revenue is a record and no data on costs is given.", False),
        ("Revenue: 9,999 million (not stated per region).", False),
        ("The company posted 9,999 million in revenue with no figures by region.", False),
        ("是的，收入为9,999 million，其他未披露。", False),
        ("收入为9,999 million未披露。", False),
        ("It is not stated that revenue was 9,999 million.", True),
        ("A revenue of 9,999 million is not mentioned in the materials.", True),
        ("Whether revenue was 9,999 million is not stated.", True),
        ("The materials do not mention revenue of 9,999 million.", True),
        ("材料未提及收入为9,999 million。", True),
    ],
)
def test_an_abstention_frees_only_the_figure_that_it_governs(text: str, released: bool) -> None:
    """Elsewhere in the unit, or after an affirmation, it frees nothing."""
    assert passes(text, source("Sales."), question="Was revenue 9,999 million?") is released


def test_a_period_in_front_belongs_to_the_abstention() -> None:
    """ "For 2026, ..." is no clause of its own."""
    question = "What was revenue in 2026?"
    assert passes("For 2026, the materials do not contain revenue.", source("Sales."), question=question)
    assert not passes("In 2026 it grew, and no figure is given.", source("Sales."), question=question)


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("12.5% growth was seen.", ""),
        ("45) employees left.", ""),
        ("(45) employees left 7.", ""),
        ("12. Revenue was 9.", ""),
        ("- 4,913 left.\n", "- "),
        ("2. Revenue was 9.\n", "2. "),
        ("- **2. Revenue** was 9.", "- 2. "),
        ("二、收入为9元。", "二、"),
    ],
)
def test_a_withheld_unit_shows_no_digit_but_its_list_number(text: str, lead: str) -> None:
    """The lead is kept where it is a list number that was accepted, and nowhere else."""
    unit = settled(text, source("Nothing."), before=items(1))
    assert unit.withheld
    assert unit.instead.rstrip() == f"{lead}{withheld_text('en')}"


@pytest.mark.parametrize(
    ("text", "enumerator", "released"),
    [
        ("(4) Good.", 3, True),
        ("(5) Good.", 3, False),
        ("四、人员", 3, True),
        ("五、人员", 3, False),
        ("（四）人员情况良好。", 3, True),
        ("（五）人员情况良好。", 3, False),
        ("（二）年假规定", 1, True),
        ("(45) employees were hired.", 44, False),
        ("（四十五）人离职。", 44, False),
    ],
)
def test_bracketed_and_chinese_labels_count_the_list(text: str, enumerator: int, released: bool) -> None:
    """They follow the number before them as `2.` does, and are no labels where they count what follows."""
    assert passes(text, source("Nothing."), before=items(enumerator)) is released


def test_the_list_number_is_told_to_the_caller() -> None:
    """An accepted list number is the first figure, of kind `enum`, and its value is the number."""
    unit = settled("（十二）良好。", source("x"), before=items(11))
    assert [(each.kind, each.number, each.status) for each in unit.figures] == [("enum", "12", "exempt")]


def test_the_list_number_of_a_quoted_item_passes() -> None:
    """An item of the source is quoted with the label that it prints."""
    said = source("7. Replace the bulb.")
    assert passes("7. Replace the bulb.", said)
    assert not passes("8. Replace the bulb.", said)


@pytest.mark.parametrize(
    ("text", "released"),
    [
        ("The delay was [7] days.", False),
        ("Revenue rose [5] times.", False),
        ("It hired [7] employees.", False),
        ("It was [5]%.", False),
        ("增长【5】倍。", False),
        ("有②人。", False),
        ("There are ⁵ shops.", False),
        ("It was good [7].", True),
        ("It was good [1] and [2].", True),
        ("增长良好[1]。", True),
        ("[1]年假很好。", True),
    ],
)
def test_a_marker_before_a_unit_is_a_figure(text: str, released: bool) -> None:
    """`[7] days` states seven days, even where there is a material 7 and a 7 is printed."""
    sources = [source("It says 7 and 5 and 2.")] * 8
    assert passes(text, *sources) is released


def test_a_raised_digit_is_no_footnote_of_a_small_number() -> None:
    """`2⁵ shops` is supported where it is printed so, and not by a 2."""
    assert not passes("2⁵ shops opened.", source("The 2 shops opened."))
    assert passes("2⁵ shops opened.", source("The 2⁵ shops opened."))
    assert passes("1,234 units.", source("The 1,234¹ units."))
    assert passes("It shipped 1,234.", source("Shipped 1,234¹"))


@pytest.mark.parametrize(
    "printed",
    "五六百人 二十七八亿元 两三亿元 两三元 三百五六十万元 三百五六个 3百五六十万元 翻了三番 翻了好几番 两年半 三个半月"
    " 3年半 五个亿元 半年 二十多亿元 20多亿元 几十亿元".split(),
)
def test_chinese_numerals_of_several_values_are_held_to_their_print(printed: str) -> None:
    """They are supported by the same words, and by no part of them."""
    parts = "三 5 6 20 3 两 五六 23元 五 两年 3年 三个 三百 20多家 5个 几十亿吨"
    assert not passes(f"共有{printed}。", source(parts))
    assert passes(f"共有{printed}。", source(f"总共有{printed}。"))


def test_an_unread_chinese_numeral_is_withheld() -> None:
    """A run of numerals with a unit that the grammar cannot read is unparsed."""
    assert statuses("共有百八十人。", source("共有百八十人。")) == {"百八十": "unparsed"}
    assert passes("半导体业务良好，万一出错，一五一十地说，三年半导体。", source("半导体三年。"))


@pytest.mark.parametrize(
    ("claim", "printed", "released"),
    [
        ("工作2年半。", "工作两年半。", True),
        ("工作2.5年。", "工作两年半。", True),
        ("工作两年半。", "工作两年。", False),
        ("工作3年半。", "工作3年。", False),
    ],
)
def test_a_half_behind_a_unit_counts(claim: str, printed: str, released: bool) -> None:
    """`两年半` is two and a half years."""
    assert passes(claim, source(printed)) is released


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("It is a third of revenue.", "a third"),
        ("It rose by a fifth.", "a fifth"),
        ("A quarter of sales is abroad.", "A quarter"),
        ("It rose sixfold.", "sixfold"),
        ("Profit quintupled.", "quintupled"),
        ("Profit trebled.", "trebled"),
        ("Nine out of ten agreed.", "Nine"),
        ("One in five left.", "five"),
        ("Zero incidents occurred.", "Zero"),
        ("Two meals per day are free.", "Two"),
        ("It paid five dollars.", "five dollars"),
    ],
)
def test_shares_multiples_and_proportions_in_words_need_support(text: str, raw: str) -> None:
    """They are figures like digits, and never counts that structure an answer."""
    assert statuses(text, source("Nothing is counted here."))[raw] == "unsupported"


def test_ordinals_and_structural_counts_stay_free() -> None:
    """A third party is no share, and two ways are no proportion."""
    assert passes("A third party agreed, in two ways, for three reasons.", source("Some text."))
    assert passes("It is a third of revenue.", source("It is one third of revenue."))


@pytest.mark.parametrize(
    ("claim", "printed"),
    [
        ("It has four segments.", "The group has three reportable segments."),
        ("It has four reportable segments.", "The group has three segments."),
        ("有四个分部。", "有三个可报告分部。"),
    ],
)
def test_a_soft_count_is_contradicted_across_adjectives(claim: str, printed: str) -> None:
    """The counted noun is compared, and not the word behind the number."""
    assert not passes(claim, source(printed))


def test_a_figure_of_unsure_recognition_is_withheld() -> None:
    """Below 0.9 a digit may have been misread; a second, sure source supports it all the same."""
    unsure = source("It was 45 units in 2024.", confidence=0.8)
    assert statuses("It was 45 units in 2024.", unsure) == {"45": "low_confidence", "2024": "low_confidence"}
    assert not passes("It was 45.", unsure)
    assert passes("It was 45.", unsure, source("It was 45 units.", confidence=0.95))


INCOME_ROW = "项目：净利润 | 2024年：51,200 | 2023年：45,500"
REVENUE_ROW = "项目：营业收入 | 2024年：413,200 | 2023年：354,100"


@pytest.mark.parametrize(
    ("claim", "released"),
    [
        ("2024年净利润为51,200。", True),
        ("2023年净利润为51,200。", False),
        ("2024年净利润为413,200。", False),
        ("2024年营业收入为413,200，净利润为51,200。", True),
    ],
)
def test_a_right_value_under_a_wrong_label_is_withheld(claim: str, released: bool) -> None:
    """Row, column and period bind a figure of the cited rows to the claim's words."""
    assert passes(claim, *(source("", labelled=labelled) for labelled in (INCOME_ROW, REVENUE_ROW))) is released


def test_the_reason_of_a_wrong_label_names_both_sides() -> None:
    """What the value is, and what the words fit."""
    unit = settled("2023年净利润为51,200。", source("", labelled=INCOME_ROW), question="净利润？")
    (wrong,) = [figure for figure in unit.figures if not figure.supported]
    assert wrong.reason is not None
    assert "净利润 2024年" in wrong.reason.detail
    assert "净利润 2023年 = 45,500" in wrong.reason.detail


def test_the_other_direction_is_withheld() -> None:
    """A fall is no rise, though the figure is printed."""
    assert not passes("Income increased 5.2%.", source("Income decreased 5.2%."))
    assert passes("Income fell 5.2%.", source("Income decreased 5.2%."))
