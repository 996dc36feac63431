"""Values of a sheet as the sheet displays them: number formats as of ECMA-376, part 1, 18.8.31.

Checked against LibreOffice, which differs from Excel in three things: it widens `?` with blanks (dropped here), does
not know `!` as an escape (Excel's is followed), and writes General in full up to 1E+20 (followed: long ones are ids).
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction

# Quoted, escaped and currency text are literal; other brackets, padding (`_x`) and filling (`*x`) show nothing.
_TOKEN = re.compile(r'"([^"]*)"|[\\!](.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.|([^"\\!\[_*])', re.DOTALL)
_CONDITION = re.compile(r"\[(<=|>=|<>|=|<|>)\s*(-?\d+(?:\.\d+)?)\]")
_FRACTION = re.compile(r"(?:([0#?]+)\s+)?([0#?]+)\s*/\s*([0#?]+|\d+)")
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
_CONTEXT_DIGITS = 15  # what a spreadsheet keeps of a number
_LONGEST = Decimal("1E+20")  # General writes larger numbers with an exponent


def displayed(value: object, number_format: str = "General") -> str:
    """The string a spreadsheet shows in a cell that is wide enough; "" where the format hides the value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.timedelta):
        return _duration(value, number_format)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return _moment(value, number_format)
    if isinstance(value, (int, float)):
        return _number(value, number_format or "General")
    return _text(str(value), number_format)


def _text(text: str, number_format: str) -> str:
    """A string in the section for text: the fourth, or the last that has an `@`."""
    sections = _split_sections(number_format)
    if len(sections) < 4 and "@" not in "".join(plain for plain, literal in _literals(sections[-1]) if not literal):
        return text
    return "".join(text if part == "@" and not literal else part for part, literal in _literals(sections[-1]))


def _number(value: int | float, number_format: str) -> str:
    try:
        number = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{_CONTEXT_DIGITS}g}")
    except (InvalidOperation, ValueError):
        return str(value)
    if not number.is_finite():
        return str(value)
    section, signed = _section(number, number_format)
    sign = "-" if signed and number < 0 else ""
    parts = _literals(section)
    pattern = "".join(text for text, is_literal in parts if not is_literal)
    if "general" in pattern.lower():
        return _in_words(section, f"{sign}{_general(abs(number))}")
    if pattern.strip() == "@":
        return _general(number)
    if "/" in pattern and (match := _FRACTION.search(pattern)):
        return sign + _fraction(abs(number), *match.groups(default=""))
    if not re.search("[0#?]", pattern):
        shown = "".join(text for text, _ in parts).strip()
        return f"{sign}{shown}" if shown else ""
    body, is_zero = _Digits(parts).filled(abs(number))
    return ("" if is_zero else sign) + body.strip()


def _section(number: Decimal, number_format: str) -> tuple[str, bool]:
    """The section for the number, and whether it writes a sign before a negative one: one for negatives does not."""
    sections = _split_sections(number_format)
    if any(_CONDITION.search(section) for section in sections):
        return next((s for s in sections if _meets(number, _CONDITION.search(s))), sections[-1]), True
    if number < 0 and len(sections) > 1:
        return sections[1], False
    if number == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], True


def _meets(number: Decimal, condition: re.Match[str] | None) -> bool:
    """Whether the number meets a section's condition; one without any takes what is left."""
    if condition is None:
        return True
    bound = Decimal(condition.group(2))
    return {
        "<": number < bound,
        "<=": number <= bound,
        ">": number > bound,
        ">=": number >= bound,
        "=": number == bound,
        "<>": number != bound,
    }[condition.group(1)]


def _split_sections(number_format: str) -> list[str]:
    sections = [""]
    for piece in re.findall(r'"[^"]*"|[\\!].|\[[^\]]*\]|.', number_format, re.DOTALL):
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


def _in_words(section: str, number: str) -> str:
    """A section with the word General, which stands for the number."""
    start, _, end = re.sub("general", "\0", section, count=1, flags=re.IGNORECASE).partition("\0")
    before, after = ("".join(text for text, _ in _literals(part)) for part in (start, end))
    return f"{before}{number}{after}".strip()


def _general(number: Decimal) -> str:
    if abs(number) >= _LONGEST:
        mantissa, _, power = f"{number.normalize():E}".partition("E")
        return f"{mantissa}E{power[0]}{power[1:].zfill(2)}"
    text = format(number.normalize(), "f")
    return "0" if text in {"-0", ""} else text


def _fraction(number: Decimal, whole: str, above: str, below: str) -> str:
    """`1 3/4`; the denominator is the one the format names, or the best of as many digits as it has places."""
    value = Fraction(number)
    if below.isdigit() and int(below):
        bottom = int(below)
        top = round(value * bottom)
    else:
        value = value.limit_denominator(10 ** len(below) - 1)
        top, bottom = value.numerator, value.denominator
    if not whole:
        return f"{top}/{bottom}"
    units, top = divmod(top, bottom)
    if not top:
        return str(units)
    return f"{units} {top}/{bottom}" if units or "0" in whole else f"{top}/{bottom}"


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a section takes digits: indices of its parts before and after the point, and of the exponent's."""

    whole: tuple[int, ...]
    tail: tuple[int, ...]
    power: tuple[int, ...]


class _Digits:
    """A section with places for digits, literal text between them wherever it stands (`(000) 000-0000`)."""

    def __init__(self, parts: list[tuple[str, bool]]) -> None:
        self._parts = parts
        self._plain = ["" if literal else text for text, literal in parts]
        marks = [index for index, text in enumerate(self._plain) if text in set("0#?")]
        after = next((i for i, text in enumerate(self._plain) if text in {"E", "e"} and i > marks[0]), len(parts))
        powered = after + 1 < len(parts) and self._plain[after + 1] in {"+", "-"}
        self._exponent = after if powered else len(parts)
        self._point = next((i for i, text in enumerate(self._plain) if text == "."), self._exponent)
        self._places = _Places(
            tuple(i for i in marks if i < min(self._point, self._exponent)),
            tuple(i for i in marks if self._point < i < self._exponent),
            tuple(i for i in marks if i > self._exponent),
        )
        last = max(self._places.whole, default=-1)
        commas = [i for i, text in enumerate(self._plain) if text == ","]
        self._groups = any(self._places.whole and self._places.whole[0] < i < last for i in commas)
        self._thousands = sum(i > last and i < self._exponent for i in commas)

    def filled(self, number: Decimal) -> tuple[str, bool]:
        """The section with the digits of a number from 0 up, and whether all of them are 0."""
        scaled = number.scaleb(2 * self._plain.count("%") - 3 * self._thousands)
        power = self._power(scaled) if self._places.power else 0
        rounded = self._rounded(scaled.scaleb(-power))
        if self._places.power and rounded >= Decimal(10) ** max(len(self._places.whole), 1):
            power = self._power(rounded.scaleb(power))
            rounded = self._rounded(scaled.scaleb(-power))
        head, _, tail = f"{rounded:f}".partition(".")
        shown = self._whole_digits("" if head == "0" else head) | self._tail_digits(tail)
        if self._places.power:
            shown |= self._power_digits(power)
        return "".join(self._shown(index, shown, tail) for index in range(len(self._parts))), not rounded

    def _rounded(self, number: Decimal) -> Decimal:
        return number.quantize(Decimal(1).scaleb(-len(self._places.tail)), rounding=ROUND_HALF_UP)

    def _power(self, number: Decimal) -> int:
        """The exponent: a multiple of the places before the point where there are several (`##0.0E+0`)."""
        step = max(len(self._places.whole), 1)
        return number.adjusted() // step * step if number else 0

    def _whole_digits(self, digits: str) -> dict[int, str]:
        """Digits from the right; the leftmost place takes all that are left."""
        shown: dict[int, str] = {}
        written = 0
        for index in reversed(self._places.whole):
            first = index == self._places.whole[0]
            mine, digits = (digits, "") if first else (digits[-1:], digits[:-1])
            mine = mine or ("0" if self._plain[index] == "0" else "")
            text = ""
            for digit in reversed(mine):
                text = f"{digit},{text}" if self._groups and written and written % 3 == 0 else digit + text
                written += 1
            shown[index] = text
        if not self._places.whole and digits:  # `.00` of 12.5
            shown[self._point] = f"{digits}."
        return shown

    def _tail_digits(self, digits: str) -> dict[int, str]:
        zeros = [place for place, index in enumerate(self._places.tail) if self._plain[index] == "0"]
        least = zeros[-1] + 1 if zeros else 0
        while len(digits) > least and digits.endswith("0"):
            digits = digits[:-1]
        return {index: digits[place : place + 1] for place, index in enumerate(self._places.tail)}

    def _power_digits(self, power: int) -> dict[int, str]:
        sign = "-" if power < 0 else ("+" if self._plain[self._exponent + 1] == "+" else "")
        shown = dict.fromkeys(self._places.power, "")
        shown[self._exponent] = "E"
        shown[self._exponent + 1] = sign
        shown[self._places.power[0]] = str(abs(power)).zfill(len(self._places.power))
        return shown

    def _shown(self, index: int, shown: dict[int, str], tail: str) -> str:
        text, literal = self._parts[index]
        if literal:
            return text
        if index in shown:
            return shown[index]
        if index == self._point:
            return "." if any(shown.get(place) for place in self._places.tail) else ""
        return "" if text == "," else text


def _duration(value: datetime.timedelta, number_format: str) -> str:
    """Time that has passed: the unit in brackets holds all of it, the next ones the rest."""
    seconds = value.total_seconds()
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    tokens = _DATE_TOKEN.findall(_split_sections(number_format)[0])
    whole = next((token[1] for token in map(str.lower, tokens) if re.fullmatch(r"\[(?:h+|m+|s+)\]", token)), "")
    if not whole:
        seconds = round(seconds)
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if not any("." in token for token in tokens):
        seconds = int(seconds + 0.5)
    parts: list[str] = []
    for token in tokens:
        letter = token.strip("[]").lower()[:1]
        if letter not in "hms" or token[0] in '"\\_*':
            parts.append(_moment_part(value, token, minute=False, twelve=False))
            continue
        size = {"h": 3600, "m": 60, "s": 1}[letter]
        count = int(seconds // size) if token.startswith("[") else int(seconds // size % (24 if letter == "h" else 60))
        digits = token.strip("[]").partition(".")
        tail = f"{seconds % 1:.{len(digits[2])}f}"[1:] if digits[2] else ""
        parts.append(f"{count:0{len(digits[0])}}{tail}")
    return sign + "".join(parts).strip()


def _moment(value: datetime.datetime | datetime.date | datetime.time, number_format: str) -> str:
    if number_format.lower() in {"general", "@", ""}:
        return value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()
    tokens = _DATE_TOKEN.findall(_split_sections(number_format)[0])
    twelve = any(token.upper() in {"AM/PM", "A/P"} or token == "上午/下午" for token in tokens)
    parts: list[str] = []
    for index, token in enumerate(tokens):
        parts.append(_moment_part(value, token, minute=_is_minute(tokens, index), twelve=twelve))
    return "".join(parts).strip()


def _is_minute(tokens: list[str], index: int) -> bool:
    """`m` means minutes right after hours or right before seconds, months elsewhere."""
    letters = [token[0].lower() for token in tokens[:index] if token[0].lower() in "ymdhs"]
    following = [token[0].lower() for token in tokens[index + 1 :] if token[0].lower() in "ymdhs"]
    return letters[-1:] == ["h"] or following[:1] == ["s"]


def _moment_part(value: object, token: str, *, minute: bool, twelve: bool) -> str:
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
        return (str(value.month), f"{value.month:02}", name[:3], name, name[0])[min(length, 5) - 1]
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
