"""Reads "in millions", "RMB'000", "单位：万元" near a table: the power of ten and the currency of its figures."""

from __future__ import annotations

import re

ENGLISH_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
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
    "DOLLAR": "USD",
    "EURO": "EUR",
    "POUND": "GBP",
    "YEN": "JPY",
    "YUAN": "CNY",
    "RENMINBI": "CNY",
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
    r"(?:US\$|HK\$|NT\$|A\$|C\$|S\$|RMB|CNY|USD|EUR|GBP|HKD|JPY|CHF|AUD|CAD|SGD|INR"
    r"|\$|€|£|₹|dollars?|euros?|pounds?|yen|yuan|renminbi)"
)
_WORD = r"(thousand|million|billion|trillion)s?"
_ENGLISH = (
    re.compile(rf"\bin\s+(?:{_CURRENCY}\s+)?{_WORD}\b", re.IGNORECASE),
    re.compile(rf"{_CURRENCY}\s*(?:in\s+)?{_WORD}\b", re.IGNORECASE),
    re.compile(rf"\(\s*{_WORD}\b(?:\s+of\s+[a-z. ]+|,[^)]*)?\s*\)", re.IGNORECASE),
    re.compile(rf"^\s*{_WORD}\s+(?:of\s+)?{_CURRENCY}\s*$", re.IGNORECASE),
)
_ZEROS = re.compile(rf"{_CURRENCY}\s*['’‘]?\s*(000|000s)\b|['’‘]000s?\b", re.IGNORECASE)
_SHORT = re.compile(rf"{_CURRENCY}\s?(m|mn|mm|bn|k)\b|\(\s*{_CURRENCY}\s*\)", re.IGNORECASE)
_CHINESE_SCALE = r"(百万|百萬|千万|千萬|十亿|十億|万亿|萬億|兆|[十百千仟万萬亿億])?"
_CHINESE_MONEY = r"(港元|港币|港幣|美元|欧元|歐元|英镑|日元|新台币|新台幣|円|元)"
_CHINESE = re.compile(
    rf"(?:(?:单位|單位|単位)(?:均)?(?:为|為)?\s*[:：]?\s*|[（(]\s*|以\s*|^\s*)(?:人民[币幣]\s*)?{_CHINESE_SCALE}\s*{_CHINESE_MONEY}"
)
_RENMINBI = re.compile(rf"人民[币幣]\s*{_CHINESE_SCALE}\s*{_CHINESE_MONEY}")


def read_scale(text: str) -> tuple[int, str] | None:
    """Power of ten and ISO 4217 currency ("" where none is named) that the words state; None where they state none."""
    return _english(text) or _zeros(text) or _chinese(text)


def _english(text: str) -> tuple[int, str] | None:
    for pattern in _ENGLISH:
        match = pattern.search(text)
        if match:
            return ENGLISH_SCALES[match.group(1).lower()], _currency(text)
    match = _SHORT.search(text)
    if match:
        return SHORT_SCALES.get((match.group(1) or "").lower(), 0), _currency(match.group(0))
    return None


def _zeros(text: str) -> tuple[int, str] | None:
    match = _ZEROS.search(text)
    return (3, _currency(text)) if match else None


def _chinese(text: str) -> tuple[int, str] | None:
    compact = re.sub(r"\s+", "", text)
    match = _RENMINBI.search(compact) or _CHINESE.search(compact)
    if not match:
        return None
    return CHINESE_SCALES[match.group(1) or ""], CHINESE_CURRENCIES[match.group(2)]


def _currency(text: str) -> str:
    upper = text.upper()
    return next((code for sign, code in CURRENCIES.items() if sign in upper), "")
