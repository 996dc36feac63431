"""What may stand around a number: scales, units, counters and currencies, with their canonical names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# Powers of ten.
SCALE_WORDS = {
    "thousand": 3,
    "million": 6,
    "millions": 6,
    "mn": 6,
    "mm": 6,
    "mio": 6,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "trillion": 12,
    "trillions": 12,
    "tn": 12,
    "lakh": 5,
    "lakhs": 5,
    "crore": 7,
    "crores": 7,
    "thousands": 3,
    "mil": 6,
    "mrd": 9,
}

# Canonical units by printed form. A form in Latin letters ends at a word boundary.
MEASURES: Mapping[str, Iterable[str]] = {
    "km": ("km", "kms", "kilometre", "kilometres", "kilometer", "kilometers", "公里", "千米"),
    "m": ("m", "metre", "metres", "meter", "meters", "米"),
    "cm": ("cm", "centimetres", "centimeters", "厘米"),
    "mm": ("mm", "millimetres", "millimeters", "毫米"),
    "mi": ("mile", "miles", "英里"),
    "ft": ("ft", "foot", "feet", "英尺"),
    "in": ("inch", "inches", "英寸"),
    "m2": ("m2", "m²", "㎡", "sqm", "sq m", "square metres", "square meters", "平方米"),
    "m3": ("m3", "m³", "cubic metres", "cubic meters", "立方米"),
    "km2": ("km2", "km²", "square kilometres", "square kilometers", "平方公里", "平方千米"),
    "ft2": ("sq ft", "sqft", "square feet", "平方英尺"),
    "ha": ("ha", "hectare", "hectares", "公顷"),
    "acre": ("acre", "acres", "英亩"),
    "mu": ("亩",),
    "kg": ("kg", "kgs", "kilogram", "kilograms", "公斤", "千克"),
    "g": ("g", "gram", "grams", "克"),
    "mg": ("mg", "毫克"),
    "t": ("t", "tonne", "tonnes", "ton", "tons", "metric tons", "吨"),
    "lb": ("lb", "lbs", "磅"),
    "oz": ("oz", "ounce", "ounces", "盎司"),
    "l": ("l", "L", "litre", "litres", "liter", "liters", "升"),
    "ml": ("ml", "mL", "毫升"),
    "bbl": ("bbl", "barrel", "barrels", "桶"),
    "gal": ("gallon", "gallons", "加仑"),
    "kwh": ("kWh", "kwh", "千瓦时", "度电"),
    "mwh": ("MWh", "兆瓦时"),
    "gwh": ("GWh", "吉瓦时"),
    "kw": ("kW", "kw", "千瓦"),
    "mw": ("MW", "兆瓦"),
    "gw": ("GW", "吉瓦"),
    "mph": ("mph", "miles per hour"),
    "km/h": ("km/h", "kph", "kilometres per hour", "公里/小时"),
    "c": ("°C", "℃", "degrees Celsius", "摄氏度"),
    "f": ("°F", "℉", "degrees Fahrenheit", "华氏度"),
    "kb": ("KB",),
    "mb": ("MB",),
    "gb": ("GB",),
    "tb": ("TB",),
    "hz": ("Hz",),
    "mhz": ("MHz",),
    "ghz": ("GHz",),
    "dpi": ("dpi",),
    "px": ("px", "pixels", "像素"),
    "tco2e": ("tCO2e", "tCO₂e", "tonnes CO2e"),
}
DURATIONS: Mapping[str, Iterable[str]] = {
    "year": ("year", "years", "yr", "yrs", "year-old", "years old", "年", "周年", "周岁"),
    "month": ("month", "months", "个月", "月期"),
    "week": ("week", "weeks", "周", "个星期", "星期", "个周"),
    "workday": ("business day", "business days", "working day", "working days", "workdays", "个工作日", "工作日"),
    "day": ("day", "days", "calendar days", "天", "日", "个自然日", "自然日", "个日历日"),
    "hour": ("hour", "hours", "hr", "hrs", "h", "小时", "个小时"),
    "minute": ("minute", "minutes", "min", "mins", "分钟"),
    "second": ("second", "seconds", "sec", "secs", "秒", "秒钟"),
    "quarter": ("个季度",),
    "decade": ("decade", "decades"),
}
COUNTERS = "人名位家个件台辆只套座间户所次项笔股份张条部架艘处门款批种类本册篇场届岁支枚头棵株列组级层颗瓶箱袋盒大倍"
PERSONS = frozenset("人名位")
GENERIC_COUNTERS = frozenset("个种类项条大")
# English nouns after which `1950` or `2000` is a count and not a year.
COUNTED = (
    r"employees?|people|persons?|customers?|users?|stores?|units?|shares?|staff|workers?|members?|students?|patients?"
    r"|cases?|items?|vehicles?|homes?|beds?|seats?|rooms?|dollars|euros|pounds|yuan|yen"
)

CURRENCY_PREFIXES = {
    "US$": "USD",
    "USD": "USD",
    "U.S.$": "USD",
    "HK$": "HKD",
    "HKD": "HKD",
    "NT$": "TWD",
    "TWD": "TWD",
    "A$": "AUD",
    "AU$": "AUD",
    "AUD": "AUD",
    "C$": "CAD",
    "CA$": "CAD",
    "CAD": "CAD",
    "S$": "SGD",
    "SGD": "SGD",
    "NZ$": "NZD",
    "R$": "BRL",
    "RMB": "CNY",
    "CNY": "CNY",
    "CN¥": "CNY",
    "JP¥": "JPY",
    "JPY": "JPY",
    "$": "$?",
    "¥": "¥?",
    "€": "EUR",
    "EUR": "EUR",
    "£": "GBP",
    "GBP": "GBP",
    "CHF": "CHF",
    "₹": "INR",
    "INR": "INR",
    "Rs.": "INR",
    "Rs": "INR",
    "₩": "KRW",
    "KRW": "KRW",
    "人民币": "CNY",
    "美金": "USD",
    "美元": "USD",
    "港币": "HKD",
    "港元": "HKD",
    "欧元": "EUR",
    "英镑": "GBP",
    "日元": "JPY",
    "新台币": "TWD",
}
CURRENCY_SUFFIXES = {
    "元": "CNY",
    "块": "CNY",
    "圆": "CNY",
    "人民币": "CNY",
    "元人民币": "CNY",
    "美元": "USD",
    "美金": "USD",
    "港元": "HKD",
    "港币": "HKD",
    "欧元": "EUR",
    "英镑": "GBP",
    "日元": "JPY",
    "韩元": "KRW",
    "新台币": "TWD",
    "澳元": "AUD",
    "加元": "CAD",
    "瑞士法郎": "CHF",
    "卢比": "INR",
    "新加坡元": "SGD",
    "台币": "TWD",
    "US dollars": "USD",
    "U.S. dollars": "USD",
    "dollars": "$?",
    "dollar": "$?",
    "euros": "EUR",
    "euro": "EUR",
    "pounds sterling": "GBP",
    "yuan": "CNY",
    "renminbi": "CNY",
    "yen": "JPY",
    "rupees": "INR",
    "€": "EUR",
    "Hong Kong dollars": "HKD",
    "Australian dollars": "AUD",
    "Canadian dollars": "CAD",
    "£": "GBP",
    **{
        code: code
        for code in ("USD", "EUR", "GBP", "CNY", "JPY", "HKD", "AUD", "CAD", "CHF", "SGD", "INR", "KRW", "TWD")
    },
    "RMB": "CNY",
}


def alternation(forms: Iterable[str]) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))


def _by_form(table: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {form.lower(): unit for unit, forms in table.items() for form in forms}


MEASURE_BY_FORM = _by_form(MEASURES)
DURATION_BY_FORM = _by_form(DURATIONS)
CURRENCY_BY_FORM = {form.lower(): code for form, code in CURRENCY_SUFFIXES.items()}
END = "(?![A-Za-z0-9_])"

COUNTED_AHEAD = re.compile(rf"(?ai)[ \u00a0](?:{COUNTED})(?![A-Za-z])")


def named_unit(form: str) -> str:
    """The canonical unit, `%` or currency of a form that `NAMED_UNIT` finds; empty for none."""
    lowered = form.lower()
    for table in (DURATION_BY_FORM, CURRENCY_BY_FORM, MEASURE_BY_FORM):
        if lowered in table:
            return table[lowered]
    return "%" if form == "%" or lowered == "percent" else CURRENCY_PREFIXES.get(form, "")


# One-letter forms are left out: a header's stray `m` or `h` names no unit.
_NAMED_FORMS = [
    form
    for form in (*MEASURE_BY_FORM, *DURATION_BY_FORM, *CURRENCY_SUFFIXES, *CURRENCY_PREFIXES, "%", "percent")
    if len(form) > 1 or not form.isascii() or form in "%$€£"
]
NAMED_UNIT = re.compile(
    r"(?a)(?<![A-Za-z])"
    rf"(?i:{alternation(form for form in _NAMED_FORMS if form[0].isascii() and form[0].isalpha())}){END}"
    rf"|{alternation(form for form in _NAMED_FORMS if not (form[0].isascii() and form[0].isalpha()))}"
)
SCALE_STATEMENT = re.compile(r"(?ai)thousand|million|billion|\b(?:mn|bn)\b|'000|[$£€¥] ?000|[万亿]|[百千]元")
