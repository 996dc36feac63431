"""The rows of the quantity normal form (FIGURES.md, 3(a)), one case each: characters, grammar, scales, units."""

from __future__ import annotations

import pytest

from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.labels import tokens
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quantities import Quantity


def only(text: str, locale: str = "en") -> Quantity:
    (quantity,) = lex(text, locale=locale)
    return quantity


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("Ａ５％＄", "A5%$"),
        ("，。；：！？", "，。；：！？"),
        ("\u3000", " "),
        ("\u2212\ufe63\uff0d\u2010\u2011", "-----"),
        ("\u2024\uff0e", ".."),
        ("\u00a0\u2009\u202f\u2007", "\u00a0" * 4),
        ("’", "'"),
        ("٤५๖", "456"),
        ("萬億點個兩圓貳參陸負餘佔幣鎊約", "万亿点个两圆贰叁陆负余占币镑约"),
        ("²①½Ⅳ", "²①½Ⅳ"),
    ],
    ids=[
        "full-width",
        "kept",
        "ideographic-space",
        "minus",
        "point",
        "group-space",
        "quote",
        "scripts",
        "traditional",
        "own",
    ],
)
def test_normalisation_maps_one_character_to_one(given: str, read: str) -> None:
    """Table of 3(a): each character has one, and offsets stay."""
    assert normalise(given).text == read
    assert normalise(given).offsets == ()


@pytest.mark.parametrize("dropped", ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad"])
def test_zero_width_characters_and_soft_hyphens_are_dropped(dropped: str) -> None:
    """They split no number, and the span leads back to them."""
    quantity = only(f"is 4,1{dropped}32 units")
    assert (quantity.value, quantity.raw, quantity.span) == (4132, f"4,1{dropped}32", (3, 9))


@pytest.mark.parametrize(
    ("text", "role"),
    [
        *(("[2]", "marker"), ("[^2]", "marker"), ("【2】", "marker"), ("②", "marker")),
        *(("https://a.org/7", "id"), ("a7@b.org", "id"), ("+1 (212) 555 0199", "id")),
        *(
            ("ISO 9001", "id"),
            ("GB/T 8170", "id"),
            ("RFC 9110", "id"),
            ("IFRS 16", "id"),
            ("3.11.4", "id"),
            ("v2", "id"),
        ),
        *(("version 3.1", "id"), ("section 4.5", "ref"), ("chapter 3", "ref"), ("note 12", "ref"), ("Scope 3", "ref")),
        *(
            ("level 2", "ref"),
            ("phase 3", "ref"),
            ("第3章", "ref"),
            ("第十二条", "ref"),
            ("第5款", "ref"),
            ("第12页", "ref"),
        ),
        *(("图3", "ref"), ("表2", "ref"), ("SKU-48213", "id")),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_pass_1_protects_what_is_no_quantity(text: str, role: str) -> None:
    """Citations, links, phones, standards, versions, references and ids own their digits."""
    assert [(each.raw, each.role) for each in lex(f"see {text}", locale="en")] == [(text, role)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Q3 2025", "period", "2025Q3"),
        ("third quarter of 2025", "period", "2025Q3"),
        ("2025年三季度", "period", "2025Q3"),
        ("Q3", "period", "--Q3"),
        ("前三季度", "period", "--Q1-3"),
        ("first half of 2025", "period", "2025H1"),
        ("2025年下半年", "period", "2025H2"),
        ("FY25", "period", "FY2025"),
        ("fiscal 2025", "period", "FY2025"),
        ("2025财年", "period", "FY2025"),
        ("5 March", "monthday", "--03-05"),
        ("5 March 2025", "date", "2025-03-05"),
        ("Sept. 5, 2025", "date", "2025-09-05"),
        ("Jan-24", "period", "2024-01"),
        ("十二月", "monthday", "--12"),
        ("2099", "year", "2099"),
        ("1900", "year", "1900"),
        ("2023-2025", "period", "2023/2025"),
        ("14:30", "time", "14:30"),
        ("下午3点半", "time", "15:30"),
    ],
)
def test_pass_2_reads_periods(text: str, kind: str, value: str) -> None:
    """Dates, quarters, halves, fiscal years, month-days, years, ranges of years, clock times."""
    quantity = only(text)
    assert (quantity.raw, quantity.kind, quantity.shown_value) == (text, kind, value)


@pytest.mark.parametrize("text", ["2100", "1899", "2024 employees", "2024.5", "2024%", "2024万元"])
def test_a_year_is_between_1900_and_2099_and_counts_nothing(text: str) -> None:
    """A unit, a decimal or a percent sign behind it makes it a number."""
    assert only(text).kind != "year"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.5", "1234.5"),
        ("12,34,567", "1234567"),
        ("1.234.567,5", "1234567.5"),
        ("1\u00a0234\u00a0567", "1234567"),
        ("1'234'567", "1234567"),
        ("1234.5", "1234.5"),
        ("1.5e6", "1500000"),
        ("2E-3", "0.002"),
        ("3×10⁶", "3000000"),
        ("3×10^6", "3000000"),
        ("2½", "2.5"),
        ("-5.2", "-5.2"),
        ("$(5.2)", "-5.2"),
        ("(5,200)", "-5200"),
        ("(5.2) million", "-5200000"),
    ],
)
def test_pass_3_bodies_and_signs(text: str, value: str) -> None:
    """Every alternative of `num` and `body`."""
    quantity = only(text)
    assert (quantity.raw, quantity.shown_value) == (text, value)


@pytest.mark.parametrize(
    ("scale", "power"),
    [
        *((f" {word}", 3) for word in ("thousand",)),
        *((f" {word}", 6) for word in ("million", "mn")),
        *((f" {word}", 9) for word in ("billion", "bn")),
        *((f" {word}", 12) for word in ("trillion", "tn")),
        *(
            (" lakh", 5),
            (" crore", 7),
            ("k", 3),
            ("K", 3),
            ("m", 6),
            ("M", 6),
            ("b", 9),
            ("B", 9),
            ("t", 12),
            ("T", 12),
        ),
        *(("万", 4), ("亿", 8), ("万亿", 12), ("十万", 5), ("百万", 6), ("千万", 7), ("百亿", 10), ("千亿", 11)),
    ],
)
def test_pass_3_scales(scale: str, power: int) -> None:
    """The value and the quantum carry the printed power of ten."""
    quantity = only(f"$2.5{scale}")
    assert (quantity.kind, quantity.value, quantity.scale) == ("money", 25 * 10 ** (power - 1), power)
    assert quantity.quantum == 10 ** (power - 1)


@pytest.mark.parametrize(
    ("text", "kind", "value", "unit"),
    [
        ("5%", "percent", "5", ""),
        ("5‰", "percent", "0.5", ""),
        ("5 percent", "percent", "5", ""),
        ("5 percentage points", "pp", "5", ""),
        ("5pp", "pp", "5", ""),
        ("5 ppt", "pp", "5", ""),
        ("5 pts", "pp", "5", ""),
        ("5个百分点", "pp", "5", ""),
        ("50 bps", "pp", "0.5", ""),
        ("50 basis points", "pp", "0.5", ""),
        ("50个基点", "pp", "0.5", ""),
        ("5x", "multiple", "5", ""),
        ("5×", "multiple", "5", ""),
        ("5-fold", "multiple", "5", ""),
        ("5 times", "multiple", "5", ""),
        ("5倍", "multiple", "5", ""),
        ("5成", "percent", "50", ""),
        ("5折", "percent", "50", ""),
        ("5 km", "measure", "5", "km"),
        ("5千元", "money", "5000", ""),
        ("5百人", "count", "500", "人"),
        ("3千家", "count", "3000", "家"),
    ],
)
def test_pass_3_units(text: str, kind: str, value: str, unit: str) -> None:
    """Every alternative of `unit`, and 千 and 百 before 元, 人 and 家."""
    quantity = only(text)
    assert (quantity.raw, quantity.kind, quantity.shown_value, quantity.unit) == (text, kind, value, unit)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("百分之五", "percent", "5"),
        ("千分之五", "percent", "0.5"),
        ("万分之五", "percent", "0.05"),
        ("第五", "ordinal", "5"),
        ("负三千元", "money", "-3000"),
        ("三点五亿", "number", "350000000"),
        ("四分之三", "percent", "75"),
        ("4分之1", "percent", "25"),
        ("两个百分点", "pp", "2"),
        ("三成", "percent", "30"),
        ("八折", "percent", "80"),
        ("三倍", "multiple", "3"),
        ("翻两番", "doubling", "2"),
        ("三万美元", "money", "30000"),
        ("五十家", "count", "50"),
        ("壹佰贰拾叁万元", "money", "1230000"),
        ("twenty-two thousand", "number", "22000"),
        ("one hundred and five", "number", "105"),
        ("four point one million", "number", "4100000"),
        ("two dozen", "number", "24"),
        ("half a million", "number", "500000"),
        ("half a dozen", "number", "6"),
        ("18周岁", "duration", "18"),
        ("20周年", "duration", "20"),
        ("a quarter million", "number", "250000"),
    ],
)
def test_pass_3_numerals_in_words(text: str, kind: str, value: str) -> None:
    """Every alternative of `cnum` and `word`."""
    quantity = only(text)
    assert (quantity.raw, quantity.kind, quantity.shown_value) == (text, kind, value)


@pytest.mark.parametrize(
    "text",
    ["万一如此", "千万别去", "百般努力", "亿万富翁", "一些", "统一", "一起", "一样", "十分满意", "一贯", "千方百计"],
)
def test_the_gate_keeps_idioms_out(text: str) -> None:
    """Nothing that starts with 百千万亿, no bare 一, no 十分."""
    assert lex(text) == ()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("10–12 million", "10000000", "12000000"),
        ("between 12 and 15 percent", "12", "15"),
        ("10至12万人", "100000", "120000"),
        ("介于3和5亿元", "300000000", "500000000"),
        ("5 ± 0.2 kg", "4.8", "5.2"),
    ],
)
def test_pass_4_ranges_and_tolerances(text: str, low: str, high: str) -> None:
    """Unit and scale are those of both ends; ± binds a tolerance to its value."""
    quantity = only(text)
    assert (f"{quantity.lo:f}", f"{quantity.hi:f}") == (low, high)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        *(("over 5%", ">"), ("at least 5%", ">="), ("up to 5%", "<="), ("逾5%", ">"), ("不低于5%", ">=")),
        *(
            ("不超过5%", "<="),
            ("5%以上", ">="),
            ("5%以内", "<="),
            ("500多人", ">"),
            ("500余人", ">"),
            ("under 5%", "<"),
            ("满20年", ">="),
            ("年满60周岁", ">="),
            ("不满20年", "<"),
            ("未满18周岁", "<"),
            ("客户不满20起", ""),
        ),
    ],
)
def test_pass_4_bounds(text: str, bound: str) -> None:
    """Words to the left and to the right."""
    assert only(text).bound == bound


@pytest.mark.parametrize("text", ["about 5%", "approximately 5%", "约5%", "近5%", "5%左右"])
def test_pass_4_approximation(text: str) -> None:
    """About, 约, 近 and 左右."""
    assert only(text).approximate


def test_labels_keep_total_and_leave_periods_and_units_out() -> None:
    """Trap of section 2: months, 年月日 and unit words are no labels; "total" is one."""
    assert tokens("Total revenue, year ended December") == tokens("total revenue")
    assert tokens("年度营业收入（万元）") == tokens("营业收入")
    assert "total" in tokens("Total")
