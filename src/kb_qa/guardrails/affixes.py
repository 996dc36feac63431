"""What stands directly before and behind a number: scale, unit, counter, currency, basis."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from string import digits
from typing import NamedTuple

from kb_qa.guardrails.measures import (
    COUNTED_AHEAD,
    COUNTERS,
    CURRENCY_BY_FORM,
    CURRENCY_PREFIXES,
    CURRENCY_SUFFIXES,
    DURATION_BY_FORM,
    END,
    MEASURE_BY_FORM,
    MEASURES,
    PERSONS,
    SCALE_WORDS,
    alternation,
)
from kb_qa.guardrails.quantities import ONE, Kind

_ADJACENT = {"k": 3, "K": 3, "m": 6, "M": 6, "b": 9, "B": 9, "t": 12, "T": 12}
# Without a currency `5m` is five metres, `5 mm` millimetres and `5t` five tonnes.
_NEEDS_CURRENCY = frozenset({"m", "b", "t", "T", "mm"})
_CJK_SCALE = {"十": 1, "百": 2, "千": 3, "万": 4, "亿": 8, "兆": 12}

_SPACES = frozenset({" ", "\u00a0"})
_GLUE = frozenset({" ", "\u00a0", "-"})
_MORE = frozenset("余多+")

# Forms of the units with a kind of their own, as patterns whose first character is a literal.
_POINTS = (r"percentage[ -]points?", "ppts?", "pp", "pts", r"p\.p\.", "个百分点", "百分点", r"%[ -]points?")
_BASIS_POINTS = (r"basis[ -]points?", "bps", "bp", "个基点", "基点")
_PERCENT = ("percent(?!age)", "per[ -]cent(?!age)", "pct")
_MULTIPLE = ("x", "×", "fold", "times", "倍")
_TENTHS = ("成(?![立为本功员交果长都分就熟品绩年型像效败套])", "折(?![合旧算价叠现扣])")
_FIXED: dict[str, tuple[Kind, Decimal]] = {
    "pp": ("pp", ONE),
    "bps": ("pp", Decimal("0.01")),
    "percent": ("percent", ONE),
    "permille": ("percent", Decimal("0.1")),
    "tenths": ("percent", Decimal(10)),
    "multiple": ("multiple", ONE),
}

_LATIN_SCALE = re.compile(
    rf"(?a)[ \u00a0-]?(?P<word>(?i:{alternation(SCALE_WORDS)})){END}|(?P<adjacent>[kKmMbBtT]){END}(?!/)"
)
_HAN_SCALE = re.compile(
    r"[ \u00a0]?(?:个(?=[万亿]))?([十百千]?(?:万亿|万|亿|兆)|[百千](?=[元人家个件美港欧日英名户吨股]))"
)
_MORE_ALONE = re.compile(r"(?a)[余多](?=[^A-Za-z0-9\s])|\+")
_CURRENCY_BEFORE = re.compile(
    rf"(?a)(?:(?<![A-Za-z])(?:{alternation(form for form in CURRENCY_PREFIXES if form[0].isalpha())})"
    rf"|{alternation(form for form in CURRENCY_PREFIXES if not form[0].isalpha())})[ \u00a0]?$"
)
CURRENCY_LAST = frozenset(form[-1] for form in CURRENCY_PREFIXES)
_HALF = re.compile("半(?![导数年月日天度夜场球岛径成途价票决壁路空]|个)")
_HALF_UNITS = {"月": "month", "小时": "hour", "钟头": "hour", "星期": "week", "季度": "quarter", "工作日": "workday"}
_HALF_INNER = re.compile("|".join(_HALF_UNITS))
_PER = re.compile(r"(?ai) ?(?:per|/|each) ?(share|employee|person|capita|unit|day|month|year|hour|股|人|年|月|天)")
_BASIS_FIRST = frozenset(" pP/eE")
_BASIS = {"股": "share", "人": "person", "年": "year", "月": "month", "天": "day", "capita": "person"}


class Suffix(NamedTuple):  # made for every number: a dataclass takes three times as long
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


_SCALE_STARTS = _starts((*SCALE_WORDS, *"kmbt"))
_SCALE_FIRST = frozenset(character for form in _SCALE_STARTS for character in (form[0], form[0].upper()))
_HAN_FIRST = frozenset((*_CJK_SCALE, "个"))


def scale_at(text: str, position: int, *, money: bool) -> tuple[int, int]:
    """The power of ten printed at `position`, and where it ends; (0, position) for none."""
    start = position + 1 if text[position : position + 1] in _GLUE else position
    first = text[start : start + 1]
    if first in _HAN_FIRST:
        match = _HAN_SCALE.match(text, position)
        return (sum(map(_CJK_SCALE.__getitem__, match[1])), match.end()) if match else (0, position)
    if first not in _SCALE_FIRST or not _may_be_scale(text[start : start + 2].lower()):
        return 0, position
    match = _LATIN_SCALE.match(text, position)
    if match is None:
        return 0, position
    word = match["word"] or match["adjacent"]
    if word in _NEEDS_CURRENCY and not money:
        return 0, position
    return SCALE_WORDS[word.lower()] if match["word"] else _ADJACENT[word], match.end()


def _may_be_scale(pair: str) -> bool:
    """A quick look before the long pattern: most numbers are followed by none of its forms."""
    return pair in _SCALE_STARTS or (pair[:1] in _SCALE_STARTS and not (pair.isascii() and pair.isalpha()))


def suffix_at(text: str, position: int) -> Suffix | None:
    """The unit, counter or currency printed at `position`, if any."""
    start = position
    more = text[position : position + 1] in _MORE
    if more:
        start += 1
    if text[start : start + 1] in _GLUE:
        start += 1
    first = text[start : start + 1].lower()
    match = _units(first).match(text, start) if first in _UNIT_FIRST else None
    if match is None:
        alone = _MORE_ALONE.match(text, position) if more else None
        return Suffix("number", alone.end(), more=True) if alone else None
    return _suffix((match.lastgroup or "").rstrip(digits), match[0], match.end(), more)


def _suffix(name: str, form: str, end: int, more: bool) -> Suffix:
    if name == "counter":
        return Suffix("count", end, unit="人" if form in PERSONS else form, more=more)
    if name == "currency":
        return Suffix("money", end, currency=CURRENCY_BY_FORM[form.lower()], more=more)
    if name == "duration":
        return Suffix("duration", end, unit=DURATION_BY_FORM[form.lower()], more=more)
    if name == "measure":
        return Suffix("measure", end, unit=MEASURE_BY_FORM[form.lower()], more=more)
    kind, factor = _FIXED[name]
    return Suffix(kind, end, factor=factor, more=more)


def _longest_first(forms: Iterable[str]) -> tuple[str, ...]:
    """The forms as patterns, so that `km2` is tried before `km`."""
    return tuple(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))


def _by_script(name: str, forms: Iterable[str]) -> tuple[tuple[str, tuple[str, ...], bool, str], ...]:
    """Latin forms in any case, up to a word's end; the others as they are."""
    given = [*forms]
    latin = _longest_first(form for form in given if form.isascii())
    return (name, latin, False, END), (name, _longest_first(form for form in given if not form.isascii()), True, "")


# Kinds of units in the order in which they are tried: name, forms, whether the case counts, what must follow.
_KINDS: tuple[tuple[str, tuple[str, ...], bool, str], ...] = (
    ("pp", _POINTS, False, END),
    ("bps", _BASIS_POINTS, False, END),
    ("percent", ("%",), True, ""),
    ("percent", _PERCENT, False, END),
    ("permille", ("‰",), True, ""),
    ("tenths", _TENTHS, True, ""),
    *_by_script("currency", CURRENCY_SUFFIXES),
    *_by_script("duration", DURATION_BY_FORM),
    ("measure", _longest_first(form for forms in MEASURES.values() for form in forms), True, END),
    ("multiple", _MULTIPLE, False, END),
    ("counter", tuple(COUNTERS), True, ""),
)
_UNIT_FIRST = frozenset(form[0].lower() for _, forms, _, _ in _KINDS for form in forms)


@cache  # one entry for each of `_UNIT_FIRST`
def _units(first: str) -> re.Pattern[str]:
    """The pattern of all units that begin with `first` (in lower case)."""
    kinds: list[str] = []
    for name, forms, cased, behind in _KINDS:
        starting = "|".join(form for form in forms if form[0].lower() == first)
        if starting:
            kinds.append(f"(?P<{name}{len(kinds)}>(?{'' if cased else 'i'}:{starting})){behind}")
    return re.compile(f"(?a){'|'.join(kinds)}")


def half_at(text: str, suffix: Suffix, position: int) -> Suffix | None:
    """The unit with the 半 behind it: `两年半`, `三个半月`, `三成半`; None where there is none, or it begins a word."""
    if suffix.kind == "number" or text[position : position + 1] != "半":
        return None
    if text[position - 1] == "个" and (inner := _HALF_INNER.match(text, position + 1)):
        return Suffix("duration", inner.end(), unit=_HALF_UNITS[inner[0]])
    return suffix._replace(end=position + 1) if _HALF.match(text, position) else None


def currency_before(text: str, position: int) -> tuple[str, int]:
    """The currency printed directly before `position`, and where it starts; ("", position) for none."""
    last = position - 1 if text[position - 1 : position] not in _SPACES else position - 2
    if last < 0 or text[last] not in CURRENCY_LAST:
        return "", position
    match = _CURRENCY_BEFORE.search(text, max(0, position - 8), position)
    return (CURRENCY_PREFIXES[match[0].rstrip(" \u00a0")], match.start()) if match else ("", position)


def basis_at(text: str, position: int) -> str:
    """`per_share` for ` per share` at `position`; empty for none."""
    if text[position : position + 1] not in _BASIS_FIRST:
        return ""
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
