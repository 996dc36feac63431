"""What may stand around a number: scales, units, counters and currencies, with their canonical names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from kb_qa.guardrails.quantities import ONE, Kind

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
_ADJACENT = {"k": 3, "K": 3, "m": 6, "M": 6, "b": 9, "B": 9, "t": 12, "T": 12}
# Without a currency `5m` is five metres, `5 mm` millimetres and `5t` five tonnes.
_NEEDS_CURRENCY = frozenset({"m", "b", "t", "T", "mm"})
_CJK_SCALE = {"十": 1, "百": 2, "千": 3, "万": 4, "亿": 8, "兆": 12}

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
    "year": ("year", "years", "yr", "yrs", "year-old", "years old", "年"),
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
_COUNTERS = "人名位家个件台辆只套座间户所次项笔股份张条部架艘处门款批种类本册篇场届岁支枚头棵株列组级层颗瓶箱袋盒大倍"
_PERSONS = frozenset("人名位")
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
_PERCENT = r"%|percent(?!age)|per[ -]cent(?!age)|pct"
_POINTS = r"percentage[ -]points?|ppts?|pp|pts|p\.p\.|个?百分点|%[ -]points?"
_BASIS_POINTS = r"basis[ -]points?|bps|bp|个?基点"
_MULTIPLE = r"x|×|fold|times|倍"
_TENTHS = "成(?![立为本功员交果长都分就熟品绩年型像效败套])|折(?![合旧算价叠现扣])"


def _alternation(forms: Iterable[str]) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))


def _by_form(table: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {form.lower(): unit for unit, forms in table.items() for form in forms}


_MEASURE_BY_FORM = _by_form(MEASURES)
_DURATION_BY_FORM = _by_form(DURATIONS)
_SUFFIX_CURRENCY = {form.lower(): code for form, code in CURRENCY_SUFFIXES.items()}
_END = "(?![A-Za-z0-9_])"

SCALE = re.compile(
    rf"(?a)[ \u00a0-]?(?P<word>(?i:{_alternation(SCALE_WORDS)})){_END}|(?P<adjacent>[kKmMbBtT]){_END}(?!/)"
    r"|[ \u00a0]?(?:个(?=[万亿]))?(?P<cjk>[十百千]?(?:万亿|万|亿|兆)|[百千](?=[元人家个件美港欧日英名户吨股]))"
)
_SUFFIX = re.compile(
    r"(?a)(?P<more>[余多+])?[ \u00a0-]?(?:"
    rf"(?P<pp>(?i:{_POINTS})){_END}|(?P<bps>(?i:{_BASIS_POINTS})){_END}|(?P<percent>%|(?i:{_PERCENT}){_END})"
    rf"|(?P<permille>‰)|(?P<tenths>{_TENTHS})"
    rf"|(?P<currency>(?i:{_alternation(form for form in CURRENCY_SUFFIXES if form.isascii())}){_END}"
    rf"|{_alternation(form for form in CURRENCY_SUFFIXES if not form.isascii())})"
    rf"|(?P<duration>(?i:{_alternation(form for form in _DURATION_BY_FORM if form.isascii())}){_END}"
    rf"|{_alternation(form for form in _DURATION_BY_FORM if not form.isascii())})"
    rf"|(?P<measure>(?:{_alternation(form for unit in MEASURES.values() for form in unit)}){_END})"
    rf"|(?P<multiple>(?i:{_MULTIPLE})(?![A-Za-z0-9_]))|(?P<counter>[{_COUNTERS}])"
    r")"
)
_MORE_ALONE = re.compile(r"(?a)[余多](?=[^A-Za-z0-9\s])|\+")
_CURRENCY_BEFORE = re.compile(
    rf"(?a)(?:(?<![A-Za-z])(?:{_alternation(form for form in CURRENCY_PREFIXES if form[0].isalpha())})"
    rf"|{_alternation(form for form in CURRENCY_PREFIXES if not form[0].isalpha())})[ \u00a0]?$"
)
_CURRENCY_LAST = frozenset(form[-1] for form in CURRENCY_PREFIXES)
COUNTED_AHEAD = re.compile(rf"(?ai)[ \u00a0](?:{COUNTED})(?![A-Za-z])")
_HALF = re.compile("半(?![导数年月日天度夜场球岛径成途价票决壁路空]|个)")
_HALF_UNITS = {"月": "month", "小时": "hour", "钟头": "hour", "星期": "week", "季度": "quarter", "工作日": "workday"}
_HALF_INNER = re.compile("|".join(_HALF_UNITS))
_PER = re.compile(r"(?ai) ?(?:per|/|each) ?(share|employee|person|capita|unit|day|month|year|hour|股|人|年|月|天)")
_BASIS = {"股": "share", "人": "person", "年": "year", "月": "month", "天": "day", "capita": "person"}


@dataclass(frozen=True, slots=True)
class Suffix:
    """What a unit after a number makes of it: the value is multiplied by `factor`."""

    kind: Kind
    end: int
    unit: str = ""
    currency: str = ""
    factor: Decimal = ONE
    more: bool = False


def _starts(forms: Iterable[str]) -> frozenset[str]:
    """The first two characters of the forms, in lower case; a form of one character stands for itself."""
    return frozenset(form[:2].lower() for form in forms)


_SCALE_STARTS = _starts((*SCALE_WORDS, *"kmbt", *_CJK_SCALE, "个万", "个亿"))
_SUFFIX_STARTS = _starts(
    (
        *(*_MEASURE_BY_FORM, *_DURATION_BY_FORM, *CURRENCY_SUFFIXES, *_COUNTERS, *"余多+%‰x×倍成折"),
        *(
            "percent",
            "pct",
            "ppt",
            "pp",
            "pts",
            "p.p.",
            "个百分点",
            "百分点",
            "bps",
            "basis",
            "bp",
            "基点",
            "fold",
            "times",
        ),
    )
)


def _may_start(text: str, position: int, starts: frozenset[str]) -> bool:
    """A quick look before the long patterns: most numbers are followed by none of their forms."""
    if text[position : position + 1] in {" ", "\u00a0", "-"}:
        position += 1
    pair = text[position : position + 2].lower()
    return pair in starts or (pair[:1] in starts and not (pair.isascii() and pair[1:].isalpha() and pair[0].isalpha()))


def scale_at(text: str, position: int, *, money: bool) -> tuple[int, int]:
    """The power of ten printed at `position`, and where it ends; (0, position) for none."""
    match = SCALE.match(text, position) if _may_start(text, position, _SCALE_STARTS) else None
    if match is None:
        return 0, position
    word = match["word"] or match["adjacent"]
    if word and word in _NEEDS_CURRENCY and not money:
        return 0, position
    if match["word"]:
        return SCALE_WORDS[match["word"].lower()], match.end()
    if match["adjacent"]:
        return _ADJACENT[match["adjacent"]], match.end()
    return sum(_CJK_SCALE[character] for character in match["cjk"]), match.end()


def suffix_at(text: str, position: int) -> Suffix | None:
    """The unit, counter or currency printed at `position`, if any."""
    match = _SUFFIX.match(text, position) if _may_start(text, position, _SUFFIX_STARTS) else None
    if match is None:
        alone = _MORE_ALONE.match(text, position)
        return Suffix("number", alone.end(), more=True) if alone else None
    name = next(group for group in match.groupdict() if group != "more" and match[group] is not None)
    return _suffix(name, match[name], match.end(), bool(match["more"]))


def _suffix(name: str, form: str, end: int, more: bool) -> Suffix | None:
    lowered = form.lower()
    if name == "currency":
        return Suffix("money", end, currency=_SUFFIX_CURRENCY[lowered], more=more)
    if name == "duration":
        return Suffix("duration", end, unit=_DURATION_BY_FORM[lowered], more=more)
    if name == "measure":
        return Suffix("measure", end, unit=_MEASURE_BY_FORM[lowered], more=more)
    if name == "counter":
        return Suffix("count", end, unit="人" if form in _PERSONS else form, more=more)
    fixed: dict[str, tuple[Kind, Decimal]] = {
        "pp": ("pp", ONE),
        "bps": ("pp", Decimal("0.01")),
        "percent": ("percent", ONE),
        "permille": ("percent", Decimal("0.1")),
        "tenths": ("percent", Decimal(10)),
        "multiple": ("multiple", ONE),
    }
    kind, factor = fixed[name]
    return Suffix(kind, end, factor=factor, more=more)


def half_at(text: str, suffix: Suffix, position: int) -> Suffix | None:
    """The unit with the 半 behind it: `两年半`, `三个半月`, `三成半`; None where there is none, or it begins a word."""
    if suffix.kind == "number" or text[position : position + 1] != "半":
        return None
    if text[position - 1] == "个" and (inner := _HALF_INNER.match(text, position + 1)):
        return Suffix("duration", inner.end(), unit=_HALF_UNITS[inner[0]])
    return replace(suffix, end=position + 1) if _HALF.match(text, position) else None


def currency_before(text: str, position: int) -> tuple[str, int]:
    """The currency printed directly before `position`, and where it starts; ("", position) for none."""
    last = position - 1 if text[position - 1 : position] not in {" ", "\u00a0"} else position - 2
    if last < 0 or text[last] not in _CURRENCY_LAST:
        return "", position
    match = _CURRENCY_BEFORE.search(text, max(0, position - 8), position)
    return (CURRENCY_PREFIXES[match[0].rstrip(" \u00a0")], match.start()) if match else ("", position)


def basis_at(text: str, position: int) -> str:
    """`per_share` for ` per share` at `position`; empty for none."""
    match = _PER.match(text, position)
    return f"per_{_BASIS.get(match[1].lower(), match[1].lower())}" if match else ""


def is_counted_at(text: str, position: int) -> bool:
    """Whether a unit, scale or counted noun follows: then `2000` before it is no year."""
    if COUNTED_AHEAD.match(text, position) or scale_at(text, position, money=False)[0]:
        return True
    suffix = suffix_at(text, position)
    if suffix is None or suffix.unit == "year" or text[position : position + 1] == "-":
        return False
    return not text[suffix.end : suffix.end + 1].isascii() or not text[suffix.end : suffix.end + 1].isalnum()


def named_unit(form: str) -> str:
    """The canonical unit, `%` or currency of a form that `NAMED_UNIT` finds; empty for none."""
    lowered = form.lower()
    for table in (_DURATION_BY_FORM, _SUFFIX_CURRENCY, _MEASURE_BY_FORM):
        if lowered in table:
            return table[lowered]
    return "%" if form == "%" or lowered == "percent" else CURRENCY_PREFIXES.get(form, "")


# One-letter forms are left out: a header's stray `m` or `h` names no unit.
_NAMED_FORMS = [
    form
    for form in (*_MEASURE_BY_FORM, *_DURATION_BY_FORM, *CURRENCY_SUFFIXES, *CURRENCY_PREFIXES, "%", "percent")
    if len(form) > 1 or not form.isascii() or form in "%$€£"
]
NAMED_UNIT = re.compile(
    r"(?a)(?<![A-Za-z])"
    rf"(?i:{_alternation(form for form in _NAMED_FORMS if form[0].isascii() and form[0].isalpha())}){_END}"
    rf"|{_alternation(form for form in _NAMED_FORMS if not (form[0].isascii() and form[0].isalpha()))}"
)
SCALE_STATEMENT = re.compile(r"(?ai)thousand|million|billion|\b(?:mn|bn)\b|'000|[万亿]|[百千]元")
