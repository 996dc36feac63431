"""Numbers in Chinese words: numerals, fractions, doublings, and vague quantities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from kb_qa.guardrails import numerals
from kb_qa.guardrails.affixes import suffix_at
from kb_qa.guardrails.measures import GENERIC_COUNTERS
from kb_qa.guardrails.quantities import CONTEXT, ONE, Quantity, amend
from kb_qa.guardrails.shares import share

_DIGITS = {
    **{character: value for value, character in enumerate("零一二三四五六七八九")},
    **{character: value for value, character in enumerate("〇壹贰叁肆伍陆柒捌玖")},
    "两": 2,
    "○": 0,
    "弍": 2,
    "叄": 3,
}
_TENS = {"十": 1, "拾": 1, "百": 2, "佰": 2, "千": 3, "仟": 3}
_MYRIADS = {"万": 4, "亿": 8, "兆": 12}
_PAIRS = {"廿": "二十", "卅": "三十"}
_D = "零一二三四五六七八九〇壹贰叁肆伍陆柒捌玖两○弍叄"
_M = "十百千拾佰仟万亿兆"
_C = _D + _M + "廿卅"

_PARTS = re.compile(
    rf"(?a)(?P<minus>负)?(?P<base>[百千万])分之(?P<sign>负)?(?P<number>\d{{1,12}}"
    rf"(?:\.\d{{1,9}})?|[{_C}]{{1,20}}(?:点[{_D}]{{1,9}})?)|百分百"
)
_FRACTION = re.compile(rf"(?a)(?P<below>[{_C}]{{1,6}}|\d{{1,4}})分之(?P<above>[{_C}]{{1,6}}|\d{{1,4}})")
_MIXED = re.compile(
    rf"(?a)\d(?<![0-9A-Za-z_.,]\d)\d{{0,11}}(?:\.\d{{1,6}})?[十百千万亿兆]{{1,3}}零?(?:\d{{1,4}}"
    rf"(?![\d.,年月%])|[{_D}十])[0-9{_C}]{{0,20}}(?![0-9年])"
)
# Numbers that name no single value: kept as printed, and equal only to the same print.
_VAGUE_CJK = re.compile(
    rf"(?<![{_C}])(?:(?:好几|数以|若干|数|几|上|成)[十百千万亿]{{1,4}}(?:计)?"
    rf"|[{_C}]{{1,12}}几[十百千万亿]{{0,4}}"
    r"|[二三四五六七八九两][三四五六七八九](?=[个家名人种项年月天次倍台件]))"
)
_MAY_BE_VAGUE = re.compile(
    "[几数以干上成二三四五六七八九两](?:(?<=几)|(?<=[数以干上成])[十百千万亿]|(?<=[二三四五六七八九两])[三四五六七八九])"
)
_IDIOMS = frozenset("一五一十 三三两两 七七八八 三三五五 一一 万一".split())
_ORDINAL = re.compile(rf"(?a)第 ?(?P<number>\d{{1,5}}|[{_C}]{{1,8}})")
_CJK = re.compile(rf"[{_C}]{{1,40}}(?:点[{_D}]{{1,12}}[万亿兆]{{0,2}})?")
_DOUBLING = re.compile(
    rf"(?a)翻[了过]?(?:近|约|将近|超过?)?(?P<number>[{_D}]|\d{{1,2}}|好?几)?番|翻了?倍|一半|半数(?!据)|对半"
)
_HALF_ALONE = re.compile("(?<![上下前后多大过一来每])半个?(?P<unit>年|天|日|月|小时|钟头|世纪)(?![度报刊板初末底])")
_HALF_UNITS = {"年": "year", "天": "day", "日": "day", "月": "month", "小时": "hour", "钟头": "hour", "世纪": "century"}
_BOUND_BEFORE = re.compile("(?:逾|近|超|超过|过|约|大约|达|达到|突破|将近|接近|不到|不足)$")
_UNIT_ONE = re.compile("(?a)个月|小时|分钟|元|美元|公里|吨|公斤|倍|成|折|个?百分点|万|亿")
_YEAR_ONE = re.compile("[年天周](?![来一度间])")
_NOT_YEAR_ONE = frozenset("上这那每同前后新近某任有第当统")
_WEEKDAY = re.compile("(?:周|星期|礼拜)$")


def chinese(text: str) -> Iterator[Quantity]:
    """`百分之五`, `三分之二`, `翻一番`, `第三`, `数百万`, in the order in which they own a span."""
    if "分之" in text or "百分百" in text:
        yield from _shares(text)
    yield from map(_doubling, _DOUBLING.finditer(text))
    if "第" in text:
        yield from _ordinals(text)
    if _MAY_BE_VAGUE.search(text):
        for match in _VAGUE_CJK.finditer(text):
            yield _vague(text, *match.span())


def _shares(text: str) -> Iterator[Quantity]:
    for match in _PARTS.finditer(text):
        yield from _parts(match)
    for match in _FRACTION.finditer(text):
        below, above = parse_chinese(match["below"]), parse_chinese(match["above"])
        if below and above and below[0]:
            yield share(above[0], below[0], match.start(), match.end())


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _ORDINAL.finditer(text):
        parsed = parse_chinese(match["number"])
        if parsed:
            soft = not match["number"].isascii() and parsed[0] <= 10
            yield Quantity("ordinal", parsed[0], match.start(), match.end(), soft=soft)


def mixed(text: str) -> Iterator[Quantity]:
    """Digits and Chinese numerals in one number: `7千3百`, `3亿2千万`, `1万2`."""
    for match in _MIXED.finditer(text):
        parsed = parse_chinese(match[0])
        if parsed is None:
            yield _vague(text, *match.span())
            continue
        quantity = numerals.spelled(text, match.start(), match.end(), *parsed)
        yield amend(quantity, scale=_scale_of(match[0]))


def chinese_numerals(text: str) -> Iterator[Quantity]:
    """Chinese numerals that are numbers and not idioms (`一些`, `统一`, `万一`); `半年` where no number has the 半."""
    for match in _CJK.finditer(text):
        start, end = match.span()
        if match[0] in _IDIOMS or (end - start == 1 and not _is_number(text, start, end)):
            continue  # most are the 一 of 一些 and 统一
        parsed = parse_chinese(match[0])
        if parsed is None or _is_approximate(match[0]):
            if not set(match[0]).isdisjoint(_D) and _counts(text, match):
                yield _vague(text, start, end)
            continue
        if not _is_number(text, start, end):
            continue
        quantity = numerals.spelled(text, start, end, *parsed)
        generic = quantity.kind == "number" or quantity.unit in GENERIC_COUNTERS
        plain = quantity.value == parsed[0] <= 10 and "点" not in match[0]
        soft = generic and plain and not quantity.currency and not quantity.bound
        yield amend(quantity, scale=quantity.scale or _scale_of(match[0]), soft=soft)
    if "半" in text:
        for match in _HALF_ALONE.finditer(text):
            yield Quantity("duration", Decimal("0.5"), *match.span(), unit=_HALF_UNITS[match["unit"]])


def unread(text: str) -> Iterator[tuple[int, int]]:
    """Runs of Chinese digits and powers of ten with a unit behind them, in what no quantity owns: `百八十人`."""
    for match in _CJK.finditer(text):
        is_mixed = not set(match[0]).isdisjoint(_D) and not set(match[0]).isdisjoint(_M)
        if is_mixed and match[0] not in _IDIOMS and suffix_at(text, match.end()) is not None:
            yield match.span()


def _counts(text: str, match: re.Match[str]) -> bool:
    return not set(match[0]).isdisjoint(_M + "廿卅") or suffix_at(text, match.end()) is not None


def _is_approximate(run: str) -> bool:
    """`两三`, `五六`: neighbours, and no number in digits (`五八`)."""
    if len(run) != 2 or not set(run) <= set(_D[1:10] + "两"):
        return False
    return run == "三五" or _DIGITS[run[1]] == _DIGITS[run[0]] + 1


def _vague(text: str, start: int, end: int) -> Quantity:
    quantity = numerals.spelled(text, start, end, ONE, ONE)
    printed = text[start:end] + ("半" if "半" in text[end : quantity.end] else "")
    kind = "count" if quantity.kind == "number" else quantity.kind
    return amend(quantity, kind=kind, value=printed, lo=None, hi=None, readings=(), approximate=True)


def parse_chinese(text: str) -> tuple[Decimal, Decimal] | None:
    """(value, quantum) of a Chinese numeral, digits allowed inside (`7千3百`); None where it is none.

    With 万 or 亿 the quantum is the last printed place (三亿二千万: 10,000,000); else it is 1, or that of the decimals.
    """
    for short, long in _PAIRS.items():
        text = text.replace(short, long)
    whole, point, decimals = text.partition("点")
    tail = decimals.lstrip(_D)
    decimals = decimals.removesuffix(tail) if tail else decimals
    if point and not decimals:
        return None
    value, place = _whole(whole)
    if value is None:
        return None
    if point:
        digits = "".join(str(_DIGITS[character]) for character in decimals)
        value = CONTEXT.add(value, Decimal(f"0.{digits}"))
        place = CONTEXT.scaleb(ONE, -len(digits))
    for character in tail:
        value, place = (CONTEXT.scaleb(each, _MYRIADS[character]) for each in (value, place))
    return value, place


def _whole(text: str) -> tuple[Decimal | None, Decimal]:
    tokens = re.findall(r"(?a)\d+(?:\.\d+)?|[^\d]", text)
    if not tokens:
        return None, ONE
    if all(token in _DIGITS for token in tokens):
        return Decimal("".join(str(_DIGITS[token]) for token in tokens)), ONE
    total, section, current, last = Decimal(0), Decimal(0), None, 0
    smallest_myriad, has_myriad = 99, False
    after_zero = False
    for token in tokens:
        if token in _MYRIADS:
            power = _MYRIADS[token]
            section = CONTEXT.add(section, current or Decimal(0))
            section = section if section or total else ONE
            if power > smallest_myriad:
                total = CONTEXT.scaleb(CONTEXT.add(total, section), power)
            else:
                total = CONTEXT.add(total, CONTEXT.scaleb(section, power))
            smallest_myriad, has_myriad = min(power, smallest_myriad), True
            section, current, last = Decimal(0), None, power
        elif token in _TENS:
            section = CONTEXT.add(section, CONTEXT.scaleb(ONE if current is None else current, _TENS[token]))
            current, last = None, _TENS[token]
        elif token in _DIGITS or token[0].isdigit():
            if current:
                return None, ONE
            after_zero = token in {"零", "〇"} or (after_zero and current is not None)
            current = Decimal(_DIGITS[token]) if token in _DIGITS else Decimal(token)
            after_zero = after_zero or current == 0
        else:
            return None, ONE
    if current:
        # 一千三 is 1300 and 三万五 is 35000, but 一千零三 is 1003 and 1万2000 is 12000.
        colloquial = last > 1 and not after_zero and current < 10 and current == int(current)
        current = CONTEXT.scaleb(current, last - 1) if colloquial else current
        section = CONTEXT.add(section, current)
        last = last - 1 if colloquial else 0
    value = CONTEXT.add(total, section)
    return value, _place(tokens, last) if has_myriad else ONE


def _place(tokens: list[str], last: int) -> Decimal:
    """The place of the last token: 二千万 ends in 千万."""
    power = 0
    for token in reversed(tokens):
        if token in _MYRIADS or (token in _TENS and power):
            power += _MYRIADS.get(token, 0) or _TENS[token]
            if token in _TENS:
                break
        else:
            break
    return CONTEXT.scaleb(ONE, power or last)


def _scale_of(text: str) -> int:
    power = 0
    for character in reversed(text):
        if character not in _MYRIADS:
            break
        power += _MYRIADS[character]
    return power


def _parts(match: re.Match[str]) -> Iterator[Quantity]:
    if match["base"] is None:
        yield Quantity("percent", Decimal(100), match.start(), match.end())
        return
    number = match["number"]
    decimals = len(number.partition(".")[2])
    parsed = (Decimal(number), CONTEXT.scaleb(ONE, -decimals)) if number[0].isascii() else parse_chinese(number)
    if parsed is None:
        return
    power = {"百": 0, "千": -1, "万": -2}[match["base"]]
    value, quantum = (CONTEXT.scaleb(each, power) for each in parsed)
    sign = -1 if match["sign"] or match["minus"] else 0
    value = CONTEXT.minus(value) if sign else value
    yield Quantity(
        "percent", value, match.start(), match.end(), quantum=quantum, sign=sign, sign_source="word" if sign else "none"
    )


def _doubling(match: re.Match[str]) -> Quantity:
    if match[0] in {"一半", "半数", "对半"}:
        return Quantity("percent", Decimal(50), match.start(), match.end())
    printed = match["number"] or "一"
    if "几" in printed:
        return Quantity("doubling", printed, match.start(), match.end(), approximate=True)
    times = int(printed) if printed.isascii() else _DIGITS[printed]
    return Quantity("doubling", Decimal(times), match.start(), match.end())


def _is_number(text: str, start: int, end: int) -> bool:
    """The gate against idioms: two numeral characters with a 十百千万亿, a 点, or a numeral with a unit."""
    printed = text[start:end]
    before = text[max(0, start - 3) : start]
    if printed[0] in "百千万亿兆佰仟" and not _BOUND_BEFORE.search(before):
        return False
    if printed == "十" and text[end : end + 1] == "分":
        return False
    if len(printed) == 1 and before[-1:] in "周期拜" and _WEEKDAY.search(before):
        return False
    if printed in {"一", "壹"}:
        unit = _UNIT_ONE.match(text, end)
        return bool(unit or (_YEAR_ONE.match(text, end) and before[-1:] not in _NOT_YEAR_ONE))
    if len(printed) > 1 and (not set(printed).isdisjoint(_M + "点廿卅") or len(printed) > 2):
        return True
    return suffix_at(text, end) is not None and printed not in {"零", "〇", "○"}
