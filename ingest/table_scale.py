"""Reads "in millions", "RMB'000", "单位：万元" near a table: the power of ten and the currency of its figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ENGLISH_SCALES = {"thousand": 3, "lakh": 5, "million": 6, "crore": 7, "billion": 9, "trillion": 12}
SHORT_SCALES = {"m": 6, "mn": 6, "mm": 6, "bn": 9, "k": 3}
CHINESE_SCALES = {
    "": 0,
    "十": 1,
    "百": 2,
    "千": 3,
    "仟": 3,
    "万": 4,
    "萬": 4,
    "百万": 6,
    "百萬": 6,
    "千万": 7,
    "千萬": 7,
}
CHINESE_SCALES |= {"亿": 8, "億": 8, "十亿": 9, "十億": 9, "万亿": 12, "萬億": 12, "兆": 12}

# Longest first: `HK$` before `$`.
CURRENCIES = {
    "US$": "USD",
    "HK$": "HKD",
    "A$": "AUD",
    "C$": "CAD",
    "S$": "SGD",
    "NT$": "TWD",
    "RMB": "CNY",
    "CNY": "CNY",
    "USD": "USD",
    "EUR": "EUR",
    "GBP": "GBP",
    "HKD": "HKD",
    "JPY": "JPY",
    "CHF": "CHF",
    "AUD": "AUD",
    "CAD": "CAD",
    "SGD": "SGD",
    "INR": "INR",
    "CANADIAN DOLLAR": "CAD",
    "AUSTRALIAN DOLLAR": "AUD",
    "HONG KONG DOLLAR": "HKD",
    "SINGAPORE DOLLAR": "SGD",
    "NEW ZEALAND DOLLAR": "NZD",
    "DOLLAR": "USD",
    "EURO": "EUR",
    "POUND": "GBP",
    "YEN": "JPY",
    "YUAN": "CNY",
    "RENMINBI": "CNY",
    "RS.": "INR",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
    "₹": "INR",
}
CHINESE_CURRENCIES = {
    "港元": "HKD",
    "港币": "HKD",
    "港幣": "HKD",
    "美元": "USD",
    "欧元": "EUR",
    "歐元": "EUR",
    "英镑": "GBP",
    "日元": "JPY",
    "新台币": "TWD",
    "新台幣": "TWD",
    "円": "JPY",
    "元": "CNY",
}

_CURRENCY = (
    r"(?:US\$|HK\$|NT\$|A\$|C\$|S\$|RMB|CNY|USD|EUR|GBP|HKD|JPY|CHF|AUD|CAD|SGD|INR|Rs\.?"
    r"|\$|€|£|₹|(?:(?:U\.\s?S\.|US|United States|Canadian|Australian|Hong Kong|Singapore|New Zealand)\s+)?dollars?"
    r"|euros?|pounds?|yen|yuan|renminbi)"
)
_WORD = r"(thousand|lakh|million|crore|billion|trillion)s?"
_ENGLISH = (
    re.compile(rf"\bin\s+(?:{_CURRENCY}\s+)?{_WORD}\b", re.IGNORECASE),
    re.compile(rf"{_CURRENCY}\s*(?:in\s+)?{_WORD}\b", re.IGNORECASE),
    re.compile(rf"\(\s*{_WORD}\b(?:\s+of\s+[a-z. ]+|,[^)]*)?\s*\)", re.IGNORECASE),
    re.compile(rf"(?:^|[,:;–—-])\s*{_WORD}\s+(?:of\s+)?{_CURRENCY}\s*(?:$|[,;)])", re.IGNORECASE),
)
_ZEROS = re.compile(
    rf"{_CURRENCY}\s*['’‘]?\s*(?:000|000s)\b|['’‘]000s?\b|\(\s*(?:in\s+)?000['’]?s?\s*\)|\bin\s+000['’]?s\b",
    re.IGNORECASE,
)
_SHORT = re.compile(rf"{_CURRENCY}\s?(m|mn|mm|bn|k)\b|\(\s*{_CURRENCY}\s*\)", re.IGNORECASE)
_SIGN_AT_END = re.compile(r"(?<=\s)(?:US|HK|NT|[ACS])?[$€£₹]\s*$")
_CHINESE_SCALE = r"(百万|百萬|千万|千萬|十亿|十億|万亿|萬億|兆|[十百千仟万萬亿億])?"
_CHINESE_MONEY = r"(港元|港币|港幣|美元|欧元|歐元|英镑|日元|新台币|新台幣|円|元)"
_UNIT_WORD = r"(?:单位|單位|単位)(?:均)?(?:为|為|[:：])+"
_CHINESE = re.compile(
    rf"(?:{_UNIT_WORD}|[（(/／]|以)(?:人民[币幣])?{_CHINESE_SCALE}{_CHINESE_MONEY}"
    rf"|^{_CHINESE_SCALE}{_CHINESE_MONEY}$|人民[币幣]{_CHINESE_SCALE}{_CHINESE_MONEY}"
)
_COUNTED = re.compile(rf"{_UNIT_WORD}(百万|百萬|千万|千萬|[千仟万萬亿億])([^\W\d_]{{1,3}})")
_KIND_OF_MONEY = re.compile(rf"[币幣]种[:：](?:人民[币幣]|{_CHINESE_MONEY})")
# What a statement leaves out is no statement: `(in thousands, except per share data in dollars)`.
_EXCEPTED = re.compile(r"\bexcept(?!\s+(?:where|as)\b)[^()（）,，;；]*|\bexcept\b[^()（）]*(?=[)）])", re.IGNORECASE)
_SIGNS = re.compile(
    "|".join(
        rf"(?<![A-Z]){re.escape(sign)}S?(?![A-Z])" if sign.isalpha() else rf"(?<![A-Z]){re.escape(sign)}"
        for sign in CURRENCIES
    )
)
_OWN = re.compile(
    r"\d[\d.,\s]*(thousand|lakh|million|crore|billion|trillion|mn|bn|[mk])\b"
    r"|\d[\d.,，]*\s*(百万|百萬|千万|千萬|十亿|十億|万亿|萬億|[万萬亿億])",
    re.IGNORECASE,
)
_PRINTED = re.compile(
    r"(US\$|HK\$|NT\$|A\$|C\$|S\$|RMB|[$€£₹])\s*[(（]?\s*[-−–]?\s*\d|\d\s*[十百千万萬亿億]*(€|£|美元|港元|欧元|英镑|日元|元)|^\s*(US\$|HK\$|[$€£₹])\s*$"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A power of ten and a currency ("": none). `counted` is False where only a currency is named, as in `($)`."""

    scale: int
    unit: str
    counted: bool = True


def read_scale(text: str) -> tuple[int, str] | None:
    """Power of ten and ISO 4217 currency ("" where none is named) that the words state; None where they state none."""
    found = stated(text)
    return (found[0].scale, found[0].unit) if found else None


def stated(text: str) -> tuple[Stated, ...]:
    """All that the words state, each scale once; what they except is left out."""
    kept = _EXCEPTED.sub("", text)
    by_scale: dict[tuple[int, bool], Stated] = {}
    for found in (*_english(kept), *_chinese(kept)):
        by_scale.setdefault((found.scale, found.counted), found)
    counted = [found for found in by_scale.values() if found.counted]
    return tuple(counted or by_scale.values())


def own_scale(text: str) -> int | None:
    """The power of ten that is printed with a figure: 6 in `4.1 million`, 8 in `12亿元`; None where none is."""
    match = _OWN.search(text)
    if match is None:
        return None
    english, chinese = match.groups()
    if chinese:
        return CHINESE_SCALES[chinese]
    return (ENGLISH_SCALES | SHORT_SCALES)[english.lower()]


def printed_currency(text: str) -> str:
    """The currency printed beside a figure, or alone as in a column of signs; "" where there is none."""
    match = _PRINTED.search(text)
    if match is None:
        return ""
    sign = next(group for group in match.groups() if group)
    return CHINESE_CURRENCIES.get(sign) or CURRENCIES[sign]


def _english(text: str) -> Iterator[Stated]:
    taken: list[tuple[int, int]] = []
    for pattern in _ENGLISH:
        for match in pattern.finditer(text):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                taken.append(match.span())
                yield Stated(ENGLISH_SCALES[match.group(1).lower()], _currency(text))
    if _ZEROS.search(text):
        yield Stated(3, _currency(text))
    for match in () if taken else _SHORT.finditer(text):
        short = (match.group(1) or "").lower()
        yield Stated(SHORT_SCALES.get(short, 0), _currency(match.group()), counted=bool(short))
    if sign := _SIGN_AT_END.search(text):
        yield Stated(0, _currency(sign.group()), counted=False)


def _chinese(text: str) -> Iterator[Stated]:
    compact = re.sub(r"\s+", "", text)
    kind = _KIND_OF_MONEY.search(compact)
    for match in _CHINESE.finditer(compact):
        groups = match.groups()
        scale = next((group for group in groups[::2] if group), "")
        unit = CHINESE_CURRENCIES[next(group for group in groups[1::2] if group)]
        if kind is not None and unit == "CNY":
            unit = CHINESE_CURRENCIES[kind.group(1)] if kind.group(1) else "CNY"
        yield Stated(CHINESE_SCALES[scale], unit)
    for match in () if _CHINESE.search(compact) else _COUNTED.finditer(compact):
        yield Stated(CHINESE_SCALES[match.group(1)], match.group(2))


def _currency(text: str) -> str:
    match = _SIGNS.search(text.upper())
    if match is None:
        return ""
    sign = match.group()
    return CURRENCIES.get(sign) or CURRENCIES[sign.removesuffix("S")]
