"""Dates, months, quarters, halves, fiscal years, years and clock times, in English and Chinese."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator

from kb_qa.guardrails.measures import is_counted_at
from kb_qa.guardrails.quantities import Kind, Quantity

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>(?i:january|february|march|april|june|july|august|september|october|november|december)|May|MAY"
    r"|(?i:jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\.?)"
)
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_YEAR_OR_TWO = r"(?P<year>(?:19|20)\d\d|'?\d\d)"
_CJK_YEAR = r"(?P<year>(?:19|20)\d\d|[一二][零〇○九][零〇○一二三四五六七八九]{2})"
_CJK_SMALL = r"\d{1,2}|[一二三四五六七八九十廿]{1,3}"
_OPEN = r"(?<![0-9A-Za-z_])(?<!\d[.,/-])"
_CLOSE = r"(?![0-9A-Za-z_])(?![.,/-]\d)"
_DASH = r" ?[-–—~/] ?"
_CJK_DIGITS = {character: str(value) for value, character in enumerate("零一二三四五六七八九")} | {"〇": "0", "○": "0"}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}

Read = Callable[[re.Match[str]], tuple[Kind, str] | None]


def small_number(text: str) -> int:
    """`12`, `三`, `十二`, `二十一` or `廿一` as a number below 100; 0 for anything else."""
    if text.isascii():
        return int(text) if text.isdigit() else 0
    tens, mark, units = text.replace("廿", "二十").rpartition("十")
    high = (int(_CJK_DIGITS.get(tens, "0")) if tens else 1) if mark else 0
    return high * 10 + (int(_CJK_DIGITS.get(units, "0")) if units else 0)


def _full_year(text: str) -> str:
    digits = "".join(_CJK_DIGITS.get(character, character) for character in text.lstrip("'"))
    return digits if len(digits) == 4 else f"20{digits}"


def _month_number(text: str) -> int:
    return _MONTHS.index(text[:3].lower()) + 1


def _iso(year: str, month: int, day: int) -> str | None:
    try:
        return datetime.date(int(year), month, day).isoformat()
    except ValueError:
        return None


def _numeric_date(match: re.Match[str]) -> tuple[Kind, str] | None:
    value = _iso(match["year"], int(match["month"]), int(match["day"]))
    return ("date", value) if value else None


def _day_or_month_first(match: re.Match[str]) -> tuple[Kind, str] | None:
    first, second, year = int(match["first"]), int(match["second"]), match["year"]
    readings = sorted({value for pair in ((first, second), (second, first)) if (value := _iso(year, *pair))})
    # Where both readings are dates, neither is taken: the value is equal only to the same print.
    return ("date", "|".join(readings)) if readings else None


def _english_date(match: re.Match[str]) -> tuple[Kind, str] | None:
    value = _iso(match["year"], _month_number(match["month"]), int(match["day"]))
    return ("date", value) if value else None


def _english_month(match: re.Match[str]) -> tuple[Kind, str] | None:
    return "period", f"{_full_year(match['year'])}-{_month_number(match['month']):02d}"


def _english_monthday(match: re.Match[str]) -> tuple[Kind, str] | None:
    return "monthday", f"--{_month_number(match['month']):02d}-{int(match['day']):02d}"


def _cjk_date(match: re.Match[str]) -> tuple[Kind, str] | None:
    groups = match.groupdict()
    month = small_number(groups["month"])
    year = _full_year(groups["year"]) if groups.get("year") else ""
    if not 1 <= month <= 12:
        return None
    if not groups.get("day"):
        return ("period", f"{year}-{month:02d}") if year else ("monthday", f"--{month:02d}")
    day = small_number(groups["day"])
    value = _iso(year or "2024", month, day)
    if value is None:
        return None
    return ("date", value) if year else ("monthday", f"--{month:02d}-{day:02d}")


def _quarter(match: re.Match[str]) -> tuple[Kind, str] | None:
    groups = match.groupdict()
    printed = (groups.get("number") or groups.get("name") or "").lower()
    number = _ORDINALS.get(printed) or small_number(printed)
    year = _full_year(groups["year"]) if groups.get("year") else "--"
    return "period", f"{year}Q{number}"


def _quarters_to_date(match: re.Match[str]) -> tuple[Kind, str] | None:
    year = _full_year(match["year"]) if match["year"] else "--"
    return "period", f"{year}Q1-{small_number(match['number'])}"


def _half(match: re.Match[str]) -> tuple[Kind, str] | None:
    groups = match.groupdict()
    printed = (groups.get("number") or groups.get("name") or "").lower()
    number = {"上": 1, "下": 2, "1": 1, "2": 2}.get(printed) or _ORDINALS[printed]
    year = _full_year(groups["year"]) if groups.get("year") else "--"
    return "period", f"{year}H{number}"


def _fiscal(match: re.Match[str]) -> tuple[Kind, str] | None:
    return "period", f"FY{_full_year(match['year'])}"


def _year_range(match: re.Match[str]) -> tuple[Kind, str] | None:
    first, last = match["year"], match["last"]
    last = last if len(last) == 4 else first[:2] + last
    return ("period", f"{first}/{last}") if int(last) > int(first) else None


def _decade(match: re.Match[str]) -> tuple[Kind, str] | None:
    return "period", f"{match['year']}s"


def _year(match: re.Match[str]) -> tuple[Kind, str] | None:
    if not match["mark"] and is_counted_at(match.string, match.end()):
        return None
    return "year", _full_year(match["year"])


def _time(match: re.Match[str]) -> tuple[Kind, str] | None:
    groups = match.groupdict()
    hour, minute = int(groups["hour"]), int(groups.get("minute") or 0)
    half = (groups.get("half") or "").lower()
    if hour > 24 or minute > 59:
        return None
    minute = 30 if groups.get("thirty") else minute
    if half in {"p", "下午", "晚上"} and hour < 12:
        hour += 12
    return "time", f"{hour:02d}:{minute:02d}"


def _pattern(expression: str, flags: str = "a") -> re.Pattern[str]:
    return re.compile(f"(?{flags})" + expression)


_NEEDS_MONTH = re.compile(r"(?ai)(?<![a-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_NEEDS_CJK = re.compile("[年月季号度]")
_NEEDS_PART = re.compile(r"(?ai)[qh] ?[-/'’]?\d|\d ?[-/]?[qh]|half|quarter")
_NEEDS_YEAR = re.compile(r"(?a)(?:19|20)\d")
_NEEDS_SEPARATED = re.compile(r"(?a)\d[-/.]\d{1,2}[-/.]\d")
_NEEDS_FISCAL = re.compile(r"(?ai)(?<![a-z])f(?:y|iscal|inancial|\d)")
_NEEDS_CLOCK = re.compile(r"(?a)\d:\d")
_NEEDS_HALF_DAY = re.compile(r"(?ai)\d ?[ap]\.?m")
_ORDINAL = r"(?P<name>first|second|third|fourth|1st|2nd|3rd|4th)"
_OF_YEAR = r"(?:,? (?:of )?(?:the )?(?:fiscal |financial )?(?:year )?(?P<year>(?:19|20)\d\d))?"

# (what the text must hold, pattern, reading), in the order in which they own a span
_READERS: tuple[tuple[re.Pattern[str], re.Pattern[str], Read], ...] = (
    (
        _NEEDS_SEPARATED,
        _pattern(
            rf"{_OPEN}{_YEAR}(?P<sep>[-/.])(?P<month>0?[1-9]|1[0-2])(?P=sep)(?P<day>0?[1-9]|[12]\d"
            rf"|3[01]){_CLOSE}"
        ),
        _numeric_date,
    ),
    (
        _NEEDS_SEPARATED,
        _pattern(
            rf"{_OPEN}(?P<first>\d{{1,2}})(?P<sep>[-/.])(?P<second>\d{{1,2}})"
            rf"(?P=sep){_YEAR}{_CLOSE}"
        ),
        _day_or_month_first,
    ),
    (
        _NEEDS_CJK,
        _pattern(
            rf"{_CJK_YEAR} ?年 ?(?P<month>{_CJK_SMALL}) ?月(?:份)?(?: ?"
            rf"(?P<day>{_CJK_SMALL}) ?[日号])?"
        ),
        _cjk_date,
    ),
    (_NEEDS_CJK, _pattern(rf"{_CJK_YEAR} ?年?(?:的|度)? ?前(?P<number>[二三23]) ?个?季度?"), _quarters_to_date),
    (_NEEDS_CJK, _pattern(rf"{_CJK_YEAR} ?年?(?:的|度)? ?第? ?(?P<number>[一二三四1-4]) ?季(?:度|报)?"), _quarter),
    (_NEEDS_CJK, _pattern(rf"{_CJK_YEAR} ?年(?:的|度)? ?(?P<number>[上下])半年(?:度)?"), _half),
    (_NEEDS_CJK, _pattern(rf"{_CJK_YEAR} ?(?:财年|财政年度?|会计年度)"), _fiscal),
    (_NEEDS_CJK, _pattern(r"(?P<year>)(?<!前)前(?P<number>[二三23]) ?个?季度"), _quarters_to_date),
    (_NEEDS_CJK, _pattern(r"第? ?(?P<number>[一二三四1-4]) ?季(?:度|报)(?!的?工)"), _quarter),
    (
        _NEEDS_CJK,
        _pattern(
            rf"(?<![0-9.,零〇一二三四五六七八九十])(?P<month>{_CJK_SMALL}) ?月(?:份)? ?"
            rf"(?P<day>{_CJK_SMALL}) ?[日号]"
        ),
        _cjk_date,
    ),
    (
        _NEEDS_CJK,
        _pattern(
            r"(?<![0-9.,零〇一二三四五六七八九十])(?P<month>1[0-2]|0?[1-9]|十[一二]"
            r"|[一二三四五六七八九十]) ?月(?:份|底|末|初|中)?(?!期)"
        ),
        _cjk_date,
    ),
    (_NEEDS_MONTH, _pattern(rf"{_OPEN}{_DAY}(?: of|[-/])? ?{_MONTH},?[ -/]? ?{_YEAR}(?![0-9])"), _english_date),
    (_NEEDS_MONTH, _pattern(rf"(?<![A-Za-z]){_MONTH} {_DAY},? {_YEAR}(?![0-9])"), _english_date),
    (
        _NEEDS_MONTH,
        _pattern(
            rf"(?<![A-Za-z]){_MONTH}(?:,? (?:of )?|-)(?P<year>(?:19|20)\d\d)"
            r"(?![0-9])"
        ),
        _english_month,
    ),
    (
        _NEEDS_MONTH,
        _pattern(
            r"(?<![A-Za-z])(?:(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[-'](?P<year>\d\d))"
            r"(?![0-9])"
        ),
        lambda match: ("period", f"20{match['year']}-{_month_number(match[0]):02d}"),
    ),
    (_NEEDS_MONTH, _pattern(rf"(?<![A-Za-z]){_MONTH} {_DAY}(?![0-9A-Za-z%]|[.,]\d)"), _english_monthday),
    (_NEEDS_MONTH, _pattern(rf"{_OPEN}{_DAY}(?: of)? {_MONTH}(?![A-Za-z])"), _english_monthday),
    (
        _NEEDS_PART,
        _pattern(
            rf"(?<![A-Za-z0-9])Q(?P<number>[1-4])[ ,/'-]{{0,2}}(?:of |FY ?|fiscal |CY)?{_YEAR_OR_TWO}"
            r"(?![0-9%]|[.,]\d)",
            "ai",
        ),
        _quarter,
    ),
    (_NEEDS_PART, _pattern(rf"(?<![A-Za-z0-9])(?P<number>[1-4])Q[ ']?{_YEAR_OR_TWO}(?![0-9])"), _quarter),
    (_NEEDS_PART, _pattern(rf"(?<![A-Za-z0-9])(?:FY ?)?{_YEAR} ?[-/]?Q(?P<number>[1-4])(?![0-9A-Za-z])"), _quarter),
    (_NEEDS_PART, _pattern(rf"(?<![A-Za-z0-9]){_ORDINAL}[ -](?:fiscal )?quarter{_OF_YEAR}", "ai"), _quarter),
    (_NEEDS_PART, _pattern(r"(?<![A-Za-z0-9])Q(?P<number>[1-4])(?![0-9A-Za-z])"), _quarter),
    (_NEEDS_PART, _pattern(r"(?<![A-Za-z0-9])(?P<number>[1-4])Q(?![0-9A-Za-z])"), _quarter),
    (
        _NEEDS_PART,
        _pattern(
            rf"(?<![A-Za-z0-9])H(?P<number>[12])[ ,/'-]{{0,2}}(?:FY ?)?{_YEAR_OR_TWO}(?![0-9%]"
            r"|[.,]\d)"
        ),
        _half,
    ),
    (_NEEDS_PART, _pattern(rf"(?<![A-Za-z0-9])(?P<number>[12])H[ ']?{_YEAR_OR_TWO}(?![0-9])"), _half),
    (_NEEDS_PART, _pattern(rf"(?<![A-Za-z0-9]){_YEAR} ?[-/]?H(?P<number>[12])(?![0-9A-Za-z])"), _half),
    (_NEEDS_PART, _pattern(rf"(?<![A-Za-z0-9])(?P<name>first|second|1st|2nd)[ -]half{_OF_YEAR}", "ai"), _half),
    (_NEEDS_PART, _pattern(r"(?<![A-Za-z0-9])H(?P<number>[12])(?![0-9A-Za-z])"), _half),
    (
        _NEEDS_FISCAL,
        _pattern(
            r"(?<![A-Za-z0-9])(?:FY|fiscal|financial year|fiscal year|FYE"
            r"|F(?=[1-3]\d(?![0-9A-Za-z-]))) ?(?:year )?(?:ended )?'?"
            r"(?P<year>(?:19|20)\d\d|\d\d)(?:[-/]\d\d)?(?![0-9%]|[.,]\d)",
            "ai",
        ),
        _fiscal,
    ),
    (
        _NEEDS_YEAR,
        _pattern(rf"{_OPEN}{_YEAR}年?{_DASH}(?P<last>(?:19|20)\d\d|\d\d)(?![0-9%]|[.,]\d)年?度?"),
        _year_range,
    ),
    (_NEEDS_CJK, _pattern(rf"{_YEAR} ?年?(?:至|到)(?P<last>(?:19|20)\d\d) ?年度?"), _year_range),
    (_NEEDS_YEAR, _pattern(r"(?<![A-Za-z0-9.,])(?P<year>(?:19|20)\d0)(?:'?s(?![A-Za-z])|年代)"), _decade),
    (
        _NEEDS_CLOCK,
        _pattern(
            r"(?<![\w.,:])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?: ?"
            r"(?P<half>[ap])\.?m\b\.?)?(?![\d:])",
            "ai",
        ),
        _time,
    ),
    (_NEEDS_HALF_DAY, _pattern(r"(?<![\w.,:])(?P<hour>1[0-2]|0?[1-9]) ?(?P<half>[ap])\.?m\b\.?", "ai"), _time),
    (
        re.compile("[点时]"),
        _pattern(
            r"(?P<half>上午|下午|晚上|凌晨|中午) ?(?P<hour>\d{1,2}) ?[点时:](?:"
            r"(?P<minute>[0-5]?\d)分?|(?P<thirty>半))?"
        ),
        _time,
    ),
    (re.compile("[点时]"), _pattern(r"(?<![\d.])(?P<hour>\d{1,2}) ?[点时](?P<minute>[0-5]?\d)分"), _time),
    (re.compile("时"), _pattern(r"(?<![\d.])(?P<hour>1\d|2[0-4]|0?\d) ?时(?![代候间期尚长速效常])"), _time),
    (
        re.compile("年"),
        _pattern(rf"(?<![0-9.,]){_CJK_YEAR} ?(?P<mark>年)(?:度|底|末|初|中(?![\u4e00-\u9fff]))?"),
        _year,
    ),
    (
        _NEEDS_YEAR,
        _pattern(
            rf"(?<![0-9_$€£¥₹+])(?<![0-9][.,/-])(?<![A-Za-z])(?<![ (\u00a0]-)(?<!^-){_YEAR}(?P<mark>)"
            rf"(?![0-9A-Za-z_%‰]|\.\d|,\d{{3}}(?!\d)|[余多])"
        ),
        _year,
    ),
)


def read(text: str) -> Iterator[tuple[re.Pattern[str], Read]]:
    """The passes that can find anything in `text`, in order."""
    looked: dict[re.Pattern[str], bool] = {}
    for needed, pattern, reading in _READERS:
        if needed not in looked:
            looked[needed] = needed.search(text) is not None
        if looked[needed]:
            yield pattern, reading


def periods(text: str, pattern: re.Pattern[str], reading: Read) -> Iterator[Quantity]:
    """The dates, periods and times that one pass finds."""
    for match in pattern.finditer(text):
        result = reading(match)
        if result is not None:
            kind, value = result
            yield Quantity(kind, value, match.start(), match.end())
