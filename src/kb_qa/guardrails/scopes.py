"""What the words around a table's number say of it: its power of ten, its currency, its unit. Nearest words win."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.headers import units_of_header, units_of_statement
from kb_qa.guardrails.measures import CURRENCY_PREFIXES, DURATIONS, SCALE_WORDS

_WORDS = r"thousands?|millions?|billions?|trillions?|lakhs?|crores?"
_CURRENCY = (
    r"(?:US\$|HK\$|NT\$|A\$|C\$|S\$|U\.S\. ?\$|RMB|CNY|USD|EUR|GBP|HKD|JPY|CHF|AUD|CAD|SGD|INR|TWD|[$€£¥₹]"
    r"|(?:U\.?S\.? |NT |Hong Kong )?dollars?|euros?|pounds?|yen|yuan|renminbi|rupees?)"
)
# A statement of scale in prose or a caption: `(in millions)`, `expressed in US$ thousands`, `RMB'000`.
_STATEMENT = re.compile(
    rf"(?ai)\b(?:in|of) (?:the )?(?:{_CURRENCY} ?)?(?:\(?{_CURRENCY}\)? )?(?P<word>{_WORDS})\b"
    rf"|\b(?P<after>{_WORDS}) of {_CURRENCY}|{_CURRENCY} ?(?:in )?(?P<behind>{_WORDS})\b(?! (?:in|of|for|on|from|to)\b)"
    rf"|(?:{_CURRENCY} ?)?'?(?P<zeros>000)(?:'?s|')?(?=[\s,;:.)\]]|$)(?<![\d,.]000)"
    rf"|{_CURRENCY} ?(?P<letter>mm|mn|bn|m|k)(?![A-Za-z])"
    r"|(?:单位|金额|币种)[^|\n]{0,12}?(?P<unit>[十百千]?(?:万亿|万|亿|兆)|[千百])(?=[\u4e00-\u9fff]|$|[)）,，])"
    r"|(?P<money>[十百千]?(?:万亿|万|亿)|[千百])(?:美|港|欧|日|韩)?元(?![\u4e00-\u9fff])"
)
# In a header cell the word alone is a statement: `Revenue (millions)`, `Million`, `万元`, `€m`.
_IN_HEADER = re.compile(
    rf"(?ai)(?<![A-Za-z])(?P<word>{_WORDS})(?![A-Za-z])|(?<![A-Za-z])(?P<letter>mn|bn)(?![A-Za-z])"
    r"|[(（](?P<unit>[十百千]?(?:万亿|万|亿|兆)|[千百])(?=[\u4e00-\u9fff]{0,3}[)）/])|^(?P<whole>[十百千]?(?:万亿|万|亿)|[千百])[元股人吨件]"
)
# `（元）` over or beside figures says that they are not the caption's 万元.
_WHOLE_MONEY = re.compile("[(（](?:人民币|美|港|欧|日)?元(?:/[^()（）]{1,6})?[)）]")
_LETTERS = {"m": 6, "mm": 6, "mn": 6, "bn": 9, "k": 3}
_CJK = {"十": 1, "百": 2, "千": 3, "万": 4, "亿": 8, "兆": 12}
_PERCENT = re.compile(r"(?ai)%|\bpercent(?:age)?\b|\bper cent\b|百分比|占比")
_UNSCALED = re.compile(
    r"(?ai)\bper (?:[a-z]+ ){0,2}(?:share|unit|employee|adr?s|day|barrel|tonne?|square)\b|\beps\b|每股|/股|人均"
    r"|%|\bpercent"
    r"|\bratio\b|\bmargin\b|\brates?\b|\byield\b|\bheadcount\b|\b(?:employees|staff|FTEs?|customers"
    r"|stores)\b(?! (?:costs?|benefits?|expenses?|compensation|deposits?))|\bnumber of "
    r"(?!(?:[a-z]+ ){0,3}(?:shares|options|warrants|awards))|\baverage employees\b|\bdays?\b"
    r"|员工|人数|天数|比率"
    r"|率(?!先)|占比|\((?:in )?years?\)|\bvolatility\b|\bexpected (?:term|life)\b|\btimes\b|倍"
)
_PER_SHARE = re.compile(r"(?ai)\bper (?:[a-z]+ ){0,2}share\b|\beps\b|每股|/股")
CURRENCY_NAME = (
    r"(?:US\$|U\.S\. ?\$|HK\$|NT\$|NT dollars|A\$|C\$|S\$|(?<![A-Za-z])(?:RMB|CNY|USD|EUR|GBP|HKD|JPY|CHF|AUD"
    r"|CAD|SGD|INR"
    r"|TWD)(?![A-Za-z])|[$€£¥]|(?i:(?:U\.?S\.? )dollars?|euros|renminbi)"
    r"|人民币|美元|港元|港币|欧元|英镑|日元|新台币|元)"
)
_CURRENCY_NAMES = re.compile(f"(?a){CURRENCY_NAME}")
# `53 weeks`, `12 months ended` name a span of time, and no unit.
_SPAN = re.compile(r"(?ai)(?:\d+|\b(?:one|two|three|six|nine|twelve))[- ](?:weeks?|months?|days?|years?)\b")
# `per $ million of revenues` is a denominator.
_PER_SCALE = re.compile(rf"(?ai)\bper (?:{_CURRENCY} ?)?(?:{_WORDS})\b")
_MORE_NAMES = {"NT dollars": "TWD", "元": "CNY", "U.S. $": "USD", "euros": "EUR", "renminbi": "CNY"}


@dataclass(frozen=True, slots=True)
class Stated:
    """What one place states: `scale` is a power of ten, None for nothing said; `ambiguous` where it says two."""

    text: str = ""
    scale: int | None = None
    currency: str = ""
    unit: str = ""
    percent: bool = False
    unscaled: bool = False
    per_share: bool = False
    ambiguous: bool = False


@lru_cache(maxsize=8192)
def stated_in_header(text: str) -> Stated:
    """What a header cell or row label states."""
    plain = normalise(text).text
    scales = _scales(plain, header=True)
    units = units_of_header(_SPAN.sub("", plain))
    unit = next(iter(units)) if len(units) == 1 else ""
    whole = not scales and _WHOLE_MONEY.search(plain) is not None
    named = unit if unit and unit not in {"%", "?"} and not is_currency(unit) else ""
    if named in DURATIONS and re.search(r"(?ai)\b(?:ended|ending|end|date|beginning)\b", plain):
        named = ""
    return Stated(
        text=text.strip(),
        scale=0 if whole else next(iter(scales)) if len(scales) == 1 else None,
        currency=currency_named(plain) or (unit if is_currency(unit) else ""),
        unit=named,
        percent=_PERCENT.search(plain) is not None,
        unscaled=_UNSCALED.search(plain) is not None,
        per_share=_PER_SHARE.search(plain) is not None,
        ambiguous=len(scales) > 1,
    )


@lru_cache(maxsize=8192)
def stated_in_caption(text: str) -> Stated:
    """What a caption, unit line or paragraph states for a whole table."""
    plain = normalise(text).text
    match = _STATEMENT.search(plain)
    scales = _scales(plain, header=False)
    units = units_of_statement(text) if len(text) < 200 else frozenset()
    unit = next(iter(units)) if len(units) == 1 else ""
    near = plain[max(0, match.start() - 24) : match.end() + 16] if match else (plain if len(plain) < 120 else "")
    return Stated(
        text=match[0].strip() if match else text.strip()[:80],
        scale=next(iter(scales)) if len(scales) == 1 else None,
        currency=currency_named(near),
        # `years ended`, `days sales outstanding`: a caption's time says when, and not what the cells count.
        unit=unit if unit and unit not in {"%", "?", *DURATIONS} and not is_currency(unit) else "",
        percent=unit == "%",
        ambiguous=len(scales) > 1,
    )


def currency_named(text: str) -> str:
    """The one currency that `text` names; empty for none or several."""
    found = set()
    for match in _CURRENCY_NAMES.finditer(text):
        name = match[0]
        lowered = name.lower()
        code = _MORE_NAMES.get(name) or _MORE_NAMES.get(lowered) or CURRENCY_PREFIXES.get(name)
        found.add(code or ("USD" if "dollar" in lowered else ""))
    found.discard("")
    if "CNY" in found and len(found) == 2 and "元" in text and "人民币" not in text:
        found.discard("CNY")  # `万港元` ends in 元
    if len(found) == 2 and "$?" in found:
        found.discard("$?")
    return next(iter(found)) if len(found) == 1 else ""


def nearest(places: Iterable[Stated]) -> Stated | None:
    """The first place that states a scale, or that two are stated."""
    return next((each for each in places if each.scale is not None or each.ambiguous), None)


def is_currency(unit: str) -> bool:
    return (len(unit) == 3 and unit.isupper()) or (unit.endswith("?") and unit != "?")


def _scales(text: str, *, header: bool) -> frozenset[int]:
    found = {_power(match) for match in _STATEMENT.finditer(text)}
    if header:
        text = _PER_SCALE.sub(" ", text)
        found = {_power(match) for pattern in (_STATEMENT, _IN_HEADER) for match in pattern.finditer(text)}
    return frozenset(found)


def _power(match: re.Match[str]) -> int:
    group = match.lastgroup or ""
    printed = match[group].lower()
    if group == "zeros":
        return 3
    if group == "letter":
        return _LETTERS[printed]
    if group in {"unit", "money", "whole"}:
        return sum(_CJK[character] for character in printed)
    return SCALE_WORDS.get(printed) or SCALE_WORDS[printed.removesuffix("s")]
