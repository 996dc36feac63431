"""Dates, months, quarters, halves, fiscal years, years and clock times, in English and Chinese."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from kb_qa.guardrails import traits
from kb_qa.guardrails.affixes import is_counted_at
from kb_qa.guardrails.quantities import Kind, Quantity

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>(?i:january|february|march|april|june|july|august|september|october|november|december)|May|MAY"
    r"|(?i:jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\.?)"
)
# A month where a word begins: one class of first letters, and what each goes on with.
_MONTH_FIRST = (
    r"(?P<month>[ADFJMNOSadfjmnos](?<![A-Za-z].)(?:"
    r"(?<=[Jj])(?i:anuary|une|uly)|(?<=[Ff])(?i:ebruary)|(?<=[Mm])(?i:arch)|(?<=[Aa])(?i:pril|ugust)"
    r"|(?<=[Ss])(?i:eptember)|(?<=[Oo])(?i:ctober)|(?<=[Nn])(?i:ovember)|(?<=[Dd])(?i:ecember)|(?<=M)(?:ay|AY)"
    r"|(?:(?<=[Jj])(?i:an|un|ul)|(?<=[Ff])(?i:eb)|(?<=[Mm])(?i:ar)|(?<=[Aa])(?i:pr|ug)|(?<=[Ss])(?i:ept|ep)"
    r"|(?<=[Oo])(?i:ct)|(?<=[Nn])(?i:ov)|(?<=[Dd])(?i:ec))\.?))"
)
_DAY_NUMBER = r"(?:(?<=0)[1-9]|(?<=[12])\d|(?<=3)[01]|(?<=[1-9]))"  # behind its first digit
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_DAY_FIRST = rf"(?P<day>\d(?<![0-9A-Za-z_]\d)(?<!\d[.,/-]\d){_DAY_NUMBER})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_YEAR_OR_TWO = r"(?P<year>(?:19|20)\d\d|'?\d\d)"
_CJK_YEAR = r"(?P<year>[12一二](?:(?:(?<=1)9|(?<=2)0)\d\d|(?<=[一二])[零〇○九][零〇○一二三四五六七八九]{2}))"
_CJK_SMALL = r"\d{1,2}|[一二三四五六七八九十廿]{1,3}"
_NO_NUMERAL = "(?<![0-9.,零〇一二三四五六七八九十].)"
_OPEN = r"(?<![0-9A-Za-z_])(?<!\d[.,/-])"
_OPEN_YEAR = r"(?<![0-9A-Za-z_]\d{4})(?<!\d[.,/-]\d{4})"  # the same, behind the four digits of a year
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


# Words in which a date, a part of a year, or a time of day is said; `31stMarch` is one word.
MONTH_WORDS = frozenset(
    glued + month
    for glued in ("", "st", "nd", "rd", "th", "of")
    for month in (
        *_MONTHS,
        "sept",
        *"january february march april june july august".split(),
        *"september october november december".split(),
    )
)
FISCAL_WORDS = frozenset("f fy fye fiscal financial fyyear fyended fyeyear fyeended fiscalyear fiscalended".split())
NOON_WORDS = frozenset({"am", "pm", "m"})
_ORDINAL = r"(?P<name>first|second|third|fourth|1st|2nd|3rd|4th)"
_OF_YEAR = r"(?:,? (?:of )?(?:the )?(?:fiscal |financial )?(?:year )?(?P<year>(?:19|20)\d\d))?"

# (traits that the text must have, pattern, reading), in the order in which they own a span. Where a pattern can begin
# with a character class it does, and looks back from there: the search then leaps to the next such character.
_READERS: tuple[tuple[int, re.Pattern[str], Read], ...] = (
    (
        traits.SEPARATED,
        _pattern(
            rf"{_OPEN}{_YEAR}(?P<sep>[-/.])(?P<month>0?[1-9]|1[0-2])(?P=sep)(?P<day>0?[1-9]|[12]\d"
            rf"|3[01]){_CLOSE}"
        ),
        _numeric_date,
    ),
    (
        traits.SEPARATED,
        _pattern(
            rf"{_OPEN}(?P<first>\d{{1,2}})(?P<sep>[-/.])(?P<second>\d{{1,2}})"
            rf"(?P=sep){_YEAR}{_CLOSE}"
        ),
        _day_or_month_first,
    ),
    (
        traits.YEAR_MARK | traits.MONTH_MARK,
        _pattern(
            rf"{_CJK_YEAR} ?年 ?(?P<month>{_CJK_SMALL}) ?月(?:份)?(?: ?"
            rf"(?P<day>{_CJK_SMALL}) ?[日号])?"
        ),
        _cjk_date,
    ),
    (
        traits.FORMER | traits.SEASON,
        _pattern(rf"{_CJK_YEAR} ?年?(?:的|度)? ?前(?P<number>[二三23]) ?个?季度?"),
        _quarters_to_date,
    ),
    (traits.SEASON, _pattern(rf"{_CJK_YEAR} ?年?(?:的|度)? ?第? ?(?P<number>[一二三四1-4]) ?季(?:度|报)?"), _quarter),
    (
        traits.YEAR_MARK | traits.HALF_MARK,
        _pattern(rf"{_CJK_YEAR} ?年(?:的|度)? ?(?P<number>[上下])半年(?:度)?"),
        _half,
    ),
    (traits.YEAR_MARK | traits.FISCAL_MARK, _pattern(rf"{_CJK_YEAR} ?(?:财年|财政年度?|会计年度)"), _fiscal),
    (traits.FORMER | traits.SEASON, _pattern(r"前(?<!前前)(?P<year>)(?P<number>[二三23]) ?个?季度"), _quarters_to_date),
    (traits.SEASON, _pattern(r"第? ?(?P<number>[一二三四1-4]) ?季(?:度|报)(?!的?工)"), _quarter),
    (
        traits.MONTH_MARK | traits.DAY_MARK,
        _pattern(
            rf"(?P<month>[0-9一二三四五六七八九十廿]{_NO_NUMERAL}(?:(?<=\d)\d?|(?<!\d)[一二三四五六七八九十廿]{{0,2}}))"
            r" ?月(?:份)? ?"
            rf"(?P<day>{_CJK_SMALL}) ?[日号]"
        ),
        _cjk_date,
    ),
    (
        traits.MONTH_MARK,
        _pattern(
            rf"(?P<month>[0-9一二三四五六七八九十]{_NO_NUMERAL}(?:(?<=1)[0-2]|(?<=0)[1-9]|(?<=[1-9])|(?<=十)[一二]"
            r"|(?<=[一二三四五六七八九十]))) ?月(?:份|底|末|初|中)?(?!期)"
        ),
        _cjk_date,
    ),
    (
        traits.MONTH_WORD | traits.DIGIT,
        _pattern(rf"{_DAY_FIRST}(?: of|[-/])? ?{_MONTH},?[ -/]? ?{_YEAR}(?![0-9])"),
        _english_date,
    ),
    (traits.MONTH_WORD | traits.DIGIT, _pattern(rf"{_MONTH_FIRST} {_DAY},? {_YEAR}(?![0-9])"), _english_date),
    (
        traits.MONTH_WORD | traits.DIGIT,
        _pattern(
            rf"{_MONTH_FIRST}(?:,? (?:of )?|-)(?P<year>(?:19|20)\d\d)"
            r"(?![0-9])"
        ),
        _english_month,
    ),
    (
        traits.MONTH_WORD | traits.DIGIT,
        _pattern(
            r"(?<![A-Za-z])(?:(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[-'](?P<year>\d\d))"
            r"(?![0-9])"
        ),
        lambda match: ("period", f"20{match['year']}-{_month_number(match[0]):02d}"),
    ),
    (
        traits.MONTH_WORD | traits.DIGIT,
        _pattern(rf"{_MONTH_FIRST} {_DAY}(?![0-9A-Za-z%]|[.,]\d)"),
        _english_monthday,
    ),
    (traits.MONTH_WORD | traits.DIGIT, _pattern(rf"{_DAY_FIRST}(?: of)? {_MONTH}(?![A-Za-z])"), _english_monthday),
    (
        traits.PART_LETTER,
        _pattern(
            rf"(?<![A-Za-z0-9])Q(?P<number>[1-4])[ ,/'-]{{0,2}}(?:of |FY ?|fiscal |CY)?{_YEAR_OR_TWO}"
            r"(?![0-9%]|[.,]\d)",
            "ai",
        ),
        _quarter,
    ),
    (traits.PART_LETTER, _pattern(rf"(?<![A-Za-z0-9])(?P<number>[1-4])Q[ ']?{_YEAR_OR_TWO}(?![0-9])"), _quarter),
    (
        traits.PART_LETTER,
        _pattern(rf"(?<![A-Za-z0-9])(?:FY ?)?{_YEAR} ?[-/]?Q(?P<number>[1-4])(?![0-9A-Za-z])"),
        _quarter,
    ),
    (traits.PART_WORD, _pattern(rf"(?<![A-Za-z0-9]){_ORDINAL}[ -](?:fiscal )?quarter{_OF_YEAR}", "ai"), _quarter),
    (traits.PART_LETTER, _pattern(r"(?<![A-Za-z0-9])Q(?P<number>[1-4])(?![0-9A-Za-z])"), _quarter),
    (traits.PART_LETTER, _pattern(r"(?<![A-Za-z0-9])(?P<number>[1-4])Q(?![0-9A-Za-z])"), _quarter),
    (
        traits.PART_LETTER,
        _pattern(
            rf"(?<![A-Za-z0-9])H(?P<number>[12])[ ,/'-]{{0,2}}(?:FY ?)?{_YEAR_OR_TWO}(?![0-9%]"
            r"|[.,]\d)"
        ),
        _half,
    ),
    (traits.PART_LETTER, _pattern(rf"(?<![A-Za-z0-9])(?P<number>[12])H[ ']?{_YEAR_OR_TWO}(?![0-9])"), _half),
    (traits.PART_LETTER, _pattern(rf"(?<![A-Za-z0-9]){_YEAR} ?[-/]?H(?P<number>[12])(?![0-9A-Za-z])"), _half),
    (traits.PART_WORD, _pattern(rf"(?<![A-Za-z0-9])(?P<name>first|second|1st|2nd)[ -]half{_OF_YEAR}", "ai"), _half),
    (traits.PART_LETTER, _pattern(r"(?<![A-Za-z0-9])H(?P<number>[12])(?![0-9A-Za-z])"), _half),
    (
        traits.FISCAL_WORD | traits.DIGIT,
        _pattern(
            r"(?<![A-Za-z0-9])(?:FY|fiscal|financial year|fiscal year|FYE"
            r"|F(?=[1-3]\d(?![0-9A-Za-z-]))) ?(?:year )?(?:ended )?'?"
            r"(?P<year>(?:19|20)\d\d|\d\d)(?:[-/]\d\d)?(?![0-9%]|[.,]\d)",
            "ai",
        ),
        _fiscal,
    ),
    (
        traits.CENTURY | traits.DASH,
        _pattern(rf"{_YEAR}{_OPEN_YEAR}年?{_DASH}(?P<last>(?:19|20)\d\d|\d\d)(?![0-9%]|[.,]\d)年?度?"),
        _year_range,
    ),
    (traits.CENTURY | traits.UNTIL, _pattern(rf"{_YEAR} ?年?(?:至|到)(?P<last>(?:19|20)\d\d) ?年度?"), _year_range),
    (
        traits.CENTURY | traits.DECADE_MARK,
        _pattern(r"(?P<year>(?:19|20)\d0)(?<![A-Za-z0-9.,]\d{4})(?:'?s(?![A-Za-z])|年代)"),
        _decade,
    ),
    (
        traits.COLON | traits.DIGIT,
        _pattern(
            r"(?<![\w.,:])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?: ?"
            r"(?P<half>[ap])\.?m\b\.?)?(?![\d:])",
            "ai",
        ),
        _time,
    ),
    (
        traits.NOON_WORD | traits.DIGIT,
        _pattern(r"(?<![\w.,:])(?P<hour>1[0-2]|0?[1-9]) ?(?P<half>[ap])\.?m\b\.?", "ai"),
        _time,
    ),
    (
        traits.DAYTIME | traits.DIGIT,
        _pattern(
            r"(?P<half>上午|下午|晚上|凌晨|中午) ?(?P<hour>\d{1,2}) ?[点时:](?:"
            r"(?P<minute>[0-5]?\d)分?|(?P<thirty>半))?"
        ),
        _time,
    ),
    (
        traits.CLOCK | traits.PARTS | traits.DIGIT,
        _pattern(r"(?<![\d.])(?P<hour>\d{1,2}) ?[点时](?P<minute>[0-5]?\d)分"),
        _time,
    ),
    (traits.CLOCK | traits.DIGIT, _pattern(r"(?<![\d.])(?P<hour>1\d|2[0-4]|0?\d) ?时(?![代候间期尚长速效常])"), _time),
    (
        traits.YEAR_MARK,
        _pattern(rf"{_CJK_YEAR}(?<![0-9.,][^\n]{{4}}) ?(?P<mark>年)(?:度|底|末|初|中(?![\u4e00-\u9fff]))?"),
        _year,
    ),
    (
        traits.CENTURY,
        _pattern(
            rf"{_YEAR}(?<![0-9A-Za-z_$€£¥₹+]\d{{4}})(?<![0-9][.,/-]\d{{4}})(?<![ (\u00a0]-\d{{4}})(?<!^-\d{{4}})"
            r"(?P<mark>)(?![0-9A-Za-z_%‰]|\.\d|,\d{3}(?!\d)|[余多])"
        ),
        _year,
    ),
)


@lru_cache(maxsize=4096)
def readers(bits: int) -> tuple[Callable[[str], Iterator[Quantity]], ...]:
    """The passes for dates, periods and times that can find anything in a text of these traits, in order."""
    return tuple(
        partial(_periods, pattern, reading) for needed, pattern, reading in _READERS if bits & needed == needed
    )


def _periods(pattern: re.Pattern[str], reading: Read, text: str) -> Iterator[Quantity]:
    for match in pattern.finditer(text):
        result = reading(match)
        if result is not None:
            kind, value = result
            yield Quantity(kind, value, match.start(), match.end())
