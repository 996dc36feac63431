"""Numbers printed in digits: grouping, decimals, signs, parentheses, exponents, scales and units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from string import ascii_letters
from string import digits as ascii_digits
from typing import NamedTuple

from kb_qa.guardrails.affixes import (
    CURRENCY_LAST,
    Suffix,
    basis_at,
    currency_before,
    half_at,
    scale_at,
    suffix_at,
)
from kb_qa.guardrails.characters import GROUP_SPACE
from kb_qa.guardrails.quantities import CONTEXT, ONE, Kind, Quantity, SignSource, interval

DECIMAL_COMMA_LOCALES = frozenset({"de", "fr", "es", "it", "pt", "nl", "ru", "pl", "tr", "id", "sv", "da", "nb", "fi"})

_OPEN = r"(?a)(?<![0-9A-Za-z_])(?<![0-9][.,'])"
_GROUPED_COMMA = r"\d{1,3}(?:,\d{3}){1,9}(?!\d)(?:\.\d{1,20})?|\d{1,2}(?:,\d\d){1,9},\d{3}(?!\d)(?:\.\d{1,20})?"
_GROUPED_OTHER = (
    rf"\d{{1,3}}(?:{GROUP_SPACE}\d{{3}}){{1,9}}(?!\d)(?:[.,]\d{{1,20}})?|\d{{1,3}}"
    rf"(?: \d{{3}}){{2,9}}(?!\d)(?:[.,]\d{{1,20}})?"
    r"|\d{1,3}(?:'\d{3}){1,9}(?!\d)(?:\.\d{1,20})?"
)
_GROUPED_POINT = r"\d{1,3}(?:\.\d{3}){1,9},\d{1,20}"
# `12,5 %`, `1,5 Mio`: a comma before one or two digits and a unit can only be a decimal comma.
_COMMA_BEFORE_UNIT = r"\d{1,9},\d{1,2}(?=[ \u00a0]?(?:%|‰|€|million|billion|Mio|Mrd|Millionen|Milliarden|percent))"
_PLAIN = r"\d{1,30}(?:\.\d{1,20})?|(?<![0-9A-Za-z.\u4e00-\u9fff)])\.\d{1,20}"
_END = r"(?!\d)"
_BODY = re.compile(
    rf"{_OPEN}(?P<body>(?:{_GROUPED_POINT}|{_GROUPED_COMMA}|{_GROUPED_OTHER}|{_COMMA_BEFORE_UNIT}|{_PLAIN})){_END}"
)
_BODY_COMMA = re.compile(
    rf"{_OPEN}(?P<body>(?:\d{{1,3}}(?:[.'{GROUP_SPACE} ]\d{{3}}){{1,9}}(?!\d)(?:,\d{{1,20}})?"
    rf"|\d{{1,30}}(?:,\d{{1,20}})?)){_END}"
)
_EXPONENT = re.compile(
    r"(?a)[eE](?P<e>[+-]?\d{1,3})(?![0-9A-Za-z])|[ \u00a0]?[×x*][ ]?10(?:\^"
    r"(?P<caret>-?\d{1,3})|(?P<sup>⁻?[⁰¹²³⁴-⁹]{1,3}))"
)
_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴-⁹]{1,3}")
_FRACTION = re.compile(r"(?a)(?<![0-9A-Za-z/.,])(\d{1,3})/(\d{1,3})(?![0-9/]|[.,]\d)")
_VULGAR = {"½": "0.5", "¼": "0.25", "¾": "0.75", "⅛": "0.125", "⅜": "0.375", "⅝": "0.625", "⅞": "0.875", "⅕": "0.2"}
_VULGAR |= {"⅖": "0.4", "⅗": "0.6", "⅘": "0.8", "⅒": "0.1"}
_VULGAR_THIRDS = {"⅓": "1/3", "⅔": "2/3", "⅙": "1/6", "⅚": "5/6", "⅐": "1/7", "⅑": "1/9"}
_VULGARS = re.compile(f"[{''.join(_VULGAR)}{''.join(_VULGAR_THIRDS)}]")
_SUPERSCRIPT_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_ORDINAL = re.compile(r"(?ai)(?:st|nd|rd|th)(?![A-Za-z0-9])")
_RUN = re.compile(r"(?a)\d+")
_RAISED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
_CHANGES_DIGITS = frozenset(f"sSnNrRtTeE×x* \u00a0{''.join(_RAISED)}{''.join(_VULGAR)}")
_TWO_READINGS = re.compile(r"(?a)[1-9]\d{0,2}[.,]\d{3}")
# The last characters of signs, parentheses and currencies before a number, and of the space between.
_FRONTS = CURRENCY_LAST | frozenset("-+( \u00a0负")
_SPACED = re.compile(rf"[ '{GROUP_SPACE}]")
_WORD_CHARACTERS = frozenset(f"{ascii_letters}{ascii_digits}_")
_CELL_OPEN = re.compile(r"(?:\A|[|\n：:])[ \t]{0,8}$")
# As a row is said, another column or the unit line (blanked or not) follows: `A: (5.75); B: (3.2) (in thousands)`.
_CELL_CLOSE = re.compile(
    r"[ \t]*(?:[|\n;；]|$|，(?!\d)|[(（][^()（）]{0,40}(?:thousand|million|billion|[千万亿]|\0))", re.I
)
_WORD_MINUS = re.compile(r"(?ai)(?:负|minus |negative )$")


class _Front(NamedTuple):
    """What stands before the digits."""

    start: int
    currency: str = ""
    sign: int = 0
    source: SignSource = "none"
    parenthesis: int = -1  # where an opening parenthesis stands, if it may be part of the number


class _Tail(NamedTuple):
    """What stands after the digits."""

    scale: int
    suffix: Suffix
    end: int


_Value = tuple[Decimal, Decimal, tuple[Decimal, ...]]  # value, quantum, readings


@lru_cache(maxsize=64)
def uses_decimal_comma(locale: str) -> bool:
    return locale.split("-")[0].split("_")[0].lower() in DECIMAL_COMMA_LOCALES


def numbers(text: str, *, locale: str = "") -> Iterator[Quantity]:
    """Every number in digits, left to right; `text` has what other passes own blanked out."""
    pattern = _BODY_COMMA if uses_decimal_comma(locale) else _BODY
    position = 0
    while (run := _RUN.search(text, position)) is not None:
        # A number starts where a run of digits does, or at a point before it.
        start = run.start()
        match = pattern.match(text, start - 1) if position < start and text[start - 1] == "." else None
        match = match or pattern.match(text, start)
        if match is None:
            position = run.end()
            continue
        quantity = _number(text, match.start(), match.end(), locale)
        position = max(quantity.end, match.end()) if quantity is not None else match.end()
        if quantity is not None:
            yield quantity


def fractions(text: str) -> Iterator[Quantity]:
    """`3/4`, as printed: it may also be a score or a date."""
    for match in _FRACTION.finditer(text):
        yield Quantity("number", f"{int(match[1])}/{int(match[2])}", match.start(), match.end())


def vulgar_fractions(text: str) -> Iterator[Quantity]:
    """`½` where no number stands before it."""
    for match in _VULGARS.finditer(text):
        value: Decimal | str = _VULGAR_THIRDS.get(match[0]) or Decimal(_VULGAR[match[0]])
        yield Quantity("number", value, match.start(), match.end(), quantum=Decimal("0.001"))


def _number(text: str, start: int, end: int, locale: str) -> Quantity | None:
    """The quantity whose digits are `[start, end)`; None where they are part of a word."""
    body = text[start:end]
    number = _body_value(body, locale)
    if text[end : end + 1] in _CHANGES_DIGITS:
        ordinal = _ORDINAL.match(text, end)
        if ordinal:
            return Quantity("ordinal", number[0], start, ordinal.end())
        end, number = _raised(text, end, body, number)
    return _finished(text, _front(text, start), end, number)


def _raised(text: str, end: int, body: str, number: _Value) -> tuple[int, _Value]:
    """Where the number ends with its exponent or vulgar fraction, and what it then is."""
    value, quantum, _ = number
    raised = _SUPERSCRIPT.match(text, end) if body == "10" else None
    if raised:
        value = _power(ONE, int(raised[0].translate(_SUPERSCRIPT_DIGITS)))
        return raised.end(), (value, value, ())
    if exponent := _EXPONENT.match(text, end):
        printed = exponent["e"] or exponent["caret"] or exponent["sup"].translate(_SUPERSCRIPT_DIGITS)
        return exponent.end(), (_power(value, int(printed)), _power(quantum, int(printed)), ())
    if text[end] in _VULGAR:
        return end + 1, (CONTEXT.add(value, Decimal(_VULGAR[text[end]])), Decimal("0.001"), ())
    return end, number


def _finished(text: str, front: _Front, end: int, number: _Value) -> Quantity | None:
    """The quantity with what follows its digits: closing parenthesis, scale, footnote mark, unit."""
    if front.parenthesis >= 0:
        negative = _in_parentheses(text, front, end, number)
        if negative is not None:
            return negative
        front = front._replace(start=front.parenthesis + 1, parenthesis=-1)
    tail = _tail(text, end, money=bool(front.currency))
    if _word_goes_on(text, tail.end):
        # `2019 €m`: the unit is none, and the number stands alone, unless its own word goes on (`5abc`).
        tail = _Tail(0, Suffix("number", end), end)
    if _word_goes_on(text, tail.end):
        return None
    return _built(text, front, tail, number)


def _word_goes_on(text: str, position: int) -> bool:
    """Whether a Latin word or number is cut at `position`; a Chinese unit ends wherever it stands (`15日16时`)."""
    return text[position : position + 1] in _WORD_CHARACTERS and text[position - 1 : position] in _WORD_CHARACTERS


def _in_parentheses(text: str, front: _Front, end: int, number: _Value) -> Quantity | None:
    """`(9.8%)`, `$(9.8) million`, `(9,982)` where the parentheses mean a minus; else None.

    They do in a table cell; in prose only with a currency, a grouping comma or a scale: `(12)` is twelve.
    """
    money = bool(front.currency)
    inner = _tail(text, end, money=money)
    close = inner.end + (text[inner.end : inner.end + 1] == " ")  # `(35,569 )`
    if text[close : close + 1] != ")":
        return None
    outer = _tail(text, close + 1, money=money)
    scale = inner.scale or outer.scale
    suffix = outer.suffix if inner.suffix.kind == "number" else inner.suffix
    grouped = "," in text[front.parenthesis : end]
    if not (money or suffix.currency or grouped or scale or _is_cell(text, front.start, outer.end)):
        return None
    return _built(text, front._replace(sign=-1, source="paren"), _Tail(scale, suffix, outer.end), number)


def _is_cell(text: str, start: int, end: int) -> bool:
    return _CELL_OPEN.search(text, max(0, start - 12), start) is not None and _CELL_CLOSE.match(text, end) is not None


def _tail(text: str, end: int, *, money: bool) -> _Tail:
    scale, end = scale_at(text, end, money=money)
    more = False
    if not scale and text[end : end + 1] in {"余", "多"}:
        # `20多亿元`: the scale stands behind the mark.
        scale, after = scale_at(text, end + 1, money=money)
        more, end = bool(scale), after if scale else end
    footnote = _SUPERSCRIPT.match(text, end) if text[end : end + 1] in _RAISED else None
    if footnote:
        end = footnote.end()
        if not scale:
            scale, end = scale_at(text, end, money=money)  # `250⁹ million`
    suffix = suffix_at(text, end) or Suffix("number", end)
    if more and not suffix.more:
        suffix = suffix._replace(more=True)
    return _Tail(scale, suffix, suffix.end)


def _built(text: str, front: _Front, tail: _Tail, number: _Value) -> Quantity:
    value, quantum, readings = number
    half = half_at(text, tail.suffix, tail.end) if not tail.scale and text[tail.end : tail.end + 1] == "半" else None
    if half is not None:
        tail = _Tail(0, half, half.end)
        value, quantum, readings = CONTEXT.add(value, Decimal("0.5")), Decimal("0.1"), ()
    currency = _one_currency(front.currency, tail.suffix.currency)
    kind: Kind = "money" if currency and tail.suffix.kind not in {"percent", "pp", "multiple"} else tail.suffix.kind
    if tail.scale or tail.suffix.factor is not ONE or front.sign < 0 or tail.end - front.start > CONTEXT.prec:
        factor = CONTEXT.multiply(tail.suffix.factor, _power(ONE, tail.scale))
        signed = CONTEXT.minus(factor) if front.sign < 0 else factor
        value, quantum = CONTEXT.multiply(value, signed), CONTEXT.multiply(quantum, factor)
        readings = tuple(CONTEXT.multiply(each, signed) for each in readings)
    low, high = interval(value, quantum)
    return Quantity(
        kind,
        value,
        front.start,
        tail.end,
        lo=low,
        hi=high,
        quantum=quantum,
        scale=tail.scale,
        currency=currency,
        unit=tail.suffix.unit,
        basis=basis_at(text, tail.end),
        sign=front.sign,
        sign_source=front.source,
        bound=">" if tail.suffix.more else "",
        readings=readings,
    )


def spelled(text: str, start: int, end: int, value: Decimal, quantum: Decimal) -> Quantity:
    """A number without digits (`三亿`, `twenty-two thousand`) with the currency, sign and unit around it."""
    front = _front(text, start)
    if front.parenthesis >= 0:
        front = _Front(start)
    if text[end : end + 1] in {"余", "多", "个"}:
        return _built(text, front, _tail(text, end, money=False), (value, quantum, ()))
    suffix = suffix_at(text, end) or Suffix("number", end)
    return _built(text, front, _Tail(0, suffix, suffix.end), (value, quantum, ()))


def _one_currency(prefix: str, suffix: str) -> str:
    """The known code, where one side prints only a sign (`$20美元` is USD)."""
    if not prefix or not suffix:
        return prefix or suffix
    return suffix if prefix.endswith("?") else prefix


def _front(text: str, start: int) -> _Front:
    """Sign, currency and parenthesis before `start`, in any of their printed orders."""
    if text[start - 1 : start] not in _FRONTS:
        return _Front(start)
    position, currency, sign, parenthesis = start, "", 0, -1
    source: SignSource = "none"
    for _ in range(4):
        before = text[position - 1] if position else ""
        if before in {"-", "+"} and not sign and _may_be_sign(text, position - 1):
            position, sign, source = position - 1, -1 if before == "-" else 1, "glyph"
        elif before == "(" and parenthesis < 0:
            parenthesis = position = position - 1
        elif not currency and (found := currency_before(text, position))[0]:
            currency, position = found
        else:
            break
    if (
        not sign
        and text[position - 1 : position] in {"负", " "}
        and (word := _WORD_MINUS.search(text, max(0, position - 9), position))
    ):
        position, sign, source = word.start(), -1, "word"
    return _Front(position, currency, sign, source, parenthesis)


def _may_be_sign(text: str, position: int) -> bool:
    """A hyphen after a letter, digit or closing mark joins or ranges; it is no minus."""
    if not position:
        return True
    before = text[position - 1]
    return not (before.isascii() and (before.isalnum() or before in ")%_.]\x00")) and before != "年"


def _body_value(body: str, locale: str) -> _Value:
    """(value, quantum, readings) of the digits of one number."""
    if body.isdigit():
        return Decimal(body), ONE, ()
    comma = uses_decimal_comma(locale) or _comma_is_decimal(body)
    digits = _SPACED.sub("", body)
    digits = digits.replace(".", "").replace(",", ".") if comma else digits.replace(",", "")
    value = Decimal(digits)
    quantum = _power(ONE, -len(digits.partition(".")[2]))
    if not locale and _TWO_READINGS.fullmatch(body):
        other = body.replace(".", "") if "." in body else body.replace(",", ".")
        return value, quantum, (value, Decimal(other))
    return value, quantum, ()


def _comma_is_decimal(body: str) -> bool:
    """`1.234,5`, `12,5`, `1 234,5`: the comma is the last separator, and not one of a grouping."""
    head, comma, tail = body.rpartition(",")
    return bool(comma) and ("." in head or len(tail) != 3 or " " in head or GROUP_SPACE in head) and "." not in tail


def _power(value: Decimal, power: int) -> Decimal:
    return CONTEXT.scaleb(value, power)


def document_locale(text: str) -> str:
    """`de` where most unambiguous numbers print a decimal comma (`1.234,5`), `en` for `1,234.5`; empty for neither."""
    points = len(
        re.findall(r"(?a)(?<!\d)\d{1,3}(?:,\d{3})+(?:\.\d+|(?=,\d{3}))(?!\d)|(?<![\d.,])\d+\.\d{1,2}(?![\d.,])", text)
    )
    commas = len(re.findall(r"(?a)(?<!\d)\d{1,3}(?:\.\d{3})+,\d+(?!\d)|(?<![\d.,])\d+,\d{1,2}(?![\d.,])", text))
    if points == commas:
        return ""
    return "en" if points > commas else "de"
