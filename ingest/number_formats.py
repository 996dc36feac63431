"""Values of a sheet as the sheet displays them: number formats as of ECMA-376, part 1, 18.8.31.

Covered: sections, digits, thousands, percent, scientific, literals, currencies, dates and times. Fractions and
conditions in brackets are shown as plain numbers.
"""

from __future__ import annotations

import datetime
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

_TOKEN = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.|([^"\\\[_*])', re.DOTALL)
_DATE_TOKEN = re.compile(
    r'"[^"]*"|\\.|\[\$[^\]]*\]|\[(?:h+|m+|s+)\]|\[[^\]]*\]|AM/PM|A/P|上午/下午|y+|m+|d+|h+|s+(?:\.0+)?|e+|a{3,}|_.|\*.|.',
    re.IGNORECASE | re.DOTALL,
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_PLACEHOLDER = re.compile(r"[0#?][0#?,]*(?:\.[0#?]*)?|\.[0#?]+")
_CONTEXT_DIGITS = 15  # what a spreadsheet keeps of a number


def displayed(value: object, number_format: str = "General") -> str:
    """The string a spreadsheet shows in a cell that is wide enough."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return _moment(value, number_format)
    if isinstance(value, (int, float)):
        return _number(value, number_format)
    return str(value)


def _number(value: int | float, number_format: str) -> str:
    try:
        number = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{_CONTEXT_DIGITS}g}")
    except (InvalidOperation, ValueError):
        return str(value)
    if not number.is_finite():
        return str(value)
    original = number
    section, number = _section(number, number_format or "General")
    literal = _literals(section)
    pattern = "".join(text for text, is_literal in literal if not is_literal)
    if "general" in pattern.lower() or "/" in pattern or not _PLACEHOLDER.search(pattern):
        return _general(original)  # with its sign, whatever the section is for
    return _fill(number, literal, pattern)


def _section(number: Decimal, number_format: str) -> tuple[str, Decimal]:
    """The section for the number's sign. A section of its own for negatives writes the sign itself."""
    sections = _split_sections(number_format)
    if number < 0 and len(sections) > 1:
        return sections[1], -number
    if number == 0 and len(sections) > 2:
        return sections[2], number
    return sections[0], number


def _split_sections(number_format: str) -> list[str]:
    sections = [""]
    for piece in re.findall(r'"[^"]*"|\\.|\[[^\]]*\]|.', number_format, re.DOTALL):
        if piece == ";":
            sections.append("")
        else:
            sections[-1] += piece
    return sections[:4]


def _literals(section: str) -> list[tuple[str, bool]]:
    """The section as (text, is_literal): quoted, escaped and currency text is literal, colours and padding vanish."""
    parts: list[tuple[str, bool]] = []
    for quoted, escaped, currency, plain in _TOKEN.findall(section):
        if plain:
            parts.append((plain, False))
        elif quoted or escaped or currency:
            parts.append((quoted or escaped or currency, True))
    return parts


def _general(number: Decimal) -> str:
    text = format(number.normalize(), "f")
    return "0" if text in {"-0", ""} else text


def _fill(number: Decimal, parts: list[tuple[str, bool]], pattern: str) -> str:
    match = _PLACEHOLDER.search(pattern)
    assert match is not None  # the caller looked
    digits = match.group()
    exponent = re.match(r"[eE][+-]0+", pattern[match.end() :])
    scaled = number.scaleb(2 * pattern.count("%") - 3 * (len(digits) - len(digits.rstrip(","))))
    body = _scientific(scaled, digits, exponent.group()) if exponent else _fixed(scaled, digits)
    end = match.end() + (exponent.end() if exponent else 0)
    before, after = _around(parts, match.start(), end)
    sign = "-" if scaled < 0 and body.strip("0.,") else ""
    return f"{sign}{before}{body}{after}".strip()


def _around(parts: list[tuple[str, bool]], start: int, end: int) -> tuple[str, str]:
    """The text before and after the digits; `start` and `end` count the characters that are not literal."""
    before, after, position = "", "", 0
    for text, is_literal in parts:
        if is_literal:
            before += text if position <= start else ""
            after += text if position >= end else ""
            continue
        if position < start:
            before += text
        elif position >= end:
            after += text if text not in "0#?" else ""
        position += 1
    return before, after


def _fixed(number: Decimal, digits: str) -> str:
    whole, _, fraction = digits.rstrip(",").partition(".")
    rounded = abs(number).quantize(Decimal(1).scaleb(-len(fraction)), rounding=ROUND_HALF_UP)
    text = f"{rounded:{',' if ',' in whole else ''}f}"
    head, _, tail = text.partition(".")
    least = len(fraction.rstrip("#?"))
    while len(tail) > least and tail.endswith("0"):
        tail = tail[:-1]
    zeros = whole.replace(",", "").count("0")
    head = head.zfill(zeros) if zeros > len(head) else head
    if head == "0" and zeros == 0:
        head = ""
    return f"{head}.{tail}" if tail else head


def _scientific(number: Decimal, digits: str, exponent: str) -> str:
    places = len(digits.partition(".")[2])
    mantissa, _, power = f"{abs(number):.{places}E}".partition("E")
    sign = "-" if power.startswith("-") else ("+" if "+" in exponent else "")
    return f"{mantissa}E{sign}{power.lstrip('+-').zfill(exponent.count('0'))}"


def _duration(value: datetime.timedelta) -> str:
    seconds = round(value.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _moment(value: datetime.datetime | datetime.date | datetime.time, number_format: str) -> str:
    if number_format.lower() in {"general", "@", ""}:
        return value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()
    tokens = _DATE_TOKEN.findall(_split_sections(number_format)[0])
    twelve = any(token.upper() in {"AM/PM", "A/P"} or token == "上午/下午" for token in tokens)
    parts: list[str] = []
    for index, token in enumerate(tokens):
        parts.append(_moment_part(value, token, _is_minute(tokens, index), twelve))
    return "".join(parts).strip()


def _is_minute(tokens: list[str], index: int) -> bool:
    """`m` means minutes right after hours or right before seconds, months elsewhere."""
    letters = [token[0].lower() for token in tokens[:index] if token[0].lower() in "ymdhs"]
    following = [token[0].lower() for token in tokens[index + 1 :] if token[0].lower() in "ymdhs"]
    return letters[-1:] == ["h"] or following[:1] == ["s"]


def _moment_part(value: object, token: str, minute: bool, twelve: bool) -> str:
    letter = token[0].lower()
    if letter in '"\\':
        return token[1:-1] if letter == '"' else token[1:]
    if letter in "[_*":
        return ""
    if token.upper() in {"AM/PM", "A/P"} or token == "上午/下午":
        return _half_of_day(value, token)
    if isinstance(value, datetime.date) and (letter in "yde" or (letter == "m" and not minute) or token[:3] == "aaa"):
        return _date_part(value, token.lower())
    if isinstance(value, (datetime.datetime, datetime.time)) and letter in "hsm":
        return _time_part(value, token.lower(), twelve)
    return "" if letter in "ymdhs" else token


def _half_of_day(value: object, token: str) -> str:
    late = isinstance(value, (datetime.datetime, datetime.time)) and value.hour >= 12
    return token.split("/")[late]


def _date_part(value: datetime.date, token: str) -> str:
    length = len(token)
    if token[0] in "ye":
        return f"{value.year % 100:02}" if length <= 2 and token[0] == "y" else f"{value.year:04}"
    if token[0] == "a":
        return _WEEKDAYS[value.weekday()][: 3 if length == 3 else None]
    if token[0] == "m":
        name = _MONTHS[value.month - 1]
        return (str(value.month), f"{value.month:02}", name[:3], name)[min(length, 4) - 1]
    day = _WEEKDAYS[value.weekday()]
    return (str(value.day), f"{value.day:02}", day[:3], day)[min(length, 4) - 1]


def _time_part(value: datetime.datetime | datetime.time, token: str, twelve: bool) -> str:
    if token[0] == "h":
        number = (value.hour % 12 or 12) if twelve else value.hour
    else:
        number = value.minute if token[0] == "m" else value.second
    whole, _, fraction = token.partition(".")
    text = f"{number:02}" if len(whole) > 1 else str(number)
    return f"{text}.{value.microsecond:06}"[: len(text) + 1 + len(fraction)] if fraction else text
