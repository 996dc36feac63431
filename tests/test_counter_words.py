"""What a figure of running text counts, by the characters beside it."""

from __future__ import annotations

import pytest

from kb_qa.guardrails.counters import beside, is_day_of_month
from kb_qa.guardrails.lexer import lex
from tests.figure_cases import passes, statuses


@pytest.mark.parametrize(
    ("answer", "text", "accepted"),
    [
        ("该队取得3胜。", "该队取得3胜1平。", True),
        ("该队取得3平。", "该队取得3胜1平。", False),
        ("他得到27分。", "他得到27分。", True),
        ("他投中27个球。", "他得到27分。", False),
        ("血站共452个血站。", "共设置452血站。", True),
        ("该队以1:4不敌对手。", "该队以1：4不敌对手。", True),
        ("该队以6-3取胜。", "该队以6：3取胜。", True),
        ("该队有4个主场。", "该队以1：4不敌主场对手。", False),
        ("公司接收8架客机。", "公司接收波音787-8客机。", False),
        ("公司接收波音787-8客机。", "公司接收波音787-8客机。", True),
        ("她是2号选手。", "她发出2个球，是24号选手。", False),
    ],
)
def test_other_things_are_not_the_same_count(answer: str, text: str, accepted: bool) -> None:
    """An equal number of something else is another figure; a name's number counts nothing; scores keep their mark."""
    assert passes(answer, text) is accepted


@pytest.mark.parametrize(
    ("answer", "text", "accepted"),
    [
        ("记者13日获悉。", "新华社合肥10月13日电：某人获刑。", True),
        ("记者14日获悉。", "新华社合肥10月13日电：某人获刑。", False),
        ("火情在3天内扩大。", "8月4日电。截至3日，火情扩大。", False),
        ("年假为15天。", "员工享有15日年假。", True),
        ("为期3天。", "8月4日开幕，为期3日。", True),
        ("会期13日。", "10月13日电：会议召开。", False),
    ],
)
def test_a_day_of_a_month_is_no_span(answer: str, text: str, accepted: bool) -> None:
    """V10: a bare day is coarser than the date with its month; a span of days is no date, and no date a span."""
    assert passes(answer, text) is accepted


@pytest.mark.parametrize(
    ("text", "expected"),
    [("截至13日收盘", True), ("13日内付清", False), ("为期13日", False), ("45日到期", False), ("10个工作日", False)],
)
def test_how_a_day_of_a_month_is_written(text: str, expected: bool) -> None:
    """The words beside `13日` tell a date from a span."""
    quantity = lex(text, locale="en")[0]
    assert is_day_of_month(quantity, beside(text[: quantity.start], text[quantity.end :])) is expected


def test_the_sentence_before_says_what_a_figure_is_of() -> None:
    """`该调查的对象为…` is of the survey that the sentence before names; a sentence further off says nothing."""
    text = "研究者分析了一项饮食调查。其对象为56.6万名志愿者。"
    assert passes("饮食研究涉及56.6万名居民。", text)
    assert not passes("饮食研究涉及56.6万名居民。", text.replace("其对象", "普查对象"))
    assert statuses("产能合计56.6万名。", text) == {"56.6万名": "misbound"}


def test_a_conversion_is_bound_like_any_figure() -> None:
    """20万平方米 are 20公顷, and still the floor's area and not the site's, which the sentence gives as 8.2公顷."""
    text = "项目总占地面积8.2公顷，总建筑面积20万平方米。"
    assert passes("项目总建筑面积20公顷。", text)
    assert not passes("项目占地总面积20公顷。", text)
