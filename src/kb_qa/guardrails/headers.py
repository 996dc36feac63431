"""What a table's headers and unit lines say its bare numbers are counted in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kb_qa.guardrails.affixes import suffix_at
from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.measures import NAMED_UNIT, SCALE_STATEMENT, named_unit

# Two units in one header: none of them is the cell's.
AMBIGUOUS = frozenset({"?"})

_FAMILIES = (frozenset({"USD", "$?"}), frozenset({"CNY", "¥?"}), frozenset({"JPY", "¥?"}))
_BRACKETED = re.compile(r"[(（\[【]([^()（）\[\]【】]{1,40})[)）\]】]")
_STATED = re.compile(
    r"(?ai)(?:(?:金额|货币|计量|数量)?单位|币种|\bunits?|\bcurrency) ?[:：]? ?(?P<rest>\S.{0,39})$"
    r"|\b(?:expressed |stated |amounts |figures |all )?in (?P<words>[A-Za-z$€£¥%'0 ]{1,40})"
)
_LINE = re.compile(
    r"(?ai)\s*(?:[(（\[【]|(?:金额|货币|计量|数量)?单位|币种|人民币|units?\b|currency\b"
    r"|(?:expressed|stated|amounts|figures|all|in)\b|(?:RMB|USD|US\$|HK\$|EUR|GBP|\$|€|£|¥)[ \S]{0,3}\s?(?:in |'000|m))"
)
# `元/月`, `USD per share`: what follows is what the money is for.
_BASIS = re.compile(r"(?ai)(?:/|每|\bper\b|\beach\b).*$")
_PIECES = re.compile(r"(?ai)[、,，;；和及/ ]+|\band\b|\bin\b")
_CJK_SCALE = re.compile("^[十百千万亿兆]+")
_DIGITS = re.compile(r"(?a)\d[\d.,]*\s?[年月日天季周%]?度?")
_NO_FIGURE = re.compile(r"(?ai)'000|(?:m|km|ft)[23²³]|CO2e?")
# A word that stands in headers for other things: `Year`, `Second half`, `年假`, `入职日`, `上年`.
_NO_UNIT_ALONE = frozenset(
    "year month week day hour minute min second sec quarter foot ft decade hr yr ha mi"
    " 年 日 周 星期 米 克 升 桶 秒 亩 块 圆 磅 人民币".split()
)
_LETTER_SCALE = re.compile(r"(?a)(?:[$€£¥]|\b(?:USD|EUR|GBP|RMB|CNY|JPY|HKD))\s?(?:m|k|b|t|mm)(?![A-Za-z])")
_GENERAL = re.compile(
    r"(?ai)(?:19|20)\d\d|[本上去今前]年|本期|上期|期[末初]|年[末初]|季度?|半年|数值|数量|数额|金额|标准|内容|^$"
    r"|\bvalues?\b|\bamounts?\b|\bfigures?\b|\bnumbers?\b|\bQ[1-4]\b|\b(?:current|prior|previous) (?:year|period)\b"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a bare number may take: unit names, `%` and currencies; `own` where its own header names them.

    With `scaled` a bare number may be thousands or millions, and takes none of them.
    """

    units: frozenset[str] = frozenset()
    scaled: bool = False
    own: bool = False


NOTHING = Scope()


def states_scale(text: str) -> bool:
    return SCALE_STATEMENT.search(text) is not None or _LETTER_SCALE.search(text) is not None


def units_of_header(header: str) -> frozenset[str]:
    """`基本工资（元）`, `Annual leave (days)`, `Margin %`, `年假天数`: the one unit that a column header names."""
    text = normalise(header).text
    stated = _stated(text)
    return _one(stated or _worded(text))


def units_of_statement(line: str) -> frozenset[str]:
    """The one unit that a caption or unit line states for a whole table: in brackets, or after 单位 or "in"."""
    return _one(_stated(normalise(line).text))


def is_unit_line(part: str) -> bool:
    """Whether a part of a row only says what its figures are counted in: `单位：元`, `(USD in millions)`."""
    text = normalise(part).text
    return _LINE.match(text) is not None and not re.search(r"(?a)\d", _NO_FIGURE.sub("", text))


def is_general(header: str) -> bool:
    """Whether a header names a period or nothing: then the row's label names the unit."""
    return _GENERAL.search(normalise(header).text) is not None


def scope_of(header: str, label: str, table: Scope) -> Scope:
    """The nearest of column header, row label (under a period's header) and table that names a unit."""
    for named in (header, label) if is_general(header) else (header,):
        units = units_of_header(named) if named is header else units_of_statement(named)
        if units:
            money = any(each.isupper() or each.endswith("?") for each in units)
            return Scope(units, scaled=states_scale(named) or (money and table.scaled), own=True)
    return Scope(table.units, scaled=table.scaled or states_scale(header))


def table_scope(captions: Iterable[str], unit_line: str = "") -> Scope:
    """What the unit line and the captions of a table state for all of it; the line is nearer."""
    captions = tuple(captions)
    line = normalise(unit_line).text.strip()
    whole = frozenset({_whole_unit(line)}) - {""}
    units = whole or (units_of_header(line) if line else frozenset())
    units = units or _one(frozenset(unit for caption in captions for unit in units_of_statement(caption)))
    return Scope(units, scaled=any(states_scale(each) for each in (line, *captions)))


def _stated(text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _BRACKETED.finditer(text):
        found |= _in_piece(match[1])
    if not found and (stated := _STATED.search(text)):
        found |= _in_piece(stated["rest"] or stated["words"])
    return frozenset(found)


def _in_piece(text: str) -> set[str]:
    text = re.sub(r"(?ai)^ ?(?:(?:金额|货币)?单位|币种|units?|currency) ?[:：]? ?", "", text)
    if re.search(r"(?a)\d", _NO_FIGURE.sub("", text)):
        return set()  # `（30天）` names a term, and no unit
    if unit := _whole_unit(text.strip()):
        return {unit}
    pieces = _PIECES.split(_BASIS.sub("", text))
    return {unit for piece in pieces for unit in _piece_units(piece)}


def _piece_units(piece: str) -> Iterator[str]:
    bare = _CJK_SCALE.sub("", piece.strip())
    unit = _whole_unit(bare)
    if unit:
        yield unit
    else:
        yield from (named_unit(match[0]) for match in NAMED_UNIT.finditer(bare))


def _whole_unit(text: str) -> str:
    suffix = suffix_at(text, 0) if text else None
    if suffix is None or suffix.end != len(text) or suffix.kind in {"pp", "multiple"}:
        return ""
    return "%" if suffix.kind == "percent" else suffix.unit or suffix.currency


def _worded(text: str) -> frozenset[str]:
    """Units outside brackets: words and codes anywhere, a Chinese unit at the end (`天数`, `金额元`)."""
    text = _BASIS.sub("", _DIGITS.sub(" ", text)).strip()
    found = set()
    for match in NAMED_UNIT.finditer(text):
        form = match[0]
        at_end = form.isascii() or re.fullmatch("[数额量]?", text[match.end() :]) is not None
        if at_end and form.lower() not in _NO_UNIT_ALONE:
            found.add(named_unit(form))
    return frozenset(found)


def _one(units: frozenset[str]) -> frozenset[str]:
    units = units - {""}
    if len(units) < 2 or any(units <= family for family in _FAMILIES):
        return units
    return AMBIGUOUS
